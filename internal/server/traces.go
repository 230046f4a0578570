package server

import "github.com/sandboxd/sandboxd"

// traced ends the span of a run whose result is complete.
func (r *run) traced() {
	span := r.account.Span
	if span == nil {
		return
	}
	stats := r.result.Stats
	span.Text("sandboxd.run", r.account.ID)
	span.Text("sandboxd.profile", r.profile.Name)
	span.Text("sandboxd.policy", r.account.Policy.Hash())
	span.Text("sandboxd.outcome", string(r.result.Outcome))
	span.Number("sandboxd.calls", int64(len(r.result.Calls)))
	span.Number("sandboxd.cpu_us", int64(stats.CPUMS*1000))
	span.Number("sandboxd.peak_memory_bytes", stats.PeakMemory)
	if r.result.Outcome != sandboxd.OutcomeOK {
		span.Fail(string(r.result.Outcome))
	}
	span.End()
}
