package e2e_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

var options = sandboxd.Options{}

// launch is the role of a service manager between fork and exec: LISTEN_PID must be the number of the process that
// gets the sockets, which nobody else knows before (sd_listen_fds(3)).
func launch() {
	os.Unsetenv(roleVariable)
	os.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
	die(syscall.Exec(os.Args[1], os.Args[1:], os.Environ()))
}

// activated starts sandboxd with listening sockets on descriptors from 3 on, under names with colons between. The path is that of the
// first one; of the others it has their number behind it.
func activated(t *testing.T, names, notify string, args ...string) (p *running, socket string) {
	t.Helper()
	socket = filepath.Join(daemon.Dir(t), "s")
	var files []*os.File
	for i := range strings.Split(names, ":") {
		path := socket
		if i > 0 {
			path += strconv.Itoa(i)
		}
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		file, err := l.File()
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		l.Close()
		defer file.Close()
		files = append(files, file)
	}
	args = append([]string{filepath.Join(daemon.Binaries(t), "sandboxd"), "--config", write(t, "pool: {default: 1}\ndrain: 1s\n")}, args...)
	command := exec.Command("/proc/self/exe", args...)
	command.Env = append(os.Environ(), roleVariable+"=launcher", "LISTEN_FDS="+strconv.Itoa(len(files)), "LISTEN_FDNAMES="+names, "NOTIFY_SOCKET="+notify)
	command.ExtraFiles = files
	return begin(t, command), socket
}

// notices are what a service is told of by sd_notify(3), line by line.
type notices struct {
	path  string
	mu    sync.Mutex
	lines []string
}

func listenNotices(t *testing.T) *notices {
	t.Helper()
	n := &notices{path: filepath.Join(daemon.Dir(t), "n")}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: n.path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		for message := make([]byte, 4096); ; {
			size, err := conn.Read(message)
			if err != nil {
				return
			}
			n.mu.Lock()
			n.lines = append(n.lines, strings.Split(strings.TrimSpace(string(message[:size])), "\n")...)
			n.mu.Unlock()
		}
	}()
	return n
}

// has waits for a line that begins so.
func (n *notices) has(t *testing.T, prefix string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		n.mu.Lock()
		lines := slices.Clone(n.lines)
		n.mu.Unlock()
		if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) }) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the service manager was told %q, never %q", lines, prefix)
		}
	}
}

// forget leaves has the lines that are still to come.
func (n *notices) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = nil
}

func TestSocketActivation(t *testing.T) {
	t.Parallel()
	n := listenNotices(t)
	p, socket := activated(t, "client", n.path)
	n.has(t, "READY=1")
	// The socket was there before the daemon; now it answers.
	g := connect(t, &daemon.Daemon{Socket: socket}, nil, options)
	g.serves(t)
	n.has(t, "STATUS=0 runs, 0 waiting; ready workers: default ")
	n.has(t, "WATCHDOG=1")
	left := daemon.Descendants(p.Process.Pid)
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	n.has(t, "STOPPING=1")
	wait(t, p.exited, "the daemon's end")
	if code := p.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d: %s", code, &p.log)
	}
	daemon.Gone(t, left)
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("the service manager's socket: %v", err)
	}
}

// TestWatchdogDuringDrain: a drain may last longer than the unit's WatchdogSec.
func TestWatchdogDuringDrain(t *testing.T) {
	t.Parallel()
	n := listenNotices(t)
	p, socket := activated(t, "client", n.path)
	n.has(t, "READY=1")
	g := connect(t, &daemon.Daemon{Socket: socket}, nil, options)
	go g.Execute(t.Context(), sandboxd.Program{Source: "await new Promise(() => setTimeout(() => {}, 60000))"}) // ended with the daemon
	n.has(t, "STATUS=1 runs")
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	n.has(t, "STOPPING=1")
	n.forget()
	n.has(t, "WATCHDOG=1")
	wait(t, p.exited, "the daemon's end")
}

func TestSocketActivationErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, socket string
		args         []string
		want         string
	}{
		{"another name", "web", nil, `socket "web" from the service manager: want one Unix stream socket named "client"`},
		{"the same name twice", "client:client", nil, `socket "client" from the service manager`},
		{"two for administrators", "client:admin:admin", nil, `socket "admin" from the service manager`},
		{"two for metrics", "client:metrics:metrics", nil, `socket "metrics" from the service manager`},
		{"for administrators alone", "admin", nil, "no socket to serve"},
		{"with --admin", "client:admin", []string{"--admin", "/tmp/never"}, "--admin, and a socket from the service manager"},
		{"no name", "", nil, "from the service manager"},
		{"with --listen", "client", []string{"--listen", "/tmp/never"}, "one of the two is too many"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := listenNotices(t)
			p, _ := activated(t, c.socket, n.path, c.args...)
			wait(t, p.exited, "the daemon's end")
			if code := p.ProcessState.ExitCode(); code != 1 || !strings.HasPrefix(p.log.String(), "sandboxd: error: ") || !strings.Contains(p.log.String(), c.want) {
				t.Errorf("exit code %d: %s", code, &p.log)
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			if slices.Contains(n.lines, "READY=1") {
				t.Error("it said READY=1")
			}
		})
	}
}
