package nursery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// child is one worker, from the fork to the reaping.
type child struct {
	id int64

	// set by raise, then read-only
	process *os.Process
	pid     int
	socket  *os.File // our end, until it is handed over
	stderr  *os.File // reading end, until it is handed over
	status  *os.File // its /proc/PID/status, until it was reaped: see jail.CheckStatus
	leaf    Leaf     // nil without a cgroup

	handed  bool // the daemon has it, and may give orders about it; guarded by Nursery.mu
	killing atomic.Bool
	dead    chan struct{} // closed when reaped
	exit    Exit          // valid then
}

// birthWait bounds a birth, which takes milliseconds; an emulated machine needs a hundred times that.
const birthWait = 10 * time.Second

// raise starts the worker, lets it confine and prove itself, and checks it from outside.
// On an error nothing of it is left.
func (n *Nursery) raise(ctx context.Context, c *child, spec Spec) (*jail.Report, error) {
	if err := n.makeLeaf(c, spec); err != nil {
		return nil, err
	}
	report, err := c.raise(ctx, n.spawner, spec.Jail)
	if err != nil {
		return nil, errors.Join(err, c.removeLeaf())
	}
	return report, nil
}

func (c *child) raise(ctx context.Context, s *spawner, spec jail.Spec) (*jail.Report, error) {
	theirs, err := c.open()
	if err != nil {
		return nil, err
	}
	var inLeaf bool
	c.process, inLeaf, err = s.start(theirs, c.leaf)
	theirs.close()
	if err != nil {
		c.handOver()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	c.pid = c.process.Pid
	c.status, err = os.Open(fmt.Sprintf("/proc/%d/status", c.pid))
	go c.wait()
	var report *jail.Report
	if err != nil {
		err = fmt.Errorf("look at worker: %w", err)
	} else {
		report, err = c.confine(ctx, s, spec, inLeaf)
	}
	if err != nil {
		c.kill()
		<-c.dead
		err = c.explain(err)
		c.handOver()
		return nil, err
	}
	return report, nil
}

// ends are the worker's descriptors before it has them.
type ends struct{ socket, stderr *os.File }

func (e ends) close() {
	e.socket.Close()
	e.stderr.Close()
}

// open makes the socket and the pipe. Our ends do not block; the worker's do, so that its reader needs
// no poller.
func (c *child) open() (ends, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ends{}, fmt.Errorf("make worker socket: %w", err)
	}
	theirSocket := os.NewFile(uintptr(pair[1]), "worker's socket")
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		unix.Close(pair[0])
		theirSocket.Close()
		return ends{}, fmt.Errorf("make worker pipe: %w", err)
	}
	// Setting O_NONBLOCK on a descriptor that was just made can't fail.
	_ = unix.SetNonblock(pair[0], true)
	_ = unix.SetNonblock(pipe[0], true)
	c.socket = os.NewFile(uintptr(pair[0]), "worker socket")
	c.stderr = os.NewFile(uintptr(pipe[0]), "worker stderr")
	return ends{theirSocket, os.NewFile(uintptr(pipe[1]), "worker's stderr")}, nil
}

// confine opens the gate, waits for READY and checks what it says. InLeaf: the worker was born in its cgroup.
func (c *child) confine(ctx context.Context, s *spawner, spec jail.Spec, inLeaf bool) (*jail.Report, error) {
	if err := c.socket.SetDeadline(time.Now().Add(birthWait)); err != nil {
		return nil, fmt.Errorf("bound birth: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { c.socket.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("marshal jail: %w", err)
	}
	if c.leaf != nil && !inLeaf {
		if err := c.leaf.Add(c.pid); err != nil { // it waits at its gate
			return nil, err
		}
	}
	conn := wire.NewConn(c.socket)
	if err := conn.Write(wire.Gate{Type: wire.TypeGate, Jail: text}); err != nil {
		return nil, fmt.Errorf("open gate: %w", err)
	}
	report, err := ready(conn)
	if err != nil {
		return nil, err
	}
	if err := s.check(c, spec, *report); err != nil {
		return nil, fmt.Errorf("worker is not jailed as it says: %w", err)
	}
	if c.leaf != nil {
		if err := c.leaf.Awake(); err != nil {
			return nil, err
		}
	}
	return report, c.socket.SetDeadline(time.Time{})
}

func ready(conn *wire.Conn) (*jail.Report, error) {
	kind, line, err := conn.Header()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("worker ended before READY")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("no READY within %s", birthWait)
	case err != nil:
		return nil, fmt.Errorf("read READY: %w", err)
	case kind != wire.TypeReady:
		return nil, fmt.Errorf("%w: %q where READY was due", wire.ErrProtocol, kind)
	}
	var message wire.Ready
	if err := wire.Decode(line, &message); err != nil {
		return nil, err
	}
	var report jail.Report
	if err := wire.Decode(message.Report, &report); err != nil {
		return nil, err
	}
	if conn.Buffered() {
		return nil, fmt.Errorf("%w: text behind READY", wire.ErrProtocol)
	}
	return &report, nil
}

// explain adds what a failed worker wrote to its standard error.
func (c *child) explain(err error) error {
	if said := readStderr(c.stderr); said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// handOver closes our copies of what the daemon has now, or of what nobody needs.
func (c *child) handOver() {
	c.socket.Close()
	c.stderr.Close()
}

func (c *child) kill() {
	c.killing.Store(true)
	// An error means that it is dead already. The handle is a pidfd: another process is never hit.
	_ = c.process.Kill()
}

// wait reaps the worker.
func (c *child) wait() {
	defer close(c.dead)
	state, err := c.process.Wait()
	if c.status != nil {
		c.status.Close()
	}
	if err != nil { // it may live: nobody would know it any more
		c.kill()
		c.exit = Exit{Code: -1}
		return
	}
	status := state.Sys().(syscall.WaitStatus)
	usage := state.SysUsage().(*syscall.Rusage)
	c.exit = Exit{
		Code:       status.ExitStatus(),
		CPUMicros:  (state.UserTime() + state.SystemTime()).Microseconds(),
		PeakMemory: usage.Maxrss << 10, // getrusage(2): kilobytes
	}
	if status.Signaled() {
		c.exit.Signal = int(status.Signal())
		c.exit.Killed = c.killing.Load() && status.Signal() == syscall.SIGKILL
	}
}
