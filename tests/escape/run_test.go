//go:build linux

package escape_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
	"github.com/sandboxd/sandboxd/tests/escape/attack"
)

const poolSize = 2

// limitsFor are small, so that what does not end ends soon; but a limit on CPU time must be met before the clock is, on a
// machine that does other things besides.
func limitsFor(outcome string) *sandboxd.Limits {
	l := sandboxd.Limits{WallMS: 20_000, CPUMS: 300, MemoryBytes: 64 << 20}
	switch sandboxd.Outcome(outcome) {
	case sandboxd.OutcomeTimeout:
		l.WallMS = 500
	case sandboxd.OutcomeMemory:
		l.CPUMS = 5000
	}
	return &l
}

// victims starts a daemon whose workers are victims, and tells its levels.
func victims(t *testing.T) (*daemon.Daemon, daemon.Levels) {
	t.Helper()
	d := daemon.Start(t, daemon.Options{Bin: binaries(t, nil), Config: fmt.Sprintf("pool: {default: %d}\n", poolSize)})
	good(t, d)
	return d, d.Rest(t, poolSize)
}

// honest is an attack that is none.
const honest = "getpid"

// good fails the test unless a good run ends well.
func good(t *testing.T, d *daemon.Daemon) {
	t.Helper()
	if r := execute(t, d, honest, attack.OK); r.Outcome != sandboxd.OutcomeOK || string(r.Value) != `"ok"` {
		t.Fatalf("a good run ended as %s, %s, %v", r.Outcome, r.Value, r.Error)
	}
}

func execute(t *testing.T, d *daemon.Daemon, name, outcome string) *sandboxd.Result {
	t.Helper()
	c := d.Dial(t, sandboxd.Options{Name: "escape"})
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := c.Execute(ctx, sandboxd.Program{Source: "attack: " + name, Limits: limitsFor(outcome)})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// TestRuns has runs of a real daemon attack: one of each class that seccomp ends, and all that take a daemon to end. After
// each there is a good run, and the daemon is as it was.
func TestRuns(t *testing.T) {
	t.Parallel()
	d, levels := victims(t)
	for _, class := range attack.Classes {
		t.Run(title(class.Name), func(t *testing.T) {
			for _, x := range inRuns(class) {
				t.Run(title(x.Name), func(t *testing.T) {
					r := execute(t, d, x.Name, x.Ends)
					ended(t, x, r)
					good(t, d)
					d.Calm(t, levels)
				})
			}
		})
	}
	idle, _ := victims(t)
	daemon.NoMore(t, d.Goroutines(t), idle.Goroutines(t))
}

// inRuns are the attacks of a class that are made in runs: all, or the first by number.
func inRuns(class attack.Class) []attack.Attack {
	if class.Daemon {
		return class.Attacks
	}
	i := slices.IndexFunc(class.Attacks, func(a attack.Attack) bool { return a.Ends == attack.Killed && !a.Effect() })
	return class.Attacks[i : i+1]
}

func ended(t *testing.T, x attack.Attack, r *sandboxd.Result) {
	t.Helper()
	want := x.Ends
	if want == attack.Killed {
		want = string(sandboxd.OutcomeViolation)
	}
	if string(r.Outcome) != want {
		t.Fatalf("%s: ended as %s, %v; want %s", x.Name, r.Outcome, r.Error, want)
	}
	if r.Outcome == sandboxd.OutcomeViolation {
		m := forbidden.FindStringSubmatch(r.Error.Message)
		call, _, _ := strings.Cut(x.Name, " ")
		if m == nil || m[1] != "" && x.Ends == attack.Killed && m[1] != call {
			t.Errorf("%s: the error is %q", x.Name, r.Error.Message)
		}
	}
	tally.add(x.Name, "run", result{Began: true, End: string(r.Outcome)})
}

// forbidden is what is said of a violation. Which call it was is known where the kernel's log can be read, and the kernel
// has not written too much to it meanwhile.
var forbidden = regexp.MustCompile(`forbidden system call(?: \((.*)\))? and was killed by seccomp`)

// TestNoCore looks for what crashes may have left, where a worker stands: nothing.
func TestNoCore(t *testing.T) {
	t.Parallel()
	before := cores(t)
	d, levels := victims(t)
	if r := execute(t, d, "unmap itself", "crash"); r.Outcome != sandboxd.OutcomeCrash {
		t.Errorf("ended as %s", r.Outcome)
	}
	d.Calm(t, levels)
	if after := cores(t); !slices.Equal(before, after) {
		t.Errorf("core files: %v, and before %v", after, before)
	}
}

func cores(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, dir := range []string{"/", os.TempDir(), "."} {
		found, err := filepath.Glob(filepath.Join(dir, "core*"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// named reports whether all processes have the names by which daemon.Gone knows them.
func named(pids []int) bool {
	return !slices.ContainsFunc(pids, func(pid int) bool {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		return err != nil || !strings.HasPrefix(string(comm), "sandbox")
	})
}

// TestNobodySurvives kills the daemon, and its nursery, under victims that block all signals: none of them is left.
func TestNobodySurvives(t *testing.T) {
	for _, killed := range []string{"daemon", "nursery"} {
		t.Run(killed, func(t *testing.T) {
			t.Parallel()
			d, _ := victims(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			for _, name := range []string{"sleep with all signals blocked", "spin with all signals blocked"} {
				c := d.Dial(t, sandboxd.Options{Name: "escape"})
				go c.Execute(ctx, sandboxd.Program{Source: "attack: " + name}) // there is nobody who could answer
			}
			var all []int
			daemon.Eventually(t, 10*time.Second, func() error {
				if all = daemon.Descendants(d.PID); len(all) != 1+poolSize+2 || !named(all) {
					return fmt.Errorf("processes are %v, not all of them named yet", all)
				}
				return nil
			})
			if killed == "daemon" {
				d.Signal(t, syscall.SIGKILL)
			} else if err := syscall.Kill(all[0], syscall.SIGKILL); err != nil { // the daemon's only child comes first
				t.Fatal(err)
			}
			daemon.Gone(t, all)
			if killed == "nursery" {
				good(t, d)
			}
		})
	}
}
