package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/policy"
)

// example is the policy of docs/policy.md.
const example = `version: 1
deny: ["db.drop_*", "*.delete_*"]
unknown: ask
rules:
  - name: reads
    tools: ["github.list_*", "github.get_*"]
    action: allow
    guard: skip
    labels: [read, untrusted]
  - name: small refunds
    tools: ["pay.refund"]
    when: args.amount <= 100 && run.mutations < 5
    action: allow
    labels: [write, external]
  - name: mail
    tools: ["mail.send"]
    action: ask
    labels: [external]
  - name: no mail to the world
    tools: [mail.*]
    when: args.to.exists(t, !t.endsWith("@example.com"))
    action: deny
  - name: by its own word
    tools: ["github.*"]
    when: annotations.destructiveHint
    action: ask
flows:
  - from: [untrusted]
    to: [external]
    action: ask
limits:
  calls_per_run: 32
  mutations_per_run: 20
  denied_per_run: 5
  per_caller: {runs_per_minute: 600, mutations_per_minute: 200}
`

func parse(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func args(t testing.TB, text string) map[string]any {
	t.Helper()
	a, err := policy.ReadArguments([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return a.Value
}

// TestReason: a rule's own words are the reason, unless its condition is why nobody knows.
func TestReason(t *testing.T) {
	p := parse(t, "version: 1\nrules:\n- {name: large, tools: [pay.refund], when: args.amount > 100, action: deny, reason: finance refunds more than 100}\n")
	for text, want := range map[string]string{
		`{"amount":101}`: "finance refunds more than 100",
		`{}`:             `the condition of rule "large" can't be evaluated for this call: no such key: amount`,
	} {
		if d := p.Decide(&policy.Call{Server: "pay", Tool: "refund", Args: args(t, text)}); d.Action != policy.Deny || d.Rule != "large" || d.Reason != want {
			t.Errorf("%s: %+v, want %s", text, d, want)
		}
	}
}

func TestDecide(t *testing.T) {
	p := parse(t, example)
	for _, c := range []struct {
		name, tool, args string
		run              policy.Run
		annotations      map[string]bool
		want             policy.Decision
	}{
		{name: "denied for ever", tool: "db.drop_table", want: policy.Decision{Rule: "deny", Reason: "db.drop_table may never be called (deny: db.drop_*)"}},
		{name: "denied on every server", tool: "github.delete_repo", want: policy.Decision{Rule: "deny", Reason: "github.delete_repo may never be called (deny: *.delete_*)"}},
		{name: "no rule", tool: "db.query",
			want: policy.Decision{Action: policy.Ask, Rule: "unknown", Reason: "no rule matches this call of db.query", Guard: true}},
		{name: "a read", tool: "github.list_issues", annotations: map[string]bool{"destructiveHint": false},
			want: policy.Decision{Action: policy.Allow, Rule: "reads", Reason: `the policy allows it`, Read: true, Labels: []string{"read", "untrusted"}}},
		{name: "a hint makes it stricter", tool: "github.list_issues", annotations: map[string]bool{"destructiveHint": true}, want: policy.Decision{
			Action: policy.Ask, Rule: "by its own word", Reason: `the policy asks about it when annotations.destructiveHint`, Guard: true, Labels: []string{"untrusted"}}},
		{name: "no hint is no word", tool: "github.list_issues", want: policy.Decision{Action: policy.Ask, Rule: "by its own word",
			Reason: `the condition of rule "by its own word" can't be evaluated for this call: no such key: destructiveHint`, Guard: true, Labels: []string{"untrusted"}}},
		{name: "small", tool: "pay.refund", args: `{"amount":100}`, want: policy.Decision{
			Action: policy.Allow, Rule: "small refunds", Reason: `the policy allows it when args.amount <= 100 && run.mutations < 5`, Guard: true, Labels: []string{"write", "external"}}},
		{name: "small, as a float", tool: "pay.refund", args: `{"amount":99.5}`, want: policy.Decision{
			Action: policy.Allow, Rule: "small refunds", Reason: `the policy allows it when args.amount <= 100 && run.mutations < 5`, Guard: true, Labels: []string{"write", "external"}}},
		{name: "large", tool: "pay.refund", args: `{"amount":101}`, want: policy.Decision{
			Action: policy.Ask, Rule: "unknown", Reason: "no rule matches this call of pay.refund", Guard: true}},
		{name: "many", tool: "pay.refund", args: `{"amount":1}`, run: policy.Run{Mutations: 5}, want: policy.Decision{
			Action: policy.Ask, Rule: "unknown", Reason: "no rule matches this call of pay.refund", Guard: true}},
		{name: "an amount that is none does not allow", tool: "pay.refund", args: `{"amount":"1"}`, want: policy.Decision{
			Action: policy.Ask, Rule: "unknown", Reason: "no rule matches this call of pay.refund", Guard: true}},
		{name: "asked", tool: "mail.send", args: `{"to":["a@example.com"]}`, want: policy.Decision{
			Action: policy.Ask, Rule: "mail", Reason: `the policy asks about it`, Guard: true, Labels: []string{"external"}}},
		{name: "deny beats ask", tool: "mail.send", args: `{"to":["a@example.com","b@example.org"]}`, want: policy.Decision{
			Rule: "no mail to the world", Reason: `the policy denies it when args.to.exists(t, !t.endsWith("@example.com"))`}},
		{name: "what can't be judged is denied", tool: "mail.send", args: `{}`, want: policy.Decision{Rule: "no mail to the world",
			Reason: `the condition of rule "no mail to the world" can't be evaluated for this call: no such key: to`}},
		{name: "sends after reads", tool: "pay.refund", args: `{"amount":1}`, run: policy.Run{Labels: []string{"read", "untrusted"}}, want: policy.Decision{
			Action: policy.Ask, Rule: "untrusted to external", Reason: "the run has read what is untrusted, and this call is external", Guard: true, Labels: []string{"write", "external"}}},
		{name: "too many calls", tool: "github.list_issues", run: policy.Run{Calls: 32}, want: policy.Decision{
			Rule: "limits.calls_per_run", Reason: "the run has made its 32 calls"}},
		{name: "too many mutations", tool: "pay.refund", args: `{"amount":500}`, run: policy.Run{Mutations: 20}, want: policy.Decision{
			Rule: "limits.mutations_per_run", Reason: "the run has made its 20 calls that change something"}},
		{name: "reads are no mutations", tool: "github.list_issues", annotations: map[string]bool{"destructiveHint": false}, run: policy.Run{Mutations: 20},
			want: policy.Decision{Action: policy.Allow, Rule: "reads", Reason: `the policy allows it`, Read: true, Labels: []string{"read", "untrusted"}}},
		{name: "names are as they are", tool: "GitHub.list_issues",
			want: policy.Decision{Action: policy.Ask, Rule: "unknown", Reason: "no rule matches this call of GitHub.list_issues", Guard: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.args == "" {
				c.args = "{}"
			}
			server, tool, _ := strings.Cut(c.tool, ".")
			call := &policy.Call{Server: server, Tool: tool, Args: args(t, c.args), Annotations: c.annotations, Run: c.run}
			if diff := cmp.Diff(c.want, p.Decide(call)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got, want := p.Limits(), (policy.Limits{32, 20, 5, 600, 200}); got != want {
		t.Errorf("limits %+v, want %+v", got, want)
	}
}

// TestZero: what nobody wrote denies.
func TestZero(t *testing.T) {
	if d := (policy.Decision{}); d.Action != policy.Deny {
		t.Errorf("the zero decision is %s", d.Action)
	}
	if d := parse(t, "version: 1\n").Decide(&policy.Call{Server: "a", Tool: "b"}); d.Action != policy.Deny || d.Rule != "unknown" {
		t.Errorf("a policy without rules: %+v", d)
	}
	if d := new(policy.Policy).Decide(&policy.Call{Server: "a", Tool: "b"}); d.Action != policy.Deny {
		t.Errorf("the zero policy: %+v", d)
	}
}

// TestConditions has one rule that allows, and one that denies, with each condition.
func TestConditions(t *testing.T) {
	const holds, fails, broken = "holds", "fails", "broken"
	call := &policy.Call{
		Server: "db", Tool: "query", Task: "refund order 7",
		Args: args(t, `{"sql":"DELETE FROM t","n":3,"x":1.5,"list":[1,"a",null],"inner":{"deep":{"er":true}},"big":9007199254740993,"odd-name":1}`),
		Run:  policy.Run{Calls: 4, Mutations: 2, Denied: 1, Labels: []string{"untrusted", "read"}}, Caller: policy.Caller{UID: 1000, GID: 100, Gateway: "bot"},
	}
	for condition, want := range map[string]string{
		`true`:                                          holds,
		`args.sql.matches("(?i)^\\s*delete\\b")`:        holds,
		`args.sql.startsWith("SELECT")`:                 fails,
		`args.n == 3 && args.n < 3.5 && args.x > 1`:     holds,
		`args["odd-name"] == 1`:                         holds,
		`args.inner.deep.er`:                            holds,
		`args.list.size() == 3 && args.list[2] == null`: holds,
		`"a" in args.list`:                              holds,
		`has(args.missing)`:                             fails,
		`has(args.missing) && args.missing`:             fails,
		`args.missing`:                                  broken,
		`args.sql > 3`:                                  broken,
		`args.list[9] == 1`:                             broken,
		`args.n / 0 == 1`:                               broken,
		`args.sql`:                                      broken,
		`args.list.map(x, args.list.map(y, args.list.map(z, args.list.map(w, args.list.map(v, args.list.map(u, args.list.map(t, args.list.map(s, args.list.map(r, r))))))))).size() > 0`: broken, // too much work
		`args.big == 9007199254740992.0`:                                     holds,
		`server == "db" && tool == "db.query"`:                               holds,
		`task.contains("order")`:                                             holds,
		`run.calls == 4 && run.mutations == 2 && run.denied == 1`:            holds,
		`"untrusted" in run.labels`:                                          holds,
		`sets.intersects(run.labels, ["a", "read"])`:                         holds,
		`caller.uid == 1000 && caller.gid == 100 && caller.gateway == "bot"`: holds,
		`cidr("10.0.0.0/8").containsIP("10.1.2.3")`:                          holds,
	} {
		yaml := fmt.Sprintf("version: 1\nunknown: ask\nrules:\n- {name: r, tools: [db.query], when: %q, action: %%s}\n", condition)
		allow := parse(t, fmt.Sprintf(yaml, "allow")).Decide(call).Action
		deny := parse(t, fmt.Sprintf(yaml, "deny")).Decide(call).Action
		got := map[[2]policy.Action]string{{policy.Allow, policy.Deny}: holds, {policy.Ask, policy.Ask}: fails, {policy.Ask, policy.Deny}: broken}[[2]policy.Action{allow, deny}]
		if got != want {
			t.Errorf("%s: %q (%s, %s), want %q", condition, got, allow, deny, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "p.yaml: version: 0: this sandboxd reads version 1"},
		{"version: 2\n", "p.yaml:1: version: 2: this sandboxd reads version 1"},
		{"version: 1\nrule: []\n", `p.yaml:2: there is no field "rule" here; there are: rules, version, deny, unknown, flows, limits, redact`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], acton: allow}\n", `p.yaml:3: there is no field "acton" here; there are: action, name, tools, when, reason, guard, labels, redact`},
		{"version: 1\nlimits: {per_caller: {runs a minute: 1}}\n", `p.yaml:2: there is no field "runs a minute" here; there are: runs_per_minute, mutations_per_minute`},
		{"version: 1\nunknown: maybe\n", `p.yaml:2: unknown: "maybe": want allow, ask or deny`},
		{"version: 1\nunknown: \"\"\n", `p.yaml:2: unknown: is missing: want allow, ask or deny`},
		{"version: 1\ndeny: [drop]\n", `p.yaml:2: "drop" is no pattern of tools: want SERVER.TOOL`},
		{"version: 1\ndeny: [a.b.c]\n", `p.yaml:2: "a.b.c" has two dots: say which name has one, {server: …, tool: …}`},
		{"version: 1\ndeny: [\"a.[bc]\"]\n", `'[' is not special here`},
		{"version: 1\ndeny: [{server: a}]\n", `p.yaml:2: want both, {server: …, tool: …}`},
		{"version: 1\ndeny: [{server: a, tool: b, x: c}]\n", `p.yaml:2: there is no field "x" here`},
		{"version: 1\ndeny: [[a.b]]\n", `p.yaml:2: want SERVER.TOOL, or {server: …, tool: …}`},
		{"version: 1\nrules:\n- tools: [a.b]\n  action: allow\n", `p.yaml:3: rules[0]: has no name`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: allow}\n- {name: x, tools: [a.b], action: ask}\n", `p.yaml:4: rules[1]: the name "x" is taken, at p.yaml:3`},
		{"version: 1\nrules:\n- {name: unknown, tools: [a.b], action: allow}\n", `"unknown" is a name of sandboxd's own`},
		{"version: 1\nrules:\n- {name: \"a\\u202eb\", tools: [a.b], action: allow}\n", `nothing that can't be seen`},
		{"version: 1\nrules:\n- {name: x, action: allow}\n", `p.yaml:3: rules[0]: names no tools`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b]}\n", `rules[0].action: is missing: want allow, ask or deny`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: block}\n", `p.yaml:3: rules[0].action: "block": want allow, ask or deny`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: allow, guard: never}\n", `rules[0].guard: "never": there is only skip`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: deny, guard: skip}\n", `the guard is not asked about what is denied`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: allow, reason: why}\n", `p.yaml:3: rules[0].reason: what is allowed needs none`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: label, labels: [l], reason: why}\n", `what is allowed needs none`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: deny, reason: \"\"}\n", `rules[0].reason: want 1 to 300 bytes`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: deny, reason: \"a\\nb\"}\n", `rules[0].reason: want 1 to 300 bytes`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: ask, reason: " + strings.Repeat("x", 301) + "}\n", `rules[0].reason: want 1 to 300 bytes`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: label}\n", `action is label, and there are no labels`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: label, labels: [read]}\n", `read must stand at the rule that allows`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: allow, labels: [Big]}\n", `rules[0].labels[0]: "Big" is no label`},
		{"version: 1\nrules:\n- name: x\n  tools: [a.b]\n  action: allow\n  when: args.a ==\n", `p.yaml:6: rules[0].when: column 10: Syntax error`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: allow, when: run.mutation < 5}\n", `undeclared reference to 'run`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: allow, when: run.mutations}\n", `it gives int: want true or false`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: allow, when: \"\"}\n", `rules[0].when: column`},
		{"version: 1\nrules:\n- {name: x, tools: [a.b], action: allow, when: annotations.readOnlyHint}\n", `annotations are what a server says of its own tools`},
		{"version: 1\nflows:\n- {from: [a], to: [b], action: ask}\n", `p.yaml:3: flow "a to b": no rule has the label "a"`},
		{"version: 1\nflows:\n- {from: [a], action: ask}\n", `want labels on both sides`},
		{"version: 1\nflows:\n- {from: [a], to: [b], action: allow}\n", `a flow can ask or deny`},
		{"version: 1\nlimits: {calls_per_run: 0}\n", `p.yaml:2: limits.calls_per_run: 0: must be 1 to 1000000`},
		{"version: 1\nlimits: {per_caller: {runs_per_minute: -1}}\n", `limits.per_caller.runs_per_minute: -1: must be 1 to`},
	} {
		_, err := policy.Parse("p.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.text, err, c.want)
		}
	}
	_, err := policy.Parse("p.yaml", []byte("version: 1\nunknown: x\nrules:\n- {name: a}\nlimits: {calls_per_run: -3}\n"))
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("all mistakes at once: %v", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := policy.Load(dir); err == nil || !strings.Contains(err.Error(), "has no *.yaml") {
		t.Errorf("an empty directory: %v", err)
	}
	write("10-base.yaml", "version: 1\nunknown: allow\nrules:\n- {name: a, tools: [x.*], action: allow}\nlimits: {calls_per_run: 9}\n")
	write("20-site.yaml", "version: 1\nunknown: ask\ndeny: [x.drop]\nrules:\n- {name: b, tools: [x.b], action: ask}\nlimits: {calls_per_run: 20, denied_per_run: 3}\n")
	write("notes.txt", "not a policy")
	p, err := policy.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]policy.Action{"x.a": policy.Allow, "x.b": policy.Ask, "x.drop": policy.Deny, "y.a": policy.Ask} {
		server, name, _ := strings.Cut(tool, ".")
		if d := p.Decide(&policy.Call{Server: server, Tool: name}); d.Action != want {
			t.Errorf("%s: %s, want %s", tool, d.Action, want)
		}
	}
	if got, want := p.Limits(), (policy.Limits{CallsPerRun: 9, DeniedPerRun: 3}); got != want {
		t.Errorf("limits %+v, want %+v", got, want)
	}
	write("30-twice.yaml", "version: 1\nrules:\n- {name: a, tools: [y.a], action: ask}\n")
	if _, err := policy.Load(dir); err == nil || !strings.Contains(err.Error(), `30-twice.yaml:3: rules[0]: the name "a" is taken, at `+dir+"/10-base.yaml:4") {
		t.Errorf("one name in two files: %v", err)
	}
	if _, err := policy.Load(filepath.Join(dir, "none.yaml")); err == nil {
		t.Error("a file that is not there was loaded")
	}
}

