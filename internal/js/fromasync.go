package js

import (
	_ "embed"
	"math"

	"github.com/dop251/goja"
)

//go:embed library/fromasync.js
var fromAsyncSource string

func (e *Engine) arrayFromAsync(fc goja.FunctionCall) goja.Value {
	if e.fromAsync == nil {
		e.fromAsync = e.prelude("fromasync", fromAsyncSource, e.fromAsyncNatives())["fromAsync"]
	}
	return e.call(e.fromAsync, goja.Undefined(), fc.This, fc.Argument(0), fc.Argument(1), fc.Argument(2))
}

func (e *Engine) fromAsyncNatives() natives {
	under := func(fc goja.FunctionCall) iteration { return heldIn[iteration](fc.Argument(0)) }
	object := func(v goja.Value) *goja.Object { return v.ToObject(e.vm) }
	return natives{
		"asyncIterator": func(goja.FunctionCall) goja.Value { return e.asyncIterator },
		"iterator":      func(goja.FunctionCall) goja.Value { return goja.SymIterator },
		"method": func(fc goja.FunctionCall) goja.Value {
			return e.method(fc.Argument(0), fc.Argument(1).(*goja.Symbol))
		},
		"callable": func(fc goja.FunctionCall) goja.Value {
			if !isCallable(fc.Argument(0)) {
				panic(e.newError(e.real.typeError, "Array.fromAsync takes a function to map with, it was given "+kindName(fc.Argument(0))))
			}
			return goja.Undefined()
		},
		"open": func(fc goja.FunctionCall) goja.Value { return hold(e, e.opened(fc.Argument(0), fc.Argument(1))) },
		"next": func(fc goja.FunctionCall) goja.Value { return e.call(under(fc).next, under(fc).it) },
		"done": func(fc goja.FunctionCall) goja.Value {
			if !isObject(fc.Argument(0)) {
				panic(e.newError(e.real.typeError, "an iterator's next() did not return an object"))
			}
			return e.vm.ToValue(truthy(object(fc.Argument(0)).Get("done")))
		},
		"value": func(fc goja.FunctionCall) goja.Value { return orUndefined(object(fc.Argument(0)).Get("value")) },
		"close": func(fc goja.FunctionCall) goja.Value {
			if f := orUndefined(under(fc).it.Get("return")); !goja.IsUndefined(f) && !goja.IsNull(f) {
				return e.call(f, under(fc).it)
			}
			return goja.Undefined()
		},
		// target is what `this` constructs; it is Array.fromAsync's, which is Array for most.
		"target": func(fc goja.FunctionCall) goja.Value {
			if construct, ok := goja.AssertConstructor(fc.Argument(0)); ok {
				return must(construct(nil, fc.Arguments[1:]...))
			}
			if n := fc.Argument(1); !goja.IsUndefined(n) && n.ToInteger() > math.MaxUint32 {
				panic(e.newError(e.real.rangeError, "Invalid array length"))
			}
			return e.vm.NewArray()
		},
		"put": func(fc goja.FunctionCall) goja.Value {
			d := e.vm.NewObject()
			setOwn(d, "value", fc.Argument(2))
			for _, flag := range []string{"writable", "enumerable", "configurable"} {
				setOwn(d, flag, e.vm.ToValue(true))
			}
			if !must(e.real.defineProperty(nil, fc.Argument(0), fc.Argument(1), d)).ToBoolean() {
				panic(e.newError(e.real.typeError, "Array.fromAsync can't define item "+fc.Argument(1).String()))
			}
			return goja.Undefined()
		},
		"finish": func(fc goja.FunctionCall) goja.Value {
			return must(goja.Undefined(), object(fc.Argument(0)).Set("length", fc.Argument(1)))
		},
		"length": func(fc goja.FunctionCall) goja.Value {
			return e.vm.ToValue(min(max(length(object(fc.Argument(0))), 0), maxSafeInteger))
		},
		"item": func(fc goja.FunctionCall) goja.Value {
			return item(object(fc.Argument(0)), fc.Argument(1).ToInteger())
		},
	}
}
