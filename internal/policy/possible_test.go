package policy_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/policy"
)

// TestPossible: of a call of which some is not known, the decision that would be right is among those that are possible, and is the
// only one where all is known.
func TestPossible(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	unsure, alone := 0, 0
	for range 100 {
		text := draw(r).text()
		p := parse(t, text)
		for range 10 {
			call := drawCall(r)
			want := p.Decide(call)
			known := policy.Partly{Call: *call}
			if got := p.Possible(&known); !slices.Equal(got.Actions, []policy.Action{want.Action}) || got.Unsure != nil || got.MoreLabels != nil {
				t.Fatalf("all is known: %+v, want %+v\ncall %+v\n%s", got, want, call, text)
			}
			partly := hide(r, *call)
			got := p.Possible(&partly)
			if !slices.Contains(got.Actions, want.Action) || !slices.IsSorted(got.Actions) || (len(got.Actions) > 1) != (got.Unsure != nil) {
				t.Fatalf("%+v, it would be %+v\ncall %+v\nknown %+v\n%s", got, want, call, partly, text)
			}
			if len(got.Actions) > 1 {
				unsure++
			} else {
				alone++
			}
			if want.Action == policy.Deny {
				continue
			}
			if want.Read && !got.Reads || !want.Read && !got.Mutates {
				t.Fatalf("%+v, it would be %+v\nknown %+v\n%s", got, want, partly, text)
			}
			for _, l := range labels {
				sure, may := slices.Contains(got.Labels, l), slices.Contains(got.MoreLabels, l)
				if has := slices.Contains(want.Labels, l); has && !sure && !may || sure && !has {
					t.Fatalf("label %s: %+v, it would be %+v\nknown %+v\n%s", l, got, want, partly, text)
				}
			}
		}
	}
	if unsure < 50 || alone < 50 {
		t.Errorf("%d unsure, %d sure: it tells nothing", unsure, alone)
	}
}

// hide makes some of a call unknown, and puts something else in its place.
func hide(r *rand.Rand, c policy.Call) policy.Partly {
	p := policy.Partly{Call: c}
	if p.NoArgs = r.IntN(2) == 0; p.NoArgs {
		p.Args = nil
	}
	if p.NoTask = r.IntN(2) == 0; p.NoTask {
		p.Task = ""
	}
	p.MoreMutations = r.Int64N(c.Run.Mutations + 1)
	p.Run.Mutations -= p.MoreMutations
	p.MoreMutations += r.Int64N(2)
	p.MoreDenied = r.Int64N(c.Run.Denied + 1)
	p.Run.Denied -= p.MoreDenied
	p.Run.Labels = nil
	for _, l := range labels {
		switch has := slices.Contains(c.Run.Labels, l); {
		case r.IntN(3) == 0:
			p.MoreLabels = append(p.MoreLabels, l)
		case has:
			p.Run.Labels = append(p.Run.Labels, l)
		}
	}
	return p
}

func TestPossibleSays(t *testing.T) {
	p := parse(t, example)
	for _, c := range []struct {
		name, server, tool string
		call               policy.Partly
		want               policy.Possible
	}{
		{"nothing is looked at", "github", "get_issue", policy.Partly{NoArgs: true, Call: policy.Call{Annotations: map[string]bool{"destructiveHint": false}}}, policy.Possible{
			Actions: []policy.Action{policy.Allow}, By: "reads", Labels: []string{"read", "untrusted"}, Reads: true}},
		{"a rule looks at what is not known", "github", "get_issue", policy.Partly{NoAnnotations: true}, policy.Possible{
			Actions: []policy.Action{policy.Ask, policy.Allow}, Unsure: []string{`rule "by its own word" looks at annotations`},
			Labels: []string{"untrusted"}, MoreLabels: []string{"read"}, Reads: true, Mutates: true}},
		{"it may be denied", "mail", "send", policy.Partly{NoArgs: true}, policy.Possible{
			Actions: []policy.Action{policy.Deny, policy.Ask}, Unsure: []string{`rule "no mail to the world" looks at args`},
			Labels: []string{"external"}, Mutates: true}},
		{"hard denies need no arguments", "db", "drop_table", policy.Partly{NoArgs: true}, policy.Possible{
			Actions: []policy.Action{policy.Deny}, By: "deny", Mutates: true}},
		{"a rule, or no rule", "pay", "refund", policy.Partly{NoArgs: true, MoreLabels: []string{"untrusted"}}, policy.Possible{
			Actions: []policy.Action{policy.Ask, policy.Allow}, Unsure: []string{`rule "small refunds" looks at args`},
			MoreLabels: []string{"external", "write"}, Mutates: true}},
		{"labels that the run may have", "pay", "refund",
			policy.Partly{Call: policy.Call{Args: map[string]any{"amount": int64(1)}}, MoreLabels: []string{"untrusted"}}, policy.Possible{
				Actions: []policy.Action{policy.Ask, policy.Allow},
				Unsure:  []string{`flow "untrusted to external": the run may have read what is untrusted`},
				Labels:  []string{"external", "write"}, Mutates: true}},
		{"mutations that it may have made", "mail", "list", policy.Partly{NoTask: true, Call: policy.Call{Args: map[string]any{"to": []any{}}, Run: policy.Run{Mutations: 19}}, MoreMutations: 1},
			policy.Possible{Actions: []policy.Action{policy.Deny, policy.Ask}, Unsure: []string{"the run may have made as many calls that change something as it may"}, Mutates: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.call.Server, c.call.Tool = c.server, c.tool
			if diff := cmp.Diff(c.want, p.Possible(&c.call)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
