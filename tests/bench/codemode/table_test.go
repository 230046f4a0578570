package codemode_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// counted is what is the same on every machine.
type counted struct {
	tokens, defined             int // lines of the task; with the definitions of the server's tools
	code, codeDefined, searched int // likewise for code mode; with a search before it
	sequential, parallel, turns int // turns of the model; turns: with code mode
	right, codeRight            bool
}

// count does a task in each way, in sessions of its own.
func count(tb testing.TB, t task) (c counted) {
	tb.Helper()
	want := t.want(tb, direct(tb, tracker(tb), false))
	one := direct(tb, t.server, true)
	defined := one.definitions()
	one.lines.take()
	c.right = t.plainly(one, false) == want
	c.tokens, c.sequential = one.lines.take(), one.turns
	c.defined = c.tokens + defined

	all := direct(tb, t.server, true)
	all.definitions() // so that numbers of requests are as long
	all.lines.take()
	if right := t.plainly(all, true) == want; right != c.right {
		tb.Errorf("%s: the answer is right by one call a turn: %v; by all in one: %v", t.name, c.right, right)
	}
	if n := all.lines.take(); n != c.tokens {
		tb.Errorf("%s: %d tokens by one call a turn, %d by all in one", t.name, c.tokens, n)
	}
	c.parallel = all.turns

	program := through(tb, t.server, true)
	defined = program.definitions()
	program.lines.take()
	c.codeRight = t.byProgram(program, false) == want
	c.code, c.turns = program.lines.take(), program.turns
	c.codeDefined = c.code + defined

	search := through(tb, t.server, true)
	defined = search.definitions()
	search.lines.take()
	if right := t.byProgram(search, true) == want; right != c.codeRight {
		tb.Errorf("%s: the answer is right without a search: %v; after one: %v", t.name, c.codeRight, right)
	}
	c.searched = search.lines.take() + defined
	if c.right != t.right || c.codeRight != t.codeRight {
		tb.Errorf("%s: the answer is right by calls: %v, want %v; by a program: %v, want %v", t.name, c.right, t.right, c.codeRight, t.codeRight)
	}
	return c
}

const head = `| task | tokens: calls | with definitions | code mode | with definitions | and a search | turns: calls, one by one / at once | code mode | answer: calls | code mode | ms: calls, one by one / at once | code mode |
|---|---|---|---|---|---|---|---|---|---|---|---|
`

// row is a task's row of the table, up to the times.
func row(t task, c counted) string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %d / %d | %d | %s | %s |", t.name, thousands(c.tokens), thousands(c.defined),
		thousands(c.code), thousands(c.codeDefined), thousands(c.searched), c.sequential, c.parallel, c.turns, rightly(c.right), rightly(c.codeRight))
}

func rightly(right bool) string {
	if right {
		return "right"
	}
	return "**wrong**"
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

const (
	page  = "../../../docs/benchmarks.md"
	begin = "<!-- code mode: begin, written by make bench UPDATE=1 -->\n"
	end   = "<!-- code mode: end -->"
)

// table is what stands between the marks of the page, and what is around it.
func table(tb testing.TB) (before, table, after string) {
	tb.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		tb.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), begin)
	table, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		tb.Fatalf("%s has no place for the table", page)
	}
	return before, table, after
}

// TestTable holds what the page says against what is so, but for the times.
func TestTable(t *testing.T) {
	_, got, _ := table(t)
	want := head
	lines := strings.SplitAfter(strings.TrimPrefix(got, head), "\n")
	for i, task := range tasks(t) {
		c := count(t, task)
		want += row(task, c) + times(lines, i)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is out of date: make bench UPDATE=1\n%s", page, diff)
	}
}

// times are those of a row, if it has some.
func times(lines []string, i int) string {
	if i >= len(lines) {
		return "\n"
	}
	cells := strings.Split(lines[i], " | ")
	var one, all, code float64
	last := strings.Join(cells[max(0, len(cells)-2):], " | ")
	if _, err := fmt.Sscanf(last, "%f / %f | %f |\n", &one, &all, &code); err != nil || one <= 0 || all <= 0 || code <= 0 {
		return fmt.Sprintf(" times (%v)\n", err)
	}
	return " " + last
}
