// Package js runs one program in one goja runtime.
//
// An engine is made to be jailed between New and Run: New loads and warms all that a program can reach, so that
// Run needs no file, no entropy, no time zone and no new thread. A runtime is dirty after an interrupt and full
// of the program's own changes after any run, so an engine runs once and is thrown away with its process.
//
// The program sees ECMAScript as goja has it, what goja lacks of it and what of the web's interfaces needs no network
// (library.go), `tools`, `input`, `console`, ToolError and ToolBlocked; there is no ambient authority.
// testdata/globals.golden lists every name.
package js

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// maxCallDepth is the number of nested calls a program may make; recursion through map takes three a level, for the
// function, map and its callback. Go's stack holds several times as many. The bound is time: an overflow unwinds as a Go panic that every native frame
// recovers and throws again, which is quadratic in their number, 0.1 to 0.5 s at 2000 and 1.5 to 10 s at 5000.
const maxCallDepth = 2000

// Options are what an engine takes from its process. The zero value works.
type Options struct {
	// CPUTime reads the CPU clock of the process. Without it the time that the program was executing is
	// taken instead. It must work inside the jail.
	CPUTime func() time.Duration
}

// Engine is one warm runtime that runs one program.
type Engine struct {
	// set by New, then read-only
	vm   *goja.Runtime
	real intrinsics

	iterators                            iterators
	asyncIterator, dispose, asyncDispose *goja.Symbol
	fromAsync                            goja.Value // nil until it is first called

	dog  *watchdog
	now  func() time.Time // of the program's clock
	wake chan struct{}    // one token: something is in inbox, or stop was set

	// set by Run, then read-only
	host   Host
	limits Limits
	source *source

	// owned by Run's goroutine
	tools    *toolbox
	json     *reader
	random   *rand.ChaCha8 // all that is random in a run; seeded by it
	clock    clock
	regexps  regexps
	timers   timers
	tips     tips
	queues   queues
	order    order // see sort.go
	locales  *locales
	addition goja.Callable // the `+` of ECMAScript, made when it is first used
	console  console
	rejected rejections
	answers  results
	absent   []*part               // that a program can't come to
	texts    []webText             // of the objects of the library, for the console
	refusals map[*goja.Object]bool // ToolBlocked objects that answers made, as against those the program made

	mu       sync.Mutex // guards the fields below
	started  bool
	inbox    []Answer
	stop     *stop   // first reason to end the run, if any
	lines    []Line  // console lines not yet handed over
	batch    []*call // calls not yet handed over
	inflight map[int]*call
}

// stop is why a run has to end although the program would go on.
type stop struct {
	kind, message, hint string
	at                  []goja.StackFrame // where, if it was known at once
}

// New returns an engine that is ready to run. It also sets the process up for one program: stack and GC bounds, UTC.
func New(opts Options) *Engine {
	setProcess()
	e := &Engine{
		vm:       goja.New(),
		wake:     make(chan struct{}, 1),
		answers:  results{},
		refusals: map[*goja.Object]bool{},
		inflight: map[int]*call{},
	}
	e.json = newReader(e)
	e.dog = newWatchdog(e, opts.CPUTime)
	e.vm.SetMaxCallStackSize(maxCallDepth)
	// eval and Function are harmless in here, but a source map would make goja open the file it names.
	e.vm.SetParserOptions(before(parser.WithDisableSourceMaps, e.newCode))
	e.random = rand.NewChaCha8(seedKey(0))
	e.vm.SetRandSource(rand.New(e.random).Float64)
	e.now = e.clock.now
	e.vm.SetTimeSource(e.now)
	e.vm.SetPromiseRejectionTracker(e.rejected.track)
	e.setGlobals()
	e.warm()
	return e
}

// Run runs the program on the calling goroutine until it has ended, was stopped, or can never settle. An engine
// runs once: a second Run ends at once with a crash.
func (e *Engine) Run(p Program, h Host) (out Outcome) {
	if !e.begin(p, h) {
		return Outcome{Kind: KindCrash, Error: &Error{Message: "this engine has already run a program"}}
	}
	defer func() {
		if x := recover(); x != nil {
			out = e.recovered(x)
		}
		e.end(&out)
	}()
	return e.run(p)
}

// Deliver hands over the answer to a call, from any goroutine. An answer to no call in flight is ignored.
func (e *Engine) Deliver(a Answer) {
	e.mu.Lock()
	e.inbox = append(e.inbox, a)
	e.mu.Unlock()
	e.nudge()
}

// Stop ends the run with an outcome of that kind, from any goroutine. The program can't catch it, and no `finally`
// runs. The first reason to stop wins.
func (e *Engine) Stop(kind, message string) {
	e.halt(stop{kind: kind, message: message})
}

func (e *Engine) halt(s stop) {
	e.mu.Lock()
	first := e.stop == nil
	if first {
		e.stop = &s
	}
	e.mu.Unlock()
	if first {
		e.vm.Interrupt(s.kind)
		e.dog.startGrace()
		e.nudge()
	}
}

func (e *Engine) stopped() *stop {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stop
}

func (e *Engine) nudge() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *Engine) begin(p Program, h Host) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.started {
		return false
	}
	e.started = true
	e.host = h
	e.limits = p.Limits.withDefaults()
	e.source = e.newSource(p.Source, fence{end: len(p.Source)})
	e.tools = newToolbox(e, p.Servers, p.Names)
	e.random.Seed(seedKey(p.Seed))
	e.clock.set(p.Now, p.Still)
	if p.Zone != nil {
		time.Local = p.Zone // goja's local time
	}
	e.json.eager = tellsApart(p.Source)
	e.regexps.patchable = patches(p.Source)
	if asksLastMatch(p.Source) {
		e.regexps.keepLastMatch()
	}
	e.dog.begin(e.limits)
	return true
}

// end completes the outcome with what every ending carries.
func (e *Engine) end(out *Outcome) {
	e.dog.end()
	e.complete(out)
}

func (e *Engine) complete(out *Outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	out.Lines, e.lines = e.lines, nil
	out.DroppedLines, out.DroppedBytes = e.console.droppedLines, e.console.droppedBytes
	out.Unsent = listCalls(e.batch)
	out.Pending = listPending(e.inflight)
}

// recovered is the outcome of a panic that reached Run: an interrupt or a stack overflow outside of any call
// into the runtime, or a fault of goja, of which it has a few, such as a comparator that shrinks its array.
func (e *Engine) recovered(x any) Outcome {
	if err, ok := x.(error); ok {
		if out, ok := e.uncatchable(err); ok {
			return out
		}
		if _, ok := err.(runtime.Error); ok && (strings.Contains(err.Error(), "makeslice") || strings.Contains(err.Error(), "growslice")) {
			return Outcome{Kind: KindMemory, Error: &Error{
				Message: "the program asked for more memory at once than there can be",
				Hint:    "look for a length or a shift that is far too large",
			}}
		}
	}
	return Outcome{Kind: KindCrash, Error: &Error{
		Message: clipText(fmt.Sprintf("the interpreter failed on this program: %v", x), maxMessage),
		Hint:    "nothing is known to be wrong with the program; write what it does in another way",
	}}
}
