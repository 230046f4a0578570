package broker

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/catalog"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/metrics"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/redact"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/traces"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// Run is the broker's account of one run: every call that the program asked for, in one state each.
type Run struct {
	// set by its maker, then read-only
	ID          string
	Token       string
	Traceparent string       // for others, while there is no span; empty: none
	Span        *traces.Span // of the run; nil: it is not traced
	Task        string       // the user's request; empty: nobody told it
	Constraints []string     // what the user ruled out
	Caller      policy.Caller
	Catalog     *catalog.Catalog // of the servers that the program may name
	Limits      sandboxd.Limits
	Gateway     *rpc.Peer
	Policy      *policy.Policy   // nil allows nothing
	Quota       *Quota           // of the caller
	Guard       *guard.Guard     // nil: there is none
	Approve     Approve          // nil: nobody can be asked
	Audit       *audit.Log       // nil: nothing is recorded
	Metrics     *metrics.Metrics // nil: nothing is counted
	Log         *slog.Logger     // nil: the default one

	trail  *trail // set by the first Admit
	places chan struct{}

	mu        sync.Mutex // guards the fields below
	calls     []*entry
	front     int           // calls that have passed, and all before them
	turns     int           // calls whose turn has come
	labels    []string      // that results brought
	judged    int64         // calls
	mutations int64         // calls that policy let through and that may change something
	denied    int64         // calls that somebody refused
	unsent    int           // bytes of arguments that did not go out yet
	sent      chan struct{} // closed, and made anew, when that becomes less
	closed    bool
	atWork    int // calls at the gateway
	since     time.Time
	toolTime  time.Duration
}

// Approve asks somebody about a call, and waits. An error is that nobody could be asked, or that ctx ended.
type Approve func(ctx context.Context, request approval.Request) (approval.Answer, error)

// entry is one call, and what it waits for.
type entry struct {
	sandboxd.Call
	arguments int // bytes
	labels    []string
	sent      time.Time
	placed    bool          // it has one of the places
	turn      chan struct{} // closed when all before it have passed
	passed    bool          // it went out, or will not, or waits for a person: the next one may

	// for the report
	asked           time.Time
	guard, approval span
	back            time.Time // from the gateway
	reason          string
	class           string
}

// A LimitError ends the run: the program asked for more calls than it may make.
type LimitError struct{ Limit int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("more than %d tool calls; none of those made together with the one over the limit was sent", e.Limit)
}

// A DeniedError ends the run: the program goes on asking for what is refused.
type DeniedError struct{ Limit int64 }

func (e *DeniedError) Error() string {
	return fmt.Sprintf("more than %d tool calls were refused", e.Limit)
}

// Admit counts a batch of calls in, all or none, and gives each its place in the order.
func (r *Run) Admit(batch []wire.Call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.places == nil {
		r.places = make(chan struct{}, max(r.Limits.ConcurrentCalls, 1))
		if r.Guard != nil || r.Audit != nil || r.Policy != nil && r.Policy.Asks() { // somebody wants evidence
			r.trail = newTrail()
		}
	}
	for _, c := range batch {
		r.calls = append(r.calls, &entry{
			Call:      sandboxd.Call{N: len(r.calls) + 1, Server: c.Server, Tool: c.Tool, State: sandboxd.CallNotStarted},
			arguments: len(c.Args), turn: make(chan struct{}), asked: time.Now(),
		})
		r.unsent += len(c.Args)
	}
	r.advance()
	if len(r.calls) > r.Limits.Calls {
		return &LimitError{r.Limits.Calls}
	}
	return nil
}

// Unsent lists calls that the program made and the worker never sent.
func (r *Run) Unsent(batch []wire.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range batch {
		r.calls = append(r.calls, &entry{turn: make(chan struct{}), passed: true, asked: time.Now(), Call: sandboxd.Call{
			N: len(r.calls) + 1, Server: c.Server, Tool: c.Tool, State: sandboxd.CallNotStarted,
		}})
	}
	r.advance()
}

