package js

import (
	"errors"
	"fmt"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
)

const (
	maxMessage = 4 << 10 // of an error's message: it goes into a model's context
	maxCauses  = 3       // a chain of causes longer than this is cut
)

// ended is the outcome of an error that came out of the runtime.
func (e *Engine) ended(err error) Outcome {
	if errors.Is(err, errNeverSettles) {
		return Outcome{Kind: KindError, Error: &Error{
			Message: "can never settle: the program awaits a promise, and no call or timer is left that could settle it",
			Hint:    "look for a `new Promise` whose resolve is never called",
		}}
	}
	if out, ok := e.uncatchable(err); ok {
		return out
	}
	var ex *goja.Exception
	if errors.As(err, &ex) {
		return e.thrownAt(ex.Value(), ex.Stack())
	}
	return Outcome{Kind: KindCrash, Error: &Error{Message: clipText(err.Error(), maxMessage)}}
}

// uncatchable is the outcome of what a program can't catch: a reason to stop, or too deep a recursion.
func (e *Engine) uncatchable(err error) (Outcome, bool) {
	var interrupted *goja.InterruptedError
	var overflow *goja.StackOverflowError
	switch {
	case e.stopped() != nil:
		errors.As(err, &interrupted)
		return e.halted(interrupted), true
	case errors.As(err, &overflow):
		failure := &Error{
			Message: fmt.Sprintf("too deeply nested: more than %d calls inside each other (Maximum call stack size exceeded)", maxCallDepth),
			Hint:    "end the recursion, or turn it into a loop over an array",
		}
		e.source.locate(failure, overflow.Stack())
		return Outcome{Kind: KindError, Error: failure}, true
	}
	return Outcome{}, false
}

// halted is the outcome of a stop, at the place where the program was.
func (e *Engine) halted(interrupted *goja.InterruptedError) Outcome {
	s := e.stopped()
	failure := &Error{Message: clipText(s.message, maxMessage), Hint: s.hint}
	if !e.source.locate(failure, s.at) && interrupted != nil {
		e.source.locate(failure, interrupted.Stack())
	}
	return Outcome{Kind: s.kind, Error: failure}
}

// thrown is the outcome of a value that the program threw, or that a promise was rejected with.
func (e *Engine) thrown(v goja.Value) Outcome { return e.thrownAt(v, nil) }

func (e *Engine) thrownAt(v goja.Value, frames []goja.StackFrame) Outcome {
	out := Outcome{Kind: KindError}
	if o, ok := v.(*goja.Object); ok && e.refusals[o] {
		out.Kind = KindDenied
	}
	failure := &Error{}
	var at thrownPlace
	// Describing a value may run the program's getters, and they may throw, loop or recurse.
	err := e.guarded(func() {
		failure.Message = clipText(e.describe(v, 0), maxMessage)
		at = e.placeThrown(failure, v, frames)
	})
	if err != nil {
		if out, ok := e.uncatchable(err); ok {
			return out
		}
		failure.Message = "threw a value that can't be described"
	}
	e.explain(failure, at)
	out.Error = failure
	return out
}

// thrownPlace is where an error was made in the compiled text, and how many built-in functions were between.
type thrownPlace struct {
	file.Position
	depth int
}

func (e *Engine) placeThrown(failure *Error, v goja.Value, frames []goja.StackFrame) thrownPlace {
	at, depth := e.source.findText(e.stackOf(v))
	if depth < 0 {
		at, depth = e.source.find(frames)
	}
	if depth >= 0 {
		e.source.place(failure, e.source.offset(at))
	}
	return thrownPlace{at, depth}
}

// guarded runs what may run code of the program, outside of any call into the runtime.
func (e *Engine) guarded(f func()) (err error) {
	e.dog.enter()
	defer e.dog.leave()
	defer func() {
		if x := recover(); x != nil {
			var ok bool
			if err, ok = x.(error); !ok {
				panic(x)
			}
			if _, ok := e.uncatchable(err); !ok {
				panic(x)
			}
		}
	}()
	if ex := e.vm.Try(f); ex != nil {
		return ex
	}
	return nil
}

// describe says what was thrown: name and message of an Error with its causes, the value itself otherwise.
func (e *Engine) describe(v goja.Value, depth int) string {
	o, ok := v.(*goja.Object)
	if !ok || kindOf(o) != kindError {
		return fmt.Sprintf("threw %s, %s and not an Error", clipText(e.inspect(v), maxMessage/2), kindName(v))
	}
	text := errorTitle(o)
	if list, ok := o.Get("errors").(*goja.Object); ok && depth < maxCauses && kindOf(list) == kindArray {
		for i, item := range e.firstItems(list, maxCauses) {
			text += fmt.Sprintf("; error %d: %s", i+1, e.describe(item, depth+1))
		}
	}
	if cause := o.Get("cause"); cause != nil && !goja.IsUndefined(cause) {
		if depth == maxCauses {
			return text + "; cause: …"
		}
		text += "; cause: " + e.describe(cause, depth+1)
	}
	return text
}

// errorTitle is "Name: message" of an Error, as its own toString would say it.
func errorTitle(o *goja.Object) string {
	name, message := "Error", ""
	if v := o.Get("name"); v != nil && !goja.IsUndefined(v) {
		name = v.String()
	}
	if v := o.Get("message"); v != nil && !goja.IsUndefined(v) {
		message = v.String()
	}
	switch {
	case message == "":
		return name
	case name == "":
		return message
	}
	return name + ": " + message
}

func (e *Engine) stackOf(v goja.Value) string {
	if o, ok := v.(*goja.Object); ok && kindOf(o) == kindError {
		if stack := o.Get("stack"); stack != nil {
			return stack.String()
		}
	}
	return ""
}

// rejections are the promises that were rejected while nothing awaited them, in order.
type rejections struct{ promises []*goja.Promise }

func (r *rejections) track(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		r.promises = append(r.promises, p)
		return
	}
	for i, q := range r.promises {
		if q == p {
			r.promises = append(r.promises[:i], r.promises[i+1:]...)
			return
		}
	}
}

// unhandled is the outcome of the first rejection that nothing awaited, if there is one.
func (e *Engine) unhandled(main *goja.Promise) (Outcome, bool) {
	for _, p := range e.rejected.promises {
		if p == main {
			continue
		}
		out := e.thrown(p.Result())
		out.Error.Message = clipText("a promise that nothing awaited was rejected: "+out.Error.Message, maxMessage)
		if out.Error.Hint == "" {
			out.Error.Hint = "await it, or handle it with catch"
		}
		return out, true
	}
	return Outcome{}, false
}
