package sandboxd_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/rpc"
)

// peered dials a daemon that is played by handle, and returns the daemon's end.
func peered(t *testing.T, o sandboxd.Options, handle func(method string, params json.RawMessage) (any, error)) (*sandboxd.Client, *rpc.Peer) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sd-") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	peers, ended := make(chan *rpc.Peer, 1), make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		p := rpc.New(conn, rpc.Options{MaxLine: 1 << 20, MaxRequests: 9, WriteWait: time.Minute, Handle: func(_ context.Context, r *rpc.Request) (any, error) {
			return handle(r.Method, r.Params)
		}})
		peers <- p
		p.Run(context.Background())
	}()
	c, err := sandboxd.Dial(t.Context(), l.Addr().String(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); <-ended })
	return c, <-peers
}

func TestClientApproves(t *testing.T) {
	var announced sandboxd.InitializeParams
	decided := json.RawMessage(`{"id":"A","approve":false,"scope":"call","by":"gateway uid 1"}`)
	asked := make(chan sandboxd.ApprovalRequest, 1)
	c, daemon := peered(t, sandboxd.Options{
		Name: "x",
		Approvals: func(ctx context.Context, q sandboxd.ApprovalRequest) (sandboxd.ApprovalAnswer, error) {
			asked <- q
			switch q.ID {
			case "wait":
				<-ctx.Done()
				return sandboxd.ApprovalAnswer{}, ctx.Err()
			case "fail":
				return sandboxd.ApprovalAnswer{Approve: true}, errors.New("nobody is here")
			}
			return sandboxd.ApprovalAnswer{Approve: true, Scope: sandboxd.ScopeRun, Reason: "fine"}, nil
		},
	}, func(method string, params json.RawMessage) (any, error) {
		switch method {
		case "initialize":
			return json.RawMessage(`{"protocol_version":"1","server":{"name":"sandboxd"},"profiles":[]}`), rpc.Decode(params, &announced)
		case "approvals/list":
			return json.RawMessage(`{"approvals":[{"id":"A","run":"r","n":1,"server":"s","tool":"t","caller":"c","asked_at":"2026-01-02T03:04:05Z",` +
				`"expires_at":"2026-01-02T03:09:05Z","arguments_bytes":2,"arguments":{}}],"more":3}`), nil
		}
		return decided, nil
	})
	if !announced.Approvals {
		t.Error("it was not announced")
	}
	call := func(id string) rpc.Response {
		t.Helper()
		r, err := daemon.Call(t.Context(), "approvals/request", sandboxd.ApprovalRequest{ID: id, Tool: "t", Arguments: json.RawMessage(`{"a":1}`)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := call("A"); string(r.Result) != `{"approve":true,"scope":"run","reason":"fine"}` || r.Err != nil {
		t.Errorf("%s, %v", r.Result, r.Err)
	}
	if q := <-asked; q.ID != "A" || q.Tool != "t" || string(q.Arguments) != `{"a":1}` {
		t.Errorf("asked %+v", q)
	}
	if r := call("fail"); r.Err == nil || r.Err.Message != "nobody is here" {
		t.Errorf("%s, %v", r.Result, r.Err)
	}
	<-asked
	// One that is taken back before the client has heard of it, or while it works on it.
	for _, early := range []bool{true, false} {
		go func() {
			if !early {
				<-asked
			}
			daemon.Notify(context.Background(), "approvals/cancel", sandboxd.ApprovalCancel{ID: "wait"})
		}()
		if early {
			time.Sleep(10 * time.Millisecond)
		}
		if r := call("wait"); r.Err == nil || r.Err.Message != context.Canceled.Error() {
			t.Errorf("%s, %v", r.Result, r.Err)
		}
		if early {
			<-asked
		}
	}

	list, err := c.Approvals(t.Context())
	if err != nil || len(list.Approvals) != 1 || list.More != 3 || list.Approvals[0].Expires.Sub(list.Approvals[0].Asked) != 5*time.Minute {
		t.Errorf("%+v, %v", list, err)
	}
	if d, err := c.Decide(t.Context(), sandboxd.DecideParams{ID: "A"}); err != nil || d.By != "gateway uid 1" || d.Approve {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestClientWithoutApprovals(t *testing.T) {
	var announced sandboxd.InitializeParams
	_, daemon := peered(t, sandboxd.Options{Name: "x"}, func(_ string, params json.RawMessage) (any, error) {
		return json.RawMessage(`{"protocol_version":"1","server":{"name":"sandboxd"},"profiles":[]}`), rpc.Decode(params, &announced)
	})
	if announced.Approvals {
		t.Error("it was announced")
	}
	if r, err := daemon.Call(t.Context(), "approvals/request", sandboxd.ApprovalRequest{ID: "A"}); err != nil || r.Err == nil || r.Err.Code != rpc.CodeUnknownMethod {
		t.Errorf("%s, %v, %v", r.Result, r.Err, err)
	}
}
