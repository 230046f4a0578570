package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// sample is what one arm took.
type sample struct {
	name string
	took []time.Duration
}

// report gives each arm's quantiles, and their ratios to the arm that stands second, the unjailed one.
func report(b *testing.B, samples []*sample) {
	b.ReportMetric(0, "ns/op")
	for _, s := range samples {
		b.ReportMetric(milliseconds(quantile(s.took, 0.50)), s.name+"-p50-ms")
		b.ReportMetric(milliseconds(quantile(s.took, 0.99)), s.name+"-p99-ms")
	}
	base := samples[1].took
	b.ReportMetric(float64(quantile(samples[0].took, 0.5))/float64(quantile(base, 0.5)), "p50-ratio")
	b.ReportMetric(float64(quantile(samples[0].took, 0.99))/float64(quantile(base, 0.99)), "p99-ratio")
}

// openLoop offers runs at a steady rate, whether or not earlier ones have ended, and times each from when it was sent.
func openLoop(b *testing.B, a arm, t task, runs int, every time.Duration) []time.Duration {
	took := make([]time.Duration, runs)
	var all sync.WaitGroup
	began := time.Now()
	for i := range runs {
		due := began.Add(time.Duration(i) * every)
		time.Sleep(time.Until(due))
		sent := time.Now() // the sleep's own lateness is the bench's, not the arm's
		all.Go(func() {
			a.run(b, t)
			took[i] = time.Since(sent)
		})
	}
	all.Wait()
	return took
}

// BenchmarkReturnOne is `return 1` from client to client: an open loop of 100 runs a second, a pool of 16. Each
// iteration is a second of each arm in turn.
func BenchmarkReturnOne(b *testing.B) {
	arms := []arm{jailedArm(b, nil), unjailedArm(b, nil), processArm(b, nil)}
	samples := make([]*sample, len(arms))
	for i, a := range arms {
		samples[i] = &sample{name: a.name}
	}
	// The floor: a request over the same socket that the daemon answers without a worker.
	floor := &sample{name: "echo"}
	c := daemon.Start(b, daemon.Options{}).Dial(b, sandboxd.Options{})
	echo := arm{"echo", func(tb testing.TB, _ task) {
		if _, err := c.Status(context.Background()); err != nil {
			tb.Fatal(err)
		}
	}}
	for b.Loop() {
		for i, a := range arms {
			settle()
			samples[i].took = append(samples[i].took, openLoop(b, a, returnOne, 100, 10*time.Millisecond)...)
		}
		floor.took = append(floor.took, openLoop(b, echo, task{}, 100, 10*time.Millisecond)...)
	}
	report(b, append(samples, floor))
	b.ReportMetric(float64(quantile(samples[0].took, 0.5))/float64(quantile(floor.took, 0.5)), "p50-echo-ratio")
}

// BenchmarkTop3 is the top three over five listings of 225 KB from client to client: a closed loop of one.
func BenchmarkTop3(b *testing.B) {
	tools := replay(listings(b))
	task := top3(b)
	arms := []arm{jailedArm(b, tools), unjailedArm(b, tools), processArm(b, tools), engineArm(tools), gojaArm(tools)}
	samples := make([]*sample, len(arms))
	for i, a := range arms {
		samples[i] = &sample{name: a.name}
	}
	for b.Loop() {
		for i, a := range arms {
			settle()
			for range 20 {
				began := time.Now()
				a.run(b, task)
				samples[i].took = append(samples[i].took, time.Since(began))
			}
		}
	}
	report(b, samples)
	b.ReportMetric(float64(quantile(samples[0].took, 0.5))/float64(quantile(samples[len(samples)-1].took, 0.5)), "p50-goja-ratio")
}

// BenchmarkSustained is single-use runs of `return 1` in a closed loop of 8 clients, for a second of each arm in turn.
func BenchmarkSustained(b *testing.B) {
	arms := []arm{jailedArm(b, nil), unjailedArm(b, nil), processArm(b, nil)}
	runs := make([]int, len(arms))
	spent := make([]time.Duration, len(arms))
	for b.Loop() {
		for i, a := range arms {
			settle()
			began := time.Now()
			runs[i] += closedLoop(b, a, time.Second)
			spent[i] += time.Since(began)
		}
	}
	b.ReportMetric(0, "ns/op")
	rate := func(i int) float64 { return float64(runs[i]) / spent[i].Seconds() }
	for i, a := range arms {
		b.ReportMetric(rate(i), a.name+"-runs/s")
	}
	b.ReportMetric(rate(0)/rate(1), "ratio")
}

func closedLoop(b *testing.B, a arm, during time.Duration) int {
	var mu sync.Mutex
	n := 0
	var clients sync.WaitGroup
	end := time.Now().Add(during)
	for range 8 {
		clients.Go(func() {
			for time.Now().Before(end) {
				a.run(b, returnOne)
				mu.Lock()
				n++
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	return n
}

// BenchmarkCall is what one awaited tool call adds to a run: programs with 32 and with 0 calls in turn, a gateway
// that answers at once.
func BenchmarkCall(b *testing.B) {
	tools := func(context.Context, sandboxd.ToolCall) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"type":"text","text":"ok"}]}`), nil
	}
	a := jailedArm(b, tools)
	const calls = 32
	loop := task{fmt.Sprintf(`let s; for (let i = 0; i < %d; i++) s = await tools.tracker.ping({ i }); return s`, calls), `"ok"`}
	var with, without []time.Duration
	for b.Loop() {
		settle()
		for range 10 {
			began := time.Now()
			a.run(b, loop)
			with = append(with, time.Since(began))
			began = time.Now()
			a.run(b, returnOne)
			without = append(without, time.Since(began))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(milliseconds(quantile(with, 0.5)-quantile(without, 0.5))/calls, "p50-ms/call")
}

// BenchmarkColdLease is a lease from a pool that keeps no worker ready, by the daemon's own account.
func BenchmarkColdLease(b *testing.B) {
	d := daemon.Start(b, daemon.Options{Config: "pool: {default: 0}\n"})
	c := d.Dial(b, sandboxd.Options{})
	var took []time.Duration
	idle := newNothing(b)
	for b.Loop() {
		idle.run(b)
		r, err := c.Execute(context.Background(), sandboxd.Program{Source: "return 1"})
		if err != nil || r.Outcome != sandboxd.OutcomeOK {
			b.Fatal(err, r)
		}
		took = append(took, time.Duration(r.Stats.LeaseMS*float64(time.Millisecond)))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(milliseconds(quantile(took, 0.50)), "p50-ms")
	b.ReportMetric(milliseconds(quantile(took, 0.99)), "p99-ms")
	b.ReportMetric(milliseconds(idle.p50()), "nothing-p50-ms")
	b.ReportMetric(float64(quantile(took, 0.5))/float64(idle.p50()), "p50-nothing-ratio")
}
