package server

import (
	"context"
	"fmt"
	"runtime"
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
	cpu   *time.Timer
	rss   *time.Timer
	tick  *time.Ticker
	ended chan struct{}
	over  *limitError // that the worker was asked to end for
}

// watch begins with the lease. The caller must call end.
func watch(r *run) *watcher {
	w := &watcher{run: r, ended: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	wall := time.Duration(r.limits.WallMS) * time.Millisecond
	w.wall = time.AfterFunc(wall, w.wallOver)
	w.cpu = time.AfterFunc(w.cpuLeft(0), w.checkCPU)
	w.rss = time.AfterFunc(memoryEvery, w.checkMemory)
	if r.program.Progress {
		w.tick = time.NewTicker(progressEvery)
		r.calls.Go(w.progress)
	}
	return w
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
// CPU time of the worker's birth.
const cpuSlack = 100 * time.Millisecond

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
		r := w.run
		asked, finished, waitingFor := r.account.Progress()
		doing := "computing"
		if waitingFor != "" {
			doing = "waiting for " + waitingFor
		}
		r.notify(context.Background(), "run/progress", sandboxd.Progress{
			Run: r.account.ID, Token: r.program.Token, ElapsedMS: since(r.began),
			Calls: asked, Finished: finished, Doing: doing,
		})
	}
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
