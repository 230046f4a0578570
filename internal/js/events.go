package js

import (
	"slices"
	"time"

	"github.com/dop251/goja"
)

// listeners are those of an EventTarget, or those that an event on its way still goes to: the ones that there were when it
// began, without those that were taken away since.
type listeners struct{ list []*listener }

type listener struct {
	kind string
	call goja.Value
	once bool
	gone bool
}

// errorCodes are the numbers that DOMExceptions had before they had names.
var errorCodes = map[string]int{
	"IndexSizeError": 1, "HierarchyRequestError": 3, "WrongDocumentError": 4, "InvalidCharacterError": 5,
	"NoModificationAllowedError": 7, "NotFoundError": 8, "NotSupportedError": 9, "InUseAttributeError": 10, "InvalidStateError": 11,
	"SyntaxError": 12, "InvalidModificationError": 13, "NamespaceError": 14, "InvalidAccessError": 15, "TypeMismatchError": 17,
	"SecurityError": 18, "NetworkError": 19, "AbortError": 20, "URLMismatchError": 21, "QuotaExceededError": 22,
	"TimeoutError": 23, "InvalidNodeTypeError": 24, "DataCloneError": 25,
}

func (e *Engine) eventNatives() natives {
	list := func(fc goja.FunctionCall) *listeners { return heldIn[*listeners](fc.Argument(0)) }
	return natives{
		"code": func(fc goja.FunctionCall) goja.Value { return e.vm.ToValue(errorCodes[fc.Argument(0).String()]) },
		// setName makes the name a property of its own, as those of errors that the engine makes are: it shows without a getter.
		"setName": func(fc goja.FunctionCall) goja.Value {
			hide(fc.Argument(0).(*goja.Object), "name", fc.Argument(1))
			return goja.Undefined()
		},
		"newListeners": func(goja.FunctionCall) goja.Value { return hold(e, &listeners{}) },
		"listen": func(fc goja.FunctionCall) goja.Value {
			list(fc).add(&listener{kind: fc.Argument(1).String(), call: fc.Argument(2), once: fc.Argument(3).ToBoolean()})
			return goja.Undefined()
		},
		"unlisten": func(fc goja.FunctionCall) goja.Value {
			list(fc).remove(fc.Argument(1).String(), fc.Argument(2))
			return goja.Undefined()
		},
		"begin": func(fc goja.FunctionCall) goja.Value { return hold(e, list(fc).of(fc.Argument(1).String())) },
		"next": func(fc goja.FunctionCall) goja.Value {
			if n := list(fc).next(heldIn[*listeners](fc.Argument(1))); n != nil {
				return n.call
			}
			return goja.Undefined()
		},
		"newQueue": func(goja.FunctionCall) goja.Value { return hold(e, &queue{}) },
		"enqueue": func(fc goja.FunctionCall) goja.Value {
			q := heldIn[*queue](fc.Argument(0))
			q.list = append(q.list, fc.Argument(1))
			return goja.Undefined()
		},
		"dequeue": func(fc goja.FunctionCall) goja.Value { return heldIn[*queue](fc.Argument(0)).take() },
		"each": func(fc goja.FunctionCall) goja.Value {
			e.iterationOf(fc.Argument(0)).each(func(v goja.Value) bool {
				e.call(fc.Argument(1), goja.Undefined(), v)
				return true
			})
			return goja.Undefined()
		},
		"after": func(fc goja.FunctionCall) goja.Value {
			ms := fc.Argument(0).ToNumber().ToFloat()
			if !(ms >= 0 && ms <= maxTimer) {
				panic(e.newError(e.real.rangeError, "AbortSignal.timeout takes milliseconds, from 0 on"))
			}
			call, _ := goja.AssertFunction(fc.Argument(1))
			e.startTimer(&timer{call: call}, time.Duration(ms)*time.Millisecond)
			return goja.Undefined()
		},
	}
}

type queue struct{ list []goja.Value }

func (q *queue) take() goja.Value {
	if len(q.list) == 0 {
		return goja.Undefined()
	}
	v := q.list[0]
	q.list = q.list[1:]
	return v
}

func (l *listeners) index(kind string, call goja.Value) int {
	return slices.IndexFunc(l.list, func(n *listener) bool { return n.kind == kind && n.call.SameAs(call) })
}

// add takes a listener once.
func (l *listeners) add(n *listener) {
	if l.index(n.kind, n.call) < 0 {
		l.list = append(l.list, n)
	}
}

func (l *listeners) remove(kind string, call goja.Value) {
	if i := l.index(kind, call); i >= 0 {
		l.list[i].gone = true
		l.list = slices.Delete(l.list, i, i+1)
	}
}

func (l *listeners) of(kind string) *listeners {
	var of listeners
	for _, n := range l.list {
		if n.kind == kind {
			of.list = append(of.list, n)
		}
	}
	return &of
}

// next takes the next listener that an event goes to, and one that listens once from where it came from.
func (l *listeners) next(from *listeners) *listener {
	for len(l.list) > 0 {
		n := l.list[0]
		l.list = l.list[1:]
		if n.gone {
			continue
		}
		if n.once {
			from.remove(n.kind, n.call)
		}
		return n
	}
	return nil
}
