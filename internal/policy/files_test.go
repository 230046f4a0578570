package policy_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/sandboxd/sandboxd/internal/policy"
)

// TestFiles: the policy that a package installs asks about everything, and its examples and the ones of examples/ hold.
func TestFiles(t *testing.T) {
	text, err := os.ReadFile("../../packaging/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	installed := parse(t, string(text))
	if d := installed.Decide(&policy.Call{Server: "a", Tool: "b"}); installed.Rules() != 0 || d.Action != policy.Ask || installed.Limits() != (policy.Limits{}) {
		t.Errorf("the installed policy has %d rules, and decides %+v", installed.Rules(), d)
	}
	opened := parse(t, string(regexp.MustCompile(`(?m)^#(\w|  +\S)`).ReplaceAll(text, []byte("$1"))))
	if got := opened.Warnings(); opened.Rules() != 4 || opened.Limits().CallsPerRun == 0 || got != nil {
		t.Errorf("with its examples it has %d rules, and warnings %q", opened.Rules(), got)
	}

	const example = "../../examples/policy.yaml"
	p, err := policy.Load(example)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Warnings(); got != nil {
		t.Errorf("%s: %q", example, got)
	}
	cases, err := policy.LoadCases(example)
	if err != nil || len(cases) < 20 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, f := range p.Test(cases) {
		t.Errorf("%s: %s: %s by %s, want %s by %s\n%+v", f.Place, f.Name, f.Got.Action, f.Got.Rule, f.Want, f.Rule, f.Steps)
	}
}
