package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/rpc"
)

// administered serves administrators at the path that it returns, until the test ends.
func (s *Server) administered(t *testing.T) (path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sd-") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "a")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.ServeAdmin(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	return path
}

// administrator connects one.
func administrator(t *testing.T, path string) *rpc.Peer {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	p := rpc.New(conn, rpc.Options{MaxLine: maxLine, MaxRequests: 1, WriteWait: time.Minute})
	ended := make(chan struct{})
	go func() { defer close(ended); p.Run(context.Background()) }()
	t.Cleanup(func() { p.Close(); <-ended })
	return p
}

func TestAdminAnswers(t *testing.T) {
	s := asking(t)
	admin := administrator(t, s.administered(t))
	x, gateway := s.gateway(t, nil)
	r, ctx := x.launch(t, time.Hour)
	q := refund(1)
	q.Arguments = []byte(`{"text":"` + strings.Repeat("é", 2000) + `"}`)
	got := r.approving(ctx, q)
	id := s.only(t).ID

	var list sandboxd.ApprovalList
	ask(t, admin, "approvals/list", struct{}{}, &list)
	if len(list.Approvals) != 1 || list.Approvals[0].ID != id || list.Approvals[0].Token != "" || list.Approvals[0].Arguments != nil ||
		list.Approvals[0].Bytes != len(q.Arguments) || !strings.HasPrefix(string(q.Arguments), strings.TrimSuffix(list.Approvals[0].Start, "…")) {
		t.Errorf("list: %+v", list)
	}
	var shown sandboxd.ApprovalRequest
	ask(t, admin, "approvals/show", sandboxd.ShowParams{ID: id}, &shown)
	if !bytes.Equal(shown.Arguments, q.Arguments) || shown.Run != r.account.ID || shown.Rule != "refunds" || !strings.HasPrefix(shown.Caller, "uid ") {
		t.Errorf("show: %+v", shown)
	}
	var decided sandboxd.DecideResult
	ask(t, admin, "approvals/decide", sandboxd.DecideParams{ID: id, Approve: true, Scope: sandboxd.ScopeRun, Reason: "fine"}, &decided)
	a, err := got()
	by := fmt.Sprintf("pid %d, by the admin socket", os.Getpid())
	if err != nil || !a.Approved || a.Scope != approval.Same || a.Reason != "fine" || a.By != decided.By ||
		!strings.HasPrefix(a.By, fmt.Sprintf("uid %d", os.Geteuid())) || !strings.HasSuffix(a.By, by) ||
		a.Peer == nil || a.Peer.UID != uint32(os.Geteuid()) || a.Peer.PID != int32(os.Getpid()) {
		t.Errorf("%+v %+v, %v; told %+v", a, a.Peer, err, decided)
	}
	for _, method := range []string{"approvals/show", "approvals/decide"} {
		params := json.RawMessage(`{"id":"` + id + `"}`)
		if method == "approvals/decide" {
			params = json.RawMessage(`{"id":"` + id + `","approve":false}`)
		}
		if e := try(t, admin, method, params, nil); e == nil || e.Code != rpc.CodeRefused || !strings.Contains(e.Message, "it was approved by "+a.By+" at 2") {
			t.Errorf("%s afterwards: %v", method, e)
		}
	}
	var ours, theirs sandboxd.StatusResult
	ask(t, admin, "status", struct{}{}, &ours)
	ask(t, gateway, "status", struct{}{}, &theirs)
	decides := ours.Deciding
	if v := ours.Serving; v == nil || v.Gateways != 0 || v.Recent == nil || v.Callers == nil || len(v.Leases) != len(s.profiles) {
		t.Errorf("serving: %+v", v)
	}
	ours.Deciding, ours.Serving = nil, nil
	if ours.Version != "test" || fmt.Sprint(ours) != fmt.Sprint(theirs) || decides == nil || decides.Guard != nil || decides.Audit != nil {
		t.Errorf("status: %+v %+v, for gateways %+v", ours, decides, theirs)
	}
}

