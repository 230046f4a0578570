// Package cli_test uses sandboxctl as a person does: testdata/script has one script for each thing they want.
package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

func TestMain(m *testing.M) { daemon.Main(m) }

// TestScripts runs testdata/script/*.txtar (github.com/rogpeppe/go-internal/testscript) with these commands besides:
//
//	exits CODE PROGRAM ARG…   run a program that must end with CODE
//	empty stdout|stderr       the last program wrote nothing there
//	json FILE|stdout          it is one JSON object, and nothing else
//	daemon                    start a daemon; $SANDBOXD_SOCKET is its socket, $SANDBOXD_ADMIN_SOCKET the one for administrators
//	auditlog DIR              write an audit log, DIR/audit.log: two runs of two users
//	replaylog DIR [PAYLOADS]  write one with calls on which a policy decided
func TestScripts(t *testing.T) {
	bin := daemon.Binaries(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			run := filepath.Join(e.WorkDir, "run") // private daemons make their directory here
			if err := os.Mkdir(run, 0o700); err != nil {
				return err
			}
			e.Setenv("XDG_RUNTIME_DIR", run)
			e.Setenv("SANDBOXD_SOCKET", filepath.Join(e.WorkDir, "none"))
			e.Setenv("BIN", bin)
			e.Setenv("ESC", "\x1b")
			e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
			e.Values[key{}] = t
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "empty": empty, "json": isJSON, "daemon": startDaemon, "auditlog": auditLog, "replaylog": replayLog,
		},
		Condition: func(condition string) (bool, error) {
			if condition == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", condition)
		},
	})
}

type key struct{}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func empty(ts *testscript.TestScript, _ bool, args []string) {
	if text := ts.ReadFile(args[0]); text != "" {
		ts.Fatalf("%s has: %s", args[0], text)
	}
}

func isJSON(ts *testscript.TestScript, _ bool, args []string) {
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		ts.Fatalf("%s is no JSON object: %v", args[0], err)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		ts.Fatalf("%s has more than one JSON object: %v", args[0], err)
	}
}

// startDaemon takes the configuration from a file, if one is named.
func startDaemon(ts *testscript.TestScript, _ bool, args []string) {
	config := "pool: {default: 1}\n"
	if len(args) > 0 {
		config = os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	}
	t := ts.Value(key{}).(*testing.T)
	d := daemon.Start(t, daemon.Options{Config: config})
	ts.Setenv("SANDBOXD_SOCKET", d.Socket)
	ts.Setenv("SANDBOXD_ADMIN_SOCKET", d.Admin)
}

// person is a sandboxctl that a test started with a private daemon, and what that brought along.
type person struct {
	*exec.Cmd
	stdout, stderr daemon.Log
	runtime        string // XDG_RUNTIME_DIR
	brought        []int  // processes
}

// waiting starts a program that waits for ever, and returns when its worker runs.
func waiting(t *testing.T, args ...string) *person {
	t.Helper()
	runtime := daemon.Dir(t)
	p := &person{Cmd: exec.Command(filepath.Join(daemon.Binaries(t), "sandboxctl"), append([]string{"run"}, args...)...), runtime: runtime}
	p.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+runtime, "SANDBOXD_SOCKET="+filepath.Join(runtime, "none"))
	p.Stdin = strings.NewReader("await new Promise(r => setTimeout(r, 60000))")
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Process.Kill() // an error means that it has ended
		p.Wait()
	})
	daemon.Eventually(t, 20*time.Second, func() error {
		if !strings.Contains(p.stderr.String(), "started a private one") {
			return fmt.Errorf("no private daemon: %s", &p.stderr)
		}
		// The daemon, its nursery, and two workers: one runs the program, one is ready.
		if p.brought = daemon.Descendants(p.Process.Pid); len(p.brought) < 4 {
			return fmt.Errorf("%d processes", len(p.brought))
		}
		return nil
	})
	return p
}

// gone waits for the end of all that it brought. Unlike daemon.Gone it does not go by their names, as a worker's is
// the number of the descriptor that it was run from.
func (p *person) gone(t *testing.T, within time.Duration) {
	t.Helper()
	daemon.Eventually(t, within, func() error {
		for _, pid := range p.brought {
			if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !bytes.Contains(stat, []byte(") Z ")) {
				return fmt.Errorf("a process is left: %s", stat)
			}
		}
		return nil
	})
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		args   []string
	}{
		{"SIGINT", syscall.SIGINT, []string{"-"}},
		{"SIGTERM", syscall.SIGTERM, []string{"-"}},
		{"JSON", syscall.SIGINT, []string{"--output", "json", "-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := waiting(t, c.args...)
			if err := p.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			p.Wait()
			if code := p.ProcessState.ExitCode(); code != 7 {
				t.Errorf("exit code %d, want 7: %s", code, &p.stderr)
			}
			said := p.stderr.String()
			if len(c.args) > 1 {
				said = p.stdout.String()
			}
			if !strings.Contains(said, "cancelled by the gateway") {
				t.Errorf("it said %q", said)
			}
			p.gone(t, 100*time.Millisecond)
			if left, err := os.ReadDir(p.runtime); err != nil || len(left) != 0 {
				t.Errorf("left in $XDG_RUNTIME_DIR: %v, error %v", left, err)
			}
		})
	}
}

// TestKilled: a private daemon does not outlive a sandboxctl that could not say goodbye.
func TestKilled(t *testing.T) {
	t.Parallel()
	p := waiting(t, "-")
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.Wait()
	p.gone(t, 5*time.Second)
}

// TestPermissionDenied: the hint says how to get in.
func TestPermissionDenied(t *testing.T) {
	t.Parallel()
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\n"})
	if err := os.Chmod(filepath.Dir(d.Socket), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.Socket, 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(daemon.Binaries(t), "sandboxctl"), "run", "-")
	c.Env = []string{"SANDBOXD_SOCKET=" + d.Socket}
	c.Dir = "/"
	c.Stdin = strings.NewReader("return 1")
	if os.Geteuid() == 0 { // who may do everything
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 64321, Gid: 64321}}
	}
	out, _ := c.CombinedOutput()
	if code := c.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for _, want := range []string{"sandboxctl: error: ", "permission denied", "hint: join the group that may use " + d.Socket} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it says nothing of %q: %s", want, out)
		}
	}
	if strings.Contains(string(out), "private") {
		t.Errorf("it went around the refusal: %s", out)
	}
}
