package broker

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/traces"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// company is a policy of 200 rules, every second with a condition. Of those, 5 are for pay.refund, 3 with conditions.
func company() *policy.Policy {
	var text strings.Builder
	text.WriteString("unknown: ask\nrules:\n")
	for i := range 195 {
		when := ""
		if i%2 == 0 {
			when = ", when: 'args.size < 100 && run.mutations < 5'"
		}
		fmt.Fprintf(&text, "- {name: r%[1]d, tools: [\"server%[1]d.*\"], action: ask%[2]s}\n", i, when)
	}
	text.WriteString(`
- {name: small refunds, tools: [pay.refund], action: allow, when: 'args.amount <= 100 && args.currency == "EUR" && run.mutations < 50', labels: [external]}
- {name: large refunds, tools: ["pay.*"], action: deny, when: args.amount > 500}
- {name: notes, tools: [pay.refund], action: deny, when: 'args.note.size() > 2000 || args.note.contains("password")'}
- {name: payments, tools: ["pay.*"], action: label, labels: [money, untrusted]}
- {name: all, tools: ["*"], action: label, labels: [company]}
limits: {calls_per_run: 1000, mutations_per_run: 1000}
`)
	return rules(text.String())
}

// BenchmarkAdded is what the broker adds to a call: all of it, from a batch of one to the program's answer, against the same call
// handed to the gateway by nobody. What Do does after its reply is not waited for by the program. The arms take turns; the figures
// are medians, and their differences.
func BenchmarkAdded(b *testing.B) {
	const result = `{"content":[],"structuredContent":{"refund":"r-17","order":"7","amount":50,"currency":"EUR","state":"pending","by":"alice@example.com"}}`
	const args = `{"order":"7","amount":50,"currency":"EUR","note":"the parcel came late, and the customer asked for a part of the price"}`
	s := newStage(b, "unknown: deny", func(sandboxd.ToolCall) string { return result })
	s.recorded(b)
	rules, catalog, log := company(), servers("pay"), s.Audit
	ctx := context.Background()
	c := traces.Default()
	c.Endpoint = "http://127.0.0.1:1" // nobody sends them: what finds no room is dropped
	spans, err := traces.New(c, "", slog.Default())
	if err != nil {
		b.Fatal(err)
	}

	alone := func() (replied time.Time) {
		pending, err := s.Gateway.Begin(ctx, "tools/call", sandboxd.ToolCall{
			Run: "r", N: 1, IdempotencyKey: "r/1", Server: "pay", Tool: "refund", Arguments: []byte(args), Origin: "code", Trigger: guard.UserRequest,
		})
		if err != nil {
			b.Fatal(err)
		}
		response, err := pending.Wait(ctx)
		if err != nil {
			b.Fatal(err)
		}
		response.Release()
		return time.Now()
	}
	// A run has 32 calls, as most have at the most: the account of each call is there for the next.
	through := func(log *audit.Log, spans *traces.Traces) func() time.Time {
		var run *Run
		return func() (replied time.Time) {
			if run == nil || len(run.calls) == 32 {
				run = account(1000, 4)
				run.Gateway, run.Policy, run.Catalog, run.Audit, run.Limits.ResultBytes = s.Gateway, rules, catalog, log, 1<<20
				run.Span, _ = spans.Begin("run", "")
			}
			batch := []wire.Call{{ID: len(run.calls) + 1, Server: "pay", Tool: "refund", Args: []byte(args)}}
			if err := run.Admit(batch); err != nil {
				b.Fatal(err)
			}
			form := ""
			err := Do(ctx, run, Judge(ctx, run, batch)[0], func(r wire.Result, _ []byte) { form, replied = r.Form, time.Now() })
			if err != nil || form != wire.FormJSON {
				b.Fatal(form, err)
			}
			return replied
		}
	}
	arms := []struct {
		name string
		do   func() (replied time.Time)
		took []time.Duration
	}{{name: "alone", do: alone}, {name: "judged", do: through(nil, nil)}, {name: "traced", do: through(nil, spans)}, {name: "recorded", do: through(log, nil)}}
	for b.Loop() {
		for i := range arms {
			began := time.Now()
			arms[i].took = append(arms[i].took, arms[i].do().Sub(began))
		}
		s.mu.Lock()
		s.seen = s.seen[:0]
		s.mu.Unlock()
	}
	b.ReportMetric(0, "ns/op") // of all together
	base := time.Duration(0)
	for _, a := range arms {
		slices.Sort(a.took)
		p50 := a.took[len(a.took)/2]
		if a.name == "alone" {
			base = p50
			b.ReportMetric(float64(p50.Microseconds()), "µs-alone")
			continue
		}
		b.ReportMetric(float64((p50 - base).Microseconds()), "µs-added-"+a.name)
		b.ReportMetric(float64(p50)/float64(base), a.name+"/alone")
	}
}

// BenchmarkTogether is 32 calls that a program makes at once, before a judge that takes 15 ms for a request, however many checks it has.
func BenchmarkTogether(b *testing.B) {
	const takes = 15 * time.Millisecond
	s := newStage(b, "unknown: allow", nil)
	s.Limits.Calls = 1 << 30
	judge := s.guarded(b, func(weighed) string { return `{"verdict":"allow"}` })
	judge.takes = takes
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		s.call(b, calls(0, 32, "s")...)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(judge.requests)/float64(len(took)), "requests/32-calls")
	b.ReportMetric(float64(took[len(took)/2])/float64(takes), "p50/15ms")
}
