package policy_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandboxd/sandboxd/internal/policy"
)

// drawn is a policy that was drawn by lot, in parts that can be taken out.
type drawn struct {
	deny    []string
	unknown policy.Action
	rules   []drawnRule
	flows   []drawnFlow

	calls, mutations int64 // limits; 0: none
}

type drawnRule struct {
	name, tools, when, action string
	guard                     bool // skip
	labels                    []string
}

type drawnFlow struct{ from, to, action string }

// outcomes are conditions, and what they are for the call that is drawn: 1 holds, 0 not, -1 can't be evaluated.
var outcomes = map[string]func(*policy.Call) int{
	"":               func(*policy.Call) int { return 1 },
	"args.n > 2":     func(c *policy.Call) int { return truth(c.Args["n"].(int64) > 2) },
	"args.missing":   func(*policy.Call) int { return -1 },
	"args.s > 1":     func(*policy.Call) int { return -1 },
	"run.calls < 3":  func(c *policy.Call) int { return truth(c.Run.Calls < 3) },
	"task == 'help'": func(c *policy.Call) int { return truth(c.Task == "help") },

	"has(args.n) && [1, 2].exists(x, x == args.n)": func(c *policy.Call) int { return truth(c.Args["n"] == int64(1) || c.Args["n"] == int64(2)) },

	"run.denied == 1":        func(c *policy.Call) int { return truth(c.Run.Denied == 1) },
	"run.mutations > 1":      func(c *policy.Call) int { return truth(c.Run.Mutations > 1) },
	"'secret' in run.labels": func(c *policy.Call) int { return truth(slices.Contains(c.Run.Labels, "secret")) },
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

var labels = []string{"read", "untrusted", "external", "secret"}

func draw(r *rand.Rand) drawn {
	d := drawn{unknown: pick(r, policy.Deny, policy.Ask, policy.Allow)}
	if r.IntN(3) == 0 {
		d.deny = append(d.deny, pick(r, "a.x", "*.y", "a.*"))
	}
	for i := range r.IntN(7) {
		rule := drawnRule{name: fmt.Sprintf("r%d", i), tools: pick(r, "a.x", "a.*", "*.x", "*", "b.z"), action: pick(r, "allow", "allow", "ask", "deny", "label")}
		rule.when = pick(r, "", "", "args.n > 2", "args.missing", "args.s > 1", "run.calls < 3", "task == 'help'",
			"has(args.n) && [1, 2].exists(x, x == args.n)", "run.denied == 1", "run.mutations > 1", "'secret' in run.labels")
		rule.guard = r.IntN(3) == 0 && (rule.action == "allow" || rule.action == "ask")
		for _, l := range labels {
			if r.IntN(4) == 0 && (rule.action != "label" || l != "read") {
				rule.labels = append(rule.labels, l)
			}
		}
		if rule.action == "label" && rule.labels == nil {
			rule.labels = []string{"secret"}
		}
		d.rules = append(d.rules, rule)
	}
	for range r.IntN(3) {
		d.flows = append(d.flows, drawnFlow{pick(r, labels...), pick(r, labels...), pick(r, "ask", "deny")})
	}
	if r.IntN(3) == 0 {
		d.calls, d.mutations = 2+r.Int64N(4), 1+r.Int64N(4)
	}
	// A rule that matches nothing, for labels that flows name.
	d.rules = append(d.rules, drawnRule{name: "labels", tools: "nobody.nothing", action: "allow", labels: labels})
	return d
}

func drawCall(r *rand.Rand) *policy.Call {
	c := &policy.Call{
		Server: pick(r, "a", "b"), Tool: pick(r, "x", "y", "z"), Task: pick(r, "help", ""),
		Args: map[string]any{"n": int64(r.IntN(5)), "s": "text"}, Run: policy.Run{Calls: int64(r.IntN(5)), Mutations: int64(r.IntN(4)), Denied: int64(r.IntN(3))},
	}
	for _, l := range labels {
		if r.IntN(2) == 0 {
			c.Run.Labels = append(c.Run.Labels, l)
		}
	}
	return c
}

func (d drawn) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nunknown: %s\ndeny: [%s]\n", d.unknown, quoted(d.deny))
	for i, r := range d.rules {
		if i == 0 {
			b.WriteString("rules:\n")
		}
		fmt.Fprintf(&b, "- {name: %s, tools: [%q], action: %s, labels: [%s]", r.name, r.tools, r.action, quoted(r.labels))
		if r.when != "" {
			fmt.Fprintf(&b, ", when: %q", r.when)
		}
		if r.guard {
			b.WriteString(", guard: skip")
		}
		b.WriteString("}\n")
	}
	b.WriteString("flows:\n")
	for i, f := range d.flows {
		fmt.Fprintf(&b, "- {name: f%d, from: [%s], to: [%s], action: %s}\n", i, f.from, f.to, f.action)
	}
	text := strings.TrimSuffix(b.String(), "flows:\n")
	if d.calls > 0 {
		text += fmt.Sprintf("limits: {calls_per_run: %d, mutations_per_run: %d}\n", d.calls, d.mutations)
	}
	return text
}

