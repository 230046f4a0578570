package server

import (
	"context"
	"encoding/json"
	"time"

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
	if err := r.audit.Append(ctx, e); err != nil {
		return &recordError{err}
	}
	r.begun = true
	return nil
}

// lateWrite bounds how long the record of a run's end may keep its result back.
const lateWrite = 5 * time.Second

// record records the end of a run that was begun.
func (r *run) record() {
	if !r.begun {
		return
	}
	states := make(map[string]int)
	for _, c := range r.result.Calls {
		states[string(c.State)]++
	}
	milliseconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	stats := r.result.Stats
	ctx, cancel := context.WithTimeout(context.Background(), lateWrite)
	defer cancel()
	err := r.audit.Append(ctx, audit.RunEnd{
		Run: r.account.ID, Outcome: string(r.result.Outcome), Calls: states,
		Usage: audit.Usage{
			Wall: milliseconds(stats.WallMS), CPU: milliseconds(stats.CPUMS), Tools: milliseconds(stats.ToolMS),
			Approvals: milliseconds(stats.ApprovalMS), PeakMemory: stats.PeakMemory,
		},
	})
	if err != nil {
		r.log.Error("not recorded", "run", r.account.ID, "error", err)
	}
}

func (c Caller) peer() audit.Peer { return audit.Peer{UID: c.UID, GID: c.Groups[0], PID: c.PID} }
