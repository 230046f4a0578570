package e2e_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestResultObject looks at every field, on a good end and on a bad one. Their types are the schema's business.
func TestResultObject(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, c := range []struct {
		name, end string
		outcome   sandboxd.Outcome
		value     string
	}{
		{"ok", "return {a: '123'}", "ok", `{"a":"123"}`},
		{"error", "throw new Error('x')", "error", "null"},
		{"timeout", "await tools.t.hang({})", "timeout", "null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A daemon that just started has no warm worker yet.
			daemon.Eventually(t, 5*time.Second, func() error { return ready(g, 2) })
			wall := int64(0)
			if c.outcome == "timeout" {
				wall = 500
			}
			r := g.run(t, sandboxd.Program{
				Source: "console.log('a', 1); console.error('b'); console.debug('x'.repeat(5000)); console.info('gone');" +
					"await tools.t.slow({MS: 30}); for (const end = Date.now() + 20; Date.now() < end;); " + c.end,
				Token:  "tok",
				Limits: &sandboxd.Limits{WallMS: wall},
			})
			if r.Outcome != c.outcome || string(r.Value) != c.value || r.Token != "tok" || (r.Error == nil) != (c.outcome == "ok") {
				t.Errorf("%s %s %q %v", r.Outcome, r.Value, r.Token, r.Error)
			}
			var console []string
			for _, l := range r.Console {
				console = append(console, l.Level+" "+l.Text)
			}
			if len(console) != 3 || console[0] != "log a 1" || console[1] != "error b" || !strings.HasPrefix(console[2], "debug xxx") {
				t.Errorf("console %.200q", console)
			}
			if r.Truncated.ConsoleLines != 1 || r.Truncated.ConsoleBytes < 900 {
				t.Errorf("truncated %+v", r.Truncated)
			}
			s := r.Stats
			if s.ToolMS < 25 || s.WallMS < s.ToolMS || s.CPUMS < 3 || s.PeakMemory < 1<<20 || !s.Warm || s.ApprovalMS != 0 || s.LeaseMS > 2000 {
				t.Errorf("stats %+v", s)
			}
			if len(r.Calls) == 0 {
				t.Fatal("no call is listed")
			}
			if c := r.Calls[0]; c.MS < 25 || c.MS > 5000 || c.Bytes != int64(len(`{"MS":30}`)) {
				t.Errorf("call %+v", c)
			}
			i := r.Isolation
			if !strings.HasPrefix(i.Seccomp, "kill") || i.Landlock < 1 || len(i.Rlimits) == 0 || !i.Verified || !slices.Equal(i.Missing, []string{"cgroup"}) || !slices.Contains(i.Namespaces, "net") {
				t.Errorf("isolation %+v", i)
			}
		})
	}
}

func ready(g *gateway, want int) error {
	s, err := g.Status(context.Background())
	if err != nil {
		return err
	}
	for _, p := range s.Pool {
		if p.Profile == "default" && p.Ready != want {
			return fmt.Errorf("%d workers are ready, want %d", p.Ready, want)
		}
	}
	return nil
}

// TestRunsDoNotMeet: what one run changes, the next does not see.
func TestRunsDoNotMeet(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\n"}), nil, sandboxd.Options{})
	for i := range 3 {
		got := g.value(t, `
			const seen = [globalThis.left, [].left, ({}).left, Math.left, JSON.stringify([1])];
			globalThis.left = 1;
			Array.prototype.left = 1;
			Object.prototype.left = 1;
			Math.left = 1;
			JSON.stringify = () => "patched";
			return seen.map(String)`)
		if got != `["undefined","undefined","undefined","undefined","[1]"]` {
			t.Fatalf("run %d saw %s", i+1, got)
		}
	}
}

// TestParallelRuns are on one connection, each with its own answer.
func TestParallelRuns(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	var runs sync.WaitGroup
	for i := range 16 {
		runs.Go(func() {
			r, err := g.Execute(t.Context(), sandboxd.Program{
				Source: "const a = await tools.t.slow({MS: 20, input}); const b = await tools.t.echo({input}); return [a.input, b.input]",
				Input:  fmt.Append(nil, i),
			})
			if want := fmt.Sprintf("[%d,%d]", i, i); err != nil || string(r.Value) != want {
				t.Errorf("run %d: %+v, error %v", i, r, err)
			}
		})
	}
	runs.Wait()
}

