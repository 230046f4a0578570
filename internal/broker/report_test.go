package broker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// TestReport: a report has when each call waited for what, while it does and afterwards, and nothing of what arguments say.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const secret = "hunter2"
		began := time.Now()
		r := account(9, 2)
		r.Policy = rules("unknown: deny\nrules: [{name: sends, tools: [s.send], action: ask}]")
		r.Approve = func(ctx context.Context, q approval.Request) (approval.Answer, error) {
			time.Sleep(3 * time.Second)
			return approval.Answer{By: "bob", Peer: &approval.Peer{UID: 7}, Reason: "no"}, nil
		}
		batch := []wire.Call{
			{ID: 1, Server: "s", Tool: "send", Args: []byte(`{"a":"` + secret + `"}`)},
			{ID: 2, Server: "s", Tool: "drop", Args: []byte(`{}`)},
			{ID: 3, Server: "s", Tool: "send", Args: []byte(`{"a":"` + secret + `","a":1}`)}, // twice: no object
		}
		time.Sleep(time.Second)
		if err := r.Admit(batch); err != nil {
			t.Fatal(err)
		}
		judged := Judge(t.Context(), r, batch)
		nothing := func(wire.Result, []byte) {}
		for _, j := range judged {
			go Do(t.Context(), r, j, nothing)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		calls, more := r.Report(began, time.Now(), 2)
		want := []sandboxd.CallReport{
			{
				N: 1, Server: "s", Tool: "send", State: sandboxd.CallNotStarted, Waits: "approval", Decision: "ask", Rule: "sends",
				Reason: calls[0].Reason, AtMS: 1000, Approval: &sandboxd.Span{AtMS: 1000, MS: 1000},
			},
			{N: 2, Server: "s", Tool: "drop", State: sandboxd.CallDenied, Decision: "deny", Rule: "unknown", Reason: calls[1].Reason, Class: "policy", AtMS: 1000},
		}
		if diff := cmp.Diff(want, calls); diff != "" || more != 1 {
			t.Errorf("%d more; (-want +got):\n%s", more, diff)
		}
		if got := r.Tally(); got != (Tally{Calls: 3, Finished: 2, Denied: 2, Approval: "s.send"}) {
			t.Errorf("tally: %+v", got)
		}
		time.Sleep(5 * time.Second)
		r.Close()
		calls, _ = r.Report(began, time.Now(), 9)
		if c := calls[0]; c.Class != "approval" || c.Waits != "" || *c.Approval != (sandboxd.Span{AtMS: 1000, MS: 3000}) || !strings.Contains(c.Reason, "denied one by bob: no") {
			t.Errorf("denied by a person: %+v", c)
		}
		if c := calls[2]; c.Class != "check" || c.Rule != "arguments" || c.Reason != "" || c.Approval != nil {
			t.Errorf("no call of the tool: %+v", c)
		}
	})
}

// TestReportIsBounded: names are a program's.
func TestReportIsBounded(t *testing.T) {
	r := account(9, 2)
	long := strings.Repeat("é", 5000)
	if err := r.Admit([]wire.Call{{ID: 1, Server: long, Tool: long, Args: []byte("{}")}}); err != nil {
		t.Fatal(err)
	}
	if err := do(t.Context(), r, wire.Call{ID: 1, Server: long, Tool: long, Args: []byte("{}")}, func(wire.Result, []byte) {}); err != nil && !errors.As(err, new(*DeniedError)) {
		t.Fatal(err)
	}
	calls, _ := r.Report(time.Now(), time.Now(), 9)
	if c := calls[0]; c.Class != "deny" || len(c.Server) > maxReported+4 || len(c.Tool) > maxReported+4 || len(c.Reason) > maxReported+4 {
		t.Errorf("%+v", c)
	}
}

// TestReportQuotesNoGuard: what a guard says of a call may quote its arguments.
func TestReportQuotesNoGuard(t *testing.T) {
	s := newStage(t, "unknown: allow", nil)
	s.guarded(t, func(weighed) string { return `{"verdict":"block","reason":"hunter2 is a password"}` })
	s.call(t, toolCall("s", "send", `{"text":"hunter2"}`))
	calls, _ := s.Report(time.Now(), time.Now(), 9)
	if c := calls[0]; c.Class != "guard" || c.Verdict != "block" || c.Reason != "" || c.Guard == nil || c.Sent != nil {
		t.Errorf("%+v", c)
	}
}
