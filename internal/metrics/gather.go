package metrics

import (
	"math"
	"runtime"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Gather is all of it in Prometheus' own form, by name.
func (m *Metrics) Gather(s State) []*dto.MetricFamily {
	all := []*dto.MetricFamily{
		m.runs.gather(), m.phases.gather(), m.memory.gather(), m.busy.gather(), m.calls.gather(), m.tools.gather(), m.leases.gather(),
		m.births.gather(), m.failures.gather(), m.guard.gather(), m.answers.gather(), m.syncs.gather(),
		gauge("sandboxd_build_info", "1, with what the daemon was built of.",
			series(1, "version", s.Version, "go_version", runtime.Version())),
		gauge("process_start_time_seconds", "When the daemon started, in seconds since 1970.", series(float64(m.started.UnixMilli())/1000)),
		gauge("sandboxd_runs_running", "Runs that have a slot.", series(float64(s.Running))),
		gauge("sandboxd_runs_waiting", "Runs that wait for a slot.", series(float64(s.Waiting))),
		gauge("sandboxd_gateway_connections", "Gateways that are connected.", series(float64(s.Gateways))),
		gauge("sandboxd_approvals_waiting", "Calls that wait for an approval.", series(float64(s.Approvals))),
		gauge("sandboxd_approvals_oldest_seconds", "How long the oldest of the calls that wait for an approval has; 0: none waits.", series(s.Oldest.Seconds())),
		gauge("sandboxd_policy_reload_failing", "1 if the policy could not be read again, and the one before is in force.", series(truth(s.PolicyFailing))),
	}
	all = append(all, pools(s.Pool)...)
	all = append(all, s.Guard.gather()...)
	all = append(all, s.Audit.gather()...)
	all = append(all, s.Traces.gather()...)
	slices.SortFunc(all, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}

func pools(all []Pool) []*dto.MetricFamily {
	size := gauge("sandboxd_pool_size", "Workers to be ready.")
	ready := gauge("sandboxd_pool_ready", "Workers that are ready.")
	failing := gauge("sandboxd_pool_failing", "1 if the last birth of a worker failed.")
	for _, p := range all {
		size.Metric = append(size.Metric, gauged(series(float64(p.Size), "profile", p.Profile)))
		ready.Metric = append(ready.Metric, gauged(series(float64(p.Ready), "profile", p.Profile)))
		failing.Metric = append(failing.Metric, gauged(series(truth(p.Failing), "profile", p.Profile)))
	}
	return []*dto.MetricFamily{size, ready, failing}
}

func (g *Guard) gather() []*dto.MetricFamily {
	if g == nil {
		return nil
	}
	var breaker []sample
	for _, state := range []string{"closed", "half-open", "open"} {
		breaker = append(breaker, series(truth(state == g.Breaker), "state", state))
	}
	return []*dto.MetricFamily{
		gauge("sandboxd_guard_breaker", "1 at the state that the guard's breaker is in: closed, it is asked; open, it is not; half-open, one check tries it.", breaker...),
		gauge("sandboxd_guard_failures", "Requests to the guard that failed in a row.", series(float64(g.Failures))),
		gauge("sandboxd_guard_requests_in_flight", "Requests to the guard that are not answered yet.", series(float64(g.InFlight))),
		counter("sandboxd_guard_checks_total", "Checks by the guard: unavailable had no verdict, given_up had nobody who waited for one any more.",
			series(float64(g.Allow), "result", "allow"), series(float64(g.Ask), "result", "ask"), series(float64(g.Block), "result", "block"),
			series(float64(g.Unavailable), "result", "unavailable"), series(float64(g.GivenUp), "result", "given_up")),
		counter("sandboxd_guard_requests_total", "Requests to the guard, retries included.", series(float64(g.Requests))),
		counter("sandboxd_guard_retries_total", "Requests to the guard that were made again.", series(float64(g.Retries))),
		counter("sandboxd_guard_batches_total", "Requests to the guard with more than one check.", series(float64(g.Batches))),
	}
}

func (a *Audit) gather() []*dto.MetricFamily {
	if a == nil {
		return nil
	}
	return []*dto.MetricFamily{
		gauge("sandboxd_audit_failing", "1 if nothing can be recorded, and so each call is refused.", series(truth(a.Failing))),
		counter("sandboxd_audit_events_total", "Events that were recorded.", series(float64(a.Events))),
		counter("sandboxd_audit_refused_total", "Events that could not be recorded.", series(float64(a.Refused))),
		counter("sandboxd_audit_journal_dropped_total", "Events that the journal did not take; the audit log has them.", series(float64(a.Dropped))),
	}
}

func (t *Traces) gather() []*dto.MetricFamily {
	if t == nil {
		return nil
	}
	return []*dto.MetricFamily{counter("sandboxd_trace_spans_total",
		"Spans by what became of them: exported ones are the collector's, dropped found no room, failed did not reach it or were refused, rejected is what it left out of a batch.",
		series(float64(t.Exported), "result", "exported"), series(float64(t.Dropped), "result", "dropped"),
		series(float64(t.Failed), "result", "failed"), series(float64(t.Rejected), "result", "rejected"))}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// sample is one value with its labels.
type sample struct {
	value  float64
	labels []*dto.LabelPair
}

// series is a value with names and values of labels in turn.
func series(value float64, labels ...string) sample {
	s := sample{value: value}
	for pair := range slices.Chunk(labels, 2) {
		s.labels = append(s.labels, &dto.LabelPair{Name: &pair[0], Value: &pair[1]})
	}
	return s
}

func gauged(s sample) *dto.Metric {
	return &dto.Metric{Label: s.labels, Gauge: &dto.Gauge{Value: &s.value}}
}

func gauge(name, help string, samples ...sample) *dto.MetricFamily {
	f := &dto.MetricFamily{Name: &name, Help: &help, Type: dto.MetricType_GAUGE.Enum()}
	for _, s := range samples {
		f.Metric = append(f.Metric, gauged(s))
	}
	return f
}

func counter(name, help string, samples ...sample) *dto.MetricFamily {
	f := &dto.MetricFamily{Name: &name, Help: &help, Type: dto.MetricType_COUNTER.Enum()}
	for _, s := range samples {
		f.Metric = append(f.Metric, &dto.Metric{Label: s.labels, Counter: &dto.Counter{Value: &s.value}})
	}
	return f
}

func (c *counters) gather() *dto.MetricFamily {
	var samples []sample
	for place := range c.counts {
		n := c.counts[place].Load()
		values, listed := c.labels.at(place)
		if listed || n > 0 {
			samples = append(samples, sample{float64(n), c.labels.pairs(values)})
		}
	}
	return counter(c.name, c.help, samples...)
}

func (ls labels) pairs(values []string) (pairs []*dto.LabelPair) {
	for i, l := range ls {
		pairs = append(pairs, &dto.LabelPair{Name: new(l.name), Value: new(values[i])})
	}
	return pairs
}

func (h *histograms) gather() *dto.MetricFamily {
	f := &dto.MetricFamily{Name: &h.name, Help: &h.help, Type: dto.MetricType_HISTOGRAM.Enum()}
	for place := range h.all {
		one := h.all[place].gather(h.bounds)
		values, listed := h.labels.at(place)
		if listed || one.GetSampleCount() > 0 {
			f.Metric = append(f.Metric, &dto.Metric{Label: h.labels.pairs(values), Histogram: one})
		}
	}
	return f
}

func (h *histogram) gather(bounds []float64) *dto.Histogram {
	d := &dto.Histogram{SampleSum: new(math.Float64frombits(h.sum.Load()))}
	count := uint64(0) // of the buckets, so that the two agree while values come in
	for i := range h.buckets {
		count += h.buckets[i].count.Load()
		bound := math.Inf(1)
		if i < len(bounds) {
			bound = bounds[i]
		}
		b := &dto.Bucket{UpperBound: &bound, CumulativeCount: new(count)}
		if e := h.buckets[i].last.Load(); e != nil {
			b.Exemplar = &dto.Exemplar{
				Label: []*dto.LabelPair{{Name: new("run_id"), Value: &e.run}}, Value: &e.value, Timestamp: timestamppb.New(e.at),
			}
		}
		d.Bucket = append(d.Bucket, b)
	}
	d.SampleCount = &count
	return d
}
