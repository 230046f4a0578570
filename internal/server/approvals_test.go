package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/broker"
	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/pool"
	"github.com/sandboxd/sandboxd/internal/rpc"
)

const approvalWait = time.Minute

// asking is a server whose workers are mute: what they would ask for, a test does.
func asking(t *testing.T) *Server {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	c := config.Default()
	c.Approvals = config.Approvals{Wait: approvalWait, Pending: 70, PerCaller: 64}
	c.Admins = config.Admins{}
	c.Policy = filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(c.Policy, []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := policy.Load(c.Policy)
	if err != nil {
		t.Fatal(err)
	}
	mute := func(context.Context, nursery.Spec) (*nursery.Worker, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		return &nursery.Worker{Socket: w}, nil
	}
	p := pool.New(mute, []pool.Kind{{Name: "default", Spec: nursery.Spec{Jail: jail.Spec{MemoryBytes: 1}}}}, 1, log)
	s, err := New(Parts{Config: c, Pool: p, Policy: read, Version: "test", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// gateway connects one: answer is what it does with the daemon's calls, nil that it has announced nothing.
func (s *Server) gateway(t *testing.T, answer func(ctx context.Context, r *rpc.Request) (any, error)) (*session, *rpc.Peer) {
	t.Helper()
	ours, theirs := net.Pipe()
	x := s.newSession(theirs)
	x.caller = Caller{PID: 4711, UID: uint32(os.Geteuid()), Groups: []uint32{7}}
	handle := answer
	if handle == nil {
		handle = func(context.Context, *rpc.Request) (any, error) { return nil, errors.New("asked") }
	}
	peer := rpc.New(ours, rpc.Options{Handle: handle, MaxLine: maxLine, MaxRequests: 100, WriteWait: time.Second})
	var both sync.WaitGroup
	both.Go(func() { x.peer.Run(context.Background()) })
	both.Go(func() { peer.Run(context.Background()) })
	t.Cleanup(func() { peer.Close(); both.Wait() })
	ask(t, peer, "initialize", sandboxd.InitializeParams{ProtocolVersion: "1", Servers: []string{"pay"}, Approvals: answer != nil}, nil)
	return x, peer
}

// ask calls the daemon, which must not refuse.
func ask(t *testing.T, p *rpc.Peer, method string, params, into any) {
	t.Helper()
	if e := try(t, p, method, params, into); e != nil {
		t.Fatalf("%s: %v", method, e)
	}
}

func try(t *testing.T, p *rpc.Peer, method string, params, into any) *rpc.Error {
	t.Helper()
	response, err := p.Call(context.Background(), method, params)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	defer response.Release()
	if response.Err != nil {
		return response.Err
	}
	if into != nil {
		if err := rpc.Decode(response.Result, into); err != nil {
			t.Fatalf("%s: %s: %v", method, response.Result, err)
		}
	}
	return nil
}

// launch starts a run as carryOut does, with a wall clock and no other limit.
func (x *session) launch(t *testing.T, wall time.Duration) (r *run, ctx context.Context) {
	t.Helper()
	w, err := x.pool.Lease(t.Context(), "default", 1)
	if err != nil {
		t.Fatal(err)
	}
	r = &run{
		session: x, program: sandboxd.Program{Token: "mine"}, limits: sandboxd.Limits{WallMS: wall.Milliseconds()},
		account: &broker.Run{ID: ulid.Make().String()}, began: time.Now(), started: time.Now(), worker: w,
	}
	ctx, r.stop = context.WithCancelCause(context.Background())
	end := x.desk.Begin(r.account.ID)
	leave := x.enroll(r.account.ID, r.program.Token, r.stop)
	r.watcher = &watcher{run: r, ended: make(chan struct{})}
	r.watcher.start(wall)
	t.Cleanup(func() {
		r.stop(errRunEnded)
		r.calls.Wait()
		r.watcher.mu.Lock()
		r.watcher.wall.Stop()
		r.watcher.mu.Unlock()
		leave()
		end()
	})
	return r, ctx
}

func refund(n int) approval.Request {
	return approval.Request{N: n, Server: "pay", Tool: "refund", Arguments: []byte(`{"amount":7}`), Rule: "refunds", Reasons: []string{"why"}, Task: "task"}
}

// approving asks in the background.
func (r *run) approving(ctx context.Context, q approval.Request) (answer func() (approval.Answer, error)) {
	type end struct {
		approval.Answer
		error
	}
	ended := make(chan end, 1)
	r.calls.Go(func() {
		a, err := r.approve(ctx, q)
		ended <- end{a, err}
	})
	return func() (approval.Answer, error) { e := <-ended; return e.Answer, e.error }
}

// only waits for one request that waits, and returns it.
func (s *Server) only(t *testing.T) approval.Request {
	t.Helper()
	for range 10_000 {
		if all := s.desk.Pending(); len(all) == 1 {
			return all[0]
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%d requests wait, not one", len(s.desk.Pending()))
	return approval.Request{}
}

func everything(string) (string, bool) { return "", true }

// admit answers as an administrator.
func (s *Server) admit(t *testing.T, id string, approve bool) error {
	t.Helper()
	params, err := json.Marshal(sandboxd.DecideParams{ID: id, Approve: approve})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.decide(params, Caller{Groups: []uint32{0}}, "an administrator", everything)
	return err
}

func TestGatewayApproves(t *testing.T) {
	s := asking(t)
	asked := make(chan sandboxd.ApprovalRequest, 4)
	x, _ := s.gateway(t, func(_ context.Context, r *rpc.Request) (any, error) {
		var q sandboxd.ApprovalRequest
		if err := rpc.Decode(r.Params, &q); err != nil || r.Method != "approvals/request" {
			t.Errorf("%s: %v", r.Method, err)
		}
		asked <- q
		return sandboxd.ApprovalAnswer{Approve: true, Scope: sandboxd.ScopeRun, Reason: "fine"}, nil
	})
	r, ctx := x.launch(t, time.Hour)
	a, err := r.approve(ctx, refund(3))
	who := fmt.Sprintf("gateway uid %d", x.caller.UID)
	if err != nil || !a.Approved || a.Reason != "fine" || !strings.HasPrefix(a.By, who) || !strings.HasSuffix(a.By, ", pid 4711") || a.Peer == nil ||
		*a.Peer != (approval.Peer{UID: x.caller.UID, GID: 7, PID: 4711}) || a.ID == "" {
		t.Errorf("%+v %+v, %v", a, a.Peer, err)
	}
	q := <-asked
	if q.ID != a.ID || q.Run != r.account.ID || q.Token != "mine" || q.N != 3 || q.Server != "pay" || q.Tool != "refund" || q.Rule != "refunds" ||
		string(q.Arguments) != `{"amount":7}` || q.Bytes != 12 || q.Task != "task" || len(q.Reasons) != 1 || !strings.HasPrefix(who, "gateway "+q.Caller[:5]) ||
		q.Expires.Sub(q.Asked) != approvalWait {
		t.Errorf("asked: %+v", q)
	}
	if a, err := r.approve(ctx, refund(4)); err != nil || !a.Approved || a.ID != q.ID || len(asked) > 0 {
		t.Errorf("the same call again: %+v, %v, asked %d times", a, err, len(asked))
	}
	other := refund(5)
	other.Arguments = []byte(`{"amount":8}`)
	if a, err := r.approve(ctx, other); err != nil || a.ID == q.ID || len(asked) != 1 {
		t.Errorf("another call: %+v, %v, asked %d times", a, err, len(asked))
	}
}

// TestGatewayGivesNoAnswer: what is no clear answer leaves the request to others.
func TestGatewayGivesNoAnswer(t *testing.T) {
	for name, answer := range map[string]any{
		"null":           json.RawMessage(`null`),
		"a list":         json.RawMessage(`[true]`),
		"a word":         json.RawMessage(`"approve"`),
		"nothing said":   json.RawMessage(`{}`),
		"a scope alone":  json.RawMessage(`{"scope":"run"}`),
		"approve: null":  json.RawMessage(`{"approve":null}`),
		"another type":   json.RawMessage(`{"approve":"true"}`),
		"a number":       json.RawMessage(`{"approve":1}`),
		"another case":   json.RawMessage(`{"Approve":true}`),
		"said twice":     json.RawMessage(`{"approve":false,"approve":true}`),
		"something more": json.RawMessage(`{"approve":true,"forever":true}`),
		"another scope":  json.RawMessage(`{"approve":true,"scope":"all"}`),
		"a long reason":  sandboxd.ApprovalAnswer{Approve: true, Reason: strings.Repeat("x", sandboxd.MaxReasonBytes+1)},
		"a MCP result":   json.RawMessage(`{"content":[],"isError":false}`),
		"not JSON":       errors.New("not JSON"),
		"never":          nil,
	} {
		t.Run(name, func(t *testing.T) {
			s := asking(t)
			tried := make(chan struct{})
			x, _ := s.gateway(t, func(ctx context.Context, _ *rpc.Request) (any, error) {
				close(tried)
				if answer == nil {
					<-ctx.Done()
				}
				if err, failed := answer.(error); failed {
					return nil, err
				}
				return answer, nil
			})
			r, ctx := x.launch(t, time.Hour)
			got := r.approving(ctx, refund(1))
			<-tried
			q := s.only(t)
			time.Sleep(5 * time.Millisecond) // an answer that counted would have
			if err := s.admit(t, q.ID, false); err != nil {
				t.Fatal(err)
			}
			if a, err := got(); err != nil || a.Approved || a.By != "an administrator" {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}

// TestGatewayAnswersByHand sends lines: two answers to one request, and one to a request that another answer settled.
func TestGatewayAnswersByHand(t *testing.T) {
	s := asking(t)
	ours, theirs := net.Pipe()
	x := s.newSession(theirs)
	x.caller = Caller{UID: 1, Groups: []uint32{1}}
	var serving sync.WaitGroup
	serving.Go(func() { x.peer.Run(context.Background()) })
	defer serving.Wait()
	defer ours.Close()
	lines := bufio.NewReader(ours)
	said := func(text string) string {
		t.Helper()
		if text != "" {
			if _, err := io.WriteString(ours, text+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		ours.SetReadDeadline(time.Now().Add(time.Minute))
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	said(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":"1","client":{"name":"x"},"approvals":true}}`)
	r, ctx := x.launch(t, time.Hour)
	got := r.approving(ctx, refund(1))
	if line := said(""); !strings.Contains(line, `"id":1,"method":"approvals/request"`) {
		t.Fatal(line)
	}
	fmt.Fprint(ours, `{"jsonrpc":"2.0","id":1,"result":{"approve":false}}`+"\n"+`{"jsonrpc":"2.0","id":1,"result":{"approve":true}}`+"\n")
	if a, err := got(); err != nil || a.Approved {
		t.Errorf("the second answer counted: %+v, %v", a, err)
	}

	got = r.approving(ctx, refund(2))
	if line := said(""); !strings.Contains(line, `"id":2,"method":"approvals/request"`) {
		t.Fatal(line)
	}
	id := s.only(t).ID
	if err := s.admit(t, id, false); err != nil {
		t.Fatal(err)
	}
	// The gateway is told that nobody waits for it any more, and answers all the same.
	if line := said(""); line != `{"jsonrpc":"2.0","method":"approvals/cancel","params":{"id":"`+id+`"}}`+"\n" {
		t.Error(line)
	}
	fmt.Fprint(ours, `{"jsonrpc":"2.0","id":2,"result":{"approve":true}}`+"\n")
	if a, err := got(); err != nil || a.Approved {
		t.Errorf("%+v, %v", a, err)
	}
	late := said(`{"jsonrpc":"2.0","id":2,"method":"approvals/decide","params":{"id":"` + id + `","approve":true}}`)
	if !strings.Contains(late, `"code":-32000,"message":"it was denied by an administrator at `) {
		t.Error(late)
	}
}

func TestGatewayHangsUp(t *testing.T) {
	s := asking(t)
	asked := make(chan struct{})
	x, peer := s.gateway(t, func(ctx context.Context, _ *rpc.Request) (any, error) { close(asked); <-ctx.Done(); return nil, nil })
	r, ctx := x.launch(t, time.Hour)
	got := r.approving(ctx, refund(1))
	<-asked
	peer.Close()
	q := s.only(t)
	r.stop(errHungUp) // as the connection's end does to each of its runs
	if a, err := got(); !errors.Is(err, errHungUp) || a.Approved {
		t.Errorf("%+v, %v", a, err)
	}
	if err := s.admit(t, q.ID, true); err == nil || !strings.Contains(err.Error(), "denied by the run's end") {
		t.Errorf("an answer for a run that is gone: %v", err)
	}
}

// TestGatewayDecidesOnItsOwnOnly: other gateways' requests are as if they were not there, whatever a gateway knows of them.
func TestGatewayDecidesOnItsOwnOnly(t *testing.T) {
	s := asking(t)
	x, mine := s.gateway(t, nil)
	y, other := s.gateway(t, nil)
	r, ctx := x.launch(t, time.Hour)
	got := r.approving(ctx, refund(1))
	q := s.only(t)

	// The other one has a run that it called by the name of this one.
	y.enroll("of its own", q.Run, func(error) {})
	unknown := try(t, other, "approvals/decide", sandboxd.DecideParams{ID: "0", Approve: true}, nil)
	for name, id := range map[string]string{"the request": q.ID, "the run": q.Run, "the call": q.Run + "/1", "nothing": "", "the token": "mine"} {
		e := try(t, other, "approvals/decide", sandboxd.DecideParams{ID: id, Approve: true}, nil)
		if e == nil || e.Code != rpc.CodeInvalidParams || e.Message != unknown.Message {
			t.Errorf("by the id of %s: %v, want %v", name, e, unknown)
		}
	}
	var list sandboxd.ApprovalList
	ask(t, other, "approvals/list", struct{}{}, &list)
	if len(list.Approvals) > 0 || list.More > 0 {
		t.Errorf("the other one sees %+v", list)
	}
	if e := try(t, other, "approvals/show", sandboxd.ShowParams{ID: q.ID}, nil); e == nil || e.Code != rpc.CodeUnknownMethod {
		t.Errorf("approvals/show for a gateway: %v", e)
	}
	ask(t, mine, "approvals/list", struct{}{}, &list)
	if len(list.Approvals) != 1 || list.Approvals[0].ID != q.ID || list.Approvals[0].Token != "mine" || string(list.Approvals[0].Arguments) != `{"amount":7}` {
		t.Errorf("its own gateway sees %+v", list)
	}
	var decided sandboxd.DecideResult
	ask(t, mine, "approvals/decide", sandboxd.DecideParams{ID: q.ID, Approve: true}, &decided)
	if a, err := got(); err != nil || !a.Approved || a.By != decided.By || decided.Scope != "call" || !strings.HasPrefix(a.By, "gateway uid ") {
		t.Errorf("%+v, %v; told %+v", a, err, decided)
	}
	// Who answered is for its own gateway to know.
	if e := try(t, other, "approvals/decide", sandboxd.DecideParams{ID: q.ID}, nil); e == nil || e.Message != unknown.Message {
		t.Errorf("the other one, afterwards: %v", e)
	}
	if e := try(t, mine, "approvals/decide", sandboxd.DecideParams{ID: q.ID}, nil); e == nil || !strings.Contains(e.Message, "approved by gateway uid ") {
		t.Errorf("its own, again: %v", e)
	}
}

func TestDecideRefuses(t *testing.T) {
	s := asking(t)
	x, peer := s.gateway(t, nil)
	r, ctx := x.launch(t, time.Hour)
	got := r.approving(ctx, refund(1))
	id := s.only(t).ID
	for params, want := range map[string]string{
		`{"id":"` + id + `"}`:                                  "approve: say true or false",
		`{"id":"` + id + `","approve":null}`:                   "approve: say true or false",
		`{"id":"` + id + `","approve":"yes"}`:                  "params: ",
		`{"id":"` + id + `","approve":true,"scope":"all"}`:     `scope: "all" is neither "call" nor "run"`,
		`{"id":"` + id + `","approve":true,"by":"uid 0"}`:      `unknown field "by"`,
		`{"id":"` + id + `","id":"x","approve":true}`:          `the key "id" stands twice`,
		`{"id":"` + id + `","approve":false,"approve":true}`:   `the key "approve" stands twice`,
		`{"id":"` + id + `","approve":true,"reason":["a"]}`:    "params: ",
		`{"id":"` + strings.ToLower(id) + `","approve":true}`:  "id: no call waits",
		`{"id":"` + id[:6] + `","approve":true}`:               "id: no call waits",
		`{"id":"` + id + `","approve":true,"run":"01ARZ3NDE"}`: `unknown field "run"`,
		`[]`: "params: ",
	} {
		if e := try(t, peer, "approvals/decide", json.RawMessage(params), nil); e == nil || e.Code != rpc.CodeInvalidParams || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v, want %q", params, e, want)
		}
	}
	if err := s.admit(t, id, true); err != nil {
		t.Error(err)
	}
	if a, err := got(); err != nil || !a.Approved {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestWallClockStandsStill: what calls wait for approvals is not the program's time.
func TestWallClockStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := asking(t)
		x, _ := s.gateway(t, nil)
		r, ctx := x.launch(t, 10*time.Second)
		time.Sleep(4 * time.Second)
		first := r.approving(ctx, refund(1))
		time.Sleep(20 * time.Second)
		id := s.desk.Pending()[0].ID
		other := refund(2)
		other.Tool = "mail"
		second := r.approving(ctx, other)
		synctest.Wait()
		if waited, call := r.watcher.approvals(); waited != 20*time.Second || call != "pay.refund" {
			t.Errorf("waited %v, for %s", waited, call)
		}
		if err := s.admit(t, id, true); err != nil {
			t.Fatal(err)
		}
		first()
		synctest.Wait()
		if _, call := r.watcher.approvals(); call != "pay.mail" {
			t.Errorf("waits for %s", call)
		}
		time.Sleep(20 * time.Second)
		if err := s.admit(t, s.desk.Pending()[0].ID, true); err != nil {
			t.Fatal(err)
		}
		second()
		if waited, call := r.watcher.approvals(); waited != 40*time.Second || call != "" {
			t.Errorf("waited %v, for %q", waited, call)
		}
		time.Sleep(6*time.Second - time.Millisecond)
		synctest.Wait()
		if r.watcher.asked() != nil {
			t.Error("the time was up early")
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if over := r.watcher.asked(); over == nil || over.kind != sandboxd.OutcomeTimeout {
			t.Fatalf("the time is not up: %+v", over)
		}

		// The grace is nobody's to stop.
		third := r.approving(ctx, refund(3))
		time.Sleep(grace)
		synctest.Wait()
		if ctx.Err() == nil || !errors.Is(context.Cause(ctx), error(r.watcher.asked())) {
			t.Errorf("after the grace: %v", context.Cause(ctx))
		}
		if a, err := third(); err == nil || a.Approved {
			t.Errorf("%+v, %v", a, err)
		}
		if waited, _ := r.watcher.approvals(); waited != 40*time.Second+grace-time.Millisecond {
			t.Errorf("waited %v in the end", waited)
		}
	})
}

// TestWallClockAfterTheEnd: an approval that ends after its run does not start a clock.
func TestWallClockAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := asking(t)
		x, _ := s.gateway(t, nil)
		r, ctx := x.launch(t, 10*time.Second)
		got := r.approving(ctx, refund(1))
		synctest.Wait()
		r.watcher.mu.Lock()
		close(r.watcher.ended)
		r.watcher.mu.Unlock()
		r.stop(errRunEnded)
		if _, err := got(); err == nil {
			t.Error("no error")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if r.watcher.asked() != nil {
			t.Error("the worker was asked to end after the run")
		}
	})
}

// TestExpiryAndAnswer lets an answer come at the moment at which the request expires: whoever is told that it counts is right.
func TestExpiryAndAnswer(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			s := asking(t)
			x, _ := s.gateway(t, nil)
			r, ctx := x.launch(t, time.Second)
			got := r.approving(ctx, refund(1))
			synctest.Wait()
			id := s.desk.Pending()[0].ID
			time.Sleep(approvalWait)
			told := s.admit(t, id, true)
			a, err := got()
			if err != nil || a.Approved != (told == nil) || a.ID != id {
				t.Errorf("told %v, and it is %+v, %v", told, a, err)
			}
			if told != nil && !strings.Contains(told.Error(), "denied by expiry") {
				t.Error(told)
			}
		})
	}
}

func TestProgressTellsOfApprovals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := asking(t)
		ours, theirs := net.Pipe()
		x := s.newSession(theirs)
		x.caller = Caller{UID: 1, Groups: []uint32{1}}
		var both sync.WaitGroup
		defer both.Wait()
		defer ours.Close()
		both.Go(func() { x.peer.Run(context.Background()) })
		told := make(chan string, 9)
		peer := rpc.New(ours, rpc.Options{MaxLine: 1 << 20, MaxRequests: 1, WriteWait: time.Second, Notified: func(method string, params json.RawMessage) {
			told <- method + string(params)
		}})
		both.Go(func() { peer.Run(context.Background()) })
		r, ctx := x.launch(t, time.Hour)
		r.program.Progress = true
		r.approving(ctx, refund(1))
		if text := <-told; !strings.HasPrefix(text, "run/progress") || !strings.Contains(text, `"doing":"waiting for approval of pay.refund"`) {
			t.Error(text)
		}
		if err := s.admit(t, s.desk.Pending()[0].ID, false); err != nil {
			t.Error(err)
		}
	})
}
