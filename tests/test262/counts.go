//go:build sandboxd_test262

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// counts are the figures of a run, and of bare goja beside it if that was run.
type counts struct{ engine, goja []result }

func (c *counts) failures() []result {
	return slices.DeleteFunc(slices.Clone(c.engine), func(r result) bool { return r.State != failed })
}

// lost are the tests that pass in goja and not in the engine.
func (c *counts) lost() (lines []string) {
	passes := map[string]bool{}
	for _, r := range c.goja {
		passes[r.Path] = r.State == passed
	}
	for _, r := range c.engine {
		if r.State != passed && passes[r.Path] {
			lines = append(lines, r.Path+": "+r.Why)
		}
	}
	return lines
}

// row is one line of a table.
type row struct {
	name                 string
	passed, failed, left int
	goja                 int // passed there
}

func (r *row) tests() int { return r.passed + r.failed + r.left }

func (r *row) count(state string) {
	switch state {
	case passed:
		r.passed++
	case failed:
		r.failed++
	case leftOut:
		r.left++
	}
}

// by sorts the results into rows: under each of the names that a test has.
func (c *counts) by(names func(result) []string) []*row {
	rows := map[string]*row{}
	at := func(name string) *row {
		if rows[name] == nil {
			rows[name] = &row{name: name}
		}
		return rows[name]
	}
	for _, r := range c.engine {
		for _, name := range names(r) {
			at(name).count(r.State)
		}
	}
	for _, r := range c.goja {
		for _, name := range names(r) {
			if r.State == passed {
				at(name).goja++
			}
		}
	}
	var sorted []*row
	for _, r := range rows {
		sorted = append(sorted, r)
	}
	slices.SortFunc(sorted, func(a, b *row) int { return cmp.Compare(a.name, b.name) })
	return sorted
}

func all(result) []string { return []string{"all"} }

// directory gives a name for a test's directory, that many levels below test/.
func directory(levels int) func(result) []string {
	return func(r result) []string {
		parts := strings.Split(r.Path, "/")
		return []string{strings.Join(parts[1:max(2, min(levels+1, len(parts)-1))], "/")}
	}
}

func features(r result) []string {
	if len(r.Features) == 0 {
		return []string{"(none named)"}
	}
	return r.Features
}

// print writes the tables for a person. Rows that pass whole are summed up.
func (c *counts) print(w io.Writer) {
	c.table(w, "by directory", c.by(directory(2)), true)
	c.table(w, "by feature", c.by(features), true)
	c.table(w, "in all", append(c.by(directory(1)), c.by(all)...), false)
}

func (c *counts) table(w io.Writer, title string, rows []*row, sum bool) {
	fmt.Fprintf(w, "\n%-50s %7s %7s %7s %9s", title, "tests", "pass", "fail", "left out")
	if len(c.goja) > 0 {
		fmt.Fprintf(w, " %12s", "pass in goja")
	}
	fmt.Fprintln(w)
	whole := 0
	for _, r := range rows {
		if sum && r.passed == r.tests() {
			whole++
			continue
		}
		fmt.Fprintf(w, "%-50s %7d %7d %7d %9d", r.name, r.tests(), r.passed, r.failed, r.left)
		if len(c.goja) > 0 {
			fmt.Fprintf(w, " %12d", r.goja)
		}
		fmt.Fprintln(w)
	}
	if whole > 0 {
		fmt.Fprintf(w, "and %d that pass whole\n", whole)
	}
}

const (
	docsBegin = "<!-- test262: begin, written by make test262 UPDATE=1 -->\n"
	docsEnd   = "<!-- test262: end -->\n"
)

// writeDocs writes the counts into the block of a document that is theirs.
func (c *counts) writeDocs(file, commit string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), docsBegin)
	_, after, ends := strings.Cut(rest, docsEnd)
	if !begins || !ends {
		return errors.New(file + " has no block for the counts: " + strings.TrimSpace(docsBegin) + " " + strings.TrimSpace(docsEnd))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "tc39/test262 at commit %s; a test passes if it does in each mode that it has, sloppy and strict. Pass in goja and not here: %d.\n\n",
		commit[:min(8, len(commit))], len(c.lost()))
	c.markdown(&b, "directory", append(c.by(directory(1)), c.by(all)...))
	rows := c.by(features)
	short := slices.DeleteFunc(slices.Clone(rows), func(r *row) bool { return r.failed == 0 && r.left == 0 })
	fmt.Fprintf(&b, "\nBy the feature that a test names; %d more features pass whole.\n\n", len(rows)-len(short))
	c.markdown(&b, "feature", short)
	return os.WriteFile(file, []byte(before+docsBegin+b.String()+docsEnd+after), 0o644)
}

func (c *counts) markdown(w io.Writer, title string, rows []*row) {
	fmt.Fprintf(w, "| %s | tests | pass | fail | left out | pass in goja |\n|---|--:|--:|--:|--:|--:|\n", title)
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d |\n", r.name, r.tests(), r.passed, r.failed, r.left, r.goja)
	}
}
