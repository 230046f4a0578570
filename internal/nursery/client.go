package nursery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

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

// link is one connection to one nursery, with the workers that it raised.
type link struct {
	conn   *net.UnixConn
	gone   func()        // see Opener
	closed chan struct{} // when reading ended

	mu      sync.Mutex // guards the fields below
	next    int64
	waiting map[int64]chan answer
	deaths  map[int64]chan struct{}
}

// answer is a reply and the descriptors that came with it.
type answer struct {
	reply
	files []*os.File
}

func (a answer) close() {
	for _, f := range a.files {
		f.Close()
	}
}

func newLink(conn *net.UnixConn, gone func()) *link {
	l := &link{
		conn:    conn,
		gone:    gone,
		closed:  make(chan struct{}),
		waiting: make(map[int64]chan answer),
		deaths:  make(map[int64]chan struct{}),
	}
	go l.read()
	return l
}

func (l *link) alive() bool {
	select {
	case <-l.closed:
		return false
	default:
		return true
	}
}

func (l *link) close() {
	l.conn.Close()
	<-l.closed
	if l.gone != nil {
		l.gone()
	}
}

// errGone is the cause of every order that a nursery's death left without an answer.
var errGone = errors.New("the nursery is gone")

func (l *link) ask(ctx context.Context, o order) (answer, error) {
	got := make(chan answer, 1) // read never waits for us
	l.mu.Lock()
	l.next++
	o.ID = l.next
	l.waiting[o.ID] = got
	l.mu.Unlock()
	defer l.settle(o.ID, got)

	packet, err := json.Marshal(o)
	if err != nil {
		return answer{}, fmt.Errorf("marshal order: %w", err)
	}
	if _, err := l.conn.Write(packet); err != nil {
		return answer{}, fmt.Errorf("%w: %v", errGone, err)
	}
	select {
	case a := <-got:
		if a.Err != "" {
			return answer{}, errors.New(a.Err)
		}
		return a, nil
	case <-l.closed:
		return answer{}, errGone
	case <-ctx.Done():
		return answer{}, fmt.Errorf("no answer from the nursery to %s: %w", o.Op, context.Cause(ctx))
	}
}

// settle ends the wait for an answer.
func (l *link) settle(id int64, got chan answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, id)
	select {
	case late := <-got:
		delete(l.deaths, late.Worker)
		l.discard(late)
	default:
	}
}

// discard gets rid of an answer that came too late: a worker that nobody waits for any more is buried, or
// it would take a place in the nursery for ever.
func (l *link) discard(a answer) {
	a.close()
	if a.Report == nil {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), orderWait)
		defer cancel()
		// An error means that the nursery is gone, and the worker with it.
		_, _ = l.ask(ctx, order{Op: opBury, Worker: a.Worker})
	}()
}

func (l *link) read() {
	defer l.end()
	packet := make([]byte, maxPacket)
	control := make([]byte, unix.CmsgSpace(3*4))
	for {
		size, n, flags, _, err := l.conn.ReadMsgUnix(packet, control)
		a := answer{files: files(control[:n])}
		if err != nil || size == 0 || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
			a.close()
			return
		}
		if json.Unmarshal(packet[:size], &a.reply) != nil {
			a.close()
			return
		}
		l.hand(a)
	}
}

// hand gives an answer to who waits for it, or tells a death.
func (l *link) hand(a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.ID == 0 {
		if dead, ok := l.deaths[a.Worker]; ok {
			close(dead)
			delete(l.deaths, a.Worker)
		}
		return
	}
	waiting, ok := l.waiting[a.ID]
	if !ok {
		l.discard(a)
		return
	}
	if a.Worker != 0 && a.Err == "" {
		l.deaths[a.Worker] = make(chan struct{}) // before another packet can tell its death
	}
	delete(l.waiting, a.ID)
	waiting <- a
}

// dead is closed when the worker died unasked.
func (l *link) dead(worker int64) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if dead, ok := l.deaths[worker]; ok {
		return dead
	}
	gone := make(chan struct{})
	close(gone)
	return gone
}

func (l *link) forget(worker int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.deaths, worker)
}

// end tells everybody that the nursery is gone.
func (l *link) end() {
	l.conn.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.closed)
	for id, dead := range l.deaths {
		close(dead)
		delete(l.deaths, id)
	}
}

// files takes the descriptors out of a control message.
func files(control []byte) []*os.File {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil
	}
	var got []*os.File
	for _, m := range messages {
		numbers, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, n := range numbers {
			_ = unix.SetNonblock(n, true) // it is; os.File asks for it
			got = append(got, os.NewFile(uintptr(n), "from nursery"))
		}
	}
	return got
}
