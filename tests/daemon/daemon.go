// Package daemon starts the real binaries for tests.
package daemon

import (
	"bytes"
	"context"
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
)

// module is the import path of the repository.
const module = "github.com/sandboxd/sandboxd"

// Binaries builds the four binaries and the example tracker, once for each test process, and returns
// their directory. Tags are build tags, such as sandboxd_unjailed. Where there is no Go, as in a virtual machine,
// SANDBOXD_TEST_BINARIES names a directory of those without tags.
func Binaries(t testing.TB, tags ...string) string {
	t.Helper()
	key := strings.Join(tags, ",")
	if dir := os.Getenv("SANDBOXD_TEST_BINARIES"); dir != "" && key == "" {
		return dir
	}
	builds.Lock()
	defer builds.Unlock()
	b, ok := builds.by[key]
	if !ok {
		b = build(key)
		builds.by[key] = b
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.dir
}

var builds = struct {
	sync.Mutex
	by map[string]built
}{by: make(map[string]built)}

type built struct {
	dir string
	err error
}

func build(tags string) built {
	dir, err := os.MkdirTemp("", "sandboxd-bin-")
	if err != nil {
		return built{err: err}
	}
	// Workers of a root's nursery run as nobody, who must be able to read them.
	if err := os.Chmod(dir, 0o755); err != nil {
		return built{err: err}
	}
	command := exec.Command("go", "build", "-tags", tags, "-o", dir+"/",
		module+"/cmd/...", module+"/examples/tracker")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return built{err: fmt.Errorf("go build: %w\n%s", err, out)}
	}
	return built{dir: dir}
}

// Clean removes what Binaries built: for the end of TestMain.
func Clean() {
	builds.Lock()
	defer builds.Unlock()
	for _, b := range builds.by {
		os.RemoveAll(b.dir)
	}
	clear(builds.by)
}

// Main is a TestMain that cleans up.
func Main(m *testing.M) {
	code := m.Run()
	Clean()
	os.Exit(code)
}

// Daemon is a running sandboxd.
type Daemon struct {
	Socket string
	Admin  string // socket for administrators
	PID    int

	command *exec.Cmd
	log     *Log
	exited  chan struct{}
}

// Config adds to a configuration what it does not speak of: that cgroups may be missing, which only a service manager can delegate, a
// policy that allows all calls, and that nothing is recorded.
func Config(t testing.TB, text string) string {
	t.Helper()
	if !strings.Contains(text, "isolation:") {
		text += "isolation: {allow_missing: [cgroup]}\n"
	}
	if !strings.Contains(text, "policy:") {
		text += "policy: " + Policy(t, "unknown: allow\n") + "\n"
	}
	if !strings.Contains(text, "audit:") {
		text += "audit: {path: none}\n"
	}
	return text
}

// Policy writes a policy, whose version need not be said, and returns its path.
func Policy(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(Dir(t), "policy.yaml")
	if err := os.WriteFile(path, []byte("version: 1\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Options of Start. The zero value is a daemon with the default configuration and a pool of two.
type Options struct {
	Config string // YAML; empty: pool of 2
	Bin    string // directory of the binaries; empty: Binaries
}

// Start starts a daemon, waits until it serves, and stops it at the end of the test, which fails if any
// process of it is left then.
func Start(t testing.TB, o Options) *Daemon {
	t.Helper()
	if o.Bin == "" {
		o.Bin = Binaries(t)
	}
	if o.Config == "" {
		o.Config = "pool: {default: 2}\n"
	}
	dir := Dir(t)
	o.Config = Config(t, o.Config)
	config := filepath.Join(dir, "sandboxd.yaml")
	if err := os.WriteFile(config, []byte(o.Config), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &Daemon{Socket: filepath.Join(dir, "s"), Admin: filepath.Join(dir, "a"), log: &Log{}, exited: make(chan struct{})}
	d.command = exec.Command(filepath.Join(o.Bin, "sandboxd"), "--listen", d.Socket, "--admin", d.Admin, "--config", config)
	d.command.Stderr = d.log
	if err := d.command.Start(); err != nil {
		t.Fatal(err)
	}
	d.PID = d.command.Process.Pid
	go func() { d.command.Wait(); close(d.exited) }()
	t.Cleanup(func() { d.stop(t) })
	Eventually(t, 20*time.Second, func() error {
		select {
		case <-d.exited:
			t.Fatalf("sandboxd ended:\n%s", d.log)
		default:
		}
		if !strings.Contains(d.log.String(), "msg=serving") {
			return fmt.Errorf("sandboxd does not serve:\n%s", d.log)
		}
		return nil
	})
	return d
}

// Dir is a temporary directory with a path short enough for a socket, which t.TempDir often is not.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sd-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Dial connects to the daemon; the connection ends with the test.
func (d *Daemon) Dial(t testing.TB, o sandboxd.Options) *sandboxd.Client {
	t.Helper()
	if o.Name == "" {
		o.Name = "test"
	}
	c, err := sandboxd.Dial(context.Background(), d.Socket, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.log)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Log is what the daemon wrote so far.
func (d *Daemon) Log() string { return d.log.String() }

// Signal sends the daemon a signal.
func (d *Daemon) Signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := d.command.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Exited is closed when the daemon has ended; Exit is its exit code then.
func (d *Daemon) Exited() <-chan struct{} { return d.exited }

// Exit is the daemon's exit code; -1 while it runs, or if a signal ended it.
func (d *Daemon) Exit() int { return d.command.ProcessState.ExitCode() }

func (d *Daemon) stop(t testing.TB) {
	descendants := Descendants(d.PID)
	_ = d.command.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	select {
	case <-d.exited:
	case <-time.After(40 * time.Second):
		t.Errorf("sandboxd does not end on SIGTERM:\n%s", d.log)
		_ = d.command.Process.Kill()
		<-d.exited
	}
	Gone(t, descendants)
	if t.Failed() {
		t.Logf("log of sandboxd:\n%s", d.log)
	}
}

// Gone fails the test unless the processes end within two seconds.
func Gone(t testing.TB, pids []int) {
	t.Helper()
	Eventually(t, 2*time.Second, func() error {
		for _, pid := range pids {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil || !strings.Contains(string(stat), "(sandbox") || strings.Contains(string(stat), ") Z ") {
				continue // gone, another one's, or dead and only not reaped yet
			}
			return fmt.Errorf("process %.60s is left", stat)
		}
		return nil
	})
}

// Eventually tries until there is no error, and fails the test with the last one.
func Eventually(t testing.TB, wait time.Duration, try func() error) {
	t.Helper()
	deadline := time.Now().Add(wait)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Log is what a process wrote.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
