package upstream

import (
	"fmt"
	"regexp"
	"strings"
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expander replaces ${VAR} and ${VAR:-default} in values, and keeps the first error. As in other MCP clients, a
// variable that is set but empty counts as set, a lone $ stays, and what a variable holds is not expanded again.
type expander struct {
	lookup func(string) (string, bool)
	err    error
}

func (x *expander) value(key string, text *string) string {
	if text == nil {
		return ""
	}
	expanded, err := x.expand(*text)
	if err != nil && x.err == nil {
		x.err = fmt.Errorf("%s: %w", key, err)
	}
	return expanded
}

func (x *expander) list(key string, texts []string) (list []string) {
	for i, text := range texts {
		list = append(list, x.value(fmt.Sprintf("%s[%d]", key, i), &text))
	}
	return list
}

func (x *expander) table(key string, texts map[string]string) map[string]string {
	table := make(map[string]string, len(texts))
	for name, text := range texts {
		table[name] = x.value(key+"."+name, &text)
	}
	return table
}

func (x *expander) expand(text string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		inside, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", fmt.Errorf("${%.30s has no }", rest)
		}
		value, err := x.variable(inside)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		text = after
	}
}

func (x *expander) variable(inside string) (string, error) {
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	if !variable.MatchString(name) {
		return "", fmt.Errorf("${%.60s} is not supported: use ${NAME} or ${NAME:-default} with an environment variable", inside)
	}
	if value, ok := x.lookup(name); ok {
		return value, nil
	}
	if !hasFallback {
		return "", fmt.Errorf("environment variable %s is not set: set it, or write ${%s:-default}", name, name)
	}
	return fallback, nil
}
