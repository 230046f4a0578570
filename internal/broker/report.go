package broker

import (
	"time"

	"github.com/sandboxd/sandboxd"
)

// span is a wait, from when to when; one without an end goes on.
type span struct{ from, to time.Time }

func guarding(e *entry) *span  { return &e.guard }
func approving(e *entry) *span { return &e.approval }

// spend begins a wait of a call, which the returned function ends.
func (r *Run) spend(n int, wait func(*entry) *span) (done func()) {
	mark := func(at func(*span) *time.Time) {
		r.mu.Lock()
		defer r.mu.Unlock()
		*at(wait(r.calls[n-1])) = time.Now()
	}
	mark(func(s *span) *time.Time { return &s.from })
	return func() { mark(func(s *span) *time.Time { return &s.to }) }
}

// What failed, where nobody refused the call.
const (
	classTool    = "tool"    // it, or the gateway for it, said so
	classGateway = "gateway" // it could not be asked, or its answer could not be used
)

// maxReported bounds a text of a report.
const maxReported = 200

// Report is what became of the first calls, most at most, and how many more there are: with times, counted from the run's beginning, and
// without what arguments, results and errors say. Waits that go on are counted until now.
func (r *Run) Report(began, now time.Time, most int) (calls []sandboxd.CallReport, more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.calls), most)
	calls = make([]sandboxd.CallReport, n)
	for i, e := range r.calls[:n] {
		calls[i] = e.report(began, now, r.closed)
	}
	return calls, len(r.calls) - n
}

func (e *entry) report(began, now time.Time, closed bool) sandboxd.CallReport {
	between := func(s span) *sandboxd.Span {
		if s.from.IsZero() {
			return nil
		}
		if s.to.IsZero() {
			s.to = now
		}
		return &sandboxd.Span{AtMS: milliseconds(s.from.Sub(began)), MS: milliseconds(s.to.Sub(s.from))}
	}
	c := sandboxd.CallReport{
		N: e.N, Server: brief(e.Server, maxReported), Tool: brief(e.Tool, maxReported), State: e.State, AtMS: milliseconds(e.asked.Sub(began)),
		Decision: e.Decision, Rule: brief(e.Rule, maxReported), Reason: brief(e.reason, maxReported),
		Verdict: e.Verdict, Approved: brief(e.Approved, maxReported), Class: e.class,
		Guard: between(e.guard), Approval: between(e.approval), Sent: between(span{e.sent, e.back}), Bytes: e.Bytes,
	}
	if !closed {
		c.Waits = e.waits()
	}
	return c
}

// waits says for what a call of a run that goes on waits; empty: for nothing any more.
func (e *entry) waits() string {
	switch {
	case e.State == sandboxd.CallUnknown:
		return "tool"
	case e.State != sandboxd.CallNotStarted:
		return ""
	case !e.approval.from.IsZero() && e.approval.to.IsZero():
		return "approval"
	case !e.guard.from.IsZero() && e.guard.to.IsZero():
		return "guard"
	}
	return "turn"
}

// Tally counts the calls of a run.
type Tally struct {
	Calls, Finished, Failed, Denied int
	Out                             int    // at the gateway
	Tool                            string // one of those
	Approval                        string // one that waits for an approval
}

// Tally says how far the run is.
func (r *Run) Tally() Tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := Tally{Calls: len(r.calls)}
	for _, e := range r.calls {
		switch e.State {
		case sandboxd.CallUnknown:
			t.Out++
			t.Tool = e.Server + "." + e.Tool
			continue
		case sandboxd.CallNotStarted:
			if e.waits() == "approval" && t.Approval == "" {
				t.Approval = e.Server + "." + e.Tool
			}
			continue
		case sandboxd.CallFailed:
			t.Failed++
		case sandboxd.CallDenied:
			t.Denied++
		}
		t.Finished++
	}
	return t
}
