package upstream

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// grace is what a stdio server gets to exit after its stdin was closed, and again after SIGTERM.
const grace = 2 * time.Second

// process is a stdio server's process, and the leader of a group of its own: npx and its like start others, and an
// interrupt at the terminal is for us to handle, not for them.
type process struct {
	// set by start, then read-only
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  io.ReadCloser
	stderr  *stderrTail

	once sync.Once
	done chan struct{} // closed when the process was reaped
	err  error         // of killing it; read after once
}

func startProcess(server Server, stderr io.Writer) (*process, error) {
	p := &process{stderr: newStderrTail(server.Name, stderr), done: make(chan struct{})}
	p.command = exec.Command(server.Command, server.Args...)
	p.command.Env = minimalEnv(server.Env)
	p.command.Dir = server.Dir
	p.command.Stderr = p.stderr
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.command.WaitDelay = time.Second // a grandchild may have inherited stderr and live on
	var err error
	if p.stdin, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	if p.stdout, err = p.command.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, explainStart(server, err)
	}
	return p, nil
}

// end makes the process exit, waits until it has, and kills what is left of its group.
func (p *process) end() error {
	p.once.Do(func() {
		p.stdin.Close()
		go func() {
			p.command.Wait()
			// Those of the group that outlived their leader. The group's number can't be anybody else's yet unless all
			// of them are gone and the kernel has gone once through all numbers since.
			p.kill(syscall.SIGKILL)
			close(p.done)
		}()
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			if p.exits() {
				return
			}
			p.kill(signal)
		}
		if !p.exits() {
			p.err = fmt.Errorf("process %d does not die of SIGKILL", p.command.Process.Pid)
		}
	})
	return p.err
}

func (p *process) exits() bool {
	select {
	case <-p.done:
		return true
	case <-time.After(grace):
		return false
	}
}

func (p *process) kill(signal syscall.Signal) { syscall.Kill(-p.command.Process.Pid, signal) }

// fate tells how the process ended, or that it has not.
func (p *process) fate() string {
	select {
	case <-p.done:
		return p.command.ProcessState.String()
	case <-time.After(time.Second): // its stdout is closed, so it is about to
		return "closed its stdout"
	}
}

func explainStart(server Server, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%w: install it, or give its path", err)
	case errors.Is(err, fs.ErrNotExist) && strings.Contains(server.Command, "/"):
		from := server.Dir
		if from == "" {
			from, _ = os.Getwd()
		}
		return fmt.Errorf("start: %w (relative paths start at %s)", err, from)
	}
	return fmt.Errorf("start: %w", err)
}

// minimalEnv is what other MCP clients hand down too: the rest of our environment may hold secrets that are none
// of a server's business. What it needs stands in its entry.
func minimalEnv(extra map[string]string) (env []string) {
	for _, name := range []string{"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range extra {
		env = append(env, name+"="+value) // of two, exec takes the last
	}
	slices.SortStableFunc(env, func(a, b string) int {
		return strings.Compare(strings.SplitN(a, "=", 2)[0], strings.SplitN(b, "=", 2)[0])
	})
	return env
}
