package nursery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/sandboxd/sandboxd/internal/jail"
)

// Client is the daemon's half. It opens the nursery when it is first needed, and again when it died.
type Client struct {
	open Opener

	mu   sync.Mutex // guards the field below
	link *link
}

// An Opener starts or dials a nursery. gone, if not nil, returns when the nursery's process is no more.
type Opener func(context.Context) (conn *net.UnixConn, gone func(), err error)

// NewClient makes a client of a nursery.
func NewClient(open Opener) *Client {
	return &Client{open: open}
}

// Worker is a jailed process that waits for its program. Who has it must Bury it.
type Worker struct {
	PID    int
	Report jail.Report
	Socket *os.File
	Dead   <-chan struct{} // closed when it died unasked, or its nursery did

	id     int64
	link   *link
	stderr *os.File
	status *os.File // /proc/PID/status: opened once, and closed after the reaping (see jail.Check)
}

// orderWait bounds every answer of the nursery, which bounds a birth itself.
const orderWait = birthWait + 5*time.Second

// Spawn returns a new worker that is jailed, as proved from inside and checked from outside.
func (c *Client) Spawn(ctx context.Context, spec jail.Spec) (*Worker, error) {
	link, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	got, err := link.ask(ctx, order{Op: opSpawn, Jail: &spec})
	if err != nil {
		return nil, err
	}
	if len(got.files) != 3 || got.Report == nil {
		got.close()
		return nil, fmt.Errorf("nursery sent %d descriptors for a worker", len(got.files))
	}
	return &Worker{
		PID: got.PID, Report: *got.Report, Socket: got.files[0], Dead: link.dead(got.Worker),
		id: got.Worker, link: link, stderr: got.files[1], status: got.files[2],
	}, nil
}

// Bury kills the worker, if it lives, and says how it ended. It is gone, and its descriptors are closed, afterwards.
func (w *Worker) Bury() (Exit, error) {
	defer w.stderr.Close()
	defer w.status.Close()
	defer w.Socket.Close()
	defer w.link.forget(w.id)
	ctx, cancel := context.WithTimeout(context.Background(), orderWait)
	defer cancel()
	got, err := w.link.ask(ctx, order{Op: opBury, Worker: w.id})
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

// openWait bounds the start of a nursery, or the dial.
const openWait = 10 * time.Second

// connect returns the link to a nursery that lives.
func (c *Client) connect(ctx context.Context) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil && c.link.alive() {
		return c.link, nil
	}
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	conn, gone, err := c.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open nursery: %w", err)
	}
	c.link = newLink(conn, gone)
	return c.link, nil
}
