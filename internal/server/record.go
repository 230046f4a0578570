package server

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/audit"
)

// recordError is why a run is not begun: it can't be recorded.
type recordError struct{ error }

// begin records that the run gets a worker now.
func (r *run) begin(ctx context.Context) error {
	if r.audit == nil {
		return nil
	}
	limits, err := json.Marshal(r.limits)
	if err != nil {
		return err
	}
	e := audit.RunStart{
		Run: r.account.ID, Caller: r.caller.peer(), Gateway: r.account.Caller.Gateway,
		Profile: r.profile.Name, Policy: r.account.Policy.Hash(), Program: audit.Plain([]byte(r.program.Source)), Limits: limits,
	}
	if r.program.Intent != "" {
		p := r.audit.Payload([]byte(r.program.Intent))
		e.Intent = &p
	}
	err = r.audit.Append(ctx, e)
	switch {
	case err == nil:
		r.begun = true
		return nil
	case ctx.Err() != nil:
		r.begun = true // it may be in the log
		return context.Cause(ctx)
	}
	return &recordError{err}
}

// record records the end of a run that was begun.
func (r *run) record() {
	if !r.begun {
		return
	}
	states := make(map[string]int)
	for _, c := range r.result.Calls {
		states[string(c.State)]++
	}
	stats := r.result.Stats
	err := r.audit.AppendLate(context.Background(), audit.RunEnd{
		Run: r.account.ID, Outcome: string(r.result.Outcome), Calls: states,
		Usage: audit.Usage{
			Wall: duration(stats.WallMS), CPU: duration(stats.CPUMS), Tools: duration(stats.ToolMS),
			Approvals: duration(stats.ApprovalMS), PeakMemory: stats.PeakMemory,
		},
	})
	if err != nil {
		r.log.Error("not recorded", "run", r.account.ID, "error", err)
	}
}

// recordRequest records that somebody is asked about a call.
func (r *run) recordRequest(ctx context.Context, q approval.Request) error {
	if r.audit == nil {
		return nil
	}
	return r.audit.Append(ctx, audit.ApprovalRequest{
		ID: q.ID, Call: audit.Call{Run: q.Run, N: q.N, Server: q.Server, Tool: q.Tool},
		Arguments: r.audit.Payload(q.Arguments), Reason: strings.Join(q.Reasons, "; "), Expires: q.Expires.UTC(),
	})
}

// recordAnswer records what the answer is. One that can't be recorded is none.
func (r *run) recordAnswer(ctx context.Context, q approval.Request, a approval.Answer) error {
	if r.audit == nil {
		return nil
	}
	e := audit.ApprovalAnswer{ID: a.ID, Run: r.account.ID, N: q.N, Answer: answerWord(a), Scope: string(a.Scope), Reason: a.Reason}
	if p := a.Peer; p != nil {
		e.By = &audit.Peer{UID: p.UID, GID: p.GID, PID: p.PID}
	}
	return r.audit.Append(ctx, e)
}

// answerWord is an answer to what was asked, in a word.
func answerWord(a approval.Answer) string {
	switch {
	case a.Approved:
		return "approved"
	case a.Peer == nil:
		return "expired"
	}
	return "denied"
}

func (c Caller) peer() audit.Peer { return audit.Peer{UID: c.UID, GID: c.Groups[0], PID: c.PID} }
