// Package approval holds tool calls that somebody must approve, until that has happened.
//
// Who answers first decides; later answers are told so. What nobody answers in time is denied, as is what can't be asked because too
// much is asked already. An answer is for one call, or for calls of the same tool with the same arguments in the same run, and never
// for more.
package approval

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Request is a call that waits.
type Request struct {
	ID        string          // of this request; nobody can guess it
	Run       string          // of the run
	N         int             // of the call in its run
	Server    string          // its real name
	Tool      string          // its real name
	Arguments json.RawMessage // all of them, the bytes that will be sent
	Rule      string          // that asks
	Reasons   []string        // for people
	Evidence  []string        // what the arguments carry of earlier results
	Task      string          // the user's request
	Caller    string          // whose run it is, by the kernel's account
	Asked     time.Time
	Expires   time.Time // when it is denied
}

// Scope is what an answer covers.
type Scope string

const (
	Once Scope = "call" // this call
	Same Scope = "run"  // and calls of the same tool with the same arguments in the same run
)

// Answer is what was decided about a request. The zero value denies.
type Answer struct {
	ID       string // of the request; empty if there was no room for it
	Approved bool
	Scope    Scope
	By       string // who answered, by the kernel's account; what decided if nobody did
	Peer     *Peer  // who answered; nil: nobody did
	Reason   string // in the answerer's words, or ours
	At       time.Time
}

// Peer is who the kernel says is at the other end of a socket.
type Peer struct {
	UID, GID uint32
	PID      int32
}

// Desk is where requests wait.
type Desk struct {
	limits Limits

	mu       sync.Mutex // guards what follows
	pending  map[string]*waiting
	bytes    int                 // arguments of what waits
	byCaller map[string]int      // requests that wait
	answered map[string]settled  // by id: the last ones, for those who answer too late
	order    []string            // of answered, oldest first
	runs     map[string]*granted // by run
}

// Limits bound a desk. A desk keeps all arguments of what waits.
type Limits struct {
	Pending   int           // requests that wait, of all callers
	PerCaller int           // of one
	Wait      time.Duration // until a request is denied
}

// maxBytes bounds the arguments on a desk, whatever a profile lets one call have.
const maxBytes = 64 << 20

// kept is how many answers a desk remembers, for those who come too late.
const kept = 1000

type waiting struct {
	Request
	answer chan Answer // takes one
}

type settled struct {
	Answer
	run string
}

// granted is what was approved for the rest of a run. An entry goes when its run does.
type granted struct{ calls map[call]Answer }

// call is what an answer for the rest of a run is about.
type call struct {
	server, tool string
	arguments    [sha256.Size]byte
}

func callOf(r Request) call { return call{r.Server, r.Tool, sha256.Sum256(r.Arguments)} }

// maxGranted bounds what is approved for the rest of one run; further answers are for their call alone.
const maxGranted = 100

// NewDesk returns a desk on which nothing waits.
func NewDesk(l Limits) *Desk {
	return &Desk{limits: l, pending: map[string]*waiting{}, byCaller: map[string]int{}, answered: map[string]settled{}, runs: map[string]*granted{}}
}

// Ask waits until a request is answered, at most for as long as the desk lets it wait; then it is denied. It returns an error only
// if ctx ends first. Tell is told of the request, with its id and times, once it can be answered. What it waits for keeps this call alone back.
func (d *Desk) Ask(ctx context.Context, r Request, tell func(Request)) (Answer, error) {
	w, answer := d.enter(r)
	if w == nil {
		return answer, nil
	}
	defer d.leave(w)
	tell(w.Request)
	expired := time.NewTimer(time.Until(w.Expires))
	defer expired.Stop()
	select {
	case answer := <-w.answer:
		return answer, nil
	case <-expired.C:
		late := Answer{By: "expiry", Reason: fmt.Sprintf("nobody answered within %v", d.limits.Wait), At: time.Now()}
		if err := d.settle(w.ID, late); err != nil {
			return <-w.answer, nil // somebody did, just now
		}
		late.ID = w.ID
		return late, nil
	case <-ctx.Done():
		d.settle(w.ID, Answer{By: "the run's end", Reason: "the run ended before an answer", At: time.Now()})
		return Answer{}, ctx.Err()
	}
}