func TestAdminRefuses(t *testing.T) {
	s := asking(t)
	admin := administrator(t, s.administered(t))
	for _, tt := range []struct {
		method, params string
		code           int
		want           string
	}{
		{"initialize", `{}`, rpc.CodeUnknownMethod, "there are: approvals/list, approvals/show, approvals/decide, policy/reload, runs/list, runs/show, status"},
		{"execute", `{"source":"return 1"}`, rpc.CodeUnknownMethod, "unknown method"},
		{"cancel", `{"run":"x"}`, rpc.CodeUnknownMethod, "unknown method"},
		{"approvals/list", `{"all":true}`, rpc.CodeInvalidParams, `unknown field "all"`},
		{"approvals/show", `{"id":"x","whole":true}`, rpc.CodeInvalidParams, `unknown field "whole"`},
		{"approvals/show", `{"id":"x"}`, rpc.CodeInvalidParams, "no call waits"},
		{"approvals/show", `{}`, rpc.CodeInvalidParams, "no call waits"},
		{"approvals/decide", `{"id":"x","approve":true,"by":"uid 0"}`, rpc.CodeInvalidParams, `unknown field "by"`},
		{"policy/reload", `{"file":"/tmp/mine.yaml"}`, rpc.CodeInvalidParams, `unknown field "file"`},
		{"status", `{"verbose":true}`, rpc.CodeInvalidParams, `unknown field "verbose"`},
		{"status", `"` + strings.Repeat("x", maxAdminLine) + `"`, rpc.CodeInvalidRequest, "longer than"},
		{"status", `{}`, 0, ""},
	} {
		e := try(t, admin, tt.method, json.RawMessage(tt.params), nil)
		if tt.code == 0 && e != nil || tt.code != 0 && (e == nil || e.Code != tt.code || !strings.Contains(e.Message, tt.want)) {
			t.Errorf("%s %.60s: %v, want %d %q", tt.method, tt.params, e, tt.code, tt.want)
		}
	}
}

