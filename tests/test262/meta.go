//go:build sandboxd_test262

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// meta is the front matter of a test, as INTERPRETING.md of test262 describes it.
type meta struct {
	Negative struct{ Phase, Type string }
	Includes []string
	Flags    []string
	Features []string
}

func readMeta(text string) (m meta, err error) {
	_, rest, begun := strings.Cut(text, "/*---")
	front, _, ended := strings.Cut(rest, "---*/")
	if !begun || !ended {
		return m, errors.New("no front matter")
	}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(front, "\r", "\n")), &m); err != nil {
		return m, fmt.Errorf("front matter: %w", err)
	}
	return m, nil
}

func (m *meta) has(flag string) bool { return slices.Contains(m.Flags, flag) }

// modes are the prologues that the test runs under: none, and that of strict mode.
func (m *meta) modes() []string {
	const sloppy, strict = "", "\"use strict\";\n"
	switch {
	case m.has("raw"), m.has("noStrict"):
		return []string{sloppy}
	case m.has("onlyStrict"):
		return []string{strict}
	}
	return []string{sloppy, strict}
}

// includes are the harness files that come before the test, in order.
func (m *meta) includes() []string {
	if m.has("raw") {
		return nil
	}
	files := []string{"assert.js", "sta.js"}
	if m.has("async") {
		files = append(files, "doneprintHandle.js")
	}
	return append(files, m.Includes...)
}
