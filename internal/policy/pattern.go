package policy

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// pattern names tools by the names that their servers gave them, never by an alias. A star stands for any text, in the server's
// name or in the tool's.
type pattern struct{ server, tool string }

// UnmarshalYAML reads "server.tool", "*", or {server: …, tool: …} for names that have a dot themselves.
func (p *pattern) UnmarshalYAML(node *yaml.Node) error {
	wrong := func(format string, args ...any) error {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %s", node.Line, fmt.Sprintf(format, args...))}}
	}
	switch node.Kind {
	case yaml.ScalarNode:
		server, tool, ok := strings.Cut(node.Value, ".")
		switch {
		case node.Value == "*":
			server, tool = "*", "*"
		case !ok || server == "" || tool == "":
			return wrong("%q is no pattern of tools: want SERVER.TOOL, such as github.list_*", node.Value)
		case strings.Contains(tool, "."):
			return wrong("%q has two dots: say which name has one, {server: …, tool: …}", node.Value)
		}
		p.server, p.tool = server, tool
	case yaml.MappingNode:
		var names struct{ Server, Tool string }
		for i := 0; i < len(node.Content); i += 2 {
			if key := node.Content[i].Value; key != "server" && key != "tool" {
				return wrong("there is no field %q here: want {server: …, tool: …}", key)
			}
		}
		if err := node.Decode(&names); err != nil {
			return err
		}
		if names.Server == "" || names.Tool == "" {
			return wrong("want both, {server: …, tool: …}")
		}
		p.server, p.tool = names.Server, names.Tool
	default:
		return wrong("want SERVER.TOOL, or {server: …, tool: …}")
	}
	for _, name := range []string{p.server, p.tool} {
		if i := strings.IndexAny(name, "?[]{}"); i >= 0 {
			return wrong("%q: %q is not special here, and no name has it: only * stands for any text", name, name[i])
		}
	}
	return nil
}

func (p pattern) String() string {
	if p.server == "*" && p.tool == "*" {
		return "*"
	}
	if strings.Contains(p.server, ".") || strings.Contains(p.tool, ".") {
		return fmt.Sprintf("{server: %s, tool: %s}", p.server, p.tool)
	}
	return p.server + "." + p.tool
}

func (p pattern) matches(server, tool string) bool {
	return glob(p.server, server) && glob(p.tool, tool)
}

// covers reports whether p matches all that q matches, as far as their texts show.
func (p pattern) covers(q pattern) bool { return glob(p.server, q.server) && glob(p.tool, q.tool) }

// glob reports whether a name is what a pattern says. In time it is their lengths multiplied, at the worst.
func glob(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part) // the leftmost leaves the most for the rest
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}
