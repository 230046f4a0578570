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
)

// link is one connection to one nursery, with the workers that it raised.
type link struct {
	conn   *net.UnixConn
	gone   func()        // returns when the nursery's process is no more; nil if it is no child
	closed chan struct{} // when reading ended
	layers Layers        // set by settle

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

// workerFiles come with a worker: its socket, its standard error, its status and its pidfd.
const workerFiles = 4

// settle tells the nursery where it is, and learns which layers its workers have there. On an error the link is closed.
func settle(ctx context.Context, l *link, s settling) (*link, error) {
	outside, err := ownNamespaces()
	if err != nil {
		l.close()
		return nil, err
	}
	s.Outside = outside
	if s.Root, err = rootID(); err != nil {
		l.close()
		return nil, err
	}
	got, err := l.ask(ctx, order{Op: opSettle, Settle: &s})
	if err == nil && got.Layers == nil {
		err = errors.New("the nursery does not say which layers it has")
	}
	if err != nil {
		l.close()
		return nil, fmt.Errorf("settle nursery: %w", err)
	}
	l.layers = *got.Layers
	return l, nil
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

// RefusedError is the nursery's own word on why it has not done what it was asked for. Any other error is of the nursery itself.
type RefusedError string

func (e RefusedError) Error() string { return string(e) }

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
	late := time.NewTimer(orderWait)
	defer late.Stop()
	select {
	case a := <-got:
		if a.Err != "" {
			return answer{}, RefusedError(a.Err)
		}
		return a, nil
	case <-late.C:
		l.conn.Close() // it hangs: its workers are given up with it
		return answer{}, fmt.Errorf("no answer from the nursery to %s within %s: it is given up", o.Op, orderWait)
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
		// An error means that the nursery is gone, and the worker with it.
		_, _ = l.ask(context.Background(), order{Op: opBury, Worker: a.Worker})
	}()
}

// refuse gets rid of an answer with a worker that is not as it should be.
func (l *link) refuse(a answer) {
	l.forget(a.Worker)
	l.discard(a)
}

func (l *link) read() {
	defer l.end()
	packet := make([]byte, maxPacket)
	control := make([]byte, unix.CmsgSpace(workerFiles*4))
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
			// Their flags are the nursery's, too: a pidfd that does not block ends its wait for the worker (EAGAIN).
			got = append(got, os.NewFile(uintptr(n), "from nursery"))
		}
	}
	return got
}
