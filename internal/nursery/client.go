package nursery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/jail"
)

// Client is the daemon's half. It opens the nursery when it is first needed, and again when it died.
type Client struct {
	open Opener

	mu     sync.Mutex // guards the fields below
	link   *link
	layers *Layers // of the first nursery; nil before
}

// An Opener starts or dials a nursery: see Start and Dial.
type Opener func(context.Context) (*link, error)

// NewClient makes a client of a nursery.
func NewClient(open Opener) *Client {
	return &Client{open: open}
}

// Worker is a jailed process that waits for its program. Who has it must Bury it.
type Worker struct {
	PID    int // as this process sees it
	Report jail.Report
	Layers Layers
	Socket *os.File
	Dead   <-chan struct{} // closed when it died unasked, or its nursery did

	id     int64
	link   *link
	stderr *os.File
	status *os.File // /proc/PID/status: opened once, and closed after the reaping (see jail.Check)
}

// Gone says whether the worker has died. The nursery tells of it a little later than the kernel, which closes the worker's end of
// the socket.
func (w *Worker) Gone() bool {
	select {
	case <-w.Dead:
		return true
	default:
	}
	raw, err := w.Socket.SyscallConn()
	if err != nil {
		return true
	}
	n, failed := 0, error(nil)
	err = raw.Control(func(fd uintptr) {
		n, _, failed = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return err != nil || failed != unix.EAGAIN && (failed != nil || n == 0)
}

// orderWait bounds every answer of the nursery, which bounds a birth itself. One that does not answer for so long is none:
// the link to it ends, and the next order opens another one.
const orderWait = birthWait + 5*time.Second

// Spawn returns a new worker that is jailed, as proved from inside and checked from outside.
func (c *Client) Spawn(ctx context.Context, spec Spec) (*Worker, error) {
	link, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	got, err := link.ask(ctx, order{Op: opSpawn, Spec: &spec})
	if err != nil {
		return nil, err
	}
	if len(got.files) != workerFiles || got.Report == nil {
		link.refuse(got)
		return nil, fmt.Errorf("nursery sent %d descriptors for a worker", len(got.files))
	}
	w := &Worker{
		Report: *got.Report, Layers: link.layers, Socket: got.files[0], Dead: link.dead(got.Worker),
		id: got.Worker, link: link, stderr: got.files[1], status: got.files[2],
	}
	w.PID, err = pidOf(got.files[3])
	got.files[3].Close()
	if err != nil {
		_, buried := w.Bury()
		return nil, errors.Join(err, buried)
	}
	return w, nil
}

// Lower sets the limit of a run that asks for less memory than its profile has. It takes a cgroup.
func (w *Worker) Lower(ctx context.Context, memory int64) error {
	if _, err := w.link.ask(ctx, order{Op: opLower, Worker: w.id, Memory: memory}); err != nil {
		return fmt.Errorf("lower a worker's memory: %w", err)
	}
	return nil
}

// Bury kills the worker, if it lives, and says how it ended. It is gone, and its descriptors are closed, afterwards.
func (w *Worker) Bury() (Exit, error) {
	defer w.stderr.Close()
	defer w.status.Close()
	defer w.Socket.Close()
	defer w.link.forget(w.id)
	got, err := w.link.ask(context.Background(), order{Op: opBury, Worker: w.id})
	if err != nil {
		return Exit{}, fmt.Errorf("bury worker: %w", err)
	}
	if got.Exit == nil {
		return Exit{}, errors.New("bury worker: the nursery did not say how it ended")
	}
	got.Exit.Stderr = readStderr(w.stderr)
	return *got.Exit, nil
}

// CPU is the CPU time that the worker has used, by the kernel's account.
func (w *Worker) CPU() (time.Duration, error) { return processCPU(w.PID) }

// PeakMemory is the most memory that the worker had resident, by the kernel's account. It must live.
func (w *Worker) PeakMemory() (int64, error) { return memory(w.status, "VmHWM") }

// Memory is what the worker has resident now. It must live.
func (w *Worker) Memory() (int64, error) { return memory(w.status, "VmRSS") }

// Close hangs up: the nursery buries all workers and ends. It waits for that if the nursery is a child.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		c.link.close()
		c.link = nil
	}
}

// openWait bounds the start of a nursery, or the dial. Longer than what a crashed one left takes to bury
// (internal/cgroup: aloneWait and buryWait).
const openWait = 20 * time.Second

// connect returns the link to a nursery that lives.
func (c *Client) connect(ctx context.Context) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		if c.link.alive() {
			return c.link, nil
		}
		c.link.close() // a child that hangs is killed now, and its workers with it
		c.link = nil
	}
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	link, err := c.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open nursery: %w", err)
	}
	// What the daemon was started with was checked. A nursery that came back with less is none.
	if c.layers != nil && !c.layers.equal(link.layers) {
		link.close()
		return nil, fmt.Errorf("open nursery: it has other layers than when the daemon started: %+v, and had %+v", link.layers, *c.layers)
	}
	c.layers, c.link = &link.layers, link
	return link, nil
}
