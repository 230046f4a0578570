package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestCallStates ends runs in every way while calls are in every state. With two at once, the first two hang calls
// are sent, and the others wait.
func TestCallStates(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	const before = "await tools.t.echo({}); await tools.t.fail({}).catch(() => {}); await tools.t.broken({}).catch(() => {}); console.log('so far');"
	const hang = "const open = [1, 2, 3].map(i => tools.t.hang({i}));"
	states := []string{"echo succeeded", "fail failed", "broken failed"}
	open := append(states[:3:3], "hang unknown", "hang unknown", "hang not_started")
	for _, c := range []struct {
		name, end string
		limits    sandboxd.Limits
		cancel    bool
		outcome   sandboxd.Outcome
		want      []string
	}{
		{"timeout", hang + "await Promise.all(open)", sandboxd.Limits{WallMS: 400}, false, "timeout", open},
		{"cancelled", hang + "await Promise.all(open)", sandboxd.Limits{}, true, "cancelled", open},
		{"error", hang + "await new Promise(r => setTimeout(r, 100)); throw new Error('x')", sandboxd.Limits{}, false, "error", open},
		{"cpu", hang + "await new Promise(r => setTimeout(r, 100)); for (let n = 0;;) n++", sandboxd.Limits{CPUMS: 200}, false, "cpu", open},
		{"memory", hang + "await new Promise(r => setTimeout(r, 100)); const a = []; for (;;) a.push(new Array(1000).fill(a.length))",
			sandboxd.Limits{MemoryBytes: 48 << 20}, false, "memory", open},
		{"output", hang + "await new Promise(r => setTimeout(r, 100)); return 'x'.repeat(99999)", sandboxd.Limits{}, false, "output", open},
		{"calls", "const open = [1, 2].map(i => tools.t.hang({i})); await new Promise(r => setTimeout(r, 100));" +
			"await Promise.all([1, 2, 3].map(i => tools.t.echo({i})))", sandboxd.Limits{Calls: 7}, false, "calls",
			append(states[:3:3], "hang unknown", "hang unknown", "echo not_started", "echo not_started", "echo not_started")},
		{"returned", hang + "await new Promise(r => setTimeout(r, 100)); return 1", sandboxd.Limits{}, false, "error", open},
		{"returned at once", hang + "return 1", sandboxd.Limits{}, false, "error",
			append(states[:3:3], "hang not_started", "hang not_started", "hang not_started")},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.forget()
			c.limits.ConcurrentCalls = 2
			ctx := t.Context()
			if c.cancel {
				var stop context.CancelFunc
				ctx, stop = contextWhen(t, func() error { return g.working(5) })
				defer stop()
			}
			r := g.runWithin(t, ctx, sandboxd.Program{Source: before + c.end, Limits: &c.limits})
			if r.Outcome != c.outcome {
				t.Errorf("outcome %s, want %s: %v", r.Outcome, c.outcome, r.Error)
			}
			var got []string
			for _, call := range r.Calls {
				got = append(got, call.Tool+" "+string(call.State))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if len(r.Console) != 1 || r.Console[0].Text != "so far" {
				t.Errorf("console is %v", r.Console)
			}
			sent := 0
			for _, call := range r.Calls {
				if call.State != sandboxd.CallNotStarted {
					sent++
				}
			}
			if got := len(g.asked(r.Run)); got != sent {
				t.Errorf("%d calls reached the gateway, the result says %d", got, sent)
			}
		})
	}
	g.serves(t)
}

func TestCallFields(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	r := g.run(t, sandboxd.Program{
		Source: "for (let i = 0; i < 3; i++) await tools.t.echo({i, s: 'ä\\u2028'}); await tools.t.echo()",
		Token:  "mine", Traceparent: trace,
	})
	if r.Outcome != sandboxd.OutcomeOK || r.Token != "mine" {
		t.Fatalf("%s, token %q: %v", r.Outcome, r.Token, r.Error)
	}
	var want []sandboxd.ToolCall
	for n, args := range []string{`{"i":0,"s":"ä\u2028"}`, `{"i":1,"s":"ä\u2028"}`, `{"i":2,"s":"ä\u2028"}`, `{}`} {
		want = append(want, sandboxd.ToolCall{
			Run: r.Run, Token: "mine", N: n + 1, IdempotencyKey: fmt.Sprintf("%s/%d", r.Run, n+1), Server: "t", Tool: "echo",
			Arguments: json.RawMessage(args), Origin: "code", Trigger: "user_request", Traceparent: trace,
		})
	}
	if diff := cmp.Diff(want, g.asked(r.Run)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for _, c := range r.Calls {
		if c.Server != "t" || c.Tool != "echo" || c.MS <= 0 || c.Bytes != int64(len(want[c.N-1].Arguments)) {
			t.Errorf("%+v", c)
		}
	}
}

func TestIdempotencyKeysAreUnique(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for range 5 {
		g.run(t, sandboxd.Program{Source: "await Promise.all(Array.from({length: 20}, () => tools.t.echo({})))"})
	}
	seen := make(map[string]bool)
	for _, c := range g.calls {
		if c.IdempotencyKey != fmt.Sprintf("%s/%d", c.Run, c.N) || seen[c.IdempotencyKey] {
			t.Errorf("key %q of call %d of run %s", c.IdempotencyKey, c.N, c.Run)
		}
		seen[c.IdempotencyKey] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d keys of 100 calls", len(seen))
	}
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	busy := func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(10 * time.Millisecond)
		now.Add(-1)
		return structured(args), nil
	}
	g := connect(t, daemon.Start(t, daemon.Options{}), tools{"busy": busy}, sandboxd.Options{})
	for _, limit := range []int{4, 1} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			most.Store(0)
			r := g.run(t, sandboxd.Program{
				Source: "return (await Promise.all(Array.from({length: 23}, (_, i) => tools.t.busy({i})))).map(x => x.i).join()",
				Limits: &sandboxd.Limits{ConcurrentCalls: limit},
			})
			if string(r.Value) != `"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22"` {
				t.Errorf("value %s, error %v", r.Value, r.Error)
			}
			if got := int(most.Load()); got != limit {
				t.Errorf("%d calls at once, want %d", got, limit)
			}
			if limit == 1 {
				for i, c := range g.asked(r.Run) {
					if c.N != i+1 {
						t.Errorf("call %d came at place %d", c.N, i+1)
					}
				}
			}
		})
	}
}

