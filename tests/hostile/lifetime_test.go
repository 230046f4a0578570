package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// running is a run that is under way, with a call at the gateway.
type running struct {
	client *sandboxd.Client
	calls  chan sandboxd.ToolCall
	finish chan struct{} // closed: the call is answered
	ended  chan ending
}

type ending struct {
	result *sandboxd.Result
	err    error
}

// begin starts a run and returns when its call has come.
func (s *stage) begin(t *testing.T, p sandboxd.Program) *running {
	t.Helper()
	r := &running{calls: make(chan sandboxd.ToolCall, 8), finish: make(chan struct{}), ended: make(chan ending, 1)}
	r.client = s.Dial(t, sandboxd.Options{
		Name: "running", Servers: []string{"s"},
		Tools: func(ctx context.Context, c sandboxd.ToolCall) (json.RawMessage, error) {
			r.calls <- c
			select {
			case <-r.finish:
			case <-ctx.Done():
			}
			return json.RawMessage(pong), nil
		},
	})
	go func() {
		result, err := r.client.Execute(context.Background(), p)
		r.ended <- ending{result, err}
	}()
	select {
	case <-r.calls:
	case e := <-r.ended:
		t.Fatalf("the run ended before its call: %s %v", sprint(e.result), e.err)
	case <-time.After(patience):
		t.Fatal("no call")
	}
	return r
}

func (r *running) end(t *testing.T) ending {
	t.Helper()
	select {
	case e := <-r.ended:
		return e
	case <-time.After(patience):
		t.Fatal("the run does not end")
		return ending{}
	}
}

const caller = `await tools.s.t({}); return 1`

// TestDaemonKilled leaves no process of a daemon that had no time to clean up.
func TestDaemonKilled(t *testing.T) {
	t.Parallel()
	daemon.Measured(t, time.Second, func() time.Duration {
		s := newStage(t, "", "-")
		waiting := s.begin(t, sandboxd.Program{Source: caller})
		spinning := s.begin(t, sandboxd.Program{Source: `await tools.s.t({}); for (;;) {}`})
		close(spinning.finish)
		s.more(t, 2) // two runs, and the pool refilled
		all := daemon.Descendants(s.PID)
		killed := time.Now()
		s.Signal(t, syscall.SIGKILL)
		gone(t, all...)
		took := time.Since(killed)
		for _, r := range []*running{waiting, spinning} {
			if e := r.end(t); e.err == nil {
				t.Errorf("a result came from a dead daemon: %s", sprint(e.result))
			}
		}
		return took
	})
}

// more waits until there are n workers more than the pool keeps.
func (s *stage) more(t *testing.T, n int) {
	t.Helper()
	daemon.Eventually(t, patience, func() error {
		if got := len(daemon.Descendants(s.PID)); got != 1+s.pool+n {
			return fmt.Errorf("%d processes, want %d", got, 1+s.pool+n)
		}
		return nil
	})
}

// TestNurseryKilled takes the nursery away under a run and a full pool.
func TestNurseryKilled(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "-")
	for range 3 {
		run := s.begin(t, sandboxd.Program{Source: caller})
		s.more(t, 1)
		nursery := daemon.Nursery(t, s.PID)
		workers := s.workers(t)
		if err := syscall.Kill(nursery, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		gone(t, append(workers, nursery)...)
		e := run.end(t)
		if e.err != nil {
			t.Fatalf("no result: %v", e.err)
		}
		switch e.result.Outcome {
		case sandboxd.OutcomeInternal, sandboxd.OutcomeCrash:
		default:
			t.Errorf("ended as %s", sprint(e.result))
		}
		wantCalls(t, *e.result, sandboxd.CallUnknown)
		run.client.Close()
		s.served(t)
		s.calm(t)
	}
	s.finish(t)
}

