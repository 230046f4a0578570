package js

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"
)

// returned is the outcome of a program that came to its end: its value, unless something went wrong that the
// program itself does not see.
func (e *Engine) returned(main *goja.Promise) Outcome {
	out := e.encodeResult(main.Result())
	if e.stopped() != nil { // by code of the program that reading its value ran
		return e.halted(nil)
	}
	if out.Kind != KindOK {
		return out
	}
	if failed, ok := e.unhandled(main); ok {
		return failed
	}
	if failed, ok := e.notAwaited(&out); ok {
		return failed
	}
	return out
}

func (e *Engine) encodeResult(v goja.Value) Outcome {
	if bad := e.notData(v); bad != nil {
		return Outcome{Kind: KindError, Error: bad}
	}
	if goja.IsUndefined(v) {
		return Outcome{Kind: KindOK, Value: []byte("null"), Hint: e.noValueHint()}
	}
	enc := newEncoder(e, "result", e.limits.OutputBytes)
	var err error
	if thrown := e.guarded(func() { err = enc.encode(v) }); thrown != nil {
		return e.ended(thrown)
	}
	if err != nil {
		return e.notEncoded(err)
	}
	if enc.size() > e.limits.OutputBytes {
		return Outcome{Kind: KindOutput, Error: &Error{
			Message: fmt.Sprintf("the returned value is %d bytes of JSON, the limit is %d", enc.size(), e.limits.OutputBytes),
			Hint:    "return less: the fields that are needed, the first items, a count or a summary",
		}}
	}
	return Outcome{Kind: KindOK, Value: enc.buf}
}

// notEncoded tells a mistake in the value from an exception of a toJSON of the program.
func (e *Engine) notEncoded(err error) Outcome {
	if isThrown(err) {
		return e.ended(err)
	}
	failure := &Error{Message: "the returned value can't be written as JSON: " + err.Error()}
	if errors.Is(err, errNotAwaited) {
		failure.Message = err.Error()
		failure.Hint = "await each call, or await Promise.all([…]) for several"
		e.mu.Lock()
		if len(e.batch) > 0 {
			e.source.locate(failure, e.batch[0].at)
		}
		e.mu.Unlock()
	}
	return Outcome{Kind: KindError, Error: failure}
}

// notData refuses values that JSON.stringify turns into nothing at all.
func (e *Engine) notData(v goja.Value) *Error {
	if _, ok := v.(*goja.Symbol); ok {
		return &Error{Message: "the program returned a symbol, which is not data", Hint: "return its description"}
	}
	if _, ok := behind[*helper](v); ok {
		return &Error{Message: "the program returned an iterator, which is not data", Hint: "return its items: ….toArray()"}
	}
	o, ok := v.(*goja.Object)
	if !ok || kindOf(o) != kindFunction {
		return nil
	}
	if strings.HasPrefix(o.String(), "class") {
		return &Error{Message: "the program returned a class, which is not data", Hint: "return an instance's fields"}
	}
	return &Error{Message: "the program returned a function, which is not data", Hint: "call it: return await fn()"}
}

func (e *Engine) noValueHint() string {
	if e.console.used {
		return "the program returned nothing, it only logged: use return to give back a value"
	}
	return "the program returned nothing: use return to give back a value"
}

// notAwaited fails a run whose program returned before its calls had settled: an answer of ok would hide a write that
// was never made or a failure that nobody saw. Only Promise.race and Promise.any leave calls behind on purpose, and
// then only calls that were sent.
func (e *Engine) notAwaited(out *Outcome) (Outcome, bool) {
	e.mu.Lock()
	unsent, pending := e.batch, e.oldestPending()
	e.mu.Unlock()
	if len(unsent) > 0 {
		return e.notAwaitedError(unsent[0], "it was not sent"), true
	}
	if pending == nil {
		return Outcome{}, false
	}
	if strings.Contains(e.source.text, "Promise.race") || strings.Contains(e.source.text, "Promise.any") {
		out.Hint = fmt.Sprintf("%s had not answered when the program returned: its outcome is unknown", pending.tool)
		return Outcome{}, false
	}
	return e.notAwaitedError(pending, "its outcome is unknown"), true
}

func (e *Engine) oldestPending() (oldest *call) {
	for _, c := range e.inflight {
		if oldest == nil || c.id < oldest.id {
			oldest = c
		}
	}
	return oldest
}

func (e *Engine) notAwaitedError(c *call, state string) Outcome {
	failure := &Error{Hint: fmt.Sprintf("await it: await %s(…), or await Promise.all([…]) for several", c.tool)}
	line := ""
	if e.source.locate(failure, c.at) {
		line = fmt.Sprintf(" (line %d)", failure.Line)
	}
	failure.Message = fmt.Sprintf("the program returned while the call %s%s was not awaited; %s", c.tool, line, state)
	return Outcome{Kind: KindError, Error: failure}
}
