package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestKilled kills the daemon without a chance to clean up, several times on one socket, at moments that are not known
// beforehand: while workers are born, compute, wait for a tool and die. Whatever it had must end, its gateways must be told, and the
// next start must serve on the same path. That no worker is left within a second is what DESIGN promises; how long it took is
// logged, and is no condition, as a busy machine may take any time.
func TestKilled(t *testing.T) {
	bin, dir := daemon.Binaries(t), daemon.Dir(t)
	socket := filepath.Join(dir, "s")
	for range 8 {
		d := launch(t, bin, socket)
		ended := d.load(t)
		time.Sleep(rand.N(60 * time.Millisecond))
		nursery := daemon.Nursery(t, d.pid)
		all := append(daemon.Descendants(nursery), nursery)
		if err := syscall.Kill(d.pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		daemon.Eventually(t, patience, func() error {
			all = append(all, daemon.Descendants(nursery)...) // one that was forked meanwhile is the nursery's too
			if pid := daemon.Living(all...); pid != 0 {
				return fmt.Errorf("process %d (%s) lives", pid, daemon.Comm(pid))
			}
			return nil
		})
		slices.Sort(all)
		t.Logf("%d processes were gone %v after the daemon", len(slices.Compact(all)), time.Since(killed).Round(time.Millisecond))
		ended()
		d.wait(t)
		if left := running(bin); len(left) > 0 {
			t.Errorf("processes %v are left", left)
		}
		if _, err := net.Dial("unix", socket); err == nil {
			t.Error("somebody still listens")
		}
	}
	d := launch(t, bin, socket)
	d.serves(t)
	if err := syscall.Kill(d.pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	d.wait(t)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the socket's directory: %v, %v", left, err)
	}
}

// launched is a daemon on a path that it is given: tests/daemon takes a new one each time.
type launched struct {
	socket string
	pid    int
	log    daemon.Log
	exited chan struct{}
}

func launch(t *testing.T, bin, socket string) *launched {
	t.Helper()
	config := filepath.Join(t.TempDir(), "sandboxd.yaml")
	if err := os.WriteFile(config, []byte(daemon.Config(t, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &launched{socket: socket, exited: make(chan struct{})}
	command := exec.Command(filepath.Join(bin, "sandboxd"), "--listen", socket, "--config", config)
	command.Stderr = &d.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	d.pid = command.Process.Pid
	go func() { command.Wait(); close(d.exited) }()
	t.Cleanup(func() { command.Process.Kill(); <-d.exited })
	daemon.Eventually(t, patience, func() error {
		select {
		case <-d.exited:
			t.Fatalf("sandboxd ended:\n%s", d.log.String())
		default:
		}
		if !strings.Contains(d.log.String(), "msg=serving") {
			return fmt.Errorf("sandboxd does not serve:\n%s", d.log.String())
		}
		return nil
	})
	return d
}

func (d *launched) serves(t *testing.T) {
	t.Helper()
	g := connect(t, d.socket)
	defer g.Close()
	if err := once(t, honest[1], g); err != nil {
		t.Errorf("after a SIGKILL: %v", err)
	}
}

// load has gateways run programs without pause until the daemon is gone. The function that it returns waits for that: no
// gateway may then wait for a result.
func (d *launched) load(t *testing.T) (ended func()) {
	t.Helper()
	d.serves(t)
	var all sync.WaitGroup
	for _, text := range []string{"for (;;) {}", "await tools.s.hang({})", "return 1", "await tools.s.echo({})"} {
		g := connect(t, d.socket)
		all.Go(func() {
			defer g.Close()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			for ctx.Err() == nil {
				if _, err := g.Execute(ctx, source(text)); err != nil {
					return
				}
			}
			t.Error("a gateway was not told that the daemon is gone")
		})
	}
	return all.Wait
}

func (d *launched) wait(t *testing.T) {
	t.Helper()
	select {
	case <-d.exited:
	case <-time.After(patience):
		t.Fatal("sandboxd does not end")
	}
}

// running are the processes whose program lies below bin, as far as this user may know: workers let root look only.
func running(bin string) (pids []string) {
	all, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		panic(err) // the pattern is right
	}
	for _, exe := range all {
		if program, err := os.Readlink(exe); err == nil && strings.HasPrefix(program, bin+"/") {
			pids = append(pids, strings.Split(exe, "/")[2])
		}
	}
	return pids
}
