package broker

import (
	"cmp"
	"context"
	"fmt"

	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/traces"
)

// weigh puts a call that policy does not deny to the guard, and to people if policy or the guard want that. The strictest answer counts.
func weigh(ctx context.Context, run *Run, j *Judged, pass func()) *refusal {
	if j.decision.Action == policy.Deny { // as what Judge did not make
		return &refusal{byPolicy, "policy", "nothing has decided on the call"}
	}
	j.evidence = run.trail.find(j.args.Value)
	j.args.Value = nil // many times as large as the text, and what is left to do can take minutes
	if run.Guard != nil && j.decision.Guard {
		answer := consult(ctx, run, j)
		if ctx.Err() != nil {
			return nil
		}
		j.verdict = &answer
		run.note(j)
		if answer.Verdict == guard.Block {
			return &refusal{byGuard, "guard", said(answer, "blocked the call")}
		}
	}
	if j.decision.Action == policy.Allow && (j.verdict == nil || j.verdict.Verdict == guard.Allow) {
		return nil
	}
	pass() // a person is slow: those behind it need not wait
	return approve(ctx, run, j)
}

// consult asks the guard.
func consult(ctx context.Context, run *Run, j *Judged) guard.Answer {
	span := j.span.Child("guard", traces.Client)
	defer span.End()
	c := check(run, j)
	c.Traceparent = cmp.Or(span.Traceparent(), run.Traceparent)
	done := run.spend(j.n, guarding)
	answer := run.Guard.Check(ctx, c)
	done()
	run.Metrics.Checked(run.ID, answer.Latency)
	span.Text("sandboxd.verdict", answer.Verdict.String())
	span.Number("sandboxd.attempts", int64(answer.Attempts))
	span.Number("sandboxd.together", int64(answer.Together))
	if !answer.Judged {
		span.Fail("unavailable")
	}
	return answer
}

// said is what a guard did, and why.
func said(a guard.Answer, did string) string {
	switch {
	case !a.Judged:
		return "the guard was asked, and " + a.Reason
	case a.Reason == "":
		return "the guard " + did + ", and did not say why"
	}
	return "the guard " + did + ": " + a.Reason
}

// Bounds of what a guard is told about the run: what a judge can weigh, and well within what it takes.
const (
	maxReads = 64
	maxShown = 200 // bytes of a name
)

func check(run *Run, j *Judged) guard.Check {
	c := guard.Check{
		Run: run.ID, Tool: j.server + "." + j.tool, Args: j.args.JSON,
		Intent: run.Task, Trigger: j.trigger, Constraints: run.Constraints,
		Context: guard.Context{Call: j.n, Labels: j.had.Labels, Read: j.reads},
	}
	for _, f := range j.evidence {
		c.Context.Evidence = append(c.Context.Evidence, guard.Evidence{
			Path: f.Path, Characters: f.Characters, Call: f.Call, Tool: brief(run.toolOf(f.Call), maxShown),
		})
	}
	return c
}

// approve waits for somebody's answer.
func approve(ctx context.Context, run *Run, j *Judged) *refusal {
	if run.Approve == nil {
		return &refusal{byApproval, j.rule(), "the call needs an approval, and there is nobody to ask"}
	}
	request := approval.Request{
		Run: run.ID, N: j.n, Server: j.server, Tool: j.tool, Arguments: j.args.JSON, Rule: j.rule(), Task: run.Task,
	}
	if j.decision.Action == policy.Ask {
		request.Reasons = append(request.Reasons, j.decision.Reason)
	}
	if j.verdict != nil && j.verdict.Verdict == guard.Ask {
		request.Reasons = append(request.Reasons, said(*j.verdict, "wants it approved"))
	}
	for _, f := range j.evidence {
		request.Evidence = append(request.Evidence, fmt.Sprintf("%s, %s", f, run.toolOf(f.Call)))
	}
	done := run.spend(j.n, approving)
	answer, err := run.Approve(ctx, request)
	done()
	if err != nil {
		if ctx.Err() == nil {
			run.log().Error("nobody could be asked to approve a call", "run", run.ID, "call", j.n, "error", err)
		}
		return &refusal{byApproval, j.rule(), "the call needs an approval, and nobody could be asked: the daemon's log says why"} // with paths
	}
	j.approval = &answer
	run.note(j)
	if !answer.Approved {
		return &refusal{byApproval, j.rule(), notApproved(answer)}
	}
	return nil
}

// rule is what wants an approval.
func (j *Judged) rule() string {
	if j.decision.Action == policy.Ask {
		return j.decision.Rule
	}
	return "guard"
}

func notApproved(a approval.Answer) string {
	text := "the call needs an approval, and got none"
	if a.Peer != nil {
		text = fmt.Sprintf("the call needs an approval, and was denied one by %s", a.By)
	}
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	return text
}
