package server

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/sandboxd/sandboxd"
)

// limitError is the cause with which a run's context ends that went over a limit in time.
type limitError struct {
	kind          sandboxd.Outcome
	message, hint string
}

func (e *limitError) Error() string { return e.message }

const cpuHint = "do less work: ask tools for less data, or avoid loops within loops"

func cpuMessage(l sandboxd.Limits) string {
	return fmt.Sprintf("the program used more than its %d ms of CPU time", l.CPUMS)
}

// grace is what a worker gets to say where in the program it was when its time was up.
const grace = 250 * time.Millisecond

// watcher holds the limits on time, from outside: it asks the worker to end, and then ends it.
type watcher struct {
	run *run

	mu    sync.Mutex // guards the fields below
	wall  *time.Timer
	until time.Time     // when wall ends the run
	still bool          // the wall clock stands still
	left  time.Duration // what it goes on with
	cpu   *time.Timer
	rss   *time.Timer
	tick  *time.Ticker
	ended chan struct{}
	over  *limitError // that the worker was asked to end for

	waits  []string // for approvals: of which calls
	since  time.Time
	waited time.Duration // with at least one, up to since
}

// watch begins with the lease. The caller must call end.
func watch(r *run) *watcher {
	w := &watcher{run: r, ended: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	wall := time.Duration(r.limits.WallMS) * time.Millisecond
	w.start(wall)
	w.cpu = time.AfterFunc(w.cpuLeft(0), w.checkCPU)
	w.rss = time.AfterFunc(memoryEvery, w.checkMemory)
	if r.program.Progress {
		w.tick = time.NewTicker(progressEvery)
		r.calls.Go(w.progress)
	}
	return w
}

// start lets the wall clock go on. The caller has the lock.
func (w *watcher) start(left time.Duration) {
	w.until = time.Now().Add(left)
	w.wall = time.AfterFunc(left, w.wallOver)
}

// hold stops the wall clock while a call waits for an approval, which is time that no program can save. CPU time and memory count on.
// The caller must call release, once.
func (w *watcher) hold(call string) (release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits = append(w.waits, call)
	if len(w.waits) == 1 {
		w.since = time.Now()
		// A timer that can't be stopped has fired: the time was up before. After that it is the grace's.
		if w.over == nil && w.wall.Stop() {
			w.still, w.left = true, max(time.Until(w.until), 0)
		}
	}
	return func() { w.release(call) }
}

func (w *watcher) release(call string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waits, call)
	w.waits = slices.Delete(w.waits, i, i+1)
	if len(w.waits) > 0 {
		return
	}
	w.waited += time.Since(w.since)
	select {
	case <-w.ended:
		return
	default:
	}
	if w.still {
		w.still = false
		w.start(w.left)
	}
}

// approvals is how long at least one call has waited for an approval, and for which one the run waits now.
func (w *watcher) approvals() (waited time.Duration, call string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waits) == 0 {
		return w.waited, ""
	}
	return w.waited + time.Since(w.since), w.waits[0]
}

func (w *watcher) wallOver() {
	e := &limitError{sandboxd.OutcomeTimeout, fmt.Sprintf("the run took longer than its %d ms", w.run.limits.WallMS),
		"await calls together with Promise.all, or split the work over several programs"}
	w.ask(e)
}

// ask lets the worker end the run itself, and cancels it if it has not after the grace.
func (w *watcher) ask(e *limitError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.ended:
		return
	default:
	}
	w.over = e
	w.wall = time.AfterFunc(grace, func() { w.run.stop(e) })
	w.run.calls.Go(func() {
		// A worker that does not take it is killed after the grace.
		_ = w.run.worker.Stop(string(e.kind), e.message)
	})
}

// asked is what the worker was asked to end for, if it was.
func (w *watcher) asked() *limitError {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// cpuLeft is how soon the worker can have used up its CPU time, if it has used that much: it has no
// more threads running than there are processors.
func (w *watcher) cpuLeft(used time.Duration) time.Duration {
	left := time.Duration(w.run.limits.CPUMS)*time.Millisecond + cpuSlack - used
	return max(left/time.Duration(runtime.NumCPU()), 5*time.Millisecond)
}

// deathWait is how long a busy machine may take to tell of a death.
const deathWait = 5 * time.Second

// cpuSlack lets the engine's own watchdog, which knows the place in the program, be first, and covers the
// CPU time of the worker's birth. On a busy machine the watchdog's thread waits for its turn while the program's runs on: 100 ms were
// too little now and then.
const cpuSlack = 250 * time.Millisecond

func (w *watcher) checkCPU() {
	used, err := w.run.worker.CPU()
	if err != nil {
		// Dead, which follow sees as soon as the machine lets it. A limit that can't be measured otherwise is no limit.
		w.again(&w.cpu, deathWait, func() { w.run.stop(&faultError{fmt.Errorf("CPU time can't be measured: %w", err)}) })
		return
	}
	limit := time.Duration(w.run.limits.CPUMS)*time.Millisecond + cpuSlack
	if used >= limit {
		w.run.stop(&limitError{sandboxd.OutcomeCPU, cpuMessage(w.run.limits), cpuHint})
		return
	}
	w.again(&w.cpu, w.cpuLeft(used), w.checkCPU)
}

// memoryEvery is how often resident memory is looked at. The wall at three times the limit is address space, which
// leaves out what Go reserved before; this one is what counts, a little later.
const memoryEvery = 25 * time.Millisecond

// memoryFactor is above what an honest engine has resident at its limit: code, garbage, and stacks.
const memoryFactor = 2

func (w *watcher) checkMemory() {
	resident, err := w.run.worker.Memory()
	if err != nil {
		w.again(&w.rss, deathWait, func() { w.run.stop(&faultError{fmt.Errorf("memory can't be measured: %w", err)}) })
		return
	}
	if resident > memoryFactor*w.run.limits.MemoryBytes {
		e := w.run.overMemory()
		w.run.stop(&limitError{sandboxd.OutcomeMemory, e.Message, e.Hint})
		return
	}
	w.again(&w.rss, memoryEvery, w.checkMemory)
}

// again sets a timer, unless the run has ended.
func (w *watcher) again(timer **time.Timer, after time.Duration, do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.ended:
	default:
		*timer = time.AfterFunc(after, do)
	}
}

const progressEvery = time.Second

func (w *watcher) progress() {
	for {
		select {
		case <-w.ended:
			return
		case <-w.tick.C:
		}
		w.tell(context.Background())
	}
}

// tell sends one run/progress. What waits for a person comes first: nothing but a person ends it.
func (w *watcher) tell(ctx context.Context) {
	r := w.run
	tally := r.account.Tally()
	_, approval := w.approvals()
	r.notify(ctx, "run/progress", sandboxd.Progress{
		Run: r.account.ID, Token: r.program.Token, ElapsedMS: since(r.began),
		Calls: tally.Calls, Finished: tally.Finished, Doing: doing(approval, tally.Tool),
	})
}

// doing is what a run that has a worker does: it may have a call that waits for an approval, and one at its tool.
func doing(approval, tool string) string {
	switch {
	case approval != "":
		return "waiting for approval of " + approval
	case tool != "":
		return "waiting for " + tool
	}
	return "computing"
}

func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.ended)
	w.wall.Stop()
	w.cpu.Stop()
	w.rss.Stop()
	if w.tick != nil {
		w.tick.Stop()
	}
}
