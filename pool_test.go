package sandboxd_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// played listens at path as a daemon of which the test plays each connection.
type played struct {
	net.Listener
	dialled, executed atomic.Int64
	execute           func(ctx context.Context, p *rpc.Peer, source string) (any, error)

	mu    sync.Mutex // guards the fields below
	peers []*rpc.Peer
	names []string // servers that each connection announced
}

func play(t *testing.T, path string, execute func(ctx context.Context, p *rpc.Peer, source string) (any, error)) *played {
	t.Helper()
	os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	d := &played{Listener: l, execute: execute}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.dialled.Add(1)
			var p *rpc.Peer
			p = rpc.New(conn, rpc.Options{MaxLine: 1 << 20, MaxRequests: 99, WriteWait: time.Minute, Handle: func(ctx context.Context, r *rpc.Request) (any, error) {
				return d.handle(ctx, p, r)
			}})
			d.mu.Lock()
			d.peers = append(d.peers, p)
			d.mu.Unlock()
			serving.Go(func() { p.Run(context.Background()) })
		}
	})
	t.Cleanup(func() { d.stop(); serving.Wait() })
	return d
}

func (d *played) handle(ctx context.Context, p *rpc.Peer, r *rpc.Request) (any, error) {
	switch r.Method {
	case "initialize":
		var hello sandboxd.InitializeParams
		if err := rpc.Decode(r.Params, &hello); err != nil {
			return nil, err
		}
		d.mu.Lock()
		d.names = append(d.names, strings.Join(hello.Servers, " "))
		d.mu.Unlock()
		return json.RawMessage(`{"protocol_version":"1","server":{"name":"played"},"profiles":[]}`), nil
	case "execute":
		d.executed.Add(1)
		var program sandboxd.Program
		if err := rpc.Decode(r.Params, &program); err != nil {
			return nil, err
		}
		return d.execute(ctx, p, program.Source)
	case "approvals/list":
		d.mu.Lock()
		defer d.mu.Unlock()
		return sandboxd.ApprovalList{Approvals: []sandboxd.ApprovalRequest{{ID: fmt.Sprint(d.number(p)), Asked: time.Unix(int64(-d.number(p)), 0)}}}, nil
	case "approvals/decide":
		var decide sandboxd.DecideParams
		if err := rpc.Decode(r.Params, &decide); err != nil {
			return nil, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if decide.ID != fmt.Sprint(d.number(p)) {
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "id: unknown")
		}
		return sandboxd.DecideResult{ID: decide.ID, Approve: decide.Approve, By: "played"}, nil
	}
	return nil, rpc.Errorf(rpc.CodeUnknownMethod, "%s", r.Method)
}

// number is which connection it is. The caller has the lock.
func (d *played) number(p *rpc.Peer) int {
	for i, other := range d.peers {
		if other == p {
			return i
		}
	}
	return -1
}

func (d *played) stop() {
	d.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.peers {
		p.Close()
	}
}

func newPool(t *testing.T, path string, size int, o sandboxd.Options) *sandboxd.Pool {
	t.Helper()
	o.Name = "pool"
	p := sandboxd.NewPool(sandboxd.PoolOptions{Path: path, Size: size, Options: o})
	t.Cleanup(func() { p.Close() })
	return p
}

func ok(context.Context, *rpc.Peer, string) (any, error) {
	return json.RawMessage(`{"outcome":"ok"}`), nil
}

