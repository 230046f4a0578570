package js

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dop251/goja"
)

// intrinsics are built-ins as they were before the program could replace them.
type intrinsics struct {
	typeError, rangeError, syntaxError, plainError, toolError, toolBlocked *goja.Object

	object, reflect, objectPrototype, arrayPrototype, bigIntPrototype *goja.Object

	mapConstructor         *goja.Object
	arrayIterator          *goja.Object // the prototype of array iterators; set when a program is launched, as are the next two
	arrayValues, arrayNext goja.Value

	getOwnPropertyDescriptor, defineProperty, get, has, mapForEach, setForEach, mapGet, mapSet goja.Callable
	then, dateToISO, keyFor                                                                    goja.Callable
}

// setGlobals makes what every program sees; setRunGlobals what is particular to a run.
func (e *Engine) setGlobals() {
	r := &e.real
	r.plainError, r.typeError = e.global("Error"), e.global("TypeError")
	r.rangeError, r.syntaxError = e.global("RangeError"), e.global("SyntaxError")
	r.object, r.reflect = e.global("Object"), e.global("Reflect")
	r.getOwnPropertyDescriptor, r.has = method(r.reflect, "getOwnPropertyDescriptor"), method(r.reflect, "has")
	r.objectPrototype, r.arrayPrototype = e.prototype("Object"), e.prototype("Array")
	r.bigIntPrototype = e.prototype("BigInt")
	r.mapForEach, r.setForEach = e.protoMethod("Map", "forEach"), e.protoMethod("Set", "forEach")
	e.mendDates()
	e.mendNumbers()
	e.mendRadix()
	r.defineProperty, r.keyFor = method(r.reflect, "defineProperty"), method(e.global("Symbol"), "keyFor")
	r.get = method(r.reflect, "get")
	r.mapConstructor, r.mapGet, r.mapSet = e.global("Map"), e.protoMethod("Map", "get"), e.protoMethod("Map", "set")
	r.then, r.dateToISO = e.protoMethod("Promise", "then"), e.protoMethod("Date", "toISOString")
	r.toolError, r.toolBlocked = e.errorClass("ToolError"), e.errorClass("ToolBlocked")
	e.define("ToolError", r.toolError)
	e.define("ToolBlocked", r.toolBlocked)
	e.define("console", e.consoleObject())
	functions := map[string]func(goja.FunctionCall) goja.Value{
		"setTimeout":      e.setTimeout,
		"setInterval":     e.setInterval,
		"clearTimeout":    e.clearTimer,
		"clearInterval":   e.clearTimer,
		"setImmediate":    e.setImmediate,
		"clearImmediate":  e.clearTimer,
		"queueMicrotask":  e.queueMicrotask,
		"structuredClone": e.structuredClone,
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) { // a program can see the order
		e.define(name, e.native(name, 1, functions[name]))
	}
	hide(e.global("JSON"), "parse", e.native("parse", 2, e.jsonParse))
	hide(e.global("JSON"), "stringify", e.native("stringify", 3, e.jsonStringify))
	e.vm.GlobalObject().Delete("GoError") // goja's own: nothing here makes one
	e.boundStrings()
	e.addFunctions()
	e.addLegacy()
	e.addIterators()
	e.arrayEnds()
	e.arraySorts()
	e.setLocales()
	e.regexps.install(e)
	e.json.beyond = e.newBeyond()
	e.settleFirst()
}

func (e *Engine) setRunGlobals(input []byte) error {
	e.define("tools", e.vm.NewDynamicObject(e.tools))
	v := goja.Undefined()
	if len(input) > 0 {
		var err error
		if v, err = e.json.parse(string(input)); err != nil {
			return fmt.Errorf("the run's input is not JSON: %w", err)
		}
	}
	e.define("input", v)
	return nil
}

// global is a built-in. One that is looked up late can be gone, which is the program's own doing.
func (e *Engine) global(name string) *goja.Object { return orUndefined(e.vm.Get(name)).ToObject(e.vm) }

func (e *Engine) prototype(class string) *goja.Object {
	return orUndefined(e.global(class).Get("prototype")).ToObject(e.vm)
}

func (e *Engine) protoMethod(class, name string) goja.Callable {
	return method(e.prototype(class), name)
}

func method(o *goja.Object, name string) goja.Callable {
	f, ok := goja.AssertFunction(o.Get(name))
	if !ok {
		panic("js: this goja has no " + name) // at New, on every run: a wrong goja
	}
	return f
}

// define makes a global as built-ins are: writable, not enumerable.
func (e *Engine) define(name string, v goja.Value) { hide(e.vm.GlobalObject(), name, v) }

func hide(o *goja.Object, name string, v goja.Value) {
	o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// native is a function with a name of its own: goja would show the Go symbol's.
func (e *Engine) native(name string, length int, f func(goja.FunctionCall) goja.Value) *goja.Object {
	fn := e.vm.ToValue(f).(*goja.Object)
	e.rename(fn, name, length)
	return fn
}

func (e *Engine) rename(fn *goja.Object, name string, length int) {
	fn.DefineDataProperty("name", e.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	if length > 0 {
		fn.DefineDataProperty("length", e.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

// errorClass is a constructor that extends Error, so that programs can test with instanceof and extend it.
func (e *Engine) errorClass(name string) *goja.Object {
	construct, _ := goja.AssertConstructor(e.real.plainError)
	var class *goja.Object
	class = e.vm.ToValue(func(cc goja.ConstructorCall) *goja.Object {
		target := cc.NewTarget
		if target == nil {
			target = class
		}
		o, err := construct(target, cc.Arguments...)
		if err != nil {
			panic(err)
		}
		return o
	}).(*goja.Object)
	e.rename(class, name, 1)
	class.SetPrototype(e.real.plainError)
	proto := class.Get("prototype").(*goja.Object)
	proto.SetPrototype(e.real.plainError.Get("prototype").(*goja.Object))
	hide(proto, "name", e.vm.ToValue(name))
	hide(proto, "message", e.vm.ToValue(""))
	return class
}

func (e *Engine) newError(class *goja.Object, message string) *goja.Object {
	o, err := e.vm.New(class, e.vm.ToValue(message))
	if err != nil {
		panic(err)
	}
	return o
}

// each calls f with value and key of every entry, through forEach as it was before the program ran.
func (e *Engine) each(forEach goja.Callable, o *goja.Object, f func(v, k goja.Value)) {
	callback := e.vm.ToValue(func(fc goja.FunctionCall) goja.Value {
		f(fc.Argument(0), fc.Argument(1))
		return goja.Undefined()
	})
	if _, err := forEach(o, callback); err != nil {
		panic(err)
	}
}

func isThrown(err error) bool {
	var ex *goja.Exception
	return errors.As(err, &ex)
}
