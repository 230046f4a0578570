package js

import (
	"reflect"

	"github.com/dop251/goja"
)

// lazy is an object of a document whose members are made when they are asked for, each once. It is a dynamic object of
// goja's until the first thing is done to it that those do in a way of their own, such as any change. Then it becomes an
// ordinary object, in place: the pointer that the program holds stays, and what is behind it is exchanged.
//
// A program can't tell the two apart. What goja does to a dynamic object comes here or, for what is none of its members,
// to its prototype, see beyond. The rest is of two kinds: built-ins, which make their arguments ordinary first, and
// syntax, for which programs that have it get ordinary objects from the beginning; see ordinary.go.
type lazy struct {
	records  *records
	row      uint32       // among the records
	at       uint32       // of the first value in the tape; 0: the object is ordinary by now
	object   *goja.Object // what the program holds
	ordinary goja.Object  // what will be behind that
}

func (d *document) lazy(r *records, at int) *goja.Object {
	if r.columns == nil {
		r.columns = make([][]goja.Value, len(r.shape.names))
	}
	l := d.newLazy()
	// What is behind an object knows the object: goja makes it the `this` of accessors. So the ordinary one is made
	// first, and stays true. The dynamic one knows another, which is put right in beyond.
	o, dynamic := d.vm.NewObject(), d.vm.NewDynamicObject(l)
	*l = lazy{records: r, row: uint32(d.tape[at+1]), at: uint32(at + 2), object: o, ordinary: *o}
	dynamic.SetPrototype(d.beyond)
	*o = *dynamic
	return o
}

// settle makes the object ordinary, if it is not.
func (l *lazy) settle() *goja.Object {
	if l.settled() {
		return l.object
	}
	*l.object = l.ordinary
	for column, name := range l.records.shape.names {
		setOwn(l.object, name, l.value(column))
	}
	l.at = 0
	return l.object
}

func (l *lazy) settled() bool { return l.at == 0 }

func (l *lazy) value(column int) goja.Value {
	r := l.records
	if r.columns[column] == nil {
		r.columns[column] = make([]goja.Value, r.rows)
	}
	v := &r.columns[column][l.row]
	if *v == nil {
		*v = r.doc.value(r.doc.tape[int(l.at)+column])
	}
	return *v
}

// The methods are those of a goja.DynamicObject. goja can still call them when the object is ordinary by now: in the
// middle of a loop over its names that changes it.

func (l *lazy) Get(name string) goja.Value {
	if l.settled() {
		return l.object.Get(name)
	}
	column := l.records.shape.column(name)
	if column < 0 {
		return nil
	}
	return l.value(column)
}

func (l *lazy) Has(name string) bool {
	if l.settled() {
		_, ok := (&inspector{e: l.records.doc.e}).own(l.object, name)
		return ok
	}
	return l.records.shape.column(name) >= 0
}

func (l *lazy) Set(name string, v goja.Value) bool {
	if err := l.settle().Set(name, v); err != nil {
		panic(err)
	}
	return true
}

func (l *lazy) Delete(name string) bool {
	if err := l.settle().Delete(name); err != nil {
		panic(err)
	}
	return true
}

func (l *lazy) Keys() []string {
	if l.settled() {
		return l.object.Keys()
	}
	return l.records.shape.keys
}

var lazyType = reflect.TypeFor[*lazy]()

// lazyOf is the lazy object behind an object, nil if it is an ordinary one.
func lazyOf(o *goja.Object) *lazy {
	if o.ExportType() != lazyType {
		return nil
	}
	return o.Export().(*lazy)
}

// newBeyond makes the prototype of lazy objects, which programs never see: a proxy of an empty object in front of
// Object.prototype. What goja does not find on a lazy object it asks for there, and names as the receiver the object that
// it made the lazy one with. The program must see the one that it holds. It sets there what is new to a lazy object, under
// names that a lazy object's own methods would not get whole: symbols, and text that is not well-formed Unicode.
func (e *Engine) newBeyond() *goja.Object {
	reflectGet, reflectSet := method(e.real.reflect, "get"), method(e.real.reflect, "set")
	handler := e.vm.CreateObject(nil) // or traps that a program puts on Object.prototype would be called
	setOwn(handler, "get", e.native("get", 3, func(fc goja.FunctionCall) goja.Value {
		receiver := fc.Argument(2)
		if l := lazyBehind(receiver); l != nil {
			receiver = l.object
		}
		return must(reflectGet(nil, e.real.objectPrototype, fc.Argument(1), receiver))
	}))
	setOwn(handler, "set", e.native("set", 4, func(fc goja.FunctionCall) goja.Value {
		receiver := fc.Argument(3)
		if l := lazyBehind(receiver); l != nil {
			receiver = l.settle()
		}
		return must(reflectSet(nil, e.real.objectPrototype, fc.Argument(1), fc.Argument(2), receiver))
	}))
	proxy, err := e.vm.New(e.vm.Get("Proxy"), e.vm.NewObject(), handler)
	if err != nil {
		panic("js: " + err.Error()) // at New, on every run: a wrong goja
	}
	return proxy
}

func lazyBehind(v goja.Value) *lazy {
	if o, ok := v.(*goja.Object); ok {
		return lazyOf(o)
	}
	return nil
}