// TestPoolReconnects: a daemon may be restarted between two programs, and be away for a while.
func TestPoolReconnects(t *testing.T) {
	d := daemon.Start(t, daemon.Options{})
	p := newPool(t, d.Socket, 0, sandboxd.Options{})
	value := func() {
		t.Helper()
		if r, err := p.Execute(t.Context(), sandboxd.Program{Source: "return 6 * 7"}); err != nil || string(r.Value) != "42" {
			t.Fatalf("%+v, error %v", r, err)
		}
	}
	value()
	d.Signal(t, syscall.SIGTERM)
	<-d.Exited()
	again := make(chan *daemon.Daemon, 1)
	go func() {
		time.Sleep(50 * time.Millisecond)
		next := daemon.Start(t, daemon.Options{})
		os.Remove(d.Socket)
		if err := os.Rename(next.Socket, d.Socket); err != nil {
			t.Error(err)
		}
		again <- next
	}()
	value()
	<-again
	if s, err := p.Status(t.Context()); err != nil || s.Running != 0 {
		t.Errorf("%+v, error %v", s, err)
	}
}

// TestPoolNeverRepeats: what the daemon may have begun is told, and not sent again.
func TestPoolNeverRepeats(t *testing.T) {
	path := filepath.Join(daemon.Dir(t), "s")
	d := play(t, path, func(_ context.Context, p *rpc.Peer, _ string) (any, error) {
		p.Close() // it got the program, and dies
		return nil, errors.New("gone")
	})
	p := newPool(t, path, 0, sandboxd.Options{})
	for n := range 3 {
		_, err := p.Execute(t.Context(), sandboxd.Program{Source: "return 1"})
		var closed *sandboxd.ClosedError
		if !errors.As(err, &closed) || !closed.Sent {
			t.Fatalf("error %v", err)
		}
		if got := d.executed.Load(); got != int64(n+1) {
			t.Fatalf("%d programs were sent, want %d", got, n+1)
		}
	}
}

// TestPoolSpreads: programs that run at once get connections of their own, up to the size, and share them then.
func TestPoolSpreads(t *testing.T) {
	path := filepath.Join(daemon.Dir(t), "s")
	release := make(chan struct{})
	d := play(t, path, func(context.Context, *rpc.Peer, string) (any, error) {
		<-release
		return json.RawMessage(`{"outcome":"ok"}`), nil
	})
	p := newPool(t, path, 3, sandboxd.Options{})
	var runs sync.WaitGroup
	for range 7 {
		runs.Go(func() {
			if r, err := p.Execute(t.Context(), sandboxd.Program{Source: "return 1"}); err != nil || r.Outcome != "ok" {
				t.Errorf("%+v, error %v", r, err)
			}
		})
	}
	daemon.Eventually(t, 5*time.Second, func() error {
		if n := d.executed.Load(); n != 7 {
			return fmt.Errorf("%d programs arrived", n)
		}
		return nil
	})
	if n := d.dialled.Load(); n != 3 {
		t.Errorf("%d connections, want 3", n)
	}
	list, err := p.Approvals(t.Context())
	if err != nil || len(list.Approvals) != 3 || list.Approvals[0].ID != "2" {
		t.Errorf("%+v, error %v", list, err)
	}
	if r, err := p.Decide(t.Context(), sandboxd.DecideParams{ID: "1", Approve: true}); err != nil || !r.Approve || r.ID != "1" {
		t.Errorf("%+v, error %v", r, err)
	}
	if _, err := p.Decide(t.Context(), sandboxd.DecideParams{ID: "7"}); err == nil || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("error %v", err)
	}
	close(release)
	runs.Wait()
	if _, err := p.Execute(t.Context(), sandboxd.Program{Source: "return 1"}); err != nil || d.dialled.Load() != 3 {
		t.Errorf("error %v, %d connections", err, d.dialled.Load())
	}
}

