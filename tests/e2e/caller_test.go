package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// call is the role of a gateway that runs as another user: it prints the value of one program.
func call() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, err := sandboxd.Dial(ctx, os.Args[1], sandboxd.Options{Name: "caller"})
	if err != nil {
		die(err)
	}
	r, err := client.Execute(ctx, sandboxd.Program{Source: "return 1"})
	if err != nil {
		die(err)
	}
	fmt.Println(r.Outcome)
}

// TestCallers: who may connect is the kernel's word on the other end, supplementary groups included.
func TestCallers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		skip.Because(t, "other users: only root can run a process as another one")
	}
	self := copySelf(t)
	const stranger = 64321
	for _, c := range []struct {
		name, callers string
		uid, gid      uint32
		groups        []uint32
		allowed       bool
	}{
		{"own user only, by default", "{}", stranger, stranger, nil, false},
		{"uid", "{uids: ['64321']}", stranger, stranger, nil, true},
		{"another uid", "{uids: ['64322']}", stranger, stranger, nil, false},
		{"primary group", "{gids: ['64400']}", stranger, 64400, nil, true},
		{"supplementary group", "{gids: ['64400']}", stranger, stranger, []uint32{64399, 64400, 64401}, true},
		{"the last of many groups", "{gids: ['64400']}", stranger, stranger, append(numbers(60000, 300), 64400), true},
		{"other groups", "{gids: ['64400']}", stranger, stranger, []uint32{64399, 64401}, false},
		{"a group's number is no user's", "{gids: ['64321']}", stranger, 1, nil, false},
		{"root is no exception", "{uids: ['64321']}", 0, 0, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\ncallers: " + c.callers + "\n"})
			// Whom the kernel lets through is not what is tested here.
			if err := os.Chmod(filepath.Dir(d.Socket), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(d.Socket, 0o666); err != nil {
				t.Fatal(err)
			}
			command := exec.Command(self, d.Socket)
			command.Dir = "/"
			command.Env = []string{roleVariable + "=caller"}
			command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.uid, Gid: c.gid, Groups: c.groups}}
			var stderr bytes.Buffer
			command.Stderr = &stderr
			out, err := command.Output()
			if allowed := err == nil && string(out) == "ok\n"; allowed != c.allowed {
				t.Errorf("allowed: %v, want %v: %q %s%v", allowed, c.allowed, out, &stderr, err)
			}
			if !c.allowed && !strings.Contains(stderr.String(), fmt.Sprintf("user %d is not an allowed caller", c.uid)) {
				t.Errorf("the refusal does not say why: %s", &stderr)
			}
			daemon.Eventually(t, 5*time.Second, func() error { // the log comes through a pipe
				if refused := strings.Contains(d.Log(), "gateway refused"); refused == c.allowed {
					return fmt.Errorf("the log says that it was refused: %v", refused)
				}
				return nil
			})
		})
	}
}

func numbers(from uint32, n int) (all []uint32) {
	for i := range n {
		all = append(all, from+uint32(i))
	}
	return all
}

// copySelf puts the test's binary where other users can run it.
func copySelf(t *testing.T) string {
	t.Helper()
	dir := daemon.Dir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "self")
	// Not by our own hand: a file that is open for writing, be it in a process just forked, can't be run.
	if out, err := exec.Command("cp", os.Args[0], to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to
}
