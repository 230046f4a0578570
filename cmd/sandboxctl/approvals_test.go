package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/rpc"
)

// desk is a daemon's admin socket, on which some requests wait.
type desk struct {
	socket string

	mu      sync.Mutex // guards the fields below
	list    sandboxd.ApprovalList
	lists   int // how many times it was asked for
	decided []sandboxd.DecideParams
	refuse  *rpc.Error // of what is decided and reloaded
}

func newDesk(t *testing.T, waiting ...sandboxd.ApprovalRequest) *desk {
	t.Helper()
	dir, err := os.MkdirTemp("", "sd-") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{socket: filepath.Join(dir, "a"), list: sandboxd.ApprovalList{Approvals: waiting}}
	l, err := net.Listen("unix", d.socket)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() { l.Close(); serving.Wait(); os.RemoveAll(dir) })
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p := rpc.New(conn, rpc.Options{Handle: d.handle, MaxLine: 1 << 20, MaxRequests: 9, WriteWait: time.Minute})
			serving.Go(func() { p.Run(context.Background()) })
		}
	})
	return d
}

func (d *desk) handle(_ context.Context, r *rpc.Request) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch r.Method {
	case "approvals/list":
		d.lists++
		return d.list, nil
	case "approvals/show":
		var p sandboxd.ShowParams
		if err := rpc.Decode(r.Params, &p); err != nil {
			return nil, err
		}
		for _, q := range d.list.Approvals {
			if q.ID == p.ID {
				return q, nil
			}
		}
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "no such request")
	case "approvals/decide":
		var p sandboxd.DecideParams
		if err := rpc.Decode(r.Params, &p); err != nil {
			return nil, err
		}
		if d.refuse != nil {
			return nil, d.refuse
		}
		d.decided = append(d.decided, p)
		return sandboxd.DecideResult{ID: p.ID, Approve: p.Approve, Scope: p.Scope, By: "uid 0"}, nil
	case "policy/reload":
		if d.refuse != nil {
			return nil, d.refuse
		}
		return struct{}{}, nil
	}
	return nil, errors.New(r.Method)
}

// looked waits until the list was asked for so many times more.
func (d *desk) looked(times int) {
	d.mu.Lock()
	until := d.lists + times
	d.mu.Unlock()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		d.mu.Lock()
		now := d.lists
		d.mu.Unlock()
		if now >= until {
			return
		}
	}
}

// sandboxctl runs it in this process.
func (d *desk) sandboxctl(ctx context.Context, args ...string) (out string, err error) {
	c := root()
	c.AddCommand(policyReloadCommand(new(bool)))
	var text bytes.Buffer
	c.SetOut(&text)
	c.SetArgs(append(args, "--socket", d.socket))
	err = c.ExecuteContext(ctx)
	return text.String(), err
}

const hostile = "x\u202egpj\u001b[31m\u009b1m\r\n  rule       none\u200b\u3164\U000e0041\u00ad\ufe0f\u2800"

func waitsFor(id string) sandboxd.ApprovalRequest {
	arguments, _ := json.Marshal(map[string]any{"text": hostile, hostile: []int{1}})
	now := time.Now()
	return sandboxd.ApprovalRequest{
		ID: id, Run: "01RUN", N: 3, Server: "pay", Tool: "refund" + hostile, Rule: "r" + hostile, Reasons: []string{"a" + hostile, "b"},
		Evidence: []string{"e" + hostile}, Task: "t" + hostile, Caller: "uid 7", Asked: now, Expires: now.Add(time.Minute),
		Arguments: arguments, Bytes: len(arguments),
	}
}

const (
	first  = "ABCDEFGHIJKLMNOPQRSTUVWXY2"
	second = "ABCDEFGHIJKLMNOPQRSTUVWXY3"
	third  = "ZBCDEFGHIJKLMNOPQRSTUVWXY4"
)

