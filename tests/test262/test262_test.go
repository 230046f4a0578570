// Package main_test holds the command against suites of our own, in which each kind of test passes, fails or is left
// out: the suite of the standard is no part of the repository.
package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// command is the binary, whose way into the engine is in no other build.
var command = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sandboxd-test262-")
	if err != nil {
		return "", err
	}
	for _, sources := range []string{"*.go", "../../internal/js/*.go"} {
		files, _ := filepath.Glob(sources)
		for _, file := range files {
			os.ReadFile(file) // go test keeps a result until a file that the test has read changes
		}
	}
	path := filepath.Join(dir, "test262")
	build := exec.Command("go", "build", "-tags", "sandboxd_test262", "-o", path, ".")
	build.Stderr = os.Stderr
	return path, build.Run()
})

func TestMain(m *testing.M) {
	status := m.Run()
	if path, err := command(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(status)
}

// run gives what the command writes to stdout, and its last line on stderr if it fails.
func run(t *testing.T, suite string, args ...string) (stdout, failure string) {
	t.Helper()
	path, err := command()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, append([]string{"-dir", filepath.Join("testdata", suite), "-time", "2s"}, args...)...)
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	if c.Run() != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		failure = lines[len(lines)-1]
	}
	return out.String(), failure
}

func TestStates(t *testing.T) {
	for _, suite := range []struct {
		name   string
		states map[string]string // of each test, with the beginning of why
	}{
		{"suite", map[string]string{
			"pass/async.js":            "pass",
			"pass/both-modes.js":       "pass",
			"pass/global-scope.js":     "pass",
			"pass/host.js":             "pass",
			"pass/includes.js":         "pass",
			"pass/lowered.js":          "pass",
			"pass/negative-parse.js":   "pass",
			"pass/negative-runtime.js": "pass",
			"pass/no-strict.js":        "pass",
			"pass/only-strict.js":      "pass",
			"pass/raw.js":              "pass",
			"pass/timer.js":            "pass",
			"fail/async-failure.js":    "fail: as it should",
			"fail/async-never.js":      "fail: the test never says that it is complete",
			"fail/here-only.js":        "fail: Test262Error: tools",
			"fail/no-error.js":         "fail: no SyntaxError",
			"fail/no-front.js":         "fail: no front matter",
			"fail/other-error.js":      "fail: no RangeError but TypeError",
			"fail/other-phase.js":      "fail: SyntaxError: Unexpected token ; comes in another phase than runtime",
			"fail/strict-only.js":      "fail: in strict mode: ReferenceError: undeclared is not defined",
			"fail/throws.js":           "fail: Test262Error: as it should",
			"out/feature.js":           "left out: Temporal is not supplied",
			"out/module.js":            "left out: programs are no modules",
			"out/realm.js":             "left out: an engine has one realm",
		}},
		{"ending", map[string]string{ // tests that end the process, or would not end
			"deep.js":    "fail: died: Go's stack overflows",
			"endless.js": "fail: ", // of CPU time, or on a starved machine of the guard
			"native.js":  "fail: ",
		}},
	} {
		t.Run(suite.name, func(t *testing.T) {
			details := filepath.Join(t.TempDir(), "all.json")
			run(t, suite.name, "-json", details, "-baseline", filepath.Join(t.TempDir(), "none"))
			got := map[string]string{}
			for _, r := range results(t, details) {
				path := strings.TrimPrefix(r.Path, "test/")
				state := strings.TrimSuffix(r.State+": "+r.Why, ": ")
				if want, ok := suite.states[path]; ok && strings.HasPrefix(state, want) {
					state = want
				}
				got[path] = state
			}
			if diff := cmp.Diff(suite.states, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type result struct{ Path, State, Why string }

func results(t *testing.T, file string) (all []result) {
	t.Helper()
	lines, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	for d := json.NewDecoder(lines); d.More(); {
		var r result
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// A run fails for what the baseline does not know, and for what it knows and can't explain.
func TestBaseline(t *testing.T) {
	const regression = "test262: failures that are not in the baseline: 1"
	for _, c := range []struct{ name, baseline, stdout, failure string }{
		{"not listed", "", "fails, and is not in the baseline:\n  test/fail/throws.js: Test262Error", regression},
		{"listed", "= why\n 1 test/fail/throws.js\n", "", ""},
		{"listed by feature", "= why\n 1 feature one\n", "", ""},
		{"one of several", "= why\n 4 test/*ows.js\n", "", ""},
		{"more than are listed", "= why\n 0 test/fail/*\n", `("test/fail/*" has 0 known failures, and now 1)`, regression},
		{"the first line counts", "= why\n 0 feature one\n 1 test/fail/*\n", `("feature one" has 0 known`, regression},
		{"without a reason", "=\n 1 test/fail/throws.js\n", "without a reason:\n  test/fail/throws.js", "has failures without a reason: 1"},
		{"unreadable", "= why\n throws.js\n", "", ":2: a line of the baseline is a number and a pattern"},
		{"below no reason", "1 test/fail/throws.js\n", "", ":1: this failure stands below no reason"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, failure := run(t, "suite", "-only", "test/fail/throws.js", "-baseline", write(t, c.baseline))
			if !strings.Contains(stdout, c.stdout) || !strings.HasSuffix(failure, c.failure) || (failure == "") != (c.failure == "") {
				t.Errorf("failure %q, want %q; stdout:\n%s", failure, c.failure, stdout)
			}
		})
	}
}

// -update keeps the reasons, counts anew, drops what passes now, and asks for the reasons of what is new.
func TestUpdate(t *testing.T) {
	baseline := write(t, "# head\n\n= asynchronous\n 7 test/fail/async*\n\n= nothing\n 1 test/pass/raw.js\n\n= the rest\n 1 test/fail/other-phase.js\n")
	stdout, failure := run(t, "suite", "-baseline", baseline)
	for _, want := range []string{`"test/fail/async*" has 7 known failures, and now 2`, `"test/pass/raw.js" has 1 known failures, and now 0`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("does not tell that %s:\n%s", want, stdout)
		}
	}
	if want := "test262: failures that are not in the baseline: 6"; failure != want {
		t.Errorf("%q, want %q", failure, want)
	}
	_, failure = run(t, "suite", "-update", "-baseline", baseline)
	if want := "has failures without a reason: 6"; !strings.HasSuffix(failure, want) {
		t.Errorf("%q, want %q", failure, want)
	}
	want := "# head\n\n= asynchronous\n    2 test/fail/async*\n\n= the rest\n    1 test/fail/other-phase.js\n\n=\n"
	for _, name := range []string{"here-only", "no-error", "no-front", "other-error", "strict-only", "throws"} {
		want += "    1 test/fail/" + name + ".js\n"
	}
	if diff := cmp.Diff(want, read(t, baseline)); diff != "" {
		t.Error(diff)
	}
	reasoned := write(t, strings.Replace(want, "=\n", "= found out\n", 1))
	if stdout, failure := run(t, "suite", "-baseline", reasoned); failure != "" || strings.Contains(stdout, "passes now") {
		t.Errorf("the updated baseline does not hold: %s\n%s", failure, stdout)
	}
	if _, failure := run(t, "suite", "-update", "-only", "test/fail/*", "-baseline", reasoned); failure == "" {
		t.Error("a part of the suite updates the baseline of the whole")
	}
}

// What passes in bare goja and fails here is told, and the counts of both are written into the document.
func TestDocs(t *testing.T) {
	const begin, end = "<!-- test262: begin, written by make test262 UPDATE=1 -->\n", "<!-- test262: end -->\n"
	docs := write(t, "before\n"+begin+"old\n"+end+"after\n")
	stdout, _ := run(t, "suite", "-docs", docs, "-commit", "0123456789abcdef", "-baseline", filepath.Join(t.TempDir(), "none"))
	if want := "passes in goja and fails here:\n  test/fail/here-only.js: Test262Error: tools"; !strings.Contains(stdout, want) {
		t.Errorf("no %q in:\n%s", want, stdout)
	}
	text := read(t, docs)
	for _, want := range []string{
		"before\n" + begin, end + "after\n", "at commit 01234567;", "Pass in goja and not here: 1.",
		"| fail | 9 | 0 | 9 | 0 | 1 |\n| out | 3 | 0 | 0 | 3 | 0 |\n| pass | 12 | 12 | 0 | 0 | 10 |\n| all | 24 | 12 | 9 | 3 | 11 |\n",
		"| one | 2 | 1 | 1 | 0 | 1 |\n", "2 more features pass whole",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "old") {
		t.Error("the old counts are still there")
	}
	_, failure := run(t, "suite", "-docs", write(t, "no block"), "-commit", "0123456789abcdef")
	if !strings.Contains(failure, "has no block for the counts") {
		t.Error(failure)
	}
	if _, failure := run(t, "suite", "-docs", docs); !strings.Contains(failure, "is not the top of a git checkout") {
		t.Errorf("counts of an unknown commit: %q", failure)
	}
}

func write(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
