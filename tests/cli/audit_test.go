package cli_test

import (
	"context"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sandboxd/sandboxd/internal/audit"
)

// auditLog writes a log as a daemon does.
func auditLog(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	c := audit.Default()
	c.Path = dir + "/audit.log"
	log, err := audit.Open(c, audit.Options{})
	ts.Check(err)
	arguments := log.Payload([]byte(`{"amount":7}`))
	refund := func(run string, n int, tool string) audit.Call {
		return audit.Call{Run: run, N: n, Server: "pay", Tool: tool}
	}
	result := log.Payload(make([]byte, 2048))
	for _, e := range []audit.Event{
		audit.DaemonStart{Version: "1.2", PID: 7},
		audit.RunStart{
			Run: "01RUN", Caller: audit.Peer{UID: 4242, PID: 77, Unit: "gw.service"}, Gateway: "gate", Profile: "default",
			Program: audit.Plain([]byte("return 1\n")),
		},
		audit.CallIntent{
			Call: refund("01RUN", 1, "refund"),
			Judgement: audit.Judgement{
				Arguments: arguments, Decision: "allow", Rule: "small refunds", Labels: []string{"write"},
				Guard:    &audit.Verdict{Verdict: "allow", Latency: 15 * time.Millisecond},
				Evidence: []audit.Evidence{{Argument: "note", Call: 3, Tool: "db.query", Characters: 41}},
			},
			IdempotencyKey: "01RUN/1",
		},
		audit.CallOutcome{Run: "01RUN", N: 1, State: "succeeded", Result: &result, Duration: 22 * time.Millisecond},
		audit.CallDenied{
			Call:      refund("01RUN", 2, "drop\u202e\x1b[31m"),
			Judgement: audit.Judgement{Arguments: arguments, Decision: "deny", Rule: "deny", Reason: "=never"}, By: "policy",
		},
		audit.ApprovalAnswer{ID: "a1", Run: "01RUN", N: 3, Answer: "approved", Scope: "run", By: &audit.Peer{UID: 1, PID: 2}},
		audit.RunEnd{Run: "01RUN", Outcome: "denied", Calls: map[string]int{"succeeded": 1, "denied": 1}},
		audit.RunStart{Run: "02RUN", Caller: audit.Peer{UID: 5000}, Profile: "strict", Program: audit.Plain([]byte("return 2\n"))},
		audit.CallIntent{Call: refund("02RUN", 1, "list"), Judgement: audit.Judgement{Arguments: arguments, Decision: "ask"}},
	} {
		ts.Check(log.Append(context.Background(), e))
	}
	ts.Check(log.Close())
}
