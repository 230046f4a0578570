package broker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/catalog"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// Run is the broker's account of one run: every call that the program asked for, in one state each.
type Run struct {
	// set by its maker, then read-only
	ID          string
	Token       string
	Traceparent string
	Catalog     *catalog.Catalog // of the servers that the program may name
	Limits      sandboxd.Limits
	Gateway     *rpc.Peer

	mu       sync.Mutex // guards the fields below
	calls    []*entry
	running  int             // calls that have a place
	queue    []chan struct{} // calls that wait for one, in order
	unsent   int             // bytes of arguments that did not go out yet
	sent     chan struct{}   // closed, and made anew, when that becomes less
	closed   bool
	atWork   int // calls at the gateway
	since    time.Time
	toolTime time.Duration
}

// entry is one call, and what it waits for.
type entry struct {
	sandboxd.Call
	sent   time.Time
	place  chan struct{} // closed when there is room for the call
	passed chan struct{} // closed when it went out, or will not: the next one may
}

// A LimitError ends the run: the program asked for more calls than it may make.
type LimitError struct{ Limit int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("more than %d tool calls; none of those made together with the one over the limit was sent", e.Limit)
}

// Admit counts a batch of calls in, all or none, and gives each its place in the order.
func (r *Run) Admit(batch []wire.Call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	over := len(r.calls)+len(batch) > r.Limits.Calls
	for _, c := range batch {
		e := &entry{
			Call:  sandboxd.Call{N: len(r.calls) + 1, Server: c.Server, Tool: c.Tool, State: sandboxd.CallNotStarted},
			place: make(chan struct{}), passed: make(chan struct{}),
		}
		r.calls = append(r.calls, e)
		r.unsent += len(c.Args)
		switch {
		case over:
		case r.running < r.Limits.ConcurrentCalls:
			r.running++
			close(e.place)
		default:
			r.queue = append(r.queue, e.place)
		}
	}
	if over {
		return &LimitError{r.Limits.Calls}
	}
	return nil
}

// Unsent lists calls that the program made and the worker never sent.
func (r *Run) Unsent(batch []wire.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range batch {
		r.calls = append(r.calls, &entry{passed: closed, Call: sandboxd.Call{
			N: len(r.calls) + 1, Server: c.Server, Tool: c.Tool, State: sandboxd.CallNotStarted,
		}})
	}
}

// turn waits until there is room for the call and all before it went out, so that calls reach the gateway in the
// order in which the program made them. The caller must pass and leave.
func (r *Run) turn(ctx context.Context, n int) error {
	r.mu.Lock()
	place, before := r.calls[n-1].place, closed
	if n > 1 {
		before = r.calls[n-2].passed
	}
	r.mu.Unlock()
	for _, wait := range []<-chan struct{}{place, before} {
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// pass lets the next call go out.
func (r *Run) pass(n, arguments int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.calls[n-1].passed)
	r.unsent -= arguments
	if r.sent != nil {
		close(r.sent)
		r.sent = nil
	}
}

// Room waits until at most that many bytes of arguments wait to go out: who reads calls from a worker asks for it
// first, so that a program can't fill the daemon's memory with calls that have no place.
func (r *Run) Room(ctx context.Context, bytes int) {
	for ctx.Err() == nil {
		r.mu.Lock()
		if r.unsent <= bytes {
			r.mu.Unlock()
			return
		}
		if r.sent == nil {
			r.sent = make(chan struct{})
		}
		sent := r.sent
		r.mu.Unlock()
		select {
		case <-sent:
		case <-ctx.Done():
		}
	}
}

// leave gives the call's place to the one that waits longest. A call that has none yet stops waiting for one.
func (r *Run) leave(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	mine := r.calls[n-1].place
	select {
	case <-mine:
	default:
		r.queue = slices.DeleteFunc(r.queue, func(place chan struct{}) bool { return place == mine })
		return
	}
	if len(r.queue) > 0 {
		close(r.queue[0])
		r.queue = r.queue[1:]
		return
	}
	r.running--
}

// dispatch marks a call as sent; false means that the run has ended, and it must not be.
func (r *Run) dispatch(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	e := r.calls[n-1]
	e.State = sandboxd.CallUnknown // until there is an answer
	e.Decision = "allow"
	e.sent = time.Now()
	if r.atWork == 0 {
		r.since = e.sent
	}
	r.atWork++
	return true
}

// back ends the time of a call at the gateway.
func (r *Run) back(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[n-1].MS = milliseconds(time.Since(r.calls[n-1].sent))
	r.atWork--
	if r.atWork == 0 {
		r.toolTime += time.Since(r.since)
	}
}

// settle records how a call ended, unless the run has.
func (r *Run) settle(n int, state sandboxd.CallState, bytes int, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	e := r.calls[n-1]
	e.State, e.Bytes, e.Error = state, int64(bytes), brief(message)
}

// maxNote bounds the text of an error in the account, where hundreds of them must fit one line.
const maxNote = 1 << 10

func brief(message string) string {
	if len(message) <= maxNote {
		return message
	}
	return strings.ToValidUTF8(message[:maxNote], "") + " …"
}

// deny records that a call was refused.
func (r *Run) deny(n int, rule, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	e := r.calls[n-1]
	e.State, e.Decision, e.Rule, e.Error = sandboxd.CallDenied, "deny", rule, brief(reason)
}

// uncheck notes why the arguments of a call were not held against its tool's schema.
func (r *Run) uncheck(n int, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[n-1].Unchecked = why
}

// Close ends the account: nothing is dispatched afterwards, and no state changes. It returns the calls
// that the gateway still works on.
func (r *Run) Close() (unknown []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, e := range r.calls {
		if e.State == sandboxd.CallUnknown {
			e.Error = "the run ended before the gateway answered: the call may have been carried out"
			unknown = append(unknown, e.N)
		}
	}
	return unknown
}

// Calls is the complete list.
func (r *Run) Calls() []sandboxd.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := make([]sandboxd.Call, 0, len(r.calls))
	for _, e := range r.calls {
		calls = append(calls, e.Call)
	}
	return calls
}

// ToolTime is how long at least one call was at the gateway.
func (r *Run) ToolTime() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.atWork > 0 {
		return r.toolTime + time.Since(r.since)
	}
	return r.toolTime
}

// Progress counts calls, and names one that is at the gateway.
func (r *Run) Progress() (asked, finished int, waitingFor string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.calls {
		switch e.State {
		case sandboxd.CallUnknown:
			waitingFor = e.Server + "." + e.Tool
		case sandboxd.CallNotStarted:
		default:
			finished++
		}
	}
	return len(r.calls), finished, waitingFor
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