// TestPoolAnnounces: what is announced anew holds for the next program, and the ones that run are not disturbed.
func TestPoolAnnounces(t *testing.T) {
	path := filepath.Join(daemon.Dir(t), "s")
	release := make(chan struct{})
	d := play(t, path, func(ctx context.Context, _ *rpc.Peer, source string) (any, error) {
		if source == "wait" {
			<-release
		}
		return json.RawMessage(`{"outcome":"ok"}`), nil
	})
	p := newPool(t, path, 1, sandboxd.Options{Servers: []string{"a"}})
	first := make(chan error, 1)
	go func() {
		_, err := p.Execute(t.Context(), sandboxd.Program{Source: "wait"})
		first <- err
	}()
	daemon.Eventually(t, 5*time.Second, func() error {
		if d.executed.Load() != 1 {
			return errors.New("the first program has not arrived")
		}
		return nil
	})
	p.Announce([]string{"a", "b"}, nil)
	if _, err := p.Execute(t.Context(), sandboxd.Program{Source: "return 1"}); err != nil {
		t.Error(err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Errorf("the first program: %v", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if got := fmt.Sprint(d.names); got != "[a a b]" {
		t.Errorf("announced %s", got)
	}
}

func TestPoolGivesUp(t *testing.T) {
	dir := daemon.Dir(t)
	for name, c := range map[string]struct {
		path string
		want string
	}{
		"no daemon":  {filepath.Join(dir, "none"), "connect to sandboxd"},
		"not wanted": {daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\ncallers: {uids: ['4294967294']}\n"}).Socket, "is not an allowed caller"},
		"silent":     {silent(t, filepath.Join(dir, "silent"), ""), "connect to sandboxd"}, // or likewise below
	} {
		t.Run(name, func(t *testing.T) {
			p := sandboxd.NewPool(sandboxd.PoolOptions{Path: c.path, Wait: 200 * time.Millisecond, Options: sandboxd.Options{Name: "pool"}})
			defer p.Close()
			var tries sync.WaitGroup
			for range 3 { // each waits as long as it may, and no longer for the others
				tries.Go(func() {
					if _, err := p.Execute(t.Context(), sandboxd.Program{Source: "return 1"}); err == nil || !strings.Contains(err.Error(), c.want) && !strings.Contains(err.Error(), "no connection within") {
						t.Errorf("error %v", err)
					}
				})
			}
			tries.Wait()
		})
	}
}

// TestPoolClose ends what runs and what waits, and nothing begins afterwards.
func TestPoolClose(t *testing.T) {
	path := filepath.Join(daemon.Dir(t), "s")
	d := play(t, path, func(ctx context.Context, _ *rpc.Peer, _ string) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	p := newPool(t, path, 0, sandboxd.Options{})
	ended := make(chan error, 1)
	go func() {
		_, err := p.Execute(t.Context(), sandboxd.Program{Source: "return 1"})
		ended <- err
	}()
	daemon.Eventually(t, 5*time.Second, func() error {
		if d.executed.Load() != 1 {
			return errors.New("the program has not arrived")
		}
		return nil
	})
	if err := p.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	var closed *sandboxd.ClosedError
	if err := <-ended; !errors.As(err, &closed) || !closed.Sent {
		t.Errorf("what ran: %v", err)
	}
	if _, err := p.Execute(t.Context(), sandboxd.Program{Source: "return 1"}); !errors.As(err, &closed) || closed.Sent || !strings.Contains(err.Error(), "the pool is closed") {
		t.Errorf("afterwards: %v", err)
	}
	away := newPool(t, filepath.Join(daemon.Dir(t), "none"), 0, sandboxd.Options{})
	go func() {
		_, err := away.Execute(t.Context(), sandboxd.Program{Source: "return 1"})
		ended <- err
	}()
	time.Sleep(20 * time.Millisecond) // so that it most likely waits
	away.Close()
	if err := <-ended; err == nil {
		t.Error("a program ran nowhere")
	}
}

// TestPoolOutlivesConnections: a connection that ended while nobody used it is no error.
func TestPoolOutlivesConnections(t *testing.T) {
	path := filepath.Join(daemon.Dir(t), "s")
	d := play(t, path, ok)
	p := newPool(t, path, 0, sandboxd.Options{})
	for range 20 {
		if _, err := p.Execute(t.Context(), sandboxd.Program{Source: "return 1"}); err != nil {
			t.Fatal(err)
		}
		d.mu.Lock()
		for _, peer := range d.peers {
			peer.Close()
		}
		d.mu.Unlock()
	}
}
