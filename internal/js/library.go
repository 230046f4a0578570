package js

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// part is a part of the library that is made when the program can name it, and not at a worker's birth.
type part struct {
	names []string
	load  func(e *Engine) map[string]goja.Value
}

//go:embed library/url.js
var urlSource string

//go:embed library/text.js
var textSource string

//go:embed library/events.js
var eventsSource string

//go:embed library/weak.js
var weakSource string

var parts = []part{
	{[]string{"Iterator"}, func(e *Engine) map[string]goja.Value {
		return map[string]goja.Value{"Iterator": e.iteratorConstructor()}
	}},
	{[]string{"URL", "URLSearchParams"}, (*Engine).urls},
	{[]string{"TextEncoder", "TextDecoder"}, func(e *Engine) map[string]goja.Value {
		return e.prelude("text", textSource, e.textNatives())
	}},
	{[]string{"AbortController", "AbortSignal", "Event", "EventTarget", "DOMException"}, func(e *Engine) map[string]goja.Value {
		return e.prelude("events", eventsSource, e.eventNatives())
	}},
	{[]string{"WeakRef", "FinalizationRegistry"}, func(e *Engine) map[string]goja.Value {
		return e.prelude("weak", weakSource, e.weakNatives())
	}},
	{[]string{"atob", "btoa"}, (*Engine).base64},
	{[]string{"crypto"}, (*Engine).cryptoObject},
	{[]string{"performance"}, (*Engine).performanceObject},
}

// reflects are words without which a program can't come to a global that it does not name: by the global object, or by a
// name written with escapes. eval and Function tell of themselves, through reader.newCode.
var reflects = []string{"this", "This", `\u`}

// addParts makes the parts that the program names. What can't be named can't be missed.
func (e *Engine) addParts(program string) {
	for i := range parts {
		if slices.ContainsFunc(parts[i].names, func(name string) bool { return strings.Contains(program, name) }) {
			e.add(&parts[i])
		} else {
			e.absent = append(e.absent, &parts[i])
		}
	}
	if slices.ContainsFunc(reflects, func(word string) bool { return strings.Contains(program, word) }) {
		e.promiseParts()
	}
}

func (e *Engine) add(p *part) {
	made := p.load(e)
	for _, name := range p.names {
		e.define(name, made[name])
	}
}

// promiseParts gives the names of absent parts to the global object. Each part is made when one of its names is read, and
// its names are ordinary properties from then on; until then they are accessors, as some of node's are.
func (e *Engine) promiseParts() {
	global := e.vm.GlobalObject()
	for _, p := range e.absent {
		var made map[string]goja.Value
		for _, name := range p.names {
			get := e.native("get "+name, 0, func(goja.FunctionCall) goja.Value {
				if made == nil {
					made = p.load(e)
				}
				e.define(name, made[name])
				return made[name]
			})
			set := e.native("set "+name, 1, func(fc goja.FunctionCall) goja.Value {
				e.define(name, fc.Argument(0))
				return goja.Undefined()
			})
			global.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
	e.absent = nil
}

// libraryFile begins the file names of what is written in JavaScript itself: frames of it are no frames of the program.
const libraryFile = "library/"

// prelude runs a function that makes globals out of natives. It was written by us, and uses nothing that a program can
// change: syntax, private names, and the natives that it is given.
func (e *Engine) prelude(name, source string, own natives) map[string]goja.Value {
	program, err := goja.Compile(libraryFile+name+".js", source, true)
	if err != nil {
		panic("js: " + err.Error()) // whenever it is named: a wrong library
	}
	make := must(e.vm.RunProgram(program))
	given := e.vm.NewObject()
	for _, natives := range []natives{e.preludeNatives(), own} {
		for name, f := range natives {
			setOwn(given, name, e.native(name, 0, f))
		}
	}
	setOwn(given, "Error", e.real.plainError)
	made := e.call(make, goja.Undefined(), given).(*goja.Object)
	globals := map[string]goja.Value{}
	for _, name := range made.Keys() {
		globals[name] = made.Get(name)
	}
	return globals
}

// preludeNatives are what all preludes use.
func (e *Engine) preludeNatives() natives {
	return natives{
		"typeError": func(fc goja.FunctionCall) goja.Value {
			panic(e.newError(e.real.typeError, fc.Argument(0).String()))
		},
		"call": func(fc goja.FunctionCall) goja.Value {
			return e.call(fc.Argument(0), fc.Argument(1), fc.Arguments[2:]...)
		},
		// finish gives a class's prototype what syntax does not.
		"finish": func(fc goja.FunctionCall) goja.Value {
			proto := fc.Argument(0).(*goja.Object).Get("prototype").(*goja.Object)
			tag(e, proto, fc.Argument(1).String())
			if entries := proto.Get("entries"); entries != nil {
				proto.DefineDataPropertySymbol(goja.SymIterator, entries, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
			}
			return goja.Undefined()
		},
	}
}

// tag is what Object.prototype.toString shows.
func tag(e *Engine, o *goja.Object, name string) {
	o.DefineDataPropertySymbol(goja.SymToStringTag, e.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

type natives = map[string]func(goja.FunctionCall) goja.Value

// held is state that an object of the library keeps under a private name: opaque to JavaScript.
type held[T any] struct {
	noProperties
	state T
}

func hold[T any](e *Engine, state T) goja.Value { return e.vm.NewDynamicObject(&held[T]{state: state}) }

func heldIn[T any](v goja.Value) T { return v.(*goja.Object).Export().(*held[T]).state }
