package e2e_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

// says sends one line to a socket, and returns the answer.
func says(t *testing.T, socket, line string) string {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintln(conn, line)
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

const (
	askStatus  = `{"jsonrpc":"2.0","id":1,"method":"status"}`
	askExecute = `{"jsonrpc":"2.0","id":1,"method":"execute","params":{"source":"return 1"}}`
)

// TestAdminSocket: administrators have a socket of their own, from the service manager or by a path, on which no program runs.
func TestAdminSocket(t *testing.T) {
	t.Parallel()
	n := listenNotices(t)
	_, socket := activated(t, "client:admin", n.path)
	n.has(t, "READY=1")
	if answer := says(t, socket+"1", askStatus); !strings.Contains(answer, `"pool":[{"profile":"default"`) {
		t.Errorf("status: %s", answer)
	}
	if answer := says(t, socket+"1", askExecute); !strings.Contains(answer, `"code":-32601`) {
		t.Errorf("execute: %s", answer)
	}
	if answer := says(t, socket, askStatus); !strings.Contains(answer, "before initialize") {
		t.Errorf("the gateways' socket takes administrators: %s", answer)
	}
}

func TestAdminPath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(daemon.Dir(t), "a")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	n := listenNotices(t)
	p, _ := activated(t, "client", n.path, "--admin", path)
	n.has(t, "READY=1")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	if answer := says(t, path, askStatus); !strings.Contains(answer, `"result"`) {
		t.Errorf("status: %s", answer)
	}
	another := begin(t, exec.Command(filepath.Join(daemon.Binaries(t), "sandboxd"), "--listen", path+"c", "--admin", path))
	wait(t, another.exited, "the second daemon's end")
	if !strings.Contains(another.log.String(), "another daemon serves "+path) {
		t.Errorf("a second daemon on the same path: %s", &another.log)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wait(t, p.exited, "the daemon's end")
	for _, left := range []string{path, path + "c"} {
		if _, err := os.Lstat(left); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", left, err)
		}
	}
}
