package server

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// TestLedger: administrators see what goes on, and what ended last, and no more of it than may be kept.
func TestLedger(t *testing.T) {
	s := asking(t)
	admin := administrator(t, s.administered(t))
	x, _ := s.gateway(t, nil)
	start := func() *run {
		r, _ := x.launch(t, time.Hour)
		r.profile.Name, r.account.Limits.Calls = "default", 4096
		s.ledger.begin(r)
		return r
	}
	finish := func(r *run, outcome sandboxd.Outcome) {
		r.result.Run, r.result.Outcome = r.account.ID, outcome
		r.account.Close()
		r.result.Calls = r.account.Calls()
		s.ledger.end(r)
		s.ledger.end(r) // as a fault does
	}

	first := start()
	s.ledger.lease(first, true)
	name := strings.Repeat("n", 300)
	var batch []wire.Call
	for i := range 300 {
		batch = append(batch, wire.Call{ID: i + 1, Server: name, Tool: name, Args: []byte("{}")})
	}
	if err := first.account.Admit(batch); err != nil {
		t.Fatal(err)
	}
	second := start()
	var list sandboxd.RunList
	ask(t, admin, "runs/list", struct{}{}, &list)
	if len(list.Runs) != 2 || list.More != 0 || list.Runs[0].Run != first.account.ID || list.Runs[0].Doing != "computing" || list.Runs[0].Calls != 300 ||
		!strings.HasPrefix(list.Runs[0].Caller, "uid ") || list.Runs[1].Doing != "waiting for a worker" {
		t.Errorf("two go on: %+v", list)
	}
	report := sandboxd.RunReport{}
	show(t, admin, first.account.ID, &report)
	if len(report.Timeline) != maxTimeline || report.More != 300-maxTimeline || report.Timeline[0].Waits != "turn" || report.Caller == "" {
		t.Errorf("one goes on: %d calls, %d more, %+v", len(report.Timeline), report.More, report.RunSummary)
	}
	finish(first, sandboxd.OutcomeCancelled)
	finish(second, sandboxd.OutcomeOK)
	show(t, admin, first.account.ID, &report)
	if report.Outcome != sandboxd.OutcomeCancelled || report.Doing != "" || report.Timeline[0].Waits != "" || report.Caller == "" {
		t.Errorf("it has ended: %+v, %+v", report.RunSummary, report.Timeline[0])
	}
	var status sandboxd.StatusResult
	ask(t, admin, "status", struct{}{}, &status)
	if v := status.Serving; len(v.Recent) != 2 || v.Recent[0].Run != second.account.ID || len(v.Ended) != 2 || v.Ended[0] != (sandboxd.Tally{Of: "cancelled", N: 1}) ||
		len(v.Calls) != 1 || v.Calls[0] != (sandboxd.Tally{Of: "not_started", N: 300}) {
		t.Errorf("serving: %+v", v)
	}
	if l := s.ledger.leases["default"]; l.Leased != 0 || l.Warm != 1 || l.Cold != 0 {
		t.Errorf("leases: %+v", l)
	}

	// Many with long names go over the bytes; many without, over the count.
	for range 40 {
		r := start()
		if err := r.account.Admit(batch); err != nil {
			t.Fatal(err)
		}
		finish(r, sandboxd.OutcomeOK)
	}
	if n := len(s.ledger.ended); s.ledger.bytes > maxEndedBytes || n > 25 || n < 10 {
		t.Errorf("%d runs of %d bytes are kept", n, s.ledger.bytes)
	}
	for range maxEnded + 9 {
		finish(start(), sandboxd.OutcomeOK)
	}
	size := 0
	for _, e := range s.ledger.ended {
		size += e.bytes
	}
	if n := len(s.ledger.ended); n != maxEnded || s.ledger.bytes != size {
		t.Errorf("%d runs are kept, of %d bytes, counted as %d", n, size, s.ledger.bytes)
	}
	ask(t, admin, "runs/list", sandboxd.RunsParams{Limit: 3}, &list)
	if len(list.Runs) != 3 || list.More != maxEnded-3 {
		t.Errorf("%d listed, %d more", len(list.Runs), list.More)
	}
	for params, want := range map[any]string{
		sandboxd.ShowRunParams{Run: first.account.ID}: "the audit log has older ones",
		sandboxd.ShowRunParams{}:                      `run: ""`,
	} {
		if e := try(t, admin, "runs/show", params, nil); e == nil || e.Code != rpc.CodeInvalidParams || !strings.Contains(e.Message, want) {
			t.Errorf("%+v: %v", params, e)
		}
	}
	for _, limit := range []int{-1, sandboxd.MaxRuns + 1} {
		if e := try(t, admin, "runs/list", sandboxd.RunsParams{Limit: limit}, nil); e == nil || e.Code != rpc.CodeInvalidParams {
			t.Errorf("limit %d: %v", limit, e)
		}
	}
}

// show is runs/show. A report is read as clients do: the daemon's own reader takes no type within another.
func show(t *testing.T, p *rpc.Peer, run string, into *sandboxd.RunReport) {
	t.Helper()
	response, err := p.Call(t.Context(), "runs/show", sandboxd.ShowRunParams{Run: run})
	if err != nil || response.Err != nil {
		t.Fatalf("%v, %v", err, response.Err)
	}
	defer response.Release()
	*into = sandboxd.RunReport{}
	if err := json.Unmarshal(response.Result, into); err != nil {
		t.Fatal(err)
	}
}