// TestNurseryStopped freezes the nursery: runs must end in time all the same, and be told why.
func TestNurseryStopped(t *testing.T) {
	t.Parallel()
	s := newStage(t, "runs: {queue_wait: 300ms}\n", "-")
	nursery := daemon.Nursery(t, s.PID)
	run := s.begin(t, sandboxd.Program{Source: caller, Limits: &sandboxd.Limits{WallMS: 500}})
	s.more(t, 1)
	if err := syscall.Kill(nursery, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(nursery, syscall.SIGCONT)
	select {
	case e := <-run.ended:
		wantRun(t, *e.result, sandboxd.OutcomeTimeout, "500 ms")
	case <-time.After(4 * time.Second): // an order to the nursery has 15 s
		t.Error("a run whose time is over waits for a nursery that does not answer")
	}
	syscall.Kill(nursery, syscall.SIGCONT)
	s.served(t)
}

// TestNurseryHangs freezes the nursery for good: another one must take its place, and its workers must go with it.
func TestNurseryHangs(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "-")
	all := daemon.Descendants(s.PID)
	if err := syscall.Kill(daemon.Nursery(t, s.PID), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.serve() // takes a worker, and the order for the next one has no answer
	daemon.Eventually(t, time.Minute, func() error {
		if pid := daemon.Living(all...); pid != 0 {
			return fmt.Errorf("process %d (%s) of a nursery that hangs lives", pid, daemon.Comm(pid))
		}
		return s.serve()
	})
	s.calm(t)
	s.finish(t)
}

// TestDaemonKilledDuringBirth leaves no worker, though one is under way that would take its time.
func TestDaemonKilledDuringBirth(t *testing.T) {
	t.Parallel()
	daemon.Measured(t, 3*time.Second, func() time.Duration { // a birth has 10 s
		bin := fakeBin(t, "")
		d := daemon.Start(t, daemon.Options{Bin: bin, Config: "pool: {default: 3}\n"})
		d.Rest(t, 3)
		nursery := daemon.Nursery(t, d.PID)
		before := daemon.Descendants(nursery)
		plan(t, bin, "never")
		if err := syscall.Kill(before[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		var all []int
		daemon.Eventually(t, patience, func() error {
			all = daemon.Descendants(nursery)
			if len(all) < 3 || slices.Contains(all, before[0]) {
				return fmt.Errorf("processes %v, before %v", all, before)
			}
			return nil
		})
		time.Sleep(50 * time.Millisecond) // it is at its gate, or past it
		killed := time.Now()
		d.Signal(t, syscall.SIGKILL)
		gone(t, append(all, nursery)...)
		return time.Since(killed)
	})
}

// TestWorkerSignalled does from outside what can befall a worker during its run.
func TestWorkerSignalled(t *testing.T) {
	t.Parallel()
	s := newStage(t, emptyPool, "-")
	for _, a := range []struct {
		name    string
		signal  syscall.Signal
		outcome sandboxd.Outcome
		text    string
	}{
		{"SIGKILL", syscall.SIGKILL, sandboxd.OutcomeCrash, "signal killed"},
		{"SIGSTOP", syscall.SIGSTOP, sandboxd.OutcomeTimeout, "800 ms"},
		{"SIGSEGV", syscall.SIGSEGV, sandboxd.OutcomeCrash, ""},
		{"SIGQUIT", syscall.SIGQUIT, sandboxd.OutcomeCrash, ""},
		// Go dies of a signal by raising it again with its handler gone, which the jail forbids.
		{"SIGTERM", syscall.SIGTERM, sandboxd.OutcomeViolation, ""},
	} {
		s.attack(t, a.name, func(t *testing.T) {
			wall := int64(5000)
			if a.outcome == sandboxd.OutcomeTimeout {
				wall = 800
			}
			r := s.begin(t, sandboxd.Program{Source: caller, Limits: &sandboxd.Limits{WallMS: wall}})
			defer r.client.Close()
			s.more(t, 1)
			victim := s.workers(t)[0]
			if err := syscall.Kill(victim, a.signal); err != nil {
				t.Fatal(err)
			}
			e := r.end(t) // a death that is not noticed at once would end as a timeout
			if e.err != nil {
				t.Fatal(e.err)
			}
			wantRun(t, *e.result, a.outcome, a.text)
			wantCalls(t, *e.result, sandboxd.CallUnknown)
			gone(t, victim)
		})
	}
	s.finish(t)
}

// TestDrain asks the daemon to end under a run.
func TestDrain(t *testing.T) {
	t.Parallel()
	t.Run("the run finishes", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, "", "-")
		all := daemon.Descendants(s.PID)
		run := s.begin(t, sandboxd.Program{Source: caller})
		s.Signal(t, syscall.SIGTERM)
		daemon.Eventually(t, patience, func() error {
			r, err := run.client.Execute(context.Background(), sandboxd.Program{Source: "return 2"})
			switch {
			case err != nil:
				t.Fatal(err)
			case r.Outcome != sandboxd.OutcomeBusy || !strings.Contains(r.Error.Message, "stopping"):
				return fmt.Errorf("a new run ended as %s", sprint(r))
			}
			return nil
		})
		if c, err := sandboxd.Dial(context.Background(), s.Socket, honestGateway); err == nil {
			c.Close()
			t.Error("a new gateway was let in")
		}
		close(run.finish)
		e := run.end(t)
		if e.err != nil {
			t.Fatal(e.err)
		}
		wantRun(t, *e.result, ok, "1")
		s.over(t)
		gone(t, all...)
	})
	t.Run("the run outlasts it", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, "drain: 200ms\n", "-")
		all := daemon.Descendants(s.PID)
		run := s.begin(t, sandboxd.Program{Source: caller})
		begun := time.Now()
		s.Signal(t, syscall.SIGTERM)
		e := run.end(t)
		if took := time.Since(begun); took < 190*time.Millisecond {
			t.Errorf("the run was ended after %s", took)
		}
		if e.err != nil {
			t.Fatal(e.err)
		}
		wantRun(t, *e.result, sandboxd.OutcomeCancelled, "shutting down")
		wantCalls(t, *e.result, sandboxd.CallUnknown)
		s.over(t)
		gone(t, all...)
	})
	t.Run("a gateway that does not read", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, "drain: 200ms\ngateways: {write_wait: 500ms}\n", "-")
		r := s.greeted(t)
		r.execute(1, `for (;;) { await tools.s.t({x: 'x'.repeat(200000)}) }`, `"limits":{"wall_ms":20000}`)
		time.Sleep(200 * time.Millisecond)
		s.Signal(t, syscall.SIGTERM)
		s.over(t)
	})
	t.Run("idle gateways", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, "", "-")
		for range 5 {
			s.greeted(t)
		}
		s.dial(t)
		s.Signal(t, syscall.SIGTERM)
		s.over(t)
	})
}