// TestCallsAtOnceOverTheLimit: never a prefix.
func TestCallsAtOnceOverTheLimit(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	r := g.run(t, sandboxd.Program{Source: "return await Promise.allSettled(Array.from({length: 40}, (_, i) => tools.t.echo({i})))"})
	ending{outcome: "calls", message: "call 33 of this run; the limit is 32", line: 1, frame: "tools.t.echo", hint: "fewer"}.check(t, r)
	if got := len(g.asked(r.Run)); got != 0 {
		t.Errorf("%d calls reached the gateway", got)
	}
	if len(r.Calls) < 33 {
		t.Errorf("%d calls are listed", len(r.Calls))
	}
	for _, c := range r.Calls {
		if c.State != sandboxd.CallNotStarted {
			t.Errorf("call %d: %s", c.N, c.State)
		}
	}
	all := g.value(t, "return (await Promise.all(Array.from({length: 32}, (_, i) => tools.t.echo({i})))).length")
	if all != "32" {
		t.Errorf("32 calls gave %s", all)
	}
}

// TestFireAndForget: nothing is dispatched after the answer, and its state is told.
func TestFireAndForget(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	r := g.run(t, sandboxd.Program{Source: "tools.t.echo({write: true}); return 'done'"})
	ending{outcome: "error", message: "tools.t.echo (line 1) was not awaited; it was not sent", line: 1, frame: "tools.t.echo", hint: "*"}.check(t, r)
	if len(r.Calls) != 1 || r.Calls[0].State != sandboxd.CallNotStarted {
		t.Errorf("calls %+v, want one that was not started", r.Calls)
	}
	time.Sleep(50 * time.Millisecond)
	if got := len(g.asked(r.Run)); got != 0 {
		t.Errorf("%d calls reached the gateway", got)
	}
}

// TestHandlerEndsWithTheRun: nobody works for a run that is over.
func TestHandlerEndsWithTheRun(t *testing.T) {
	t.Parallel()
	var working atomic.Int32
	hang := func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		working.Add(1)
		defer working.Add(-1)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	g := connect(t, daemon.Start(t, daemon.Options{}), tools{"hang": hang}, sandboxd.Options{})
	for _, source := range []string{
		"await tools.t.hang({})",
		"tools.t.hang({}); await tools.t.echo({}); return 1",
		"tools.t.hang({}); await tools.t.echo({}); throw 1",
	} {
		for range 5 { // the end may overtake the call
			g.run(t, sandboxd.Program{Source: source, Limits: &sandboxd.Limits{WallMS: 200}})
			time.Sleep(10 * time.Millisecond) // for a handler that is late
			daemon.Eventually(t, time.Second, func() error {
				if n := working.Load(); n != 0 {
					return fmt.Errorf("%s: the run has ended, and %d handlers work on", source, n)
				}
				return nil
			})
		}
	}
}

// TestHangUp: the gateway goes away in the middle of a call, and gets its slot back.
func TestHangUp(t *testing.T) {
	t.Parallel()
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\nruns: {at_once: 1, queue: 0}\n"})
	begun := make(chan struct{})
	var once sync.Once
	g := connect(t, d, tools{"hang": func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		once.Do(func() { close(begun) })
		<-ctx.Done()
		return nil, ctx.Err()
	}}, sandboxd.Options{})
	failed := make(chan error, 1)
	go func() {
		_, err := g.Execute(t.Context(), sandboxd.Program{Source: "await tools.t.hang({})"})
		failed <- err
	}()
	wait(t, begun, "the call")
	g.Close()
	if err := <-failed; err == nil {
		t.Error("a result came over a closed connection")
	}
	other := connect(t, d, nil, sandboxd.Options{})
	daemon.Eventually(t, 2*time.Second, func() error {
		if s, err := other.Status(t.Context()); err != nil || s.Running != 0 {
			return fmt.Errorf("%d runs, error %v", s.Running, err)
		}
		return nil
	})
	other.serves(t)
}

// TestServers: a program may name what its gateway announced and its request allows.
func TestServers(t *testing.T) {
	t.Parallel()
	d := daemon.Start(t, daemon.Options{})
	g := connect(t, d, nil, sandboxd.Options{Servers: []string{"t", "u"}})
	r := g.run(t, sandboxd.Program{Source: "await tools.u.echo({})", Servers: []string{"t"}})
	ending{outcome: "error", message: "no server `u`; there are: t", line: 1, frame: "tools.u", hint: "Object.keys"}.check(t, r)
	if got := g.value(t, "return Object.keys(tools)"); got != `["t","u"]` {
		t.Errorf("servers are %s", got)
	}
	_, err := g.Execute(t.Context(), sandboxd.Program{Source: "return 1", Servers: []string{"v"}})
	if err == nil || !strings.Contains(err.Error(), `"v" was not announced`) {
		t.Errorf("a server that nobody announced: %v", err)
	}
	g.serves(t)
}
