package mcp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestRestart: a daemon that is killed and comes back is the one that the session goes on with, whether a program ran or not.
func TestRestart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	at := filepath.Join(h.dir, "none") // where sandboxctl looks for it
	start := func() *daemon.Daemon {
		d := daemon.Start(t, daemon.Options{})
		if err := os.Symlink(d.Socket, at+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+".new", at); err != nil {
			t.Fatal(err)
		}
		return d
	}
	kill := func(d *daemon.Daemon) {
		d.Signal(t, syscall.SIGKILL)
		<-d.Exited()
	}
	d := start()
	s := h.connect(nil, "--mcp", h.config(object{"fake": h.fake("plain", "CANCELLED_FILE="+filepath.Join(h.dir, "told"))}))
	s.wants("return await tools.fake.target()", "hit")
	kill(d)
	waits := make(chan string, 1)
	go func() { waits <- s.execute("return await tools.fake.target()") }() // while there is none
	d = start()
	if got := <-waits; got != "hit" {
		t.Errorf("a program that waited for the daemon gave %s", got)
	}

	ran := make(chan string, 1)
	go func() { ran <- s.execute("return await tools.fake.slow()") }()
	client := d.Dial(t, sandboxd.Options{})
	daemon.Eventually(t, 20*time.Second, func() error {
		if status, err := client.Status(t.Context()); err != nil || status.Running != 1 {
			return fmt.Errorf("%d run, error %v", status.Running, err)
		}
		return nil
	})
	kill(d)
	if got := <-ran; !strings.Contains(got, "the daemon ended while the program ran: nobody knows which of its calls were made") {
		t.Errorf("a program that ran gave %s", got)
	}
	start()
	s.wants("return await tools.fake.target()", "hit")
	if said := s.stderr.String(); strings.Contains(said, "private") {
		t.Errorf("another daemon took its place: %s", said)
	}
}

// TestPrivateEnds: a private daemon that ends is started again.
func TestPrivateEnds(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.connect(nil, "--mcp", h.config(object{"fake": h.fake("plain")}), "--policy", h.open())
	s.wants("return await tools.fake.target()", "hit")
	s.wants("return await tools.fake.change()", "changed") // other tools take other connections
	s.wants("return await tools.fake.pid() > 1", "true")
	for _, pid := range daemon.Descendants(os.Getpid()) {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if daemon.Comm(pid) == "sandboxd" && strings.Contains(string(environ), h.dir) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	daemon.Eventually(t, 20*time.Second, func() error {
		return missing(s.execute("return await tools.fake.pid() > 1"), "true")
	})
	if n := strings.Count(s.stderr.String(), "started a private one"); n != 2 {
		t.Errorf("%d were started, want 2: %s", n, s.stderr)
	}
}