// over waits for the daemon's end.
func (s *stage) over(t *testing.T) {
	t.Helper()
	select {
	case <-s.Exited():
		if s.Exit() != 0 {
			t.Errorf("exit code %d:\n%s", s.Exit(), s.Log())
		}
	case <-time.After(patience):
		t.Error("the daemon does not end")
	}
}

// TestLongHaul is 300 runs on one daemon, one in five of them hostile.
func TestLongHaul(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "")
	c := s.Dial(t, honestGateway)
	hostile := []struct {
		program string
		outcome sandboxd.Outcome
	}{
		{"syscall", violation},
		{say("garbage\n"), violation},
		{exit(3, "x"), crash},
		{script(say(calls(batch(4)...)+"{}{}{}{}"), done("ok", "1")), ok},
		{script(say(calls(header(1, "s", "t", 5000))), exit(0, "")), crash},
		{flood(1<<20, "x"), violation},
	}
	var warm int64
	for i := range 300 {
		p, want := s.honest, ok
		if i%5 == 4 {
			h := hostile[i/5%len(hostile)]
			p, want = h.program, h.outcome
		}
		r, err := c.Execute(context.Background(), sandboxd.Program{Source: p, Limits: &sandboxd.Limits{WallMS: 5000}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != want {
			t.Errorf("run %d ended as %s, want %s", i, sprint(r), want)
		}
		if i == 60 {
			warm = rss(t, s.PID)
		}
	}
	c.Close()
	s.calm(t)
	if grown := rss(t, s.PID) - warm; grown > 16<<20 {
		t.Errorf("the daemon grew by %d KiB in 240 runs", grown>>10)
	}
	s.finish(t)
}
