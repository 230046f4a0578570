// Package hostile_test attacks the real daemon: as a gateway that breaks every rule of the protocol, as a worker
// that its program took over, and by killing its processes. After each attack an honest gateway must be served,
// and the descriptors and processes of the daemon must be back where they were.
package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

func TestMain(m *testing.M) { daemon.Main(m) }

// stage is a daemon under attack, and what it was like before.
type stage struct {
	*daemon.Daemon
	honest string // a program that makes one call and returns 7
	pool   int
	base   daemon.Levels
}

const (
	realProgram = `const r = await tools.s.echo({x: 1}); return r.ok ? 7 : 8`
	poolSize    = 2
	patience    = 30 * time.Second // on a machine that is busy with other tests
)

// emptyPool is a configuration with which the only worker there is has a run.
const emptyPool = "pool: {default: 0}\n"

// newStage starts a daemon with a pool of two, unless config begins with emptyPool. Birth is what the fake worker
// does before READY, "-" for the real worker.
func newStage(t *testing.T, config, birth string) *stage {
	t.Helper()
	s := &stage{honest: realProgram, pool: poolSize}
	if strings.HasPrefix(config, emptyPool) {
		s.pool = 0
	} else {
		config = fmt.Sprintf("pool: {default: %d}\n%s", poolSize, config)
	}
	o := daemon.Options{Config: config}
	if birth != "-" {
		o.Bin = fakeBin(t, birth)
		s.honest = script(call(1, "s", "echo", `{"x":1}`), "await 1", done("ok", "7"))
	}
	s.Daemon = daemon.Start(t, o)
	s.served(t)
	s.base = s.Rest(t, s.pool)
	return s
}

// fakeBin makes a directory of binaries whose worker is the fake.
func fakeBin(t *testing.T, birth string) string {
	t.Helper()
	bin := daemon.Binaries(t)
	fake.Do(func() {
		command := exec.Command("go", "build", "-o", filepath.Join(bin, "fakeworker"), "./fakeworker")
		command.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := command.CombinedOutput(); err != nil {
			fakeErr = fmt.Errorf("build fakeworker: %w\n%s", err, out)
		}
	})
	if fakeErr != nil {
		t.Fatal(fakeErr)
	}
	dir, err := os.MkdirTemp(bin, "fake-") // goes when bin does
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the fake runs as nobody
		t.Fatal(err)
	}
	for _, name := range []string{"sandboxd", "sandbox-nursery"} {
		if err := os.Link(filepath.Join(bin, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	binary, err := os.ReadFile(filepath.Join(bin, "fakeworker"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sandbox-worker"), binary, 0o755); err != nil { // a copy: it has a plan of its own
		t.Fatal(err)
	}
	plan(t, dir, birth)
	return dir
}

var (
	fake    sync.Once
	fakeErr error
)

// plan says what workers that are born from now on do before READY.
func plan(t *testing.T, bin, birth string) {
	t.Helper()
	if err := syscall.Setxattr(filepath.Join(bin, "sandbox-worker"), "user.birth", []byte(birth), 0); err != nil {
		t.Fatalf("tell the fake worker its plan: %v (it takes a file system with user attributes for temporary files)", err)
	}
}

// attack runs one attack, lets an honest gateway be served while the attacker is still connected, and waits
// until the daemon is what it was before.
func (s *stage) attack(t *testing.T, name string, do func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Run("attack", func(t *testing.T) {
			do(t)
			s.served(t)
		})
		s.calm(t)
	})
}

// served fails the test unless an honest gateway's program is carried out.
func (s *stage) served(t testing.TB) {
	t.Helper()
	if err := s.serve(); err != nil {
		t.Fatalf("an honest run: %v", err)
	}
}

func (s *stage) serve() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := sandboxd.Dial(ctx, s.Socket, honestGateway)
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := c.Execute(ctx, sandboxd.Program{Source: s.honest})
	switch {
	case err != nil:
		return err
	case r.Outcome != sandboxd.OutcomeOK || string(r.Value) != "7" || len(r.Calls) != 1 || r.Calls[0].State != sandboxd.CallSucceeded:
		return fmt.Errorf("ended as %s", sprint(r))
	}
	return nil
}

var honestGateway = sandboxd.Options{
	Name: "honest", Servers: []string{"s"},
	Tools: func(context.Context, sandboxd.ToolCall) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"type":"text","text":"{\"ok\":true}"}]}`), nil
	},
}

// calm waits until the daemon is what it was before the attacks.
func (s *stage) calm(t testing.TB) {
	t.Helper()
	s.Calm(t, s.base)
}

// finish ends the daemon with a dump of its goroutines, which must be no more than those of an idle daemon.
func (s *stage) finish(t *testing.T) {
	t.Helper()
	s.calm(t)
	daemon.NoMore(t, s.Goroutines(t), newStage(t, "", "-").Goroutines(t))
}

// workers lists the processes below the nursery.
func (s *stage) workers(t testing.TB) []int { return daemon.Descendants(daemon.Nursery(t, s.PID)) }

// rss is the resident memory of a process in bytes.
func rss(t testing.TB, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * int64(os.Getpagesize())
}

// gone waits until no process of pids lives.
func gone(t testing.TB, pids ...int) {
	t.Helper()
	daemon.Eventually(t, patience, func() error {
		if pid := daemon.Living(pids...); pid != 0 {
			return fmt.Errorf("process %d (%s) lives", pid, daemon.Comm(pid))
		}
		return nil
	})
}

func sprint(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if len(text) > 2000 {
		text = append(text[:2000:2000], " …"...)
	}
	return string(text)
}
