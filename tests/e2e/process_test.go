package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

// ended is what a sandboxd said that did not serve.
type ended struct {
	code           int
	stdout, stderr string
}

// startup runs sandboxd with a configuration, which must end by itself. args follow --config FILE, if there is one.
func startup(t *testing.T, config string, args ...string) ended {
	t.Helper()
	if config != "" {
		path := filepath.Join(daemon.Dir(t), "sandboxd.yaml")
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"--config", path}, args...)
	}
	binary := filepath.Join(daemon.Binaries(t), "sandboxd") // the first test waits for the compiler
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, binary, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ended{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// check is for a start that must fail, with every one of the words.
func (e ended) check(t *testing.T, words ...string) {
	t.Helper()
	if e.code != 1 || e.stdout != "" {
		t.Errorf("exit code %d, standard output %q, want 1 and nothing", e.code, e.stdout)
	}
	if !strings.HasPrefix(e.stderr, "sandboxd: error: ") {
		t.Errorf("standard error does not begin with the error: %s", e.stderr)
	}
	for _, word := range words {
		if !strings.Contains(e.stderr, word) {
			t.Errorf("standard error has no %q: %s", word, e.stderr)
		}
	}
}

func TestConfigurationErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config string
		want         []string
	}{
		{"YAML", "pool: {default: 2\nruns: 1", []string{"sandboxd.yaml:"}},
		{"tab", "runs:\n\tat_once: 1\n", []string{"sandboxd.yaml:2:"}},
		{"unknown field", "pool: {default: 1}\nruns:\n  at_onse: 3\n", []string{"sandboxd.yaml:3:", "at_onse"}},
		{"unknown section", "pools: {default: 1}\n", []string{"sandboxd.yaml:1:", "pools"}},
		{"repeated field", "drain: 1s\ndrain: 2s\n", []string{"sandboxd.yaml:2:", "drain"}},
		{"text for a number", "runs:\n  at_once: many\n", []string{"sandboxd.yaml:2:", "many", "whole number"}},
		{"number for a duration", "drain: soon\n", []string{"sandboxd.yaml:1:", "soon", "duration"}},
		{"list for a section", "runs: [1]\n", []string{"sandboxd.yaml:1:", "section"}},
		{"two documents", "drain: 1s\n---\ndrain: 2s\n", []string{"sandboxd.yaml:", "document"}},
		{"too small", "runs: {at_once: 0}\n", []string{"sandboxd.yaml:", "runs.at_once", "0 is not within 1 and 1000"}},
		{"too large", "gateways: {connections: 99999}\n", []string{"sandboxd.yaml:", "gateways.connections", "99999"}},
		{"negative duration", "drain: -1s\n", []string{"sandboxd.yaml:", "drain"}},
		{"pool too large", "pool: {default: 5000}\n", []string{"sandboxd.yaml:", "pool.default", "5000"}},
		{"unknown profile", "pool: {defualt: 2}\n", []string{"sandboxd.yaml", "pool.defualt", "there are: default, large, strict"}},
		{"unknown layer", "isolation: {allow_missing: [moat]}\n", []string{"sandboxd.yaml:", "isolation.allow_missing", "moat", "seccomp"}},
		{"unknown user", "callers: {uids: [no-such-user]}\n", []string{"sandboxd.yaml:", "callers.uids", "no-such-user"}},
		{"unknown group", "callers: {gids: [no-such-group]}\n", []string{"sandboxd.yaml:", "callers.gids", "no-such-group"}},
		{"log level", "log: {level: loud}\n", []string{"sandboxd.yaml:", "log.level", "loud"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			socket := filepath.Join(daemon.Dir(t), "s")
			startup(t, c.config, "--listen", socket).check(t, c.want...)
			if _, err := os.Lstat(socket); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a socket is left: %v", err)
			}
		})
	}
	t.Run("missing file", func(t *testing.T) {
		startup(t, "", "--config", "/no/such/file.yaml", "--listen", "s").check(t, "read configuration", "/no/such/file.yaml", "no such file")
	})
	t.Run("directory", func(t *testing.T) {
		startup(t, "", "--config", t.TempDir(), "--listen", "s").check(t, "is no regular file")
	})
}

