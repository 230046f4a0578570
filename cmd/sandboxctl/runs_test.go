package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
)

// hostileRun is a run whose every text would steer a terminal.
func hostileRun() sandboxd.RunReport {
	const bad = "\x1b[2J\u202e\r\n\u009b31m"
	return sandboxd.RunReport{
		RunSummary: sandboxd.RunSummary{Run: bad, Caller: bad, Gateway: bad, Profile: bad, Doing: "waiting for " + bad, Calls: 1},
		Timeline: []sandboxd.CallReport{{
			N: 1, Server: bad, Tool: bad, State: sandboxd.CallState(bad), Decision: bad, Rule: bad, Reason: bad, Verdict: bad, Approved: bad, Class: bad, Waits: bad,
			Guard: &sandboxd.Span{AtMS: -1e300, MS: 1e300}, Approval: &sandboxd.Span{AtMS: 1e300}, Sent: &sandboxd.Span{MS: -1e300},
		}},
	}
}

// TestWaterfall: what waited for what, and for how long.
func TestWaterfall(t *testing.T) {
	r := sandboxd.RunReport{
		RunSummary: sandboxd.RunSummary{
			Run: "R", Caller: "uid 7 (bob)", Gateway: "gate", Profile: "default", Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			ElapsedMS: 3200, Outcome: "ok", Calls: 4, Failed: 1, Denied: 1,
		},
		Stats: sandboxd.Stats{WallMS: 2200, ApprovalMS: 1000, PeakMemory: 1 << 20, Warm: true},
		Timeline: []sandboxd.CallReport{
			{N: 1, Server: "db", Tool: "read", State: "succeeded", Decision: "allow", Rule: "reads", AtMS: 0, Sent: &sandboxd.Span{AtMS: 400, MS: 400}, Bytes: 2048},
			{
				N: 2, Server: "pay", Tool: "refund", State: "failed", Decision: "ask", Rule: "refunds", Reason: "a person decides", Verdict: "ask", Approved: "uid 8", Class: "tool",
				AtMS: 800, Guard: &sandboxd.Span{AtMS: 800, MS: 400}, Approval: &sandboxd.Span{AtMS: 1200, MS: 1000}, Sent: &sandboxd.Span{AtMS: 2200, MS: 900},
			},
			{N: 3, Server: "db", Tool: "drop", State: "denied", Decision: "deny", Rule: "deny", Class: "deny", AtMS: 3190},
		},
		More: 1,
	}
	want := []string{
		"run R: ok, 3.2s, 4 calls, 1 failed, 1 denied",
		"  of uid 7 (bob), default, gate, from 2026-01-02T03:04:05.000Z",
		"  queue 0s, lease 0s (warm), wall 2.2s, CPU 0s, tools 0s, approvals 1s, memory 1MiB",
		"   1  db.read     ▕····████                        ▏  succeeded    +0s, tool 400ms, 2KiB",
		`      allow by rule "reads"`,
		"   2  pay.refund  ▕        ░░░░▒▒▒▒▒▒▒▒▒▒█████████ ▏  failed       +800ms, tool 900ms",
		`      ask by rule "refunds": a person decides; guard ask (400ms); approved by uid 8 (1s); failed at the tool`,
		"   3  db.drop     ▕                               ×▏  denied       +3.19s",
		`      deny by rule "deny"; refused as deny`,
		"      and 1 calls more",
	}
	if diff := cmp.Diff(want, reportLines(r, false)); diff != "" {
		t.Error(diff)
	}
	if coloured := strings.Join(reportLines(r, true), "\n"); !strings.Contains(coloured, "\x1b[31mfailed\x1b[0m") {
		t.Errorf("no colours: %q", coloured)
	}
}

// TestRunsSteerNoTerminal: nothing that others chose gets through, not even in JSON.
func TestRunsSteerNoTerminal(t *testing.T) {
	r := hostileRun()
	var out bytes.Buffer
	if err := printSafeJSON(&out, r); err != nil {
		t.Fatal(err)
	}
	var back sandboxd.RunReport
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Errorf("JSON says another thing:\n%s", diff)
	}
	lines := append(reportLines(r, false), strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")...)
	for _, line := range append(lines, runLine(r.RunSummary, false)) {
		if strings.ContainsFunc(line, hidden) {
			t.Errorf("%q", line)
		}
	}
}