// turn waits until all before the call went out, so that calls reach the gateway in the order in which the program made them, and then
// until there is room for it. The caller must pass and leave.
func (r *Run) turn(ctx context.Context, n int) error {
	r.mu.Lock()
	e := r.calls[n-1]
	r.mu.Unlock()
	select {
	case <-e.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case r.places <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	e.placed = true
	return nil
}

// advance gives their turn to those calls before which all have passed. The caller holds mu.
func (r *Run) advance() {
	for ; r.front < len(r.calls); r.front++ {
		e := r.calls[r.front]
		if r.turns == r.front {
			close(e.turn)
			r.turns++
		}
		if !e.passed {
			return
		}
	}
}

// pass lets the next call go out.
func (r *Run) pass(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.calls[n-1]
	e.passed = true
	r.advance()
	r.unsent -= e.arguments
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

// leave gives the call's place back, if it has one.
func (r *Run) leave(n int) {
	r.mu.Lock()
	e := r.calls[n-1]
	r.mu.Unlock()
	if e.placed {
		<-r.places
	}
}

// history is what the run has done before call n, which is judged now: for policy, for the guard, and for the record.
func (r *Run) history(n int) (had policy.Run, reads []guard.Read, seen *audit.Seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	had = policy.Run{Calls: r.judged, Mutations: r.mutations, Denied: r.denied, Labels: slices.Clone(r.labels)}
	seen = &audit.Seen{Denied: had.Denied, Pending: []int{}}
	for _, e := range r.calls[:n-1] {
		if !e.answered() && e.State != sandboxd.CallDenied {
			seen.Pending = append(seen.Pending, e.N)
		}
	}
	for _, e := range slices.Backward(r.calls) {
		if e.answered() && len(reads) < maxReads {
			reads = append(reads, guard.Read{Call: e.N, Tool: brief(e.Server+"."+e.Tool, maxShown), Labels: e.labels, Bytes: e.Bytes})
		}
	}
	slices.Reverse(reads)
	return had, reads, seen
}

// note takes what was decided on a call into the account.
func (r *Run) note(j *Judged) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.calls[j.n-1]
	e.Decision, e.Rule, e.reason = j.decision.Action.String(), j.decision.Rule, j.decision.Reason
	if j.verdict != nil {
		e.Verdict = j.verdict.Verdict.String()
	}
	if j.approval != nil && j.approval.Approved {
		e.Approved = j.approval.By
	}
}

// count counts a judged call in.
func (r *Run) count(j *Judged) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.judged++
	if j.refusal == nil && !j.decision.Read {
		r.mutations++
	}
}

func (r *Run) key(n int) string { return fmt.Sprintf("%s/%d", r.ID, n) }

// call is the account of one call.
func (r *Run) call(n int) sandboxd.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[n-1].Call
}

// toolOf is what a call called.
func (r *Run) toolOf(n int) string {
	c := r.call(n)
	return c.Server + "." + c.Tool
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
	e := r.calls[n-1]
	e.back = time.Now()
	e.MS = milliseconds(e.back.Sub(e.sent))
	r.atWork--
	if r.atWork == 0 {
		r.toolTime += time.Since(r.since)
	}
}

// settle records how a call ended that was sent, unless the run has. What its result brings into the run is there before the program has it.
func (r *Run) settle(j *Judged, state sandboxd.CallState, bytes int, message, class string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	e := r.calls[j.n-1]
	e.State, e.Bytes, e.Error, e.class = state, int64(bytes), brief(message, maxNote), class
	e.labels = j.decision.Labels
	for _, l := range e.labels {
		if !slices.Contains(r.labels, l) {
			r.labels = append(r.labels, l)
		}
	}
}

// answered says whether the program may know what the call gave.
func (e *entry) answered() bool {
	return e.State == sandboxd.CallSucceeded || e.State == sandboxd.CallFailed
}

// maxNote bounds the text of an error in the account, where hundreds of them must fit one line.
const maxNote = 1 << 10

func brief(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// deny records that a call was refused, and says whether the run was refused too much. A mistake is no refusal.
func (r *Run) deny(j *Judged) (over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	e := r.calls[j.n-1]
	e.State, e.Decision, e.Rule, e.Error = sandboxd.CallDenied, "deny", j.refusal.rule, brief(j.refusal.reason, maxNote)
	e.class, e.reason = j.refusal.by, brief(j.refusal.reason, maxReported)
	if j.refusal.by == byCheck || j.refusal.by == byGuard && j.verdict.Judged { // in words that may quote arguments
		e.reason = ""
	}
	if j.refusal.by == byCheck {
		return false
	}
	r.denied++
	return r.Policy != nil && r.Policy.Limits().DeniedPerRun > 0 && r.denied > r.Policy.Limits().DeniedPerRun
}

// redacted counts secrets that were taken out of a call.
func (r *Run) redacted(n int, found []redact.Found) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range found {
		r.calls[n-1].Redacted += f.Count
	}
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

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
