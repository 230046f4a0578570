package broker

import (
	"context"
	"log/slog"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/audit"
)

// intend writes down that a call is about to be sent.
func intend(ctx context.Context, run *Run, j *Judged) *refusal {
	if run.Audit == nil {
		return nil
	}
	err := run.Audit.Append(ctx, audit.CallIntent{Call: j.call(run), Judgement: j.judgement(run), IdempotencyKey: run.key(j.n)})
	if err != nil {
		if ctx.Err() == nil {
			run.log().Error("a call can't be recorded, and so is not made", "run", run.ID, "call", j.n, "error", err)
		}
		return &refusal{byAudit, "audit", "the call can't be recorded, and so is not made: the daemon's log says why"} // with paths
	}
	return nil
}

// refused writes down that a call was refused.
func refused(ctx context.Context, run *Run, j *Judged) {
	if run.Audit == nil {
		return
	}
	e := audit.CallDenied{Call: j.call(run), Judgement: j.judgement(run), By: j.refusal.by}
	e.Rule, e.Reason = j.refusal.rule, j.refusal.reason
	record(ctx, run, e)
}

// conclude writes down what became of a call whose intent was; result is what the program got, if anything.
func conclude(ctx context.Context, run *Run, j *Judged, result []byte) {
	if run.Audit == nil {
		return
	}
	c := run.call(j.n)
	e := audit.CallOutcome{Run: run.ID, N: j.n, State: string(c.State), Duration: time.Duration(c.MS * float64(time.Millisecond))}
	if c.State == sandboxd.CallSucceeded || c.State == sandboxd.CallFailed {
		p := run.Audit.Payload(result)
		e.Result = &p
	}
	record(ctx, run, e)
}

// record writes down what has happened, which nothing can undo: an error is told in the daemon's log, and the audit log refuses what
// comes next.
func record(ctx context.Context, run *Run, e audit.Event) {
	if err := run.Audit.AppendLate(ctx, e); err != nil {
		run.log().Error("not recorded", "run", run.ID, "error", err)
	}
}

func (r *Run) log() *slog.Logger {
	if r.Log == nil {
		return slog.Default()
	}
	return r.Log
}

func (j *Judged) call(run *Run) audit.Call {
	return audit.Call{Run: run.ID, N: j.n, Server: j.server, Tool: j.tool}
}

func (j *Judged) judgement(run *Run) audit.Judgement {
	a := audit.Judgement{
		Arguments: run.Audit.Payload(j.args.JSON),
		Decision:  j.decision.Action.String(), Rule: j.decision.Rule, Reason: j.decision.Reason,
		Labels: j.decision.Labels, Trigger: j.trigger, Seen: j.seen,
	}
	if v := j.verdict; v != nil {
		a.Guard = &audit.Verdict{Verdict: v.Verdict.String(), Source: v.By, Latency: v.Latency}
		if !v.Judged {
			a.Guard.Source += ": " + v.Reason
		}
	}
	if j.approval != nil {
		a.Approval = &audit.Approval{ID: j.approval.ID}
		if p := j.approval.Peer; p != nil {
			a.Approval.By = &audit.Peer{UID: p.UID, GID: p.GID, PID: p.PID}
		}
	}
	for _, f := range j.evidence {
		a.Evidence = append(a.Evidence, audit.Evidence{Argument: f.Path, Call: f.Call, Tool: run.toolOf(f.Call), Characters: f.Characters})
	}
	return a
}
