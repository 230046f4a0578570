package typescript

import (
	"slices"
	"strings"
)

const (
	longest = 300 // bytes of a signature, before something is left out of it: it stands in a list that a model reads
	widest  = 8   // members of a union or an intersection
)

// Signature is a tool on one line: tools.github.get_issue(args: { owner: string; repo: string }): Promise<any>. Of a long one, what
// is inside of objects is left out first, then arguments, those that are required last; a comment tells how many.
func Signature(t Tool) string {
	s := read(t, map[string]bool{})
	b := brief{t.Server, map[string]expr{}}
	for _, d := range s.aliases {
		b.bodies[d.name] = d.of
	}
	var line string
	for depth := 4; depth > 0; depth /= 2 {
		s.args, s.result = b.shorten(s.args, depth), b.shorten(s.result, depth-1)
		if line = b.line(s); len(line) <= longest {
			return line
		}
	}
	args, ok := s.args.(record)
	if !ok {
		return line
	}
	all := slices.SortedStableFunc(slices.Values(args.fields), func(a, b field) int {
		switch {
		case a.optional == b.optional:
			return 0
		case a.optional:
			return 1
		}
		return -1
	})
	for kept := len(all) - 1; len(line) > longest && kept >= 0; kept-- {
		args.fields, args.more = all[:kept], len(all)-kept
		s.args = args
		line = b.line(s)
	}
	return line
}

// brief shortens what one tool is made of.
type brief struct {
	server string
	bodies map[string]expr // of aliases
}

func (b brief) line(s signature) string {
	p := printer{single: true}
	p.WriteString("tools" + member(b.server) + member(s.name))
	p.function(s)
	return p.String()
}

// shorten writes aliases out, and object for the objects that are so deep.
func (b brief) shorten(e expr, depth int) expr {
	switch e := e.(type) {
	case word:
		if len(e) > 40 {
			return kind(e)
		}
	case alias:
		if depth == 0 {
			return word("object")
		}
		return b.shorten(b.bodies[string(e)], depth-1)
	case union:
		return either(b.all(e, depth))
	case intersection:
		if len(e) > widest {
			return word("object")
		}
		return both(b.all(e, depth))
	case list:
		return list{b.shorten(e.item, depth)}
	case tuple:
		if len(e.items) > widest {
			return list{anything}
		}
		e.items = b.all(e.items, depth)
		if e.rest != nil {
			e.rest = b.shorten(e.rest, depth)
		}
		return e
	case record:
		if depth == 0 {
			return word("object")
		}
		fields := slices.Clone(e.fields)
		for i := range fields {
			fields[i].of = b.shorten(fields[i].of, depth-1)
		}
		e.fields = fields
		if e.index != nil {
			e.index = b.shorten(e.index, depth-1)
		}
		return e
	}
	return e
}

// all shortens each, and of too many members of a union leaves their kinds.
func (b brief) all(types []expr, depth int) []expr {
	short := make([]expr, len(types))
	for i, e := range types {
		short[i] = b.shorten(e, depth)
		if literal, ok := e.(word); ok && len(types) > widest {
			short[i] = kind(literal)
		}
	}
	return short
}

// kind is the type that a literal is of.
func kind(literal word) word {
	switch c := literal[0]; {
	case c == '"':
		return "string"
	case strings.IndexByte("-0123456789", c) >= 0:
		return "number"
	}
	return literal
}
