// Package typescript writes the JSON Schemas of tools as TypeScript, for models: one line for each tool that a search finds, and
// declarations for those that a program is to call. Declarations compile.
//
// Schemas and descriptions come from the servers of tools, and are as hostile as these: sizes and depths are bounded, references
// are followed within one schema only, and no description can end its comment or hide what stands in it. A schema that can't be
// read makes its type any, and the reason stands in the comment: the tool can be called all the same.
package typescript

import (
	"fmt"
	"slices"
	"strings"
)

// Tool is what a server announced. The schemas are JSON Schema; where one is empty, anything goes.
type Tool struct {
	Server, Name  string
	Description   string
	Input, Output []byte
}

// signature is a tool as types.
type signature struct {
	name         string
	doc          string
	args, result expr
	optional     bool // no argument is required
	aliases      []declared
}

// declared is a type with a name.
type declared struct {
	name string
	of   expr
}

// read makes types of a tool's schemas. Names are those of types that are taken.
func read(t Tool, names map[string]bool) signature {
	s := signature{name: t.Name, doc: sentences(t.Description)}
	of := func(what string, text []byte) expr {
		if len(text) == 0 {
			return anything
		}
		root, err := decode(text)
		if err != nil {
			s.doc = strings.TrimSpace(fmt.Sprintf("%s\nIts %s schema can't be read: %s.", s.doc, what, sentences(err.Error())))
			return anything
		}
		r := newReader(root, pascal(t.Server)+"_"+pascal(t.Name), names)
		e := r.schema(root)
		s.aliases = append(s.aliases, r.closed()...)
		return e
	}
	s.args, s.result = of("input", t.Input), of("output", t.Output)
	if r, ok := s.args.(record); ok {
		s.optional = !slices.ContainsFunc(r.fields, func(f field) bool { return !f.optional })
	}
	return s
}

// function writes the tool's parameter and result: no parameter for a tool that takes none.
func (p *printer) function(s signature) {
	r, ok := s.args.(record)
	switch {
	case ok && r.empty():
		p.WriteString("()")
	case s.optional:
		p.WriteString("(args?: ")
	default:
		p.WriteString("(args: ")
	}
	if !ok || !r.empty() {
		p.expr(s.args)
		p.WriteString(")")
	}
	p.WriteString(": Promise<")
	p.expr(s.result)
	p.WriteString(">")
}

// Declare declares what a program has of tools: one constant, by server and tool, in the order of the tools.
func Declare(tools []Tool) string {
	var servers []string
	byServer, names := map[string][]signature{}, map[string]bool{}
	var types printer
	for _, t := range tools {
		if byServer[t.Server] == nil {
			servers = append(servers, t.Server)
		}
		s := read(t, names)
		byServer[t.Server] = append(byServer[t.Server], s)
		for _, d := range s.aliases {
			types.WriteString("type " + d.name + " = ")
			types.expr(d.of)
			types.WriteString(";\n")
		}
	}
	var p printer
	p.WriteString("declare const tools: {\n")
	for _, server := range servers {
		p.WriteString("  " + property(server) + ": {\n")
		for _, s := range byServer[server] {
			p.indent = "    "
			p.WriteString(p.indent)
			p.comment(s.doc)
			p.WriteString(property(s.name))
			p.function(s)
			p.WriteString(";\n")
		}
		p.WriteString("  };\n")
	}
	p.WriteString("};\n")
	return types.String() + p.String()
}
