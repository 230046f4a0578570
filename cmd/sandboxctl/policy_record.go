package main

import (
	"slices"
	"strings"
	"time"

	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/policy"
)

// replayedRun is what the log has of a run.
type replayedRun struct {
	id                string
	torn              bool // and not all of it
	ruled             bool // it had a policy
	caller            policy.Caller
	task              string
	noGateway, noTask bool
	calls             map[int]recorded
}

// start takes the start of a run.
func (r *replay) start(run *replayedRun, e audit.RunStart) {
	run.torn, run.ruled = false, e.Policy != ""
	run.caller = policy.Caller{UID: e.Caller.UID, GID: e.Caller.GID, Gateway: e.Gateway}
	run.noGateway = cut(e.Gateway)
	if e.Intent != nil {
		text, ok := r.stored(*e.Intent)
		run.task, run.noTask = string(text), !ok
	}
}

// cut reports whether the log may have shortened a text.
func cut(text string) bool { return strings.Contains(text, "… (cut from ") }

// stored is what a payload was, if the log has it as it was.
func (r *replay) stored(p audit.Payload) ([]byte, bool) {
	text := []byte(p.Text)
	r.unproved = r.unproved || len(text) > 0 && r.key == nil
	return text, r.key != nil && int64(len(text)) == p.Bytes && audit.Digest(r.key, text) == p.Hash
}

// recorded is a call as the log has it.
type recorded struct {
	at           time.Time
	server, tool string
	judged       bool // a policy decided on it
	was          policy.Action
	rule         string
	sent         bool
	passed       bool // policy let it through then
	refused      bool // and that counts as denied
	args         map[string]any
	noArgs       bool
	seen         *audit.Seen // nil: the log does not have it
}

// call takes a call that was sent or refused.
func (r *replay) call(run *replayedRun, record audit.Record, e audit.CallDenied) {
	c := recorded{at: record.Time, server: e.Server, tool: e.Tool, rule: e.Rule, seen: e.Seen, noArgs: true}
	c.was, c.judged = judged(e)
	c.sent = record.Kind == audit.KindCallIntent
	c.passed = c.sent || slices.Contains([]string{"guard", "approval", "audit"}, e.By)
	c.refused = !c.sent && e.By != "check"     // a mistake in the program is no refusal
	if e.Arguments.Bytes == int64(len("{}")) { // nothing else is an object of that size
		c.args, c.noArgs = map[string]any{}, false
	} else if text, ok := r.stored(e.Arguments); ok {
		if a, err := policy.ReadArguments(text); err == nil {
			c.args, c.noArgs = a.Value, false
		}
	}
	run.calls[e.N] = c
}

// judged is what a policy decided on a call, if it was asked at all.
func judged(e audit.CallDenied) (policy.Action, bool) {
	asked := slices.Contains([]string{"", "policy", "guard", "approval", "audit"}, e.By) || // an intent has none
		slices.Contains([]string{policy.RuleDeny, policy.RuleCalls, policy.RuleMutations}, e.Rule) ||
		e.By == "limit" && e.Decision != policy.Deny.String() // of a caller: policy had let it through
	for _, a := range []policy.Action{policy.Deny, policy.Ask, policy.Allow} {
		if e.Decision == a.String() {
			return a, asked
		}
	}
	return policy.Deny, false
}

// decided is a call with what the policy says of it.
type decided struct {
	recorded
	n   int
	now policy.Possible
}

// known is what is known of a call and of the run before it, if the calls before it happened as they did.
func (u *replayedRun) known(n int, c recorded, earlier []decided) policy.Partly {
	missing := int64(n-1) - int64(len(earlier)) // that were neither sent nor refused before the run ended
	p := policy.Partly{
		Call: policy.Call{
			Server: c.server, Tool: c.tool, Args: c.args, Caller: u.caller, Task: u.task, Run: policy.Run{Calls: int64(n) - 1},
		},
		NoArgs: c.noArgs, NoAnnotations: true, NoTask: u.noTask, NoGateway: u.noGateway,
		MoreMutations: missing, MoreDenied: missing,
	}
	for _, e := range earlier {
		switch {
		case e.refused:
			p.MoreDenied++
		case e.sent && c.seen == nil:
			p.MoreLabels = slices.Concat(p.MoreLabels, e.now.Labels, e.now.MoreLabels)
		case e.sent && !slices.Contains(c.seen.Pending, e.n):
			p.Run.Labels = append(p.Run.Labels, e.now.Labels...)
			p.MoreLabels = append(p.MoreLabels, e.now.MoreLabels...)
		}
		switch {
		case !e.passed:
		case !e.now.Reads:
			p.Run.Mutations++
		case e.now.Mutates:
			p.MoreMutations++
		}
	}
	if c.seen != nil {
		p.Run.Denied, p.MoreDenied = c.seen.Denied, 0
		p.Annotations, p.NoAnnotations = c.seen.Annotations, false
	}
	return p
}
