package js

import (
	"fmt"
	"slices"
	"time"

	"github.com/dop251/goja"
)

// maxTimer is the longest delay that node takes; what is longer, or not a number, is 1 ms there too.
const maxTimer = 1<<31 - 1

// maxTimers bounds how many wait at once: each costs memory that the program does not see, and time to sort it in.
const maxTimers = 10_000

// timers are due callbacks in order. They fire on Run's goroutine, between turns.
type timers struct {
	queue []*timer
	last  int64
}

type timer struct {
	id    int64
	due   time.Time     // by the program's clock: the order
	wake  time.Time     // in the process's time, which is waited for
	every time.Duration // 0: once
	call  goja.Callable
	args  []goja.Value
}

func (t *timers) add(n *timer) int64 {
	t.last++
	n.id = t.last
	t.insert(n)
	return n.id
}

// insert keeps timers that are due at the same time in the order they were set.
func (t *timers) insert(n *timer) {
	i, _ := slices.BinarySearchFunc(t.queue, n, func(a, b *timer) int {
		if a.due.After(b.due) {
			return 1
		}
		return -1
	})
	t.queue = slices.Insert(t.queue, i, n)
}

func (t *timers) remove(id int64) {
	t.queue = slices.DeleteFunc(t.queue, func(n *timer) bool { return n.id == id })
}

func (t *timers) next() (time.Time, bool) {
	if len(t.queue) == 0 {
		return time.Time{}, false
	}
	return t.queue[0].wake, true
}

func (n *timer) set(c *clock, delay time.Duration) {
	n.due, n.wake = c.time().Add(delay), time.Now().Add(delay)
}

// fire calls what is due. An exception in a callback has nobody to catch it and ends the run.
func (t *timers) fire(now time.Time, c *clock) error {
	for len(t.queue) > 0 && !t.queue[0].wake.After(now) {
		n := t.queue[0]
		t.queue = t.queue[1:]
		c.reach(n.due)
		if n.every > 0 {
			n.set(c, n.every)
			t.insert(n)
		}
		if _, err := n.call(goja.Undefined(), n.args...); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) setTimeout(fc goja.FunctionCall) goja.Value {
	return e.addTimer(fc, "setTimeout", false)
}
func (e *Engine) setInterval(fc goja.FunctionCall) goja.Value {
	return e.addTimer(fc, "setInterval", true)
}

func (e *Engine) addTimer(fc goja.FunctionCall, name string, repeat bool) goja.Value {
	n := &timer{call: e.callback(fc, name)}
	delay := fc.Argument(1).ToInteger()
	if delay < 1 || delay > maxTimer {
		delay = 1
	}
	if len(fc.Arguments) > 2 {
		n.args = slices.Clone(fc.Arguments[2:])
	}
	after := time.Duration(delay) * time.Millisecond
	if repeat {
		n.every = after
	}
	return e.startTimer(n, after)
}

// setImmediate's callbacks come before timers that are not due yet, and after all promises.
func (e *Engine) setImmediate(fc goja.FunctionCall) goja.Value {
	n := &timer{call: e.callback(fc, "setImmediate")}
	if len(fc.Arguments) > 1 {
		n.args = slices.Clone(fc.Arguments[1:])
	}
	return e.startTimer(n, 0)
}

func (e *Engine) startTimer(n *timer, after time.Duration) goja.Value {
	if len(e.timers.queue) == maxTimers {
		panic(e.newError(e.real.rangeError, fmt.Sprintf("more than %d timers at once: wait for some of them first", maxTimers)))
	}
	n.set(&e.clock, after)
	return e.vm.ToValue(e.timers.add(n))
}

func (e *Engine) clearTimer(fc goja.FunctionCall) goja.Value {
	if id := fc.Argument(0); goja.IsNumber(id) {
		e.timers.remove(id.ToInteger())
	}
	return goja.Undefined()
}

// queueMicrotask goes through a promise of our own: goja has no other way into its job queue. An exception becomes
// a rejection that nothing awaits, which fails the run.
func (e *Engine) queueMicrotask(fc goja.FunctionCall) goja.Value {
	callback := e.callback(fc, "queueMicrotask")
	promise, resolve, _ := e.vm.NewPromise()
	resolve(goja.Undefined())
	job := e.native("", 0, func(goja.FunctionCall) goja.Value {
		if _, err := callback(goja.Undefined()); err != nil {
			panic(err)
		}
		return goja.Undefined()
	})
	if _, err := e.real.then(e.vm.ToValue(promise), job); err != nil {
		panic(err)
	}
	return goja.Undefined()
}

func (e *Engine) callback(fc goja.FunctionCall, name string) goja.Callable {
	callback, ok := goja.AssertFunction(fc.Argument(0))
	if !ok {
		panic(e.newError(e.real.typeError, name+" takes a function, it was given "+kindName(fc.Argument(0))))
	}
	return callback
}
