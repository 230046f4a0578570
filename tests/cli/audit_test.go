package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/tests/daemon"
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

// replayLog writes a log of calls on which a policy decided. With payloads it has their arguments.
func replayLog(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	c := audit.Default()
	c.Path = dir + "/audit.log"
	if len(args) > 1 {
		c.Payloads = args[1]
	}
	secret := []byte("hunter2")
	log, err := audit.Open(c, audit.Options{Redact: func(text []byte) []byte { return bytes.ReplaceAll(text, secret, []byte("*******")) }})
	ts.Check(err)
	add := func(e audit.Event) { ts.Check(log.Append(context.Background(), e)) }
	start := func(run, policy string) {
		request := log.Payload([]byte("refund order 7"))
		add(audit.RunStart{Run: run, Caller: audit.Peer{UID: 4242}, Profile: "default", Policy: policy, Program: audit.Plain(nil), Intent: &request})
	}
	// call writes the line of a call, and its outcome if it was sent.
	call := func(run string, n int, tool, arguments, decision, rule, by string, seen *audit.Seen) {
		server, name, _ := strings.Cut(tool, ".")
		c := audit.Call{Run: run, N: n, Server: server, Tool: name}
		j := audit.Judgement{Arguments: log.Payload([]byte(arguments)), Decision: decision, Rule: rule, Seen: seen}
		if by != "" {
			add(audit.CallDenied{Call: c, Judgement: j, By: by})
			return
		}
		add(audit.CallIntent{Call: c, Judgement: j})
		add(audit.CallOutcome{Run: run, N: n, State: "succeeded"})
	}
	first := &audit.Seen{Pending: []int{}, Annotations: map[string]bool{"readOnlyHint": true}}
	start("01RUN", "sha256:0")
	call("01RUN", 2, "pay.refund", `{"amount":7}`, "allow", "small refunds", "", first)
	call("01RUN", 1, "github.list_issues", `{}`, "allow", "reads", "", first)
	call("01RUN", 3, "mail.send", `{"to":"a@example.com"}`, "ask", "mail", "approval", first)
	call("01RUN", 4, "mail.send", `{"to":"hunter2"}`, "ask", "mail", "approval", &audit.Seen{Denied: 1})
	call("01RUN", 5, "db.drop_table", `{}`, "deny", "deny", "deny", &audit.Seen{Denied: 2})
	call("01RUN", 7, "nowhere.query", `{}`, "deny", "servers", "deny", first)
	call("01RUN", 6, "db.query", `[]`, "deny", "", "check", first)
	add(audit.RunEnd{Run: "01RUN", Outcome: "ok"})

	start("02RUN", "sha256:0") // two at once
	call("02RUN", 1, "github.list_issues", `{}`, "allow", "reads", "", first)
	call("02RUN", 2, "pay.list", `{}`, "allow", "lists", "", &audit.Seen{Pending: []int{1}})
	call("02RUN", 3, "pay.list", `{}`, "allow", "lists", "", nil)

	start("03RUN", "") // without a policy
	call("03RUN", 1, "pay.list", `{}`, "deny", "policy", "policy", first)
	call("04RUN", 1, "pay.list", `{}`, "allow", "lists", "", first) // its start is gone
	ts.Check(log.Close())
}

// TestFollow: tail -f shows what is added, across rotations, until it is interrupted.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := audit.Default()
	c.Path, c.MaxBytes, c.Sync = dir+"/audit.log", 64<<10, audit.SyncNone
	log, err := audit.Open(c, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var out daemon.Log
	p := exec.Command(filepath.Join(daemon.Binaries(t), "sandboxctl"), "audit", "tail", "-f", "-n", "1", "--log", c.Path)
	p.Stdout, p.Stderr = &out, &out
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Process.Kill() // an error means that it has ended
		p.Wait()
	})
	daemon.Eventually(t, 10*time.Second, func() error {
		if !strings.Contains(out.String(), "audit.create") {
			return errors.New("the last line is not shown")
		}
		return nil
	})
	const n = 600 // three files
	for i := range n {
		if err := log.Append(t.Context(), audit.CallOutcome{Run: "r", N: i + 1, State: "succeeded"}); err != nil {
			t.Fatal(err)
		}
	}
	daemon.Eventually(t, 10*time.Second, func() error {
		if got := strings.Count(out.String(), "call.outcome"); got != n {
			return fmt.Errorf("%d of %d lines", got, n)
		}
		return nil
	})
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	if strings.Contains(out.String(), "warning") || !strings.Contains(out.String(), "audit.rotate") {
		t.Errorf("it says %.2000s", out.String())
	}
}