// enter puts a request on the desk, unless it is answered already: by an earlier answer for the run, or because there is no room.
func (d *Desk) enter(r Request) (*waiting, Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if run := d.runs[r.Run]; run != nil {
		if answer, ok := run.calls[callOf(r)]; ok {
			return nil, answer
		}
	}
	full := func(most int, whose string) (*waiting, Answer) {
		return nil, Answer{By: "sandboxd", Reason: fmt.Sprintf("%d calls wait for approval already, the most that %s may have", most, whose), At: time.Now()}
	}
	switch {
	case len(d.pending) >= d.limits.Pending:
		return full(d.limits.Pending, "all callers together")
	case d.byCaller[r.Caller] >= d.limits.PerCaller:
		return full(d.limits.PerCaller, "one caller")
	case d.bytes+len(r.Arguments) > maxBytes:
		return nil, Answer{By: "sandboxd", At: time.Now(),
			Reason: fmt.Sprintf("calls with %d bytes of arguments wait for approval already, and may have %d together", d.bytes, maxBytes)}
	}
	r.ID, r.Asked = rand.Text(), time.Now()
	r.Expires = r.Asked.Add(d.limits.Wait)
	w := &waiting{r, make(chan Answer, 1)}
	d.pending[r.ID] = w
	d.byCaller[r.Caller]++
	d.bytes += len(r.Arguments)
	return w, Answer{}
}

func (d *Desk) leave(w *waiting) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bytes -= len(w.Arguments)
	if d.byCaller[w.Caller]--; d.byCaller[w.Caller] == 0 {
		delete(d.byCaller, w.Caller)
	}
}

// Late is the error of an answer that came after another one.
type Late struct {
	Answer // that counts
}

func (l Late) Error() string {
	what := "denied"
	if l.Approved {
		what = "approved"
	}
	return fmt.Sprintf("it was %s by %s at %s already", what, l.By, l.At.UTC().Format(time.RFC3339))
}

// ErrUnknown is the error of an answer to what was never asked, or so long ago that nobody knows.
var ErrUnknown = errors.New("no call waits for approval under this id: it is wrong, or from long ago")

// Find returns a request that waits. For one that was answered the error is Late, for any other ErrUnknown.
func (d *Desk) Find(id string) (Request, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.pending[id]; w != nil {
		return w.Request, nil
	}
	return Request{}, d.missing(id)
}

// RunOf returns the run of a request that waits or was answered; empty: there is none. It never changes.
func (d *Desk) RunOf(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.pending[id]; w != nil {
		return w.Run
	}
	return d.answered[id].run
}

// missing is why a request does not wait.
func (d *Desk) missing(id string) error {
	if first, ok := d.answered[id]; ok {
		return Late{first.Answer}
	}
	return ErrUnknown
}

// Answer decides a request, if nobody has.
func (d *Desk) Answer(id string, a Answer) error {
	switch {
	case a.By == "":
		return errors.New("an answer of nobody")
	case a.Scope != Once && a.Scope != Same:
		return fmt.Errorf("scope %q: there are %s and %s", a.Scope, Once, Same)
	}
	a.At = time.Now()
	return d.settle(id, a)
}

func (d *Desk) settle(id string, a Answer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.pending[id]
	if w == nil {
		return d.missing(id)
	}
	a.ID = id
	d.end(w, a)
	if a.Scope == Same && d.grant(w.Request, a) {
		for _, other := range d.pending {
			if other.Run == w.Run && other.Server == w.Server && other.Tool == w.Tool && bytes.Equal(other.Arguments, w.Arguments) {
				d.end(other, a)
			}
		}
	}
	return nil
}

// end takes a request that waits off the desk.
func (d *Desk) end(w *waiting, a Answer) {
	a.ID = w.ID
	delete(d.pending, w.ID)
	d.remember(w.ID, settled{a, w.Run})
	w.answer <- a
}

func (d *Desk) remember(id string, a settled) {
	if len(d.order) == kept {
		delete(d.answered, d.order[0])
		d.order = slices.Delete(d.order, 0, 1)
	}
	d.answered[id] = a
	d.order = append(d.order, id)
}

// grant keeps an answer for the rest of the run, if it has room: an approval as well as a denial, which need not be asked again either.
func (d *Desk) grant(r Request, a Answer) bool {
	run := d.runs[r.Run]
	if run == nil || len(run.calls) >= maxGranted {
		return false
	}
	run.calls[callOf(r)] = a
	return true
}

// Begin makes room for answers that are for a whole run, until the function that it returns is called.
func (d *Desk) Begin(run string) (end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.runs[run] = &granted{calls: map[call]Answer{}}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.runs, run)
	}
}

// Waiting is how many requests wait.
func (d *Desk) Waiting() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.pending)
}

// Pending are the requests that wait, oldest first.
func (d *Desk) Pending() []Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []Request
	for _, w := range d.pending {
		all = append(all, w.Request)
	}
	slices.SortFunc(all, func(a, b Request) int { return a.Asked.Compare(b.Asked) })
	return all
}
