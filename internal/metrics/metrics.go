// Package metrics counts what the daemon does, and tells Prometheus.
//
// Every label has a list of its values, made of this package's words or of the configuration's, and what is in no list counts as "other":
// nothing that a program, a tool, a gateway or a guard says becomes a time series.
package metrics

import (
	"time"
)

// Metrics are the counts since New. A nil one counts nothing, at no cost.
type Metrics struct {
	// set by New, then read-only
	started time.Time

	runs     *counters   // by profile and outcome
	phases   *histograms // by phase
	memory   *histograms
	busy     *counters   // by reason
	calls    *counters   // by decision, verdict and state
	tools    *histograms // of calls that were answered
	leases   *counters   // by profile and start
	births   *histograms
	failures *counters // by reason
	guard    *histograms
	answers  *counters // by answer
	syncs    *histograms
}

// Buckets: from what is quick on an idle machine to the defaults' longest waits, which are minutes for people.
var (
	phaseBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	birthBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	guardBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10, 30}
	syncBuckets  = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}
	sizeBuckets  = []float64{8 << 20, 16 << 20, 32 << 20, 64 << 20, 128 << 20, 256 << 20, 512 << 20, 1 << 30, 2 << 30}
)

// New begins to count, for a daemon with these profiles.
func New(profiles []string) *Metrics {
	profile := label{"profile", profiles}
	return &Metrics{
		started: time.Now(),
		runs: newCounters("sandboxd_runs_total", "Runs that have ended.", profile, label{"outcome", []string{
			"ok", "invalid", "error", "timeout", "cpu", "memory", "output", "calls", "denied", "violation", "crash", "cancelled", "busy", "internal",
		}}),
		phases: newHistograms("sandboxd_run_phase_seconds",
			"What a run took: queue and lease are waits for a slot and for a worker, wall is from the lease to the end without approval, "+
				"cpu is the worker's CPU time, its birth included, tool is with a call at the gateway, approval is with a call before a person. "+
				"A run has the phases that it came to.",
			phaseBuckets, label{"phase", []string{"queue", "lease", "wall", "cpu", "tool", "approval"}}),
		memory: newHistograms("sandboxd_worker_peak_memory_bytes", "The most that the worker of a run had resident.", sizeBuckets),
		busy: newCounters("sandboxd_busy_total", "Runs that got no worker, by reason: quota is the policy's runs_per_minute, stopping a shutdown.",
			label{"reason", []string{"capacity", "starting", "crashing", "quota", "stopping"}}),
		calls: newCounters("sandboxd_calls_total",
			"Tool calls of runs that have ended. Decision none: it was never decided on; verdict none: the guard was not asked.",
			label{"decision", []string{"deny", "ask", "allow", "none"}},
			label{"verdict", []string{"block", "ask", "allow", "none"}},
			label{"state", []string{"not_started", "denied", "succeeded", "failed", "unknown"}}),
		tools: newHistograms("sandboxd_call_seconds", "From a call's dispatch to the gateway's answer.", phaseBuckets),
		leases: newCounters("sandboxd_leases_total", "Workers that runs got: warm ones were ready, cold ones were waited for.",
			profile, label{"start", []string{"warm", "cold"}}),
		births: newHistograms("sandboxd_worker_birth_seconds", "From the pool's order of a worker to READY, its turn included.", birthBuckets),
		failures: newCounters("sandboxd_worker_birth_failures_total",
			"Births that failed: worker, by what the nursery says of it; nursery, because that can't be reached or does not answer.",
			label{"reason", []string{"worker", "nursery"}}),
		guard: newHistograms("sandboxd_guard_check_seconds", "What a check by the guard took its call, waiting and retries included.", guardBuckets),
		answers: newCounters("sandboxd_approvals_total",
			"Calls that needed an approval, by what they got: granted was answered before for its run, full found no room, run_ended is a run that did not wait for the answer, "+
				"failed could not be recorded.",
			label{"answer", []string{"approved", "denied", "expired", "granted", "full", "run_ended", "failed"}}),
		syncs: newHistograms("sandboxd_audit_sync_seconds", "Each fdatasync of the audit log.", syncBuckets),
	}
}

// Run is one run that has ended. A duration below 0 is of a phase that it did not come to.
type Run struct {
	ID, Profile, Outcome                     string
	Queue, Lease, Wall, CPU, Tools, Approval time.Duration
	PeakMemory                               int64 // bytes; 0: not known
}

// Never is the duration of a phase that a run did not come to.
const Never time.Duration = -1

// Run counts a run.
func (m *Metrics) Run(r Run) {
	if m == nil {
		return
	}
	m.runs.add(r.Profile, r.Outcome)
	for _, phase := range []struct {
		name string
		took time.Duration
	}{{"queue", r.Queue}, {"lease", r.Lease}, {"wall", r.Wall}, {"cpu", r.CPU}, {"tool", r.Tools}, {"approval", r.Approval}} {
		if phase.took >= 0 {
			m.phases.observe(phase.took.Seconds(), r.ID, phase.name)
		}
	}
	if r.PeakMemory > 0 {
		m.memory.observe(float64(r.PeakMemory), r.ID)
	}
}

// Busy counts a run that got no worker.
func (m *Metrics) Busy(reason string) {
	if m != nil {
		m.busy.add(reason)
	}
}

// Call counts a call of a run that has ended. An empty decision or verdict: there was none. Took is from its dispatch to its answer; 0: there was
// none of them.
func (m *Metrics) Call(run, decision, verdict, state string, took time.Duration) {
	if m == nil {
		return
	}
	m.calls.add(orNone(decision), orNone(verdict), state)
	if took > 0 {
		m.tools.observe(took.Seconds(), run)
	}
}

func orNone(word string) string {
	if word == "" {
		return "none"
	}
	return word
}

// Lease counts a worker that a run got.
func (m *Metrics) Lease(profile string, warm bool) {
	switch {
	case m == nil:
	case warm:
		m.leases.add(profile, "warm")
	default:
		m.leases.add(profile, "cold")
	}
}

// Born counts a worker that is ready, from its order on.
func (m *Metrics) Born(took time.Duration) {
	if m != nil {
		m.births.observe(took.Seconds(), "")
	}
}

// Stillborn counts a birth that failed, by a fault of the worker or of the nursery.
func (m *Metrics) Stillborn(reason string) {
	if m != nil {
		m.failures.add(reason)
	}
}

// Checked counts a check by the guard, for a run.
func (m *Metrics) Checked(run string, took time.Duration) {
	if m != nil {
		m.guard.observe(took.Seconds(), run)
	}
}

// Answered counts a call that needed an approval.
func (m *Metrics) Answered(answer string) {
	if m != nil {
		m.answers.add(answer)
	}
}

// Synced counts an fdatasync of the audit log.
func (m *Metrics) Synced(took time.Duration) {
	if m != nil {
		m.syncs.observe(took.Seconds(), "")
	}
}
