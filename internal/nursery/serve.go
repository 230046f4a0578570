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

	"github.com/sandboxd/sandboxd/internal/jail"
)

// Nursery starts workers for one daemon. It ends, and its workers with it, when the daemon hangs up.
type Nursery struct {
	spawner *spawner
	log     *slog.Logger
	conn    *net.UnixConn // seqpacket
	cgroup  Cgroup
	tree    Tree   // nil where there is no cgroup; set by settle, then read-only
	packet  []byte // that next reads into

	orders  sync.WaitGroup
	watches sync.WaitGroup
	mu      sync.Mutex // guards the fields below
	born    int64
	workers map[int64]*child
}

// Cgroup is how a nursery comes by its cgroup.
type Cgroup struct {
	Dir  string // that was delegated to it; empty means that the daemon, which started it, knows of one or has none
	Open func(dir string) (Tree, error)
}

// New makes a nursery that starts the worker binary at path.
func New(path string, cgroup Cgroup, log *slog.Logger) (*Nursery, error) {
	// Whatever the process was started with, workers get none of it.
	if err := unix.CloseRange(InheritedFD+1, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, fmt.Errorf("keep descriptors from workers: %w", err) // Linux 5.11; Landlock needs 5.13
	}
	spawner, err := newSpawner(path)
	if err != nil {
		return nil, err
	}
	return &Nursery{spawner: spawner, log: log, cgroup: cgroup, packet: make([]byte, maxPacket), workers: make(map[int64]*child)}, nil
}

// Serve obeys the daemon at the other end of conn until it hangs up or ctx ends.
// No worker is left when it returns.
func (n *Nursery) Serve(ctx context.Context, conn *net.UnixConn) error {
	n.conn = conn
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	err := n.first()
	if err == nil {
		err = n.serve(ctx)
	}
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) { // it was killed with replies unread
		return nil
	}
	return err
}

// first obeys the first order, which is to settle.
func (n *Nursery) first() error {
	o, err := n.next()
	if err != nil {
		return err
	}
	if o.Op != opSettle || o.Settle == nil {
		return fmt.Errorf("the first order is %q, and must be %q", o.Op, opSettle)
	}
	layers, err := n.settle(*o.Settle)
	if err != nil {
		_ = n.reply(reply{ID: o.ID, Err: err.Error()}) // there is nothing else to do than to end
		return err
	}
	return n.reply(reply{ID: o.ID, Layers: &layers})
}

// settle makes the nursery what its workers are to inherit.
func (n *Nursery) settle(s settling) (Layers, error) {
	var l Layers
	dir := n.cgroup.Dir
	if dir == "" {
		dir = s.Cgroup
	}
	if s.Enclose {
		if err := enclose(dir); err != nil {
			return l, err
		}
		if dir != "" {
			dir = enclosedCgroup
		}
	}
	var err error
	if l.Namespaces, err = differing(s.Outside); err != nil {
		return l, err
	}
	if !s.Enclose { // else it was proved
		l.proveWall(s.Root)
	}
	if dir == "" {
		l.lack(LayerCgroup, "none was delegated to the nursery")
	} else if n.tree, err = n.cgroup.Open(dir); err != nil {
		n.tree = nil
		l.lack(LayerCgroup, err.Error())
	}
	l.Cgroup = n.tree != nil
	if !l.Walled() && l.Missing[LayerNamespaces] == "" {
		l.lack(LayerNamespaces, fmt.Sprintf("of its own, the nursery has only %v of %v", l.Namespaces, wall))
	}
	return l, giveUp()
}

