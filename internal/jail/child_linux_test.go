package jail_test

import (
	"bufio"
	"bytes"
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

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/jail"
)

var spec = jail.Spec{LandlockABI: 1, MemoryBytes: 128 << 20, CPUSeconds: 60}

// executable is what children run: this test binary, or one that is built the way a worker is, where this
// one has cgo or the race detector in it.
var executable = sync.OnceValues(func() (string, error) {
	if !usesCgo {
		return os.Executable()
	}
	dir, err := os.MkdirTemp("", "jail")
	if err != nil {
		return "", err
	}
	childDir = dir
	name := filepath.Join(dir, "jail.test")
	cmd := exec.Command("go", "test", "-c", "-o", name, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build children: %w\n%s", err, out)
	}
	return name, nil
})

var childDir string // where that one is; removed by TestMain

// child is a worker in the jail, or on its way there.
type child struct {
	*exec.Cmd
	socket *os.File // the daemon's end
	lines  *bufio.Reader
	stderr bytes.Buffer
}

// start starts a child that enters the jail of spec, then does an act.
func start(t testing.TB, s jail.Spec, act, arg string, change ...func(*exec.Cmd)) *child {
	t.Helper()
	exe, err := executable()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.SetNonblock(pair[0], true) // so that reads have deadlines
	socket, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	socket.SetDeadline(time.Now().Add(30 * time.Second))
	marshaled, _ := json.Marshal(s)
	c := &child{Cmd: exec.Command(exe), socket: socket, lines: bufio.NewReader(socket)}
	c.Env = []string{envAct + "=" + act, envArg + "=" + arg, envSpec + "=" + string(marshaled)}
	c.Stderr = &c.stderr
	c.ExtraFiles = []*os.File{theirs}
	for _, f := range change {
		f(c.Cmd)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	t.Cleanup(func() {
		socket.Close()
		c.Process.Kill()
		c.Wait()
	})
	return c
}

// ready reads the report.
func (c *child) ready(t testing.TB) jail.Report {
	t.Helper()
	line, err := c.lines.ReadBytes('\n')
	var r jail.Report
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err != nil {
		c.Wait()
		t.Fatalf("no report: %v; the child: %v\n%s", err, c.ProcessState, c.stderr.String())
	}
	return r
}

// end waits for the child, and returns what it said inside and how it ended: "exit 0", "SIGSYS".
func (c *child) end(t testing.TB) (said, end string) {
	t.Helper()
	var b strings.Builder
	for {
		line, err := c.lines.ReadString('\n')
		b.WriteString(line)
		if err != nil {
			break
		}
	}
	c.Wait()
	state := c.ProcessState.Sys().(syscall.WaitStatus)
	if state.Signaled() {
		return b.String(), unix.SignalName(state.Signal())
	}
	return b.String(), fmt.Sprint("exit ", state.ExitStatus())
}
