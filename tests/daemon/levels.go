package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Levels are what must not rise, whatever a daemon has been through.
type Levels struct{ DaemonFDs, NurseryFDs, Processes, Cgroups int }

// patience is for a machine that is busy with other tests.
const patience = 10 * time.Second

// Levels tells what they are now.
func (d *Daemon) Levels() (Levels, error) {
	processes := Descendants(d.PID)
	for _, pid := range processes {
		if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && string(comm) == "sandbox-nursery\n" {
			return Levels{entries(d.PID, "fd"), entries(pid, "fd"), len(processes), cgroups(pid)}, nil
		}
	}
	return Levels{}, errors.New("no nursery")
}

// Rest waits until the pool has its workers and nothing moves any more, and tells the levels.
func (d *Daemon) Rest(t testing.TB, pool int) Levels {
	t.Helper()
	var before Levels
	same := 0
	Eventually(t, patience, func() error {
		now, err := d.Levels()
		if err != nil {
			return err
		}
		if now.Processes != 1+pool || now != before {
			before, same = now, 0
		}
		if same++; same < 10 {
			return fmt.Errorf("not at rest for long enough: %+v", now)
		}
		return nil
	})
	return before
}

// Calm waits until the levels are what they were.
func (d *Daemon) Calm(t testing.TB, were Levels) {
	t.Helper()
	Eventually(t, patience, func() error {
		now, err := d.Levels()
		if err == nil && now != were {
			err = fmt.Errorf("levels are %+v, and were %+v", now, were)
		}
		return err
	})
}

// Goroutines ends the daemon, and counts its goroutines but for the runtime's own: the Go runtime answers SIGQUIT with a
// dump of them.
func (d *Daemon) Goroutines(t testing.TB) int {
	t.Helper()
	d.Signal(t, syscall.SIGQUIT)
	select {
	case <-d.Exited():
	case <-time.After(patience):
		t.Fatal("sandboxd does not end on SIGQUIT")
	}
	n := 0
	for dump := range strings.SplitSeq(d.Log(), "\n\n") {
		if strings.HasPrefix(dump, "goroutine ") && !strings.Contains(dump, "\ncreated by runtime.") {
			n++
		}
	}
	if n == 0 {
		t.Fatalf("no goroutines in the dump:\n%s", d.Log())
	}
	return n
}

// entries counts those of a directory of a process in /proc: -1 if it may not be read.
func entries(pid int, dir string) int {
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/%s", pid, dir))
	if err != nil {
		return -1
	}
	return len(all)
}

// cgroups counts those beside the nursery's, which are the workers': 0 where no cgroup was delegated.
func cgroups(nursery int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", nursery))
	if err != nil {
		return 0
	}
	_, path, _ := strings.Cut(string(text), "0::")
	own := filepath.Join("/sys/fs/cgroup", strings.TrimSpace(path))
	if filepath.Base(own) != "daemon" {
		return 0
	}
	all, err := filepath.Glob(filepath.Dir(own) + "/*/cgroup.procs")
	if err != nil {
		return 0
	}
	return len(all)
}