func quoted(all []string) string {
	q := make([]string, len(all))
	for i, s := range all {
		q[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(q, ", ")
}

// reference decides as the documentation says, one sentence after the other, and by nothing of the package but its names.
func (d drawn) reference(c *policy.Call) policy.Decision {
	has := func(pattern string) bool {
		server, tool, _ := strings.Cut(pattern, ".")
		return pattern == "*" || (server == "*" || server == c.Server) && (tool == "*" || tool == c.Tool)
	}
	if slices.ContainsFunc(d.deny, has) {
		return policy.Decision{Rule: policy.RuleDeny}
	}
	if d.calls > 0 && c.Run.Calls >= d.calls {
		return policy.Decision{Rule: policy.RuleCalls}
	}
	first, brought := map[string]string{}, map[string]bool{} // the first rule of each action, the labels
	guard, read, deciding := false, true, 0
	for _, r := range d.rules {
		if !has(r.tools) {
			continue
		}
		switch holds := outcomes[r.when](c); {
		case holds == 0, holds < 0 && r.action == "allow":
			continue
		}
		for _, l := range r.labels {
			brought[l] = true
		}
		if first[r.action] == "" {
			first[r.action] = r.name
		}
		if r.action != "label" {
			deciding++
			guard = guard || !r.guard
			read = read && slices.Contains(r.labels, "read")
		}
	}
	action, by := d.unknown, policy.RuleUnknown
	switch {
	case first["deny"] != "":
		return policy.Decision{Rule: first["deny"]}
	case first["ask"] != "":
		action, by = policy.Ask, first["ask"]
	case first["allow"] != "":
		action, by = policy.Allow, first["allow"]
	}
	if deciding == 0 {
		guard, read = true, false
	}
	if !read {
		delete(brought, "read")
	}
	if action == policy.Deny {
		return policy.Decision{Rule: by}
	}
	if d.mutations > 0 && !read && c.Run.Mutations >= d.mutations {
		return policy.Decision{Rule: policy.RuleMutations}
	}
	for i, f := range d.flows {
		strict := map[string]policy.Action{"ask": policy.Ask, "deny": policy.Deny}[f.action]
		if slices.Contains(c.Run.Labels, f.from) && brought[f.to] && strict < action {
			action, by = strict, fmt.Sprintf("f%d", i)
		}
	}
	if action == policy.Deny {
		return policy.Decision{Rule: by}
	}
	out := policy.Decision{Action: action, Rule: by, Guard: guard, Read: read}
	for _, l := range labels {
		if brought[l] {
			out.Labels = append(out.Labels, l)
		}
	}
	return out
}

// decides is a decision to be compared without its reason, and with labels as a set; of what is denied only the rule matters.
func decides(t *testing.T, p *policy.Policy, c *policy.Call) policy.Decision {
	t.Helper()
	d := p.Decide(c)
	if d.Rule == "" || d.Reason == "" {
		t.Errorf("a decision without rule or reason: %+v", d)
	}
	if d.Action == policy.Deny {
		return policy.Decision{Rule: d.Rule}
	}
	d.Reason = ""
	slices.SortFunc(d.Labels, func(a, b string) int { return slices.Index(labels, a) - slices.Index(labels, b) })
	return d
}

func TestProperties(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for range 100 {
		d := draw(r)
		p := parse(t, d.text())
		for range 5 {
			c := drawCall(r)
			want := d.reference(c)
			got := decides(t, p, c)
			check := func(what string, ok bool) {
				if !ok && !t.Failed() {
					t.Errorf("%s: %+v, by the reference %+v\ncall %+v\n%s", what, got, want, c, d.text())
				}
			}
			check("deny beats ask, ask beats allow, and labels add up", equal(got, want))
			check("the first of the strictest is told", got.Rule == want.Rule)
			check("once more", reflect.DeepEqual(decides(t, p, c), got))

			// The order of rules says nothing.
			shuffled := d
			shuffled.rules = slices.Clone(d.rules)
			r.Shuffle(len(shuffled.rules), func(i, j int) {
				shuffled.rules[i], shuffled.rules[j] = shuffled.rules[j], shuffled.rules[i]
			})
			check("in another order", equal(decides(t, parse(t, shuffled.text()), c), want))

			// One rule less, or one more, goes in one direction only: but for its labels, which flows and the limit of mutations look at.
			i := r.IntN(len(d.rules))
			all := d
			all.flows, all.calls, all.mutations = nil, 0, 0
			less := all
			less.rules = slices.Delete(slices.Clone(d.rules), i, i+1)
			without, with := parse(t, less.text()).Decide(c).Action, parse(t, all.text()).Decide(c).Action
			switch d.rules[i].action {
			case "allow":
				check("less an allowing rule allows more", without <= with || d.unknown == policy.Allow && without <= d.unknown)
			case "label":
				check("less a rule that labels decides otherwise", without == with)
			default:
				check("one more strict rule allows more", with <= without || d.unknown < with)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func equal(a, b policy.Decision) bool {
	return a.Action == b.Action && a.Guard == b.Guard && a.Read == b.Read && slices.Equal(a.Labels, b.Labels)
}

// TestLessAllows: to take out a rule that allows never allows more, flows and limits included, if what its labels say stays: those that
// flows look at in a rule that only labels, and that a call is no read.
func TestLessAllows(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	less := 0
	for range 200 {
		d := draw(r)
		d.unknown = pick(r, policy.Deny, policy.Ask)
		i := slices.IndexFunc(d.rules, func(r drawnRule) bool { return r.action == "allow" && r.name != "labels" })
		if i < 0 {
			continue
		}
		without := d
		without.rules = slices.Clone(d.rules)
		stays := &without.rules[i]
		stays.action, stays.guard = "label", false
		stays.labels = append(slices.DeleteFunc(slices.Clone(stays.labels), func(l string) bool { return l == policy.LabelRead }), "other")
		before, after := parse(t, d.text()), parse(t, without.text())
		for range 10 {
			c := drawCall(r)
			was, is := before.Decide(c), after.Decide(c)
			if is.Action > was.Action && was.Read == is.Read {
				t.Fatalf("less %s it is %+v, and was %+v\ncall %+v\n%s", stays.name, is, was, c, d.text())
			}
			if is.Action < was.Action {
				less++
			}
		}
	}
	if less < 20 {
		t.Errorf("only %d decisions became stricter: it tells nothing", less)
	}
}

// TestAtOnce: many may ask one policy, which decides as if they were alone, and changes no call.
func TestAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		text := draw(r).text()
		alone, shared := parse(t, text), parse(t, text)
		calls, want := make([]*policy.Call, 200), make([]policy.Decision, 200)
		for i := range calls {
			calls[i] = drawCall(r)
			want[i] = alone.Decide(calls[i])
		}
		before := fmt.Sprintf("%+v", calls[7])
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for i, c := range calls {
					if got := shared.Decide(c); !reflect.DeepEqual(got, want[i]) {
						t.Errorf("%+v, alone %+v", got, want[i])
					}
				}
			})
		}
		all.Wait()
		if after := fmt.Sprintf("%+v", calls[7]); after != before {
			t.Errorf("the call was %s, and is %s", before, after)
		}
	}
}

// TestFilesAreOne: a policy in two files decides as the same in one, and the other way round does, too, but for names.
func TestFilesAreOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		d := draw(r)
		d.flows = nil
		cut := r.IntN(len(d.rules))
		first, second := d, d
		first.rules, second.rules = d.rules[:cut], d.rules[cut:]
		one, p, turned := parse(t, d.text()), load(t, first, second), load(t, second, first)
		for range 10 {
			c := drawCall(r)
			if got, want := decides(t, p, c), decides(t, one, c); !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v, in one file %+v\n%s", got, want, d.text())
			}
			if got, want := decides(t, turned, c), decides(t, one, c); !equal(got, want) {
				t.Fatalf("in another order %+v, in one file %+v\n%s", got, want, d.text())
			}
		}
	}
}

func load(t *testing.T, files ...drawn) *policy.Policy {
	t.Helper()
	dir := t.TempDir()
	for i, f := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), []byte(f.text()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := policy.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// BenchmarkReadArguments has encoding/json as a measure of the machine.
func BenchmarkReadArguments(b *testing.B) {
	text := []byte(`{"repo":"acme/api","title":"retry repeats after reload","body":"` + strings.Repeat("text \\n", 100) + `","labels":["bug","open"],"n":[1,2.5,3]}`)
	for name, read := range map[string]func() error{
		"ours":          func() error { _, err := policy.ReadArguments(text); return err },
		"encoding-json": func() error { var v map[string]any; return json.Unmarshal(text, &v) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
