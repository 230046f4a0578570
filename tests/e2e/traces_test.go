package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/collector"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestTraces: the spans of a run with a call, a check, an approval and refusals are below each other and below the gateway's own, gateway and
// guard are told which, the daemon's end loses none, and nothing that anybody says is in any.
func TestTraces(t *testing.T) {
	t.Parallel()
	const trace, parent, secret = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "hunter2"
	c, url := collector.Start(t)
	var mu sync.Mutex
	var checked []string
	judge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		checked = append(checked, r.Header.Get("Traceparent"))
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"verdict":"allow","reason":"`+secret+`"}`)
	}))
	defer judge.Close()
	d, _ := policed(t, `
deny: ["t.drop_*"]
unknown: allow
rules:
  - {name: plain, tools: ["t.echo", "t.fail"], action: allow, guard: skip}
  - {name: mails, tools: ["t.mail"], action: ask}
`, fmt.Sprintf("traces: {endpoint: '%s'}\nguard: {url: '%s'}\n", url, judge.URL))
	g := connect(t, d, tools{
		"mail": func(context.Context, json.RawMessage) (json.RawMessage, error) { return text(secret), nil },
	}, sandboxd.Options{Approvals: func(context.Context, sandboxd.ApprovalRequest) (sandboxd.ApprovalAnswer, error) {
		return sandboxd.ApprovalAnswer{Approve: true, Reason: secret}, nil
	}})
	r := g.run(t, sandboxd.Program{
		Intent: secret, Token: secret, Traceparent: "00-" + trace + "-" + parent + "-01",
		Source: `
await tools.t.echo({s: "hunter2"});
await tools.t.mail({s: "hunter2"});
for (const name of ["drop_hunter2", "fail"]) try { await tools.t[name]({hunter2: 1}) } catch {}
console.log("hunter2"); throw new Error("hunter2")`,
	})
	if r.Outcome != sandboxd.OutcomeError || len(r.Calls) != 4 {
		t.Fatalf("%+v", r)
	}
	d.Signal(t, syscall.SIGTERM) // what waits for its batch is not lost
	wait(t, d.Exited(), "the daemon's end")

	by := make(map[string]collector.Span)
	shape := make(map[string]int)
	for _, s := range c.Spans() {
		if s.Trace != trace || s.Resource["service.name"] != "sandboxd" {
			t.Errorf("of another trace or service: %+v", s)
		}
		by[s.ID] = s
	}
	for _, s := range by {
		path := s.Name
		for above, ok := by[s.Parent]; ok; above, ok = by[above.Parent] {
			path = above.Name + "/" + path
			if s.Start < above.Start || s.End > above.End {
				t.Errorf("%s is not within %s", s.Name, above.Name)
			}
		}
		shape[path]++
	}
	if diff := cmp.Diff(map[string]int{
		"run": 1, "run/queue": 1, "run/lease": 1, "run/call": 4, "run/call/tools/call": 3, "run/call/guard": 1, "run/call/approval": 1,
	}, shape); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	calls := make(map[string]collector.Span)
	for _, s := range by {
		switch s.Name {
		case "run":
			if s.Parent != parent || !s.Remote || s.Attributes["sandboxd.run"] != r.Run || s.Attributes["sandboxd.outcome"] != "error" ||
				s.Attributes["sandboxd.calls"] != "4" || s.Attributes["sandboxd.policy"] == "" || !s.Failed {
				t.Errorf("%+v", s)
			}
		case "lease":
			if s.Attributes["sandboxd.warm"] == "" {
				t.Errorf("%+v", s)
			}
		case "guard":
			if s.Attributes["sandboxd.verdict"] != "allow" || len(checked) != 1 || checked[0] != "00-"+trace+"-"+s.ID+"-01" {
				t.Errorf("%+v, and the guard saw %v", s, checked)
			}
		case "approval":
			if s.Attributes["sandboxd.approval"] != "approved" {
				t.Errorf("%+v", s)
			}
		case "call":
			calls[s.Attributes["sandboxd.call"]] = s
		}
	}
	for n, want := range map[string]string{
		"1": "t echo allow plain succeeded ", "2": "t mail ask mails succeeded ", "3": "  deny deny denied deny", "4": "t fail allow plain failed ",
	} {
		a := calls[n].Attributes
		got := strings.Join([]string{a["sandboxd.server"], a["sandboxd.tool"], a["sandboxd.decision"], a["sandboxd.rule"], a["sandboxd.state"], a["sandboxd.refused_by"]}, " ")
		if got != want || calls[n].Failed != (a["sandboxd.state"] != "succeeded") {
			t.Errorf("call %s: %q, want %q: %+v", n, got, want, calls[n])
		}
	}
	for _, call := range g.asked(r.Run) {
		id := strings.TrimSuffix(strings.TrimPrefix(call.Traceparent, "00-"+trace+"-"), "-01")
		if s, ok := by[id]; !ok || s.Name != "tools/call" || by[s.Parent].Attributes["sandboxd.call"] != fmt.Sprint(call.N) {
			t.Errorf("call %d went out under %s", call.N, call.Traceparent)
		}
	}
	if said := c.Text(); strings.Contains(said, secret) {
		t.Errorf("%s is in what was exported: %s", secret, said)
	}
}

// TestTracesLost: a collector that does not answer delays no run, is told in the log and the metrics, and does not keep the daemon from ending.
func TestTracesLost(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer silent.Close()
	defer close(hang)
	socket := daemon.Dir(t) + "/m"
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\nmetrics: {listen: " + socket + "}\ntraces: {endpoint: '" + silent.URL + "', timeout: 100ms}\n"})
	g := connect(t, d, nil, sandboxd.Options{})
	for range 3 {
		g.serves(t)
	}
	tells(t, socket, `sandboxd_trace_spans_total{result="exported"} 0.0`)
	d.Signal(t, syscall.SIGTERM)
	wait(t, d.Exited(), "the daemon's end")
	if !strings.Contains(d.Log(), "spans get lost") {
		t.Errorf("the log does not say so:\n%s", d.Log())
	}
}

// TestTraceparent: one that is none is ignored, with traces and without, and what is not traced is handed on as it came.
func TestTraceparent(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for given, want := range map[string]string{
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-00": "",
		"hunter2": "",
	} {
		r := g.run(t, sandboxd.Program{Source: "await tools.t.echo({}); return 1", Traceparent: given})
		if calls := g.asked(r.Run); len(calls) != 1 || calls[0].Traceparent != want {
			t.Errorf("%s went on as %+v", given, calls)
		}
	}
}
