package hostile_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestBirthRefused has workers that do not prove their jail: the daemon must not start, and must say why.
func TestBirthRefused(t *testing.T) {
	t.Parallel()
	for _, a := range []struct{ birth, want string }{
		{"unjailed", "worker is not jailed as it says"},
		{"never", "no READY within"},
		{"silent-half", "no READY within"},
		{"exit", "worker ended before READY"},
		{"crash", "the fake crashed on purpose"},
		{"twice", "behind READY"},
		{"extra", "behind READY"},
		{"early", "behind READY"},
		{"other-type", "where READY was due"},
		{"not-json", "broke the worker protocol"},
		{"member", "unknown field"},
		{"report-member", "unknown field"},
		{"endless", "longer than"},
		{"landlock-0", "landlock"},
		{"landlock-99", "landlock"},
		{"proofless", "0 proofs"},
		{"rlimits", "rlimits are"},
	} {
		t.Run(a.birth, func(t *testing.T) {
			t.Parallel()
			refuse(t, fakeBin(t, a.birth), a.want)
		})
	}
}

// refuse starts a daemon that must end by itself.
func refuse(t *testing.T, bin, want string) {
	dir := daemon.Dir(t)
	config := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(config, []byte(daemon.Config(t, "pool: {default: 1}\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, filepath.Join(bin, "sandboxd"), "--listen", filepath.Join(dir, "s"), "--config", config)
	var log daemon.Log
	command.Stderr = &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var all []int
	exited := make(chan struct{})
	go func() { command.Wait(); close(exited) }()
	for running := true; running; {
		all = append(all, daemon.Descendants(command.Process.Pid)...)
		select {
		case <-exited:
			running = false
		case <-time.After(20 * time.Millisecond):
		}
		if strings.Contains(log.String(), "msg=serving") {
			command.Process.Signal(syscall.SIGTERM)
			<-exited
			t.Fatalf("the daemon serves; want it to refuse with %q:\n%s", want, log.String())
		}
	}
	if code := command.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	text := log.String()
	if !strings.Contains(text, "sandboxd: error: no worker of profile \"default\" can be jailed here") || !strings.Contains(text, want) {
		t.Errorf("the error does not say %q:\n%s", want, text)
	}
	gone(t, all...)
}

// TestBirthLater has workers that go wrong when the daemon serves already: it must say so, and recover.
func TestBirthLater(t *testing.T) {
	t.Parallel()
	for _, a := range []struct {
		birth, want string // in the refusal of a run
	}{
		{"crash", "the fake crashed on purpose"},
		{"unjailed", "not jailed as it says"},
		{"twice", "behind READY"},
	} {
		t.Run(a.birth, func(t *testing.T) {
			t.Parallel()
			bin := fakeBin(t, "")
			s := &stage{pool: 1, honest: script(call(1, "s", "echo", `{"x":1}`), "await 1", done("ok", "7"))}
			s.Daemon = daemon.Start(t, daemon.Options{Bin: bin, Config: "pool: {default: 1}\nruns: {queue_wait: 300ms}\n"})
			s.base = s.Rest(t, s.pool)
			plan(t, bin, a.birth)
			for _, pid := range s.workers(t) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			c := s.Dial(t, honestGateway)
			daemon.Eventually(t, 5*time.Second, func() error {
				r, err := c.Execute(context.Background(), sandboxd.Program{Source: s.honest})
				if err != nil {
					return err
				}
				if r.Outcome != sandboxd.OutcomeBusy || r.Error.RetryAfterMS <= 0 ||
					!strings.Contains(r.Error.Message, "crashing") || !strings.Contains(r.Error.Message, a.want) {
					return fmt.Errorf("the run ended as %s", sprint(r))
				}
				return nil
			})
			plan(t, bin, "")
			daemon.Eventually(t, 15*time.Second, s.serve) // the pause between births may have grown
			c.Close()
			s.calm(t)
		})
	}
	t.Run("late", func(t *testing.T) {
		t.Parallel()
		bin := fakeBin(t, "late") // 1.5 s, within the bound on births
		s := &stage{pool: poolSize, honest: script(call(1, "s", "echo", `{"x":1}`), "await 1", done("ok", "7"))}
		s.Daemon = daemon.Start(t, daemon.Options{Bin: bin, Config: fmt.Sprintf("pool: {default: %d}\n", poolSize)})
		s.served(t)
		s.served(t)
	})
	t.Run("READY a second time, later", func(t *testing.T) {
		t.Parallel()
		bin := fakeBin(t, "twice-late")
		d := daemon.Start(t, daemon.Options{Bin: bin, Config: "pool: {default: 1}\n"})
		c := d.Dial(t, honestGateway)
		time.Sleep(300 * time.Millisecond)
		r, err := c.Execute(context.Background(), sandboxd.Program{Source: done("ok", "1")})
		if err != nil {
			t.Fatal(err)
		}
		wantRun(t, *r, violation, broke)
	})
}

// TestIdleDeath kills idle workers: they must be replaced, and none that is dead may be handed out.
func TestIdleDeath(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "-")
	for range 5 {
		dead := s.workers(t)
		for _, pid := range dead {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		gone(t, dead...)
		s.served(t)
		s.calm(t)
	}
	s.finish(t)
}

// TestDeathAtOnce has workers that die within a millisecond of READY, at every point of their handing over. None may
// count as ready: the pool must be full of living workers when they are good again.
func TestDeathAtOnce(t *testing.T) {
	t.Parallel()
	bin := fakeBin(t, "")
	s := &stage{pool: 4, honest: script(call(1, "s", "echo", `{"x":1}`), "await 1", done("ok", "7"))}
	s.Daemon = daemon.Start(t, daemon.Options{Bin: bin, Config: "pool: {default: 4}\n"})
	s.base = s.Rest(t, s.pool)
	plan(t, bin, "flicker")
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, pid := range s.workers(t) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	plan(t, bin, "")
	s.calm(t)
	for range 8 {
		s.served(t)
	}
}
