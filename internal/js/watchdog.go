package js

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	tick = 2 * time.Millisecond

	// grace is what a stopped program gets to come to its next instruction. Native code of goja (repeat, join, sort,
	// a regular expression, BigInt) has none, and can run for minutes.
	grace = 50 * time.Millisecond
)

// watchdog holds an executing program to its limits on CPU and memory, and abandons one that does not stop. It is a
// timer, armed while the program executes: an idle engine wakes nothing, and a short run never sees a tick.
type watchdog struct {
	// set by newWatchdog, then read-only
	e       *Engine
	cpuTime func() time.Duration // nil: executing is what counts
	timer   *time.Timer

	// set by begin, then read-only
	begun  bool
	limits Limits
	base   time.Duration // cpuTime at begin

	mu        sync.Mutex // guards the fields below
	executing bool
	ended     bool
	abandoned bool
	stopped   time.Time     // when the program was told to stop; zero: it was not
	entered   time.Time     // when it began to execute
	executed  time.Duration // before that

	// used by one tick at a time
	softLimit sync.Once
	samples   [2]metrics.Sample
	collected int64 // memory in use after the last collection forced by remember
}

func newWatchdog(e *Engine, cpuTime func() time.Duration) *watchdog {
	w := &watchdog{e: e, cpuTime: cpuTime}
	w.samples[0].Name = "/memory/classes/heap/objects:bytes"
	w.samples[1].Name = "/memory/classes/heap/stacks:bytes"
	metrics.Read(w.samples[:]) // the first read builds tables
	w.timer = time.AfterFunc(time.Hour, w.tick)
	w.timer.Stop()
	return w
}

func (w *watchdog) begin(limits Limits) {
	w.begun, w.limits = true, limits
	if w.cpuTime != nil {
		w.base = w.cpuTime()
	}
}

// enter and leave mark the time when code of the program executes. While the engine warms, there are no limits yet.
func (w *watchdog) enter() {
	if !w.begun {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.executing = true
	w.entered = time.Now()
	w.timer.Reset(tick)
}

func (w *watchdog) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.executing {
		w.executing = false
		w.executed += time.Since(w.entered)
		w.timer.Stop()
	}
}

// startGrace begins the countdown of a program that was told to stop.
func (w *watchdog) startGrace() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = time.Now()
	if w.executing {
		w.timer.Reset(grace)
	}
}

// end makes sure that there is one outcome: after Abandon there is none from Run.
func (w *watchdog) end() {
	w.mu.Lock()
	w.executing = false
	w.ended = true
	w.timer.Stop()
	abandoned := w.abandoned
	w.mu.Unlock()
	if abandoned {
		select {}
	}
}

// tick runs on the timer's goroutine. The VM goroutine is preempted for it even when there is only one P.
func (w *watchdog) tick() {
	w.mu.Lock()
	if !w.executing || w.ended || w.abandoned {
		w.mu.Unlock()
		return
	}
	if !w.stopped.IsZero() {
		defer w.mu.Unlock()
		w.expire()
		return
	}
	executed := w.executed + time.Since(w.entered)
	w.mu.Unlock()

	if s := w.exceeded(executed); s != nil {
		w.e.halt(*s)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.executing && w.stopped.IsZero() {
		w.timer.Reset(tick)
	}
}

// expire abandons a program whose grace is over. It is called with mu held.
func (w *watchdog) expire() {
	if left := grace - time.Since(w.stopped); left > 0 {
		w.timer.Reset(left)
		return
	}
	w.abandoned = true
	go w.e.abandon()
}

// abandon hands out an outcome while the program is still running: it reads nothing that the program's goroutine
// owns.
func (e *Engine) abandon() {
	s := e.stopped()
	out := Outcome{Kind: s.kind, Error: &Error{Message: clipText(s.message, maxMessage), Hint: s.hint}}
	e.mu.Lock()
	out.Lines, e.lines = e.lines, nil
	out.Unsent = listCalls(e.batch)
	out.Pending = listPending(e.inflight)
	e.mu.Unlock()
	if e.host.Abandon != nil {
		e.host.Abandon(out)
	}
}

// exceeded gives the limit that the program is over. Far above the limit on memory the collector gets a limit of its
// own: without it a program allocates on at full speed while the collection runs that is to tell how much of it is
// live. At the limit itself it would collect all the time instead of letting the program end.
func (w *watchdog) exceeded(executed time.Duration) *stop {
	used := executed
	if w.cpuTime != nil {
		used = w.cpuTime() - w.base
	}
	if used > w.limits.CPU {
		return &stop{
			kind:    KindCPU,
			message: fmt.Sprintf("used more than %v of CPU time", w.limits.CPU),
			hint:    "do less work: look for a loop that does not end, or for one inside another over the same data",
		}
	}
	w.softLimit.Do(func() { debug.SetMemoryLimit(w.limits.MemoryBytes * 5 / 4) })
	if bytes := w.memory(); bytes > w.limits.MemoryBytes {
		return &stop{
			kind:    KindMemory,
			message: fmt.Sprintf("used %d MiB of memory, the limit is %d MiB", bytes>>20, w.limits.MemoryBytes>>20),
			hint:    "keep less at a time: page through the data, and keep the fields that are needed",
		}
	}
	return nil
}

// memory is what the program holds: objects on the Go heap and stacks. The heap figure counts garbage, so a figure
// over the limit is believed only after a collection; a program near the limit is not collected again until it
// has allocated a sixteenth of the limit, or collecting would be all that it does.
func (w *watchdog) memory() int64 {
	bytes := w.inUse()
	if bytes <= w.limits.MemoryBytes || bytes < w.collected+w.limits.MemoryBytes/16 {
		return min(bytes, w.limits.MemoryBytes)
	}
	runtime.GC()
	w.collected = w.inUse()
	return w.collected
}

func (w *watchdog) inUse() int64 {
	metrics.Read(w.samples[:])
	return int64(w.samples[0].Value.Uint64() + w.samples[1].Value.Uint64())
}
