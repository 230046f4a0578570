package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/policy"
)

func TestRedact(t *testing.T) {
	p := parse(t, `version: 1
redact: [console, value]
deny: [x.never]
rules:
- {name: reads, tools: ["x.*"], action: allow, redact: [result]}
- {name: sends, tools: [x.send], action: ask, redact: [arguments]}
- {name: sometimes, tools: [x.maybe], action: allow, when: args.a == 1, redact: [arguments]}
- {name: in doubt, tools: [x.doubt], action: label, when: args.a == 1, redact: [arguments]}
- {name: no, tools: [x.no], action: deny}
- {name: any, tools: ["y.*"], action: label, redact: [arguments, result]}
- {name: plain, tools: [z.z], action: allow}
`)
	for tool, want := range map[string]policy.Redaction{
		"x.read":  {Result: true},
		"x.send":  {Arguments: true, Result: true},
		"x.maybe": {Result: true},                  // the rule does not match
		"x.doubt": {Arguments: true, Result: true}, // its condition can't be evaluated
		"x.no":    {},
		"x.never": {},
		"y.y":     {Arguments: true, Result: true},
		"z.z":     {},
	} {
		server, name, _ := strings.Cut(tool, ".")
		if got := p.Decide(&policy.Call{Server: server, Tool: name, Args: map[string]any{}}).Redact; got != want {
			t.Errorf("%s: %+v, want %+v", tool, got, want)
		}
	}
	if got, want := p.Redact(), (policy.AnswerRedaction{Value: true, Console: true}); got != want {
		t.Errorf("of the answer: %+v, want %+v", got, want)
	}
	if got := parse(t, "version: 1\n").Redact(); got != (policy.AnswerRedaction{}) {
		t.Errorf("of a policy that does not ask: %+v", got)
	}
}

func TestRedactRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"version: 1\nredact: [values]\n": `p.yaml:2: redact[0]: "values": want some of console, errors, value`,
		"version: 1\nredact: []\n":       `p.yaml:2: redact: names nothing: want some of console, errors, value, or leave it out`,
		"version: 1\nrules:\n- {name: x, tools: [a.b], action: allow, redact: [value]}\n":                  `p.yaml:3: rules[0].redact[0]: "value": want some of arguments, result`,
		"version: 1\nrules:\n- name: x\n  tools: [a.b]\n  action: deny\n  redact: [result]\n":              `p.yaml:6: rules[0].redact: a call that is denied has nothing to redact`,
		"version: 1\nrules:\n- {name: x, tools: [a.b], action: allow, redact: [result, arguments, all]}\n": `rules[0].redact[2]: "all"`,
		"version: 1\nrules:\n- {name: x, tools: [a.b], action: label, redact: []}\n":                       `action is label, and there are no labels and nothing to redact`,
	} {
		if _, err := policy.Parse("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}

// TestRedactOfFiles: what one file asks for counts.
func TestRedactOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"1.yaml": "version: 1\nredact: [value]\n", "2.yaml": "version: 1\n", "3.yaml": "version: 1\nredact: [errors]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := policy.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Redact(), (policy.AnswerRedaction{Value: true, Errors: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