// TestApprovalsAreSafeToPrint: what a program chose can't steer the terminal, hide, turn text around, or look like a line of ours.
func TestApprovalsAreSafeToPrint(t *testing.T) {
	long := waitsFor(second)
	long.Arguments, long.Start = nil, hostile+"…"
	d := newDesk(t, waitsFor(first), long)
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"show", first}, {"show", first, "--json"}, {"approve", first}, {"deny", first}} {
		out, err := d.sandboxctl(t.Context(), append([]string{"approvals"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(out, "\n") {
			if i := strings.IndexFunc(line, hidden); i >= 0 {
				t.Errorf("%v: a character that can't be seen in %q", args, line)
			}
			if strings.HasPrefix(line, "  rule       none") {
				t.Errorf("%v: a line of the program's own: %q", args, line)
			}
		}
		if !strings.Contains(out, "refund") && args[len(args)-1] != "--json" {
			t.Errorf("%v: %s", args, out)
		}
	}
	out, _ := d.sandboxctl(t.Context(), "approvals", "show", "--json", first)
	var got sandboxd.ApprovalRequest
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := waitsFor(first)
	var gotArgs, wantArgs any
	json.Unmarshal(got.Arguments, &gotArgs)
	json.Unmarshal(want.Arguments, &wantArgs)
	if diff := cmp.Diff(wantArgs, gotArgs); diff != "" || got.Tool != want.Tool {
		t.Errorf("as JSON it is another: %q, %s", got.Tool, diff)
	}
}

func TestApprovalsAnswer(t *testing.T) {
	d := newDesk(t, waitsFor(first), waitsFor(third))
	for _, args := range [][]string{
		{"approve", first}, {"approve", third[:6], "--scope", "run", "--reason", "fine"}, {"deny", strings.ToLower(first[:8]), "--reason", "no"}, {"deny", third, "--scope", "call"},
	} {
		if _, err := d.sandboxctl(t.Context(), append([]string{"approvals"}, args...)...); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	want := []sandboxd.DecideParams{
		{ID: first, Approve: true, Scope: "call"}, {ID: third, Approve: true, Scope: "run", Reason: "fine"},
		{ID: first, Scope: "call", Reason: "no"}, {ID: third, Scope: "call"},
	}
	if diff := cmp.Diff(want, d.decided); diff != "" {
		t.Error(diff)
	}
}

func TestApprovalsRefuse(t *testing.T) {
	d := newDesk(t, waitsFor(first), waitsFor(second), waitsFor(third))
	for _, tt := range []struct {
		args string
		want string
		code int
	}{
		{"approve", "usage: sandboxctl approvals approve ID; got 0 arguments", exitUsage},
		{"approve A B", "got 2 arguments", exitUsage},
		{"list A", "got 1 arguments", exitUsage},
		{"approve ABCDE", "give at least 6 characters", exitUsage},
		{"approve " + first + "X", "is no id", exitUsage},
		{"approve ABCDEFGH", "2 requests begin with ABCDEFGH: " + first + ", " + second, exitFailed},
		{"approve QQQQQQ", "no call waits for approval under an id that begins with QQQQQQ", exitFailed},
		{"show " + first[:25] + "9", "no such request", exitFailed},
		{"approve " + first + " --scope all", `--scope "all": there are call and run`, exitUsage},
		{"approve " + first + " --reason " + strings.Repeat("x", 1025), "--reason: 1025 bytes", exitUsage},
	} {
		_, err := d.sandboxctl(t.Context(), append([]string{"approvals"}, strings.Fields(tt.args)...)...)
		if usage := errors.As(err, new(usageError)); err == nil || !strings.Contains(err.Error(), tt.want) || usage != (tt.code == exitUsage) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
	if len(d.decided) > 0 {
		t.Errorf("decided %+v", d.decided)
	}
	// A list that has not room for all says nothing about how many begin so.
	d.list.More = 1
	if _, err := d.sandboxctl(t.Context(), "approvals", "approve", third[:8]); err == nil || !strings.Contains(err.Error(), "give the whole id") {
		t.Errorf("%v", err)
	}
	d.refuse = rpc.Errorf(rpc.CodeRefused, "it was denied by uid 0 (a\u202eb) at 2026-01-02T03:04:05Z already")
	if _, err := d.sandboxctl(t.Context(), "approvals", "approve", third); err == nil || err.Error() != `it was denied by uid 0 (a\u202eb) at 2026-01-02T03:04:05Z already` {
		t.Errorf("%v", err)
	}
}

func TestApprovalsWithoutDaemon(t *testing.T) {
	d := &desk{socket: filepath.Join(t.TempDir(), "none")}
	_, err := d.sandboxctl(t.Context(), "approvals", "list")
	var h hinted
	if !errors.As(err, &h) || !strings.Contains(h.hint, "sandboxd-admin.socket") {
		t.Errorf("%v", err)
	}
}

// TestApprovalsWatch: each request is printed once, when it comes.
func TestApprovalsWatch(t *testing.T) {
	d := newDesk(t, waitsFor(first))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		d.looked(2)
		d.mu.Lock()
		d.list.Approvals = append(d.list.Approvals, waitsFor(second))
		d.mu.Unlock()
		d.looked(2)
	}()
	out, err := d.sandboxctl(ctx, "approvals", "list", "--watch", "--json")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 2 || !strings.Contains(lines[0], first) || !strings.Contains(lines[1], second) {
		t.Errorf("%s", out)
	}
}

func TestPolicyReload(t *testing.T) {
	d := newDesk(t)
	if out, err := d.sandboxctl(t.Context(), "reload"); err != nil || !strings.Contains(out, "in force") {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := d.sandboxctl(t.Context(), "reload", "mine.yaml"); !errors.As(err, new(usageError)) {
		t.Errorf("%v", err)
	}
	d.refuse = rpc.Errorf(rpc.CodeRefused, "policy.yaml:3: no action \"al\u202elow\"\npolicy.yaml:4: more")
	if _, err := d.sandboxctl(t.Context(), "reload"); err == nil || err.Error() != "the policy in force stays: policy.yaml:3: no action \"al\\u202elow\"\npolicy.yaml:4: more" {
		t.Errorf("%v", err)
	}
}
