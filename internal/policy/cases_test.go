package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/policy"
)

const exampleCases = `version: 1
cases:
  - name: small refunds go through
    tool: pay.refund
    args: {amount: 20, order: "7"}
    want: allow
    rule: small refunds
  - name: not after a read of what others wrote
    tool: pay.refund
    args: {amount: 20.5}
    run: {labels: [untrusted], mutations: 1, calls: 3}
    want: ask
    rule: untrusted to external
  - name: nobody drops tables
    tool: {server: db, tool: drop_table}
    want: deny
`

func TestCases(t *testing.T) {
	cases, err := policy.ParseCases("p.test.yaml", []byte(exampleCases))
	if err != nil {
		t.Fatal(err)
	}
	if failures := parse(t, example).Test(cases); len(failures) > 0 {
		t.Errorf("%+v", failures)
	}
	failures := parse(t, strings.Replace(example, "args.amount <= 100", "args.amount <= 10", 1)).Test(cases)
	if len(failures) != 2 || failures[0].Name != "small refunds go through" || failures[0].Place != "p.test.yaml:3" ||
		failures[0].Got.Rule != "unknown" || len(failures[0].Steps) == 0 || failures[1].Got.Action != policy.Ask {
		t.Errorf("of a stricter policy: %+v", failures)
	}
}

func TestCasesRefused(t *testing.T) {
	for text, want := range map[string]string{
		"version: 1\ncases:\n- {name: a, want: allow}\n":                                             "f:3: cases[0]: has no tool",
		"version: 1\ncases:\n- {name: a, tool: a.*, want: allow}\n":                                  "f:3: cases[0].tool: a.*: a call is of one tool",
		"version: 1\ncases:\n- {name: a, tool: a.b}\n":                                               "cases[0].want: is missing",
		"version: 1\ncases:\n- {tool: a.b, want: ask}\n":                                             "has no name",
		"version: 1\ncases:\n- {name: a, tool: a.b, want: ask, run: {labels: [X]}}\n":                `cases[0].run.labels[0]: "X" is no label`,
		"version: 1\ncases:\n- {name: a, tool: a.b, want: ask, args: {x: .inf}}\n":                   "cases[0].args: can't be JSON",
		"version: 1\ncases:\n- {name: a, tool: a.b, want: ask, args: {x: {1: y}}}\n":                 "cases[0].args: can't be JSON",
		"version: 1\ncases:\n- {name: a, tool: a.b, want: ask, arguments: {}}\n":                     `there is no field "arguments" here`,
		"version: 1\ncases:\n- {name: a, tool: a.b, want: ask}\n- {name: a, tool: a.b, want: ask}\n": `the name "a" is taken, at f:3`,
		"cases: []\n": "version: 0",
	} {
		if _, err := policy.ParseCases("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestLoadCases(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"policy.yaml": example, "policy.test.yaml": exampleCases} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "policy.yaml")} {
		if _, err := policy.Load(path); err != nil {
			t.Errorf("the cases are taken for a policy: %v", err)
		}
		if cases, err := policy.LoadCases(path); err != nil || len(cases) != 3 {
			t.Errorf("%s: %d cases, %v", path, len(cases), err)
		}
	}
	if _, err := policy.LoadCases(t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no *.test.yaml") {
		t.Errorf("no cases: %v", err)
	}
}
