package js

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// fields are the enumerable own properties of an object, as there were when it was asked for them, to be written in
// their order.
type fields struct {
	e     *Engine
	o     *goja.Object
	names []string
	exact []goja.Value // the names, if one of them is no well-formed Unicode and a Go string can't hold it
	told  *lazy        // nil, or what members can be told of as the text has them, without making them
	ran   bool         // since told was set, code of the program may have
}

func (e *Engine) fieldsOf(o *goja.Object, w *output) fields {
	f := fields{e: e, o: o}
	if l := lazyOf(o); l != nil && !l.settled() {
		f.names = l.records.shape.keys
		if d := l.records.doc; !d.odd && w.level+d.depth <= w.most && e.noToJSON() {
			f.told = l
		}
		return f
	}
	f.names = o.Keys()
	for _, name := range f.names {
		if !wellFormed(name) {
			f.exact = e.exactNames(o)
			break
		}
	}
	return f
}

// write writes a field as its text has it, if it can.
func (f *fields) write(w *output, i int, first bool) bool {
	if f.told == nil {
		return false
	}
	if f.ran {
		f.ran = false
		if f.told.settled() || !f.e.noToJSON() {
			f.told = nil
			return false
		}
	}
	r := f.told.records
	column := r.shape.order[i]
	if r.columns[column] != nil {
		if _, ok := r.columns[column][f.told.row].(*goja.Object); ok { // the program can have changed it
			return false
		}
	}
	w.next(first)
	w.verbatim(r.shape.quoted[i])
	w.colon()
	r.doc.write(w, r.doc.tape[int(f.told.at)+column])
	return true
}

func (f *fields) at(i int) step {
	if f.exact != nil {
		return exactly(f.exact[i].(goja.String))
	}
	return named(f.names[i])
}

func (f *fields) value(i int) goja.Value {
	f.ran = true
	return f.e.valueAt(f.o, f.at(i))
}

func (e *Engine) valueAt(o *goja.Object, at step) goja.Value {
	if at.exact == nil {
		return o.Get(at.name)
	}
	return e.invoke(e.real.reflect, "get", o, at.exact)
}

// step is where a value stands in the one around it: at an index, or under a name if the index is negative.
type step struct {
	name  string
	exact goja.String // the name, if it is no well-formed Unicode and a Go string can't hold it
	index int64
}

func named(name string) step { return step{name: name, index: -1} }

// exactly is the step to a name.
func exactly(name goja.String) step {
	s := named(name.String())
	if !wellFormed(s.name) {
		s.exact = name
	}
	return s
}

// value is the step as JavaScript's callbacks are given it.
func (s step) value(vm *goja.Runtime) goja.Value {
	switch {
	case s.index >= 0:
		return vm.ToValue(strconv.FormatInt(s.index, 10))
	case s.exact != nil:
		return s.exact
	}
	return vm.ToValue(s.name)
}

func (s step) same(t step) bool {
	if s.exact != nil && t.exact != nil {
		return s.exact.StrictEquals(t.exact)
	}
	return s.exact == nil && t.exact == nil && s.name == t.name
}

func wellFormed(name string) bool {
	return skipPlain(name, 0) == len(name) || !strings.ContainsRune(name, utf8.RuneError)
}

// exactNames are the names of an object as values.
func (e *Engine) exactNames(o *goja.Object) (names []goja.Value) {
	list := e.invoke(e.real.object, "keys", o).(*goja.Object)
	return e.firstItems(list, length(list))
}

// noToJSON tells that data has no toJSON that could be called for it, without calling the getter of one.
func (e *Engine) noToJSON() bool {
	name := e.vm.ToValue("toJSON")
	return !must(e.real.has(nil, e.real.objectPrototype, name)).ToBoolean() && !must(e.real.has(nil, e.real.arrayPrototype, name)).ToBoolean()
}

// invoke calls a built-in that few programs need: it is looked up when it is, and a program that replaces it fools itself.
func (e *Engine) invoke(o *goja.Object, name string, args ...goja.Value) goja.Value {
	f, ok := goja.AssertFunction(o.Get(name))
	if !ok {
		panic(e.newError(e.real.typeError, name+" is not a function any more"))
	}
	return must(f(o, args...))
}
