package server

import (
	"context"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/metrics"
)

// Measure is what the daemon's parts keep account of, for its metrics.
func (s *Server) Measure() metrics.State {
	m := metrics.State{Version: s.version, PolicyFailing: s.notReloaded.Load() != nil}
	m.Running, m.Waiting = s.slots.counts()
	m.Gateways = s.gateways()
	for _, p := range s.pool.Status() {
		m.Pool = append(m.Pool, metrics.Pool{Profile: p.Profile, Size: p.Size, Ready: p.Ready, Failing: p.Failing != ""})
	}
	if waiting := s.desk.Pending(); len(waiting) > 0 { // the oldest first
		m.Approvals, m.Oldest = len(waiting), time.Since(waiting[0].Asked)
	}
	if s.guard != nil {
		g := s.guard.State()
		m.Guard = &metrics.Guard{
			Breaker: g.Breaker, Failures: g.Failures, InFlight: g.InFlight,
			Allow: g.Counts.Allow, Ask: g.Counts.Ask, Block: g.Counts.Block, Unavailable: g.Counts.Unavailable, GivenUp: g.Counts.GivenUp,
			Requests: g.Counts.Requests, Retries: g.Counts.Retries, Batches: g.Counts.Batches,
		}
	}
	if s.audit != nil {
		a := s.audit.Stats()
		m.Audit = &metrics.Audit{Failing: s.audit.Failure() != nil, Events: a.Events, Refused: a.Refused, Dropped: a.Dropped}
	}
	if s.traces != nil {
		t := metrics.Traces(s.traces.Stats())
		m.Traces = &t
	}
	return m
}

// measured counts a run whose result is complete.
func (r *run) measured() {
	if r.metrics == nil {
		return
	}
	stats, worked := r.result.Stats, !r.started.IsZero()
	phase := func(ms float64, surely bool) time.Duration {
		if ms > 0 || surely {
			return duration(ms)
		}
		return metrics.Never
	}
	r.metrics.Run(metrics.Run{
		ID: r.account.ID, Profile: r.profile.Name, Outcome: string(r.result.Outcome),
		Queue: phase(stats.QueueMS, worked), Lease: phase(stats.LeaseMS, worked), Wall: phase(stats.WallMS, worked), CPU: phase(stats.CPUMS, worked),
		Tools: phase(stats.ToolMS, false), Approval: phase(stats.ApprovalMS, false), PeakMemory: stats.PeakMemory,
	})
	for _, c := range r.result.Calls {
		took := duration(c.MS)
		if c.State == sandboxd.CallUnknown { // the run's end was first
			took = 0
		}
		r.metrics.Call(r.account.ID, c.Decision, c.Verdict, string(c.State), took)
	}
}

// duration is milliseconds as results have them.
func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// got is what a call got that needed an approval, in a word. Asked says that somebody could answer it.
func got(ctx context.Context, a approval.Answer, asked bool, err error) string {
	switch {
	case err != nil && ctx.Err() != nil:
		return "run_ended"
	case err != nil:
		return "failed"
	case asked:
		return answerWord(a)
	case a.ID == "":
		return "full"
	}
	return "granted"
}