// TestWorkersServeOnce: with one ready worker, the one that is there before a run is gone after it.
func TestWorkersServeOnce(t *testing.T) {
	t.Parallel()
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\n"})
	g := connect(t, d, nil, sandboxd.Options{})
	served := make(map[int]bool)
	for range 6 {
		daemon.Eventually(t, 5*time.Second, func() error {
			if n := len(workers(d)); n != 1 {
				return fmt.Errorf("%d workers, want 1", n)
			}
			return ready(g, 1)
		})
		before := workers(d)[0]
		if served[before] {
			t.Fatalf("worker %d is back", before)
		}
		served[before] = true
		if r := g.run(t, sandboxd.Program{Source: "return 1"}); !r.Stats.Warm {
			t.Error("the run did not get the worker that was ready")
		}
		daemon.Eventually(t, time.Second, func() error { // the answer does not wait for the burial
			if slices.Contains(workers(d), before) {
				return fmt.Errorf("worker %d lives on after its run", before)
			}
			return nil
		})
	}
}

// workers are the daemon's processes of that name.
func workers(d *daemon.Daemon) (pids []int) {
	for _, pid := range daemon.Descendants(d.PID) {
		// An error means that it has just ended.
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.HasPrefix(string(line), "sandbox-worker") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestCancelByToken(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	ctx, cancel := contextWhen(t, func() error { return g.working(2) })
	defer cancel()
	other := make(chan *sandboxd.Result, 1)
	go func() {
		r, err := g.Execute(t.Context(), sandboxd.Program{Source: "return await tools.t.slow({MS: 400})", Token: "b"})
		if err != nil {
			t.Error(err)
		}
		other <- r
	}()
	// Execute cancels by the token, which is given here.
	r := g.runWithin(t, ctx, sandboxd.Program{Source: "await tools.t.hang({})", Token: "a"})
	ending{outcome: "cancelled", message: "by the gateway"}.check(t, r)
	if r := <-other; r == nil || r.Outcome != sandboxd.OutcomeOK {
		t.Errorf("the run of another token: %+v", r)
	}
}

// TestTimeoutTellsWhatWasDone is a long loop past its limit.
func TestTimeoutTellsWhatWasDone(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	r := g.run(t, sandboxd.Program{
		Source: "for (let i = 0; i < 1900; i++) { await tools.t.slow({MS: i < 3 ? 10 : 60_000}); console.log('item', i) }",
		Limits: &sandboxd.Limits{WallMS: 3000},
	})
	if r.Outcome != sandboxd.OutcomeTimeout {
		t.Fatalf("%s: %v", r.Outcome, r.Error)
	}
	done := 0
	for _, c := range r.Calls {
		if c.State == sandboxd.CallSucceeded {
			done++
		}
	}
	if done != 3 || len(r.Calls) != done+1 || r.Calls[done].State != sandboxd.CallUnknown || len(r.Console) != done {
		t.Errorf("%d of %d calls succeeded, with %d lines of console", done, len(r.Calls), len(r.Console))
	}
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var progress []sandboxd.Progress
	var console []sandboxd.Console
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{
		Progress: func(p sandboxd.Progress) { mu.Lock(); defer mu.Unlock(); progress = append(progress, p) },
		Console:  func(c sandboxd.Console) { mu.Lock(); defer mu.Unlock(); console = append(console, c) },
	})
	const source = "console.warn('begin'); await tools.t.echo({}); await tools.t.slow({MS: 1300}); console.log('end')"
	silent := g.run(t, sandboxd.Program{Source: source})
	r := g.run(t, sandboxd.Program{Source: source, Token: "tok", Progress: true, Console: true})
	mu.Lock()
	defer mu.Unlock()
	if silent.Outcome != "ok" || r.Outcome != "ok" {
		t.Fatalf("%v, %v", silent.Error, r.Error)
	}
	if len(progress) != 1 {
		t.Fatalf("progress %+v, want one after a second", progress)
	}
	if p := progress[0]; p.Run != r.Run || p.Token != "tok" || p.ElapsedMS < 900 || p.Calls != 2 || p.Finished != 1 || p.Doing != "waiting for t.slow" {
		t.Errorf("progress %+v", p)
	}
	want := []sandboxd.Console{
		{Run: r.Run, Token: "tok", ConsoleLine: sandboxd.ConsoleLine{Level: "warn", Text: "begin"}},
		{Run: r.Run, Token: "tok", ConsoleLine: sandboxd.ConsoleLine{Level: "log", Text: "end"}},
	}
	if !slices.Equal(console, want) {
		t.Errorf("console %+v, want %+v", console, want)
	}
}
