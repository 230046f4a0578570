package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
)

// Levels are what must not rise, whatever a daemon has been through.
type Levels struct{ DaemonFDs, NurseryFDs, Processes, Cgroups int }

// patience is for a machine that is busy with other tests.
const patience = 30 * time.Second

// Levels tells what they are now.
func (d *Daemon) Levels() (Levels, error) {
	nursery := nurseryOf(d.PID)
	if nursery == 0 {
		return Levels{}, errors.New("no nursery")
	}
	return Levels{FDs(d.PID), FDs(nursery), len(Descendants(d.PID)), cgroups(nursery)}, nil
}

// Rest waits until the pool has its workers and nothing moves any more, and tells the levels.
func (d *Daemon) Rest(t testing.TB, pool int) Levels {
	t.Helper()
	Eventually(t, patience, func() error { return d.full(pool) })
	var before Levels
	d.still(t, func(now Levels) bool {
		was := before
		before = now
		return now == was && now.Processes == 1+pool
	})
	return before
}

// still waits until the levels are right ten times in a row.
func (d *Daemon) still(t testing.TB, right func(Levels) bool) {
	t.Helper()
	times := 0
	Eventually(t, patience, func() error {
		now, err := d.Levels()
		if err != nil {
			return err
		}
		if times++; !right(now) {
			times = 0
		}
		if times < 10 {
			return fmt.Errorf("not at rest for long enough: %+v", now)
		}
		return nil
	})
}

// full asks the daemon whether so many workers are ready.
func (d *Daemon) full(pool int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := sandboxd.Dial(ctx, d.Socket, sandboxd.Options{Name: "rest"})
	if err != nil {
		return err
	}
	defer c.Close()
	status, err := c.Status(ctx)
	if err != nil {
		return err
	}
	ready := 0
	for _, p := range status.Pool {
		ready += p.Ready
	}
	if ready != pool {
		return fmt.Errorf("%d workers are ready, want %d", ready, pool)
	}
	return nil
}

// Calm waits until the levels are what they were, and stay so.
func (d *Daemon) Calm(t testing.TB, were Levels) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("the levels were %+v", were)
		}
	}()
	d.still(t, func(now Levels) bool { return now == were })
}

// Goroutines ends the daemon, and counts its goroutines by what they run, but for the runtime's own: the Go
// runtime answers SIGQUIT with a dump of them, which has a scheduler's stack, as goroutine 0, if the signal met one.
func (d *Daemon) Goroutines(t testing.TB) map[string]int {
	t.Helper()
	d.Signal(t, syscall.SIGQUIT)
	select {
	case <-d.Exited():
	case <-time.After(patience):
		t.Fatal("sandboxd does not end on SIGQUIT")
	}
	all := make(map[string]int)
	for dump := range strings.SplitSeq(d.Log(), "\n\n") {
		_, by, _ := strings.Cut(dump, "\ncreated by ")
		if !strings.HasPrefix(dump, "goroutine ") || strings.HasPrefix(dump, "goroutine 0 ") || strings.HasPrefix(by, "runtime.") {
			continue
		}
		what, _, _ := strings.Cut(by, " in ") // empty for the first one
		if outermost := ours(dump); outermost != "" {
			what = outermost
		}
		all[what]++
	}
	if len(all) == 0 {
		t.Fatalf("no goroutines in the dump:\n%s", d.Log())
	}
	return all
}

// ours is the outermost function of this project on a goroutine's stack; empty if there is none.
func ours(dump string) (name string) {
	for line := range strings.Lines(dump) {
		if rest, ok := strings.CutPrefix(line, "github.com/sandboxd/sandboxd/"); ok {
			name = strings.TrimSpace(rest[:max(0, strings.LastIndexByte(rest, '('))])
		}
	}
	return name
}

// NoMore fails the test for each kind of goroutine of which there are more than in a daemon that had nothing to do.
func NoMore(t testing.TB, goroutines, idle map[string]int) {
	t.Helper()
	for what, n := range goroutines {
		if n > idle[what] {
			t.Errorf("%d goroutines run %q; in an idle daemon %d do", n, what, idle[what])
		}
	}
}

// cgroups counts those of workers: 0 where no cgroup was delegated.
func cgroups(nursery int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", nursery))
	if err != nil {
		return 0
	}
	_, path, _ := strings.Cut("\n"+string(text), "\n0::")
	path, _, _ = strings.Cut(path, "\n")
	if filepath.Base(path) != "nursery" {
		return 0
	}
	all, err := filepath.Glob(filepath.Join("/sys/fs/cgroup", filepath.Dir(path), "worker-*"))
	if err != nil {
		return 0
	}
	return len(all)
}
