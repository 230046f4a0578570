// Package gateways_test has as many gateways connected to one daemon as may be, most of them honest.
package gateways_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

func TestMain(m *testing.M) { daemon.Main(m) }

const (
	connected = 200 // gateways
	running   = 32  // programs at once, those of the two bad ones among them
	bad       = 2
	pool      = 8
	patience  = time.Minute // with a machine that is busy with other things
)

var config = fmt.Sprintf("pool: {default: %d}\ngateways: {connections: %d, write_wait: 500ms}\nruns: {queue_wait: 60s}\n", pool, connected)

// crowd are the honest gateways.
type crowd struct {
	gateways []*sandboxd.Client
	next     atomic.Int64
}

func gather(tb testing.TB, d *daemon.Daemon) *crowd {
	tb.Helper()
	c := &crowd{}
	for range connected - bad {
		g, err := sandboxd.Dial(tb.Context(), d.Socket, sandboxd.Options{Name: "honest", Servers: []string{"t"}, Tools: echo})
		if err != nil {
			tb.Fatal(err)
		}
		c.gateways = append(c.gateways, g)
	}
	return c
}

func (c *crowd) close() {
	for _, g := range c.gateways {
		g.Close()
	}
}

// echo is a tool that answers at once with what it was given.
func echo(_ context.Context, call sandboxd.ToolCall) (json.RawMessage, error) {
	text, err := json.Marshal(string(call.Arguments))
	return json.RawMessage(`{"content":[{"type":"text","text":` + string(text) + `}]}`), err
}

// work has n programs, as many at once as there is room for beside the bad ones, each of another gateway, and tells how long each took.
func (c *crowd) work(tb testing.TB, n int) []time.Duration {
	tb.Helper()
	took := make([]time.Duration, n)
	var begun atomic.Int64
	var all sync.WaitGroup
	for range running - bad {
		all.Go(func() {
			for i := int(begun.Add(1)) - 1; i < n; i = int(begun.Add(1)) - 1 {
				began := time.Now()
				c.once(tb)
				took[i] = time.Since(began)
			}
		})
	}
	all.Wait()
	return took
}

// once is one program of the gateway whose turn it is. No other gateway's answers give what it returns.
func (c *crowd) once(tb testing.TB) {
	n := c.next.Add(1)
	g := c.gateways[n%int64(len(c.gateways))]
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	r, err := g.Execute(ctx, sandboxd.Program{Source: fmt.Sprintf(
		`let sum = 0; for (let i = 0; i < 3; i++) sum += (await tools.t.echo({ n: %d + i })).n; return sum`, n)})
	switch {
	case err != nil:
		tb.Errorf("an honest gateway: %v", err)
	case r.Outcome != sandboxd.OutcomeOK || string(r.Value) != fmt.Sprint(3*n+3) || len(r.Calls) != 3:
		tb.Errorf("an honest gateway's program: %s, value %s, %d calls, error %v", r.Outcome, r.Value, len(r.Calls), r.Error)
	}
}

// A badOne has one program after the other.
type badOne struct {
	name string
	once func(testing.TB, *daemon.Daemon) // one program, up to its end as it must be
}

var badOnes = []badOne{{"slow to read", slow}, {"never answers", mute}}

// trouble has the bad ones at work until the returned function is called, and at least one program of each.
func trouble(tb testing.TB, d *daemon.Daemon) (end func()) {
	var over atomic.Bool
	var all sync.WaitGroup
	for _, b := range badOnes {
		all.Go(func() {
			for first := true; (first || !over.Load()) && !tb.Failed(); first = false {
				b.once(tb, d)
			}
		})
	}
	return func() {
		over.Store(true)
		all.Wait()
	}
}

// mute is a gateway that takes its program's calls and never answers: the program is ended at its limit, and nobody knows what became
// of the calls.
func mute(tb testing.TB, d *daemon.Daemon) {
	forever := make(chan struct{})
	g := insist(tb, d.Socket, sandboxd.Options{Name: "mute", Servers: []string{"t"}, Tools: func(context.Context, sandboxd.ToolCall) (json.RawMessage, error) {
		<-forever
		return nil, errors.New("never")
	}})
	if g == nil {
		return
	}
	r, err := g.Execute(tb.Context(), sandboxd.Program{
		Source: `return await Promise.all([1, 2, 3, 4].map((n) => tools.t.echo({ n })))`, Limits: &sandboxd.Limits{WallMS: 1000},
	})
	close(forever)
	g.Close()
	if err != nil || r.Outcome != sandboxd.OutcomeTimeout || len(r.Calls) != 4 {
		tb.Errorf("a gateway that never answers: error %v, %+v", err, r)
		return
	}
	for _, c := range r.Calls {
		if c.State != sandboxd.CallUnknown {
			tb.Errorf("a gateway that never answers: call %d is %s", c.N, c.State)
		}
	}
}

// slow is a gateway that reads 100 KB a second, with a program that has more to say to it: the daemon hangs up.
func slow(tb testing.TB, d *daemon.Daemon) {
	g := insist(tb, throttled(tb, d.Socket), sandboxd.Options{Name: "slow", Servers: []string{"t"}, Tools: echo})
	if g == nil {
		return
	}
	defer g.Close()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	r, err := g.Execute(ctx, sandboxd.Program{Console: true, Source: `const text = "x".repeat(250000);
return (await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => { console.log(n); return tools.t.echo({ n, text }) }))).length`})
	var closed *sandboxd.ClosedError
	if !errors.As(err, &closed) || !closed.Sent {
		tb.Errorf("a gateway that is slow to read: error %v, %+v", err, r)
	}
}

// insist connects. The daemon may not have seen yet that another connection has ended.
func insist(tb testing.TB, socket string, o sandboxd.Options) *sandboxd.Client {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		g, err := sandboxd.Dial(tb.Context(), socket, o)
		if err == nil {
			return g
		}
		if time.Now().After(end) || !strings.Contains(err.Error(), "gateways are connected") {
			tb.Errorf("%s: %v", o.Name, err)
			return nil
		}
	}
}

// throttled is a socket for one connection at a time, from which is read slowly what the daemon writes.
func throttled(tb testing.TB, socket string) string {
	path := filepath.Join(daemon.Dir(tb), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		tb.Error(err)
		return path
	}
	go func() {
		defer l.Close()
		for served := false; !served; {
			near, err := l.Accept()
			if err != nil {
				return
			}
			served = relay(near, socket)
		}
	}()
	return path
}

// relay says whether the connection carried more than a refusal.
func relay(near net.Conn, socket string) bool {
	defer near.Close()
	far, err := net.Dial("unix", socket)
	if err != nil {
		return true
	}
	var up sync.WaitGroup
	defer up.Wait()
	defer far.Close()
	defer near.Close()
	up.Go(func() { pass(far, near, 64<<10, 0) })
	return pass(near, far, 1<<10, 10*time.Millisecond) > 1<<10
}

// pass hands on what there is, so many bytes at a time with a pause after them, until one of the ends is closed.
func pass(to, from net.Conn, most int, pause time.Duration) (total int) {
	part := make([]byte, most)
	for {
		n, err := from.Read(part)
		total += n
		if err != nil {
			return total
		}
		if _, err := to.Write(part[:n]); err != nil {
			return total
		}
		time.Sleep(pause)
	}
}