// serve raises and buries workers until the daemon hangs up.
func (n *Nursery) serve(ctx context.Context) error {
	spawning := make(chan struct{})
	go func() { n.spawner.run(); close(spawning) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := n.obey(ctx)
	cancel() // births that are under way
	n.killAll()
	n.orders.Wait()
	n.buryAll()
	n.watches.Wait()
	n.spawner.stop()
	<-spawning
	if n.tree != nil {
		err = errors.Join(err, n.tree.Close())
	}
	return err
}

func (n *Nursery) obey(ctx context.Context) error {
	for {
		o, err := n.next()
		if err != nil {
			return err
		}
		n.orders.Go(func() { n.do(ctx, o) })
	}
}

// next reads an order.
func (n *Nursery) next() (order, error) {
	size, _, flags, _, err := n.conn.ReadMsgUnix(n.packet, nil)
	switch {
	case err != nil:
		return order{}, fmt.Errorf("read order: %w", err)
	case size == 0:
		return order{}, io.EOF
	case flags&unix.MSG_TRUNC != 0:
		return order{}, fmt.Errorf("an order is longer than %d bytes", maxPacket)
	}
	var o order
	decoder := json.NewDecoder(bytes.NewReader(n.packet[:size]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		return order{}, fmt.Errorf("decode order: %w", err)
	}
	return o, nil
}

func (n *Nursery) do(ctx context.Context, o order) {
	var err error
	switch o.Op {
	case opSpawn:
		err = n.spawn(ctx, o)
	case opLower:
		err = n.lower(o)
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
	if o.Spec == nil {
		return errors.New("an order to spawn without a spec")
	}
	c, err := n.begin()
	if err != nil {
		return err
	}
	report, err := n.raise(ctx, c, *o.Spec)
	if err != nil {
		n.forget(c)
		return err
	}
	n.mu.Lock()
	c.handed = true // before the daemon knows of it
	n.mu.Unlock()
	err = n.hand(o.ID, c, report)
	c.handOver()
	if err != nil { // it died at once, and its status with it
		c.kill()
		<-c.dead
		n.forget(c)
		return errors.Join(err, c.removeLeaf())
	}
	n.watches.Go(func() { n.watch(c) }) // not before: a death that is told first is told to nobody
	return nil
}

// hand gives a worker to the daemon. Its pid travels as a pidfd: a number means another process there, if the two are
// not in one pid namespace.
func (n *Nursery) hand(id int64, c *child, report *jail.Report) error {
	descriptors, err := numbers(c.socket, c.stderr, c.status)
	if err != nil {
		return err
	}
	held := c.process.WithHandle(func(pidfd uintptr) {
		err = n.reply(reply{ID: id, Worker: c.id, Report: report}, append(descriptors, int(pidfd))...)
	})
	return errors.Join(held, err)
}

// lower sets the limit of a run that asks for less memory than its profile has.
func (n *Nursery) lower(o order) error {
	c, err := n.find(o.Worker)
	if err != nil {
		return err
	}
	if c.leaf == nil {
		return errors.New("without a cgroup, a worker's memory can't be lowered")
	}
	if err := c.leaf.Limit(leafMemory(o.Memory)); err != nil {
		return err
	}
	return n.reply(reply{ID: o.ID})
}

// begin keeps a place for one more worker.
func (n *Nursery) begin() (*child, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.workers) >= maxWorkers {
		return nil, fmt.Errorf("%d workers live already", maxWorkers)
	}
	n.born++
	c := &child{id: n.born, dead: make(chan struct{})}
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
	if err := c.removeLeaf(); err != nil {
		n.log.Error("a dead worker's cgroup stays", "error", err)
	}
	return n.reply(reply{ID: o.ID, Exit: &c.exit})
}

func (n *Nursery) find(id int64) (*child, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, ok := n.workers[id]
	if !ok || !c.handed {
		return nil, fmt.Errorf("no worker %d", id)
	}
	return c, nil
}

func (n *Nursery) forget(c *child) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.workers, c.id)
}

// killAll ends all workers that the daemon had. Those that are being born end with their birth.
func (n *Nursery) killAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.workers {
		if c.handed {
			c.kill()
		}
	}
}

// buryAll is for when nothing is under way any more.
func (n *Nursery) buryAll() {
	n.killAll()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.workers {
		<-c.dead
		if err := c.removeLeaf(); err != nil {
			n.log.Error("a dead worker's cgroup stays", "error", err)
		}
	}
	clear(n.workers)
}

// reply sends a packet, and descriptors with it. Packets are written whole, so that no lock is needed.
func (n *Nursery) reply(r reply, descriptors ...int) error {
	packet, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("marshal reply: %w", err)
	}
	var rights []byte
	if descriptors != nil {
		rights = unix.UnixRights(descriptors...)
	}
	if _, _, err := n.conn.WriteMsgUnix(packet, rights, nil); err != nil {
		if !errors.Is(err, net.ErrClosed) && !errors.Is(err, unix.EPIPE) { // else the daemon has hung up
			n.log.Warn("reply to daemon failed", "error", err)
		}
		return fmt.Errorf("reply to daemon: %w", err)
	}
	return nil
}

// numbers returns the descriptors of files. It does not use File.Fd, which would make a descriptor, and so the daemon's,
// a blocking one.
func numbers(files ...*os.File) ([]int, error) {
	var all []int
	for _, f := range files {
		raw, err := f.SyscallConn()
		if err != nil {
			return nil, fmt.Errorf("descriptor of %s: %w", f.Name(), err)
		}
		if err := raw.Control(func(fd uintptr) { all = append(all, int(fd)) }); err != nil {
			return nil, fmt.Errorf("descriptor of %s: %w", f.Name(), err)
		}
	}
	return all, nil
}