// TestDropIns: a daemon goes by them, says which files it read, and does not start with a mistake in one.
func TestDropIns(t *testing.T) {
	t.Parallel()
	path := write(t, "pool: {default: 1}\nlog: {level: info}\n")
	dropIn, socket := filepath.Join(path+".d", "10-site.yaml"), filepath.Join(daemon.Dir(t), "s")
	set := func(text string) {
		if err := errors.Join(os.MkdirAll(path+".d", 0o755), os.WriteFile(dropIn, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	set("# ours\npool: {default: 2, strict: x}\n")
	startup(t, "", "--config", path, "--listen", socket).check(t, dropIn+":2: pool.strict: can't read str `x` as a whole number")
	set("# ours\npool: {default: 2, tiny: 1}\n")
	startup(t, "", "--config", path, "--listen", socket).check(t, dropIn+":2: pool.tiny: no such profile; there are: default, large, strict")
	set("pool: {default: 2}\n")
	p := begin(t, exec.Command(filepath.Join(daemon.Binaries(t), "sandboxd"), "--listen", socket, "--config", path))
	daemon.Eventually(t, 10*time.Second, p.serves)
	if want := "msg=configuration files=\"[" + path + " " + dropIn + "]\""; !strings.Contains(p.log.String(), want) {
		t.Errorf("the log has no %s: %s", want, &p.log)
	}
	c := connect(t, &daemon.Daemon{Socket: socket}, nil, options)
	if status, err := c.Status(t.Context()); err != nil || status.Pool[0].Size != 2 {
		t.Errorf("the pool is %+v, %v", status.Pool, err)
	}
}

// TestBrokenProfile: a profile of the operator's is as strict.
func TestBrokenProfile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(path, []byte("description: x\nlimits:\n  wall: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	startup(t, "profiles: "+dir+"\n", "--listen", filepath.Join(dir, "s")).check(t, path+":3:", "wall")
}

func TestCommandLineErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no socket", nil, "--listen PATH"},
		{"argument", []string{"serve"}, `"serve"`},
		{"directory is missing", []string{"--listen", "/no/such/dir/s"}, "/no/such/dir"},
		{"path is too long", []string{"--listen", "/tmp/" + strings.Repeat("x", 200)}, "listen"},
	} {
		t.Run(c.name, func(t *testing.T) { startup(t, "pool: {default: 1}\n", c.args...).check(t, c.want) })
	}
}

// TestSocketPath: what lies where the socket is to be.
func TestSocketPath(t *testing.T) {
	t.Parallel()
	t.Run("stale socket", func(t *testing.T) {
		d := daemon.Start(t, daemon.Options{})
		d.Signal(t, syscall.SIGKILL) // leaves it
		wait(t, d.Exited(), "the daemon's end")
		if _, err := os.Lstat(d.Socket); err != nil {
			t.Fatal(err)
		}
		next := begin(t, exec.Command(filepath.Join(daemon.Binaries(t), "sandboxd"), "--listen", d.Socket, "--config", write(t, "pool: {default: 1}\n")))
		daemon.Eventually(t, 10*time.Second, next.serves)
		connect(t, &daemon.Daemon{Socket: d.Socket}, nil, options).serves(t)
	})
	t.Run("served socket", func(t *testing.T) {
		d := daemon.Start(t, daemon.Options{})
		startup(t, "pool: {default: 1}\n", "--listen", d.Socket).check(t, "another daemon serves "+d.Socket)
		connect(t, d, nil, options).serves(t)
	})
	t.Run("regular file", func(t *testing.T) {
		path := filepath.Join(daemon.Dir(t), "s")
		if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		startup(t, "pool: {default: 1}\n", "--listen", path).check(t, path+" exists and is no socket")
		if text, err := os.ReadFile(path); string(text) != "precious" {
			t.Errorf("the file has %q, error %v", text, err)
		}
	})
	t.Run("link to a file", func(t *testing.T) {
		dir := daemon.Dir(t)
		path := filepath.Join(dir, "s")
		if err := os.Symlink(filepath.Join(dir, "elsewhere"), path); err != nil {
			t.Fatal(err)
		}
		startup(t, "pool: {default: 1}\n", "--listen", path).check(t, path+" exists and is no socket")
	})
	t.Run("mode", func(t *testing.T) {
		d := daemon.Start(t, daemon.Options{})
		if info, err := os.Stat(d.Socket); err != nil || info.Mode().Perm() != 0o660 {
			t.Errorf("mode %v, error %v, want 0660", info.Mode(), err)
		}
	})
	t.Run("gone after the end", func(t *testing.T) {
		d := daemon.Start(t, daemon.Options{})
		d.Signal(t, syscall.SIGTERM)
		wait(t, d.Exited(), "the daemon's end")
		if _, err := os.Lstat(d.Socket); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left: %v", err)
		}
		if d.Exit() != 0 {
			t.Errorf("exit code %d", d.Exit())
		}
	})
}

// running is a process that the test started by hand.
type running struct {
	*exec.Cmd
	log    daemon.Log
	exited chan struct{}
}

// begin starts a process that ends with the test.
func begin(t *testing.T, command *exec.Cmd) *running {
	t.Helper()
	p := &running{Cmd: command, exited: make(chan struct{})}
	command.Stdout, command.Stderr = io.Discard, &p.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { command.Wait(); close(p.exited) }()
	t.Cleanup(func() {
		command.Process.Signal(syscall.SIGTERM) // an error means that it has ended
		select {
		case <-p.exited:
		case <-time.After(10 * time.Second):
			t.Errorf("process does not end on SIGTERM: %s", &p.log)
			command.Process.Kill()
			<-p.exited
		}
	})
	return p
}

// serves says whether the daemon's log does.
func (p *running) serves() error {
	if !strings.Contains(p.log.String(), "msg=serving") {
		return errors.New("sandboxd does not serve: " + p.log.String())
	}
	return nil
}

// write makes a configuration file.
func write(t *testing.T, config string) string {
	t.Helper()
	path := filepath.Join(daemon.Dir(t), "sandboxd.yaml")
	if err := os.WriteFile(path, []byte(daemon.Config(t, config)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