// TestAdminReloads: a policy is taken into force, or what is wrong with it is told, and the old one stays.
func TestAdminReloads(t *testing.T) {
	s := asking(t)
	admin := administrator(t, s.administered(t))
	old := s.policy.Load()
	if err := os.WriteFile(s.config.Policy, []byte("version: 1\nunknown: no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := try(t, admin, "policy/reload", struct{}{}, nil); e == nil || e.Code != rpc.CodeRefused || !strings.Contains(e.Message, s.config.Policy+":2") {
		t.Errorf("%v", e)
	}
	if s.policy.Load() != old {
		t.Error("the old policy is gone")
	}
	if failing := s.deciding().Policy.Failing; !strings.Contains(failing, s.config.Policy+":2") || !strings.Contains(s.Line(), failing) {
		t.Errorf("status has %q, and %q", failing, s.Line())
	}
	if err := os.WriteFile(s.config.Policy, []byte("version: 1\nunknown: ask\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask(t, admin, "policy/reload", struct{}{}, nil)
	if s.policy.Load().Hash() == old.Hash() {
		t.Error("the new policy is not in force")
	}
	if failing := s.deciding().Policy.Failing; failing != "" {
		t.Errorf("status has %q still", failing)
	}
}

// TestReloadWaitsForWriters: half of a policy, which lacks what it denies, is never in force, and neither is one of many that nobody
// leaves alone.
func TestReloadWaitsForWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := asking(t)
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(s.config.Policy, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		const half, whole = "version: 1\nunknown: allow\n", "version: 1\nunknown: allow\ndeny: ['*.drop_*']\n"
		write(half)
		time.AfterFunc(settleWait/2, func() { write(whole) })
		if err := s.Reload(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		held := s.policy.Load()
		if d := held.Decide(&policy.Call{Server: "db", Tool: "drop_all"}); d.Action != policy.Deny {
			t.Errorf("half a policy is in force: %+v", d)
		}

		write(half)
		time.AfterFunc(settleWait/2, func() { write("version: 1\nunknown: al") })
		if err := s.Reload(t.Context(), nil); err == nil || s.policy.Load() != held {
			t.Errorf("a policy that became none: %v", err)
		}
		time.Sleep(settleWait)

		write(half)
		ctx, end := context.WithCancel(t.Context())
		var writer sync.WaitGroup
		writer.Go(func() {
			time.Sleep(settleWait / 5) // never while it is read
			for n := 0; ctx.Err() == nil; n++ {
				write(fmt.Sprintf("%s# %d\n", half, n))
				time.Sleep(settleWait / 2)
			}
		})
		if err := s.Reload(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "changes all the time") || s.policy.Load() != held {
			t.Errorf("a policy that is written all the time: %v", err)
		}
		end()
		writer.Wait()
	})
}

// TestAdminsAreNamed: who is not in the list is not served, root or not.
func TestAdminsAreNamed(t *testing.T) {
	s := asking(t)
	s.config.Admins = config.Admins{UIDs: []string{"64321"}}
	p := administrator(t, s.administered(t))
	if _, err := p.Call(t.Context(), "status", struct{}{}); err == nil {
		t.Error("served")
	}
	for deadline := time.Now().Add(time.Minute); p.Refusal() == nil && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // the reader may not have come to it yet
	}
	if e := p.Refusal(); e == nil || !strings.Contains(e.Message, fmt.Sprintf("user %d is not an allowed caller", os.Geteuid())) || !strings.Contains(e.Message, "`admins`") {
		t.Errorf("the refusal: %v", e)
	}
}

func TestTooManyAdmins(t *testing.T) {
	s := asking(t)
	path := s.administered(t)
	var all []*rpc.Peer
	for range maxAdmins {
		p := administrator(t, path)
		ask(t, p, "status", struct{}{}, nil)
		all = append(all, p)
	}
	over := administrator(t, path)
	if _, err := over.Call(t.Context(), "status", struct{}{}); err == nil {
		t.Error("one too many is served")
	}
	all[0].Close()
	for range 1000 {
		if _, err := administrator(t, path).Call(t.Context(), "status", struct{}{}); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("a place is not given back")
}

// TestTwoAdminsAtOnce: of two who answer at once, one wins, and the other is told of it.
func TestTwoAdminsAtOnce(t *testing.T) {
	s := asking(t)
	path := s.administered(t)
	first, second := administrator(t, path), administrator(t, path)
	x, _ := s.gateway(t, nil)
	r, ctx := x.launch(t, time.Hour)
	for n := range 50 {
		got := r.approving(ctx, refund(n+1))
		id := s.only(t).ID
		var won atomic.Int32
		var lost [2]*rpc.Error
		var both sync.WaitGroup
		for i, p := range []*rpc.Peer{first, second} {
			both.Go(func() {
				if lost[i] = try(t, p, "approvals/decide", sandboxd.DecideParams{ID: id, Approve: i == 0}, nil); lost[i] == nil {
					won.Add(1)
				}
			})
		}
		both.Wait()
		a, err := got()
		if err != nil || won.Load() != 1 || a.Approved != (lost[0] == nil) {
			t.Fatalf("%d won, errors %v: %+v, %v", won.Load(), lost, a, err)
		}
		word := map[bool]string{true: "approved", false: "denied"}[a.Approved]
		for _, e := range lost {
			if e != nil && (e.Code != rpc.CodeRefused || !strings.HasPrefix(e.Message, "it was "+word+" by uid ")) {
				t.Errorf("the other one was told %v", e)
			}
		}
	}
}

// TestAdminGuesses: 10,000 answers to requests that are not there change nothing, and keep nobody from answering.
func TestAdminGuesses(t *testing.T) {
	s := asking(t)
	path := s.administered(t)
	x, _ := s.gateway(t, nil)
	r, ctx := x.launch(t, time.Hour)
	got := r.approving(ctx, refund(1))
	id := s.only(t).ID
	var all sync.WaitGroup
	for worker := range 4 {
		p := administrator(t, path)
		all.Go(func() {
			for n := range 2500 {
				guess := fmt.Sprintf("%s%06d%d", id[:19], n, worker)
				if e := try(t, p, "approvals/decide", sandboxd.DecideParams{ID: guess, Approve: true}, nil); e == nil || e.Code != rpc.CodeInvalidParams {
					t.Errorf("%s: %v", guess, e)
					return
				}
			}
		})
	}
	all.Wait()
	if left := s.only(t); left.ID != id {
		t.Errorf("what waits is %+v", left)
	}
	ask(t, administrator(t, path), "approvals/decide", sandboxd.DecideParams{ID: id, Approve: false}, nil)
	if a, err := got(); err != nil || a.Approved {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestAdminFloods: one that sends and does not read is let go of, and others are served meanwhile.
func TestAdminFloods(t *testing.T) {
	s := asking(t)
	s.config.Gateways.WriteWait = 100 * time.Millisecond
	path := s.administered(t)
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetWriteDeadline(time.Now().Add(time.Minute))
	other := administrator(t, path)
	flood := []byte(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"approvals/list"}`+"\n", 1000))
	for err == nil {
		_, err = conn.Write(flood)
		ask(t, other, "status", struct{}{}, nil)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("it was not let go of")
	}
}

// TestAdminListIsBounded: as much as may wait, as long as it may be, fits one answer of known size, and each can be had whole.
func TestAdminListIsBounded(t *testing.T) {
	s := asking(t)
	admin := administrator(t, s.administered(t))
	x, _ := s.gateway(t, nil)
	r, ctx := x.launch(t, time.Hour)
	arguments, err := json.Marshal(map[string]string{"text": strings.Repeat("\"\\\u202e\x01", 256<<10/13)})
	if err != nil || len(arguments) < 240<<10 {
		t.Fatal(len(arguments), err)
	}
	for n := range 64 {
		q := refund(n + 1)
		q.Arguments = arguments
		q.Task, q.Rule = strings.Repeat("<\x02", 8<<10), strings.Repeat("\x03", 500)
		q.Evidence = slices.Repeat([]string{strings.Repeat("\x04", 1000)}, 100)
		q.Reasons = q.Evidence
		r.approving(ctx, q)
	}
	for len(s.desk.Pending()) < 64 {
		time.Sleep(time.Millisecond)
	}
	response, err := admin.Call(t.Context(), "approvals/list", struct{}{})
	if err != nil || response.Err != nil {
		t.Fatal(err, response.Err)
	}
	var list sandboxd.ApprovalList
	if err := rpc.Decode(response.Result, &list); err != nil {
		t.Fatal(err)
	}
	if n := len(response.Result); n > maxList+1000 || len(list.Approvals)+list.More != 64 || len(list.Approvals) < 16 || list.More == 0 {
		t.Errorf("%d bytes, %d and %d more", n, len(list.Approvals), list.More)
	}
	for i, a := range list.Approvals {
		if a.Bytes != len(arguments) || a.Arguments != nil || !strings.HasSuffix(a.Start, "…") || len(a.Evidence) != maxTexts || a.Evidence[maxTexts-1] != "… and 93 more" ||
			i > 0 && a.Asked.Before(list.Approvals[i-1].Asked) {
			t.Fatalf("%d: %+v", i, a)
		}
	}
	var whole sandboxd.ApprovalRequest
	ask(t, admin, "approvals/show", sandboxd.ShowParams{ID: list.Approvals[3].ID}, &whole)
	if !bytes.Equal(whole.Arguments, arguments) || len(whole.Evidence) != 100 || len(whole.Task) != 16<<10 {
		t.Errorf("not whole: %d bytes of arguments", len(whole.Arguments))
	}
}

// FuzzAdmin is an administrator's connection on which anything comes. Each answer must be one of JSON-RPC; what waits must go on
// waiting, as nobody can guess its id; what comes next must be served; and nothing may be left.
func FuzzAdmin(f *testing.F) {
	request := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	for _, lines := range []string{
		request("approvals/list", `{}`), request("approvals/list", `null`), request("approvals/show", `{"id":"ABCDEF"}`),
		request("approvals/decide", `{"id":"ABCDEF","approve":true,"scope":"run","reason":"x"}`),
		request("approvals/decide", `{"id":"","approve":true}`), request("approvals/decide", `{"approve":false,"id":null}`),
		request("approvals/decide", `{"id":"A","approve":true,"approve":false}`), request("approvals/decide", `[]`),
		request("runs/list", `{"limit":-1}`), request("runs/list", `{}`), request("runs/show", `{"run":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`), request("runs/show", `{}`),
		request("policy/reload", `{}`), request("status", `{}`), request("initialize", `{}`), request("execute", `{"source":"return 1"}`),
		`{"jsonrpc":"2.0","method":"approvals/decide","params":{"id":"A","approve":true}}`, `{"jsonrpc":"2.0","id":1,"result":{"approve":true}}`,
		strings.Repeat(request("approvals/list", `{}`)+"\n", 20), "\x00", "[]", request("status", strings.Repeat(`{"a":`, 600)),
		request("approvals/show", `{"id":"`+strings.Repeat("x", maxAdminLine)+`"}`),
	} {
		f.Add([]byte(lines))
	}
	s := withoutWorkers(f)
	ctx, cancel := context.WithCancel(context.Background())
	f.Cleanup(cancel)
	waits := make(chan struct{})
	go s.desk.Ask(ctx, approval.Request{Run: "r", Tool: "t", Arguments: []byte("{}"), Caller: "uid 1"}, func(approval.Request) { close(waits) })
	<-waits
	allowed, err := s.config.Admins.Resolve()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		before := runtime.NumGoroutine()
		ours, theirs := socketpair(t)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			(&admin{Server: s}).session(context.Background(), theirs, allowed, make(chan struct{}, 1))
		}()
		text := slices.Concat(lines, []byte("\n"+lastRequest))
		go ours.Write(text)
		if answers, most := takeAnswers(t, ours), bytes.Count(text, []byte("\n")); answers > most {
			t.Errorf("%d lines got %d answers", most, answers)
		}
		ours.Close()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("the session does not end")
		}
		if len(s.desk.Pending()) != 1 {
			t.Error("somebody answered for what waits")
		}
		s.nothingLeft(t, before)
	})
}

// TestAdminHangsUp: one that goes in the middle of a line, or before its answer, is no trouble.
func TestAdminHangsUp(t *testing.T) {
	s := asking(t)
	path := s.administered(t)
	for _, text := range []string{"", `{"jsonrpc":"2.0","id":1,`, `{"jsonrpc":"2.0","id":1,"method":"approvals/list"}` + "\n"} {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, text)
		conn.Close()
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, `{"jsonrpc":"2.0","id":1,"method":"status"}`+"\n")
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, `"version":"test"`) {
		t.Errorf("%s, %v", line, err)
	}
}
