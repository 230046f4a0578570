package nursery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Nursery starts workers for one daemon. It ends, and its workers with it, when the daemon hangs up.
type Nursery struct {
	spawner *spawner
	log     *slog.Logger
	conn    *net.UnixConn // seqpacket

	orders  sync.WaitGroup
	watches sync.WaitGroup
	mu      sync.Mutex // guards the fields below
	next    int64
	workers map[int64]*child
}

// New makes a nursery that starts the worker binary at path.
func New(path string, log *slog.Logger) (*Nursery, error) {
	// Whatever the process was started with, workers get none of it.
	if err := unix.CloseRange(InheritedFD+1, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, fmt.Errorf("keep descriptors from workers: %w", err) // Linux 5.11; Landlock needs 5.13
	}
	spawner, err := newSpawner(path)
	if err != nil {
		return nil, err
	}
	return &Nursery{spawner: spawner, log: log, workers: make(map[int64]*child)}, nil
}

// Serve obeys the daemon at the other end of conn until it hangs up or ctx ends.
// No worker is left when it returns.
func (n *Nursery) Serve(ctx context.Context, conn *net.UnixConn) error {
	n.conn = conn
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	spawning := make(chan struct{})
	go func() { n.spawner.run(); close(spawning) }()

	err := n.obey(ctx)
	n.orders.Wait()
	n.buryAll()
	n.watches.Wait()
	n.spawner.stop()
	<-spawning
	conn.Close()
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (n *Nursery) obey(ctx context.Context) error {
	packet := make([]byte, maxPacket)
	for {
		size, _, flags, _, err := n.conn.ReadMsgUnix(packet, nil)
		switch {
		case err != nil:
			return fmt.Errorf("read order: %w", err)
		case size == 0:
			return io.EOF
		case flags&unix.MSG_TRUNC != 0:
			return fmt.Errorf("an order is longer than %d bytes", maxPacket)
		}
		var o order
		decoder := json.NewDecoder(bytes.NewReader(packet[:size]))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&o); err != nil {
			return fmt.Errorf("decode order: %w", err)
		}
		n.orders.Go(func() { n.do(ctx, o) })
	}
}

func (n *Nursery) do(ctx context.Context, o order) {
	var err error
	switch o.Op {
	case opSpawn:
		err = n.spawn(ctx, o)
	case opBury:
		err = n.bury(o)
	default:
		err = fmt.Errorf("unknown order %q", o.Op)
	}
	if err != nil {
		n.reply(reply{ID: o.ID, Err: err.Error()})
	}
}

func (n *Nursery) spawn(ctx context.Context, o order) error {
	if o.Jail == nil {
		return errors.New("an order to spawn without a jail")
	}
	c, err := n.begin()
	if err != nil {
		return err
	}
	report, err := c.raise(ctx, n.spawner, *o.Jail)
	if err != nil {
		n.forget(c)
		return err
	}
	err = n.reply(reply{ID: o.ID, Worker: c.id, PID: c.pid, Report: report}, c.socket, c.stderr, c.status)
	c.handOver()
	if err != nil { // it died at once, and its status with it
		c.kill()
		<-c.dead
		n.forget(c)
		return err
	}
	n.watches.Go(func() { n.watch(c) }) // not before: a death that is told first is told to nobody
	return nil
}

// begin keeps a place for one more worker.
func (n *Nursery) begin() (*child, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.workers) >= maxWorkers {
		return nil, fmt.Errorf("%d workers live already", maxWorkers)
	}
	n.next++
	c := &child{id: n.next, dead: make(chan struct{})}
	n.workers[c.id] = c
	return c, nil
}

// watch tells the daemon of a death that it did not ask for.
func (n *Nursery) watch(c *child) {
	<-c.dead
	if !c.exit.Killed {
		n.reply(reply{Worker: c.id})
	}
}

func (n *Nursery) bury(o order) error {
	c, err := n.find(o.Worker)
	if err != nil {
		return err
	}
	c.kill()
	<-c.dead
	n.forget(c)
	return n.reply(reply{ID: o.ID, Exit: &c.exit})
}

func (n *Nursery) find(id int64) (*child, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, ok := n.workers[id]
	if !ok {
		return nil, fmt.Errorf("no worker %d", id)
	}
	return c, nil
}

func (n *Nursery) forget(c *child) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.workers, c.id)
}

func (n *Nursery) buryAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.workers {
		c.kill()
	}
	for _, c := range n.workers {
		<-c.dead
	}
	clear(n.workers)
}

// reply sends a packet, and descriptors with it. Packets are written whole, so that no lock is needed.
func (n *Nursery) reply(r reply, files ...*os.File) error {
	packet, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("marshal reply: %w", err)
	}
	rights, err := rights(files)
	if err != nil {
		return err
	}
	if _, _, err := n.conn.WriteMsgUnix(packet, rights, nil); err != nil {
		if !errors.Is(err, net.ErrClosed) && !errors.Is(err, unix.EPIPE) { // else the daemon has hung up
			n.log.Warn("reply to daemon failed", "error", err)
		}
		return fmt.Errorf("reply to daemon: %w", err)
	}
	return nil
}

// rights makes the control message that carries files. It does not use File.Fd, which would make
// the descriptor, and so the daemon's, a blocking one.
func rights(files []*os.File) ([]byte, error) {
	var numbers []int
	for _, f := range files {
		raw, err := f.SyscallConn()
		if err != nil {
			return nil, fmt.Errorf("descriptor of %s: %w", f.Name(), err)
		}
		if err := raw.Control(func(fd uintptr) { numbers = append(numbers, int(fd)) }); err != nil {
			return nil, fmt.Errorf("descriptor of %s: %w", f.Name(), err)
		}
	}
	if numbers == nil {
		return nil, nil
	}
	return unix.UnixRights(numbers...), nil
}
