package js

import (
	"errors"
	"fmt"
	"time"

	"github.com/dop251/goja"
)

// run is the one straight path of a program: compile, start, wait and settle until nothing is pending, convert.
func (e *Engine) run(p Program) Outcome {
	program, bad := e.compile(p.Source)
	if bad != nil {
		return *bad
	}
	e.addParts(p.Source)
	if err := e.setRunGlobals(p.Input); err != nil {
		return Outcome{Kind: KindError, Error: &Error{Message: err.Error()}}
	}
	main, err := e.start(program)
	for err == nil && main.State() == goja.PromiseStatePending {
		err = e.turn()
	}
	if err != nil {
		return e.ended(err)
	}
	if e.stopped() != nil {
		return e.halted(nil)
	}
	if main.State() == goja.PromiseStateRejected {
		return e.thrown(main.Result())
	}
	return e.returned(main)
}

// start runs the program to its first idle moment.
func (e *Engine) start(program *goja.Program) (main *goja.Promise, err error) {
	e.dog.enter()
	defer e.dog.leave()
	v, err := e.launch(program)
	if err != nil {
		return nil, err
	}
	main, ok := v.Export().(*goja.Promise)
	if !ok {
		return nil, fmt.Errorf("the program did not become an async function but a %s", v.ExportType())
	}
	return main, nil
}

// turn waits for something to happen and lets the program go on until it is idle again.
func (e *Engine) turn() error {
	e.flush()
	if e.idleForEver() {
		return errNeverSettles
	}
	e.sleep()
	if e.stopped() != nil {
		return errStopped
	}
	e.dog.enter()
	defer e.dog.leave()
	if err := e.settleAnswers(); err != nil {
		return err
	}
	return e.timers.fire(time.Now(), &e.clock)
}

var (
	errStopped      = errors.New("stopped")
	errNeverSettles = errors.New("can never settle")
)

// flush hands over what the program produced since it last waited.
func (e *Engine) flush() {
	e.flushLines()
	e.mu.Lock()
	batch := e.batch
	e.batch = nil
	if e.stop != nil { // a stopped program sends nothing any more
		e.batch, batch = batch, nil
	}
	for _, c := range batch {
		e.inflight[c.id] = c
	}
	e.mu.Unlock()
	if len(batch) > 0 {
		e.host.Calls(sendable(batch))
	}
}

func (e *Engine) idleForEver() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stop == nil && len(e.inflight) == 0 && len(e.timers.queue) == 0
}

// sleep waits for an answer, for Stop or for the next timer.
func (e *Engine) sleep() {
	due, ok := e.timers.next()
	if !ok {
		<-e.wake
		return
	}
	t := time.NewTimer(time.Until(due))
	defer t.Stop()
	select {
	case <-e.wake:
	case <-t.C:
	}
}

// settleAnswers settles calls in the order their answers came. Reactions run after each.
func (e *Engine) settleAnswers() error {
	for {
		e.mu.Lock()
		inbox := e.inbox
		e.inbox = nil
		e.mu.Unlock()
		if len(inbox) == 0 {
			return nil
		}
		for _, a := range inbox {
			if err := e.settle(a); err != nil {
				return err
			}
		}
	}
}

func (e *Engine) settle(a Answer) error {
	e.mu.Lock()
	c, ok := e.inflight[a.ID]
	delete(e.inflight, a.ID)
	e.mu.Unlock()
	if !ok {
		return nil
	}
	v, fulfilled := e.answerValue(c, a)
	if fulfilled {
		e.remember(c, v)
		return c.resolve(v)
	}
	return c.reject(v)
}
