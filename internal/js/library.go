package js

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// part is a part of the library that is made when the program can name it, and not at a worker's birth. A late one costs
// most of a millisecond, and has a name that stands in many texts: it is made when that is read.
type part struct {
	names []string
	late  bool
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
	{names: []string{"URL", "URLSearchParams"}, late: true, load: (*Engine).urls},
	{names: []string{"AbortController", "AbortSignal", "Event", "EventTarget", "DOMException"}, late: true, load: func(e *Engine) map[string]goja.Value {
		return e.prelude("events", eventsSource, e.eventNatives())
	}},
	{names: []string{"Iterator"}, load: func(e *Engine) map[string]goja.Value {
		return map[string]goja.Value{"Iterator": e.iteratorConstructor()}
	}},
	{names: []string{"TextEncoder", "TextDecoder"}, load: func(e *Engine) map[string]goja.Value {
		return e.prelude("text", textSource, e.textNatives())
	}},
	{names: []string{"WeakRef", "FinalizationRegistry"}, load: func(e *Engine) map[string]goja.Value {
		return e.prelude("weak", weakSource, e.weakNatives())
	}},
	{names: []string{"atob", "btoa"}, load: (*Engine).base64},
	{names: []string{"crypto"}, load: (*Engine).cryptoObject},
	{names: []string{"performance"}, load: (*Engine).performanceObject},
}

// reflects are words without which a program can't come to a global that it does not name: by the global object, or by a
// name written with escapes. eval and Function tell of themselves, through reader.newCode.
var reflects = []string{"this", "This", `\u`}

// addParts makes the parts that the program names. What can't be named can't be missed.
func (e *Engine) addParts(program string) {
	contains := func(word string) bool { return strings.Contains(program, word) }
	for i := range parts {
		switch p := &parts[i]; {
		case !slices.ContainsFunc(p.names, contains):
			e.absent = append(e.absent, p)
		case p.late:
			e.promise(p)
		default:
			for name, v := range p.load(e) {
				e.define(name, v)
			}
		}
	}
	if slices.ContainsFunc(reflects, contains) {
		e.promiseAbsent()
	}
}

// promiseAbsent prepares for a program that can name anything.
func (e *Engine) promiseAbsent() {
	for _, p := range e.absent {
		e.promise(p)
	}
	e.absent = nil
}

// promise makes a part when one of its names is read. Its names are ordinary properties of the global object from then on;
// until then they are accessors, as some of node's are.
func (e *Engine) promise(p *part) {
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
		e.vm.GlobalObject().DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
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
