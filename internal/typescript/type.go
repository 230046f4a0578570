package typescript

import (
	"fmt"
	"slices"
	"strings"
)

// expr is a type: one of those below.
type expr any

type (
	word         string // any, string, "open", 7: what is written as it is
	alias        string // the name of a declared type
	union        []expr
	intersection []expr
	list         struct{ item expr }
	tuple        struct {
		items []expr
		rest  expr // nil: none
	}
	record struct {
		fields []field
		index  expr // of all other names; nil: none
		more   int  // fields that are left out
	}
)

type field struct {
	name     string
	optional bool
	doc      string
	of       expr
}

func (r record) empty() bool { return len(r.fields) == 0 && r.index == nil && r.more == 0 }

const (
	anything = word("any")
	nothing  = word("never")
)

// either is the union of types, each once. What may be anything makes the rest superfluous.
func either(all []expr) expr {
	var kept union
	for _, e := range all {
		if e == anything {
			return anything
		}
		inner, ok := e.(union)
		if !ok {
			inner = union{e}
		}
		for _, e := range inner {
			if e != nothing && !slices.ContainsFunc(kept, func(k expr) bool { return oneLine(k) == oneLine(e) }) {
				kept = append(kept, e)
			}
		}
	}
	switch len(kept) {
	case 0:
		return nothing
	case 1:
		return kept[0]
	}
	return kept
}

// both is the intersection of types. What may be anything adds nothing to it.
func both(all []expr) expr {
	var kept intersection
	for _, e := range all {
		if e != anything {
			kept = append(kept, e)
		}
	}
	switch len(kept) {
	case 0:
		return anything
	case 1:
		return kept[0]
	}
	return kept
}

// printer writes types.
type printer struct {
	strings.Builder
	indent string // of the line; ignored on one line
	single bool   // everything on one line, without comments
}

func oneLine(e expr) string {
	p := printer{single: true}
	p.expr(e)
	return p.String()
}

func (p *printer) expr(e expr) {
	switch e := e.(type) {
	case word:
		p.WriteString(string(e))
	case alias:
		p.WriteString(string(e))
	case union:
		for i, e := range e {
			if i > 0 {
				p.WriteString(" | ")
			}
			p.expr(e) // an intersection binds tighter
		}
	case intersection:
		for i, e := range e {
			if i > 0 {
				p.WriteString(" & ")
			}
			p.operand(e)
		}
	case list:
		p.operand(e.item)
		p.WriteString("[]")
	case tuple:
		p.WriteString("[")
		for i, e := range e.items {
			if i > 0 {
				p.WriteString(", ")
			}
			p.expr(e)
		}
		if e.rest != nil {
			if len(e.items) > 0 {
				p.WriteString(", ")
			}
			p.WriteString("...")
			p.operand(e.rest)
			p.WriteString("[]")
		}
		p.WriteString("]")
	case record:
		p.record(e)
	}
}

// operand writes what an operator that binds tighter than | and & applies to.
func (p *printer) operand(e expr) {
	switch e.(type) {
	case union, intersection:
		p.WriteString("(")
		p.expr(e)
		p.WriteString(")")
	default:
		p.expr(e)
	}
}

func (p *printer) record(r record) {
	if r.empty() {
		p.WriteString("{}")
		return
	}
	open, between, end := "{ ", "; ", " }"
	outer := p.indent
	if !p.single && len(r.fields) > 0 {
		p.indent += "  "
		open, between, end = "{\n"+p.indent, ";\n"+p.indent, ";\n"+outer+"}"
	}
	p.WriteString(open)
	for i, f := range r.fields {
		if i > 0 {
			p.WriteString(between)
		}
		p.comment(f.doc)
		p.WriteString(property(f.name))
		if f.optional {
			p.WriteString("?")
		}
		p.WriteString(": ")
		p.expr(f.of)
	}
	if r.index != nil {
		if len(r.fields) > 0 {
			p.WriteString(between)
		}
		p.WriteString("[key: string]: ")
		p.expr(r.index)
	}
	if r.more > 0 {
		if len(r.fields) > 0 || r.index != nil {
			p.WriteString(between)
		}
		fmt.Fprintf(p, "/* %d more */", r.more)
	}
	p.WriteString(end)
	p.indent = outer
}

// comment writes a documentation comment before what comes on the next line.
func (p *printer) comment(doc string) {
	if doc == "" || p.single {
		return
	}
	if lines := strings.Split(doc, "\n"); len(lines) > 1 {
		p.WriteString("/**\n")
		for _, line := range lines {
			p.WriteString(strings.TrimRight(p.indent+" * "+line, " ") + "\n")
		}
		p.WriteString(p.indent + " */\n" + p.indent)
		return
	}
	p.WriteString("/** " + doc + " */\n" + p.indent)
}