func TestWarnings(t *testing.T) {
	got := parse(t, `version: 1
deny: ["*.drop_*"]
unknown: allow
rules:
- {name: dead, tools: [db.drop_table, "pg.drop_*"], action: ask}
- {name: half dead, tools: [db.drop_table, db.query], action: ask}
- {name: asked, tools: ["mail.*"], action: ask}
- {name: in vain, tools: [mail.send, "mail.list_*"], action: allow}
- {name: not in vain, tools: [mail.send, box.list], action: allow}
- {name: not always, tools: [box.*], action: deny, when: args.x}
- {name: never, tools: [box.list], action: deny, when: "1 > 2"}
- {name: all, tools: ["*"], action: allow, guard: skip}
`).Warnings()
	want := []string{
		"p.yaml:3: unknown: allow lets every call through that no rule names: use ask or deny, and name what may be called",
		`p.yaml:5: rule "dead" is never reached: deny names all of its tools`,
		`p.yaml:8: rule "in vain" never decides: rule "asked" (p.yaml:7) makes all of its tools ask`,
		`p.yaml:11: rule "never" never matches: 1 > 2 is false for every call`,
		`p.yaml:12: rule "all" allows every tool, without asking the guard`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := parse(t, example).Warnings(); got != nil {
		t.Errorf("of the example: %q", got)
	}
}

func TestExplain(t *testing.T) {
	p := parse(t, example)
	_, steps := p.Explain(&policy.Call{Server: "pay", Tool: "refund", Args: args(t, `{"amount":3}`), Run: policy.Run{Labels: []string{"untrusted"}}})
	var got []string
	for _, s := range steps {
		got = append(got, fmt.Sprintf("%s (%s) %s %v: %s", s.What, s.Place, s.Action, s.Matched, s.Why))
	}
	want := []string{
		"limits.calls_per_run () deny false: the run has made 0 of 32",
		"rule small refunds (p.yaml:10) allow true: when args.amount <= 100 && run.mutations < 5",
		"limits.mutations_per_run () deny false: the run has made 0 of 20",
		"flow untrusted to external (p.yaml:28) ask true: the run has read what is untrusted, and this call is external",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, steps = p.Explain(&policy.Call{Server: "pay", Tool: "refund", Args: args(t, `{}`)})
	if len(steps) != 5 || steps[1].Matched || !strings.Contains(steps[1].Why, "no such key: amount") || steps[2].What != "unknown" || steps[4].Matched {
		t.Errorf("without an amount: %+v", steps)
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, server, tool string
		want                  bool
	}{
		{"a.b", "a", "b", true}, {"a.b", "a", "bb", false}, {"a.b", "A", "b", false},
		{"*", "a", "b.c", true}, {"*.*", "a", "b", true}, {"a.*", "a", "b.c", true}, {"a.*", "a.b", "c", false}, {"*.b", "a.b", "c", false},
		{"a.list_*", "a", "list_", true}, {"a.list_*", "a", "list", false}, {"a.*_*_x", "a", "1_2_x", true}, {"a.*_*_x", "a", "1_x", false},
		{"a.*ab*ab", "a", "abab", true}, {"a.*ab*ab", "a", "ab", false}, {"a.**", "a", "x", true},
		{"{server: a.b, tool: c.d}", "a.b", "c.d", true}, {"{server: a.b, tool: c.*}", "a", "b.c.d", false},
	} {
		written := c.pattern
		if written[0] != '{' {
			written = fmt.Sprintf("%q", written)
		}
		p := parse(t, fmt.Sprintf("version: 1\nunknown: allow\ndeny:\n- %s\n", written))
		if got := p.Decide(&policy.Call{Server: c.server, Tool: c.tool}).Action == policy.Deny; got != c.want {
			t.Errorf("%s and %s %s: %v, want %v", c.pattern, c.server, c.tool, got, c.want)
		}
	}
}
