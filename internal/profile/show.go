package profile

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML is the whole profile, whatever it extends: a file that would be read as the same profile.
func (p Profile) YAML() string {
	var b strings.Builder
	section := ""
	for _, s := range p.settings() {
		in, key, nested := strings.Cut(s.key, ".")
		switch {
		case !nested && section != "":
			fmt.Fprintln(&b)
		case nested && in != section:
			fmt.Fprintf(&b, "\n%s:\n", in)
			section = in
		}
		if nested {
			s.key = "  " + key
		}
		fmt.Fprintln(&b, s.line(27))
	}
	return b.String()
}

// line is the setting as a file has it, and from a column on what a number amounts to.
func (s setting) line(column int) string {
	if text, ok := s.value.(string); ok {
		quoted, _ := yaml.Marshal(text) // a string has no way to fail
		return s.key + ": " + strings.TrimSuffix(string(quoted), "\n")
	}
	value := plain(s.value)
	line := s.key + ": " + value
	if human := s.human(); human != value {
		line = fmt.Sprintf("%-*s # %s", column, line, human)
	}
	return line
}

// Change is one key in which two profiles differ.
type Change struct {
	Key  string `json:"key"`
	From any    `json:"from"`
	To   any    `json:"to"`

	from, to setting
}

// String is the key in the manner of diff -u: as it was, and as it is.
func (c Change) String() string { return "-" + c.from.line(34) + "\n+" + c.to.line(34) }

// Diff lists the keys in which b differs from a. The list is never nil.
func Diff(a, b Profile) []Change {
	changes := []Change{}
	was := a.settings()
	for i, s := range b.settings() {
		if !same(was[i].value, s.value) {
			changes = append(changes, Change{s.key, was[i].value, s.value, was[i], s})
		}
	}
	return changes
}

func same(a, b any) bool {
	if layers, ok := a.([]string); ok {
		return slices.Equal(layers, b.([]string))
	}
	return a == b
}
