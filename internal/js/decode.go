package js

import (
	"errors"
	"strings"
	"unicode/utf8"
	"weak"

	"github.com/dop251/goja"
)

// minLazy is the length from which on a text's objects are made when they are asked for. Below it they are all made at
// once, which takes some microseconds.
const minLazy = 2 << 10

// reader makes values out of JSON texts. It stands in for JSON.parse too: goja's own throws on 1e400, loses lone
// surrogates, has no positions in its errors, and overflows Go's stack on a million brackets.
type reader struct {
	e      *Engine
	shapes *shapes
	eager  bool // all objects are made at once, as ordinary ones
	living []weak.Pointer[block]
	beyond *goja.Object // the prototype of lazy objects

	// Buffers that are kept from one text to the next.
	stack []entry
	tape  []entry // of texts of which nothing is lazy
	items []any   // of arrays that are being made
}

func newReader(e *Engine) *reader { return &reader{e: e, shapes: newShapes()} }

// parse gives the value of a text. All of it is checked first. What the value holds can keep the text in memory.
func (r *reader) parse(text string) (goja.Value, error) {
	return r.read(text, r.eager || len(text) < minLazy)
}

func (r *reader) read(text string, eager bool) (goja.Value, error) {
	if len(text) > maxJSON {
		return nil, errors.New("JSON text is longer than a string can be")
	}
	x := indexer{text: text, shapes: r.roomyShapes(), stack: r.stack}
	if eager {
		x.tape = r.tape
	}
	err := x.index()
	r.stack = kept(x.stack[:0])
	if x.rough && !utf8.ValidString(text) {
		return r.read(strings.ToValidUTF8(text, "\uFFFD"), eager)
	}
	if err != nil {
		return nil, err
	}
	d := &document{
		reader: r, vm: r.e.vm, text: text, tape: x.tape, records: x.records,
		depth: x.deepest, odd: x.odd, eager: eager,
	}
	v := d.value(x.root)
	if eager {
		r.tape = kept(x.tape[:0])
	}
	return v, nil
}

// roomyShapes leaves a tree that is full to the texts that use it: one text of dictionaries would spoil it for those
// after it.
func (r *reader) roomyShapes() *shapes {
	if r.shapes.size == maxKeys {
		r.shapes = newShapes()
	}
	return r.shapes
}

// document is a text that was checked, and what is known of its values.
type document struct {
	*reader
	vm      *goja.Runtime
	text    string
	tape    []entry
	records []*records
	depth   int    // of its containers in each other
	odd     bool   // there is an object of an odd shape, or of none
	eager   bool   // objects are made at once, as ordinary ones
	room    []lazy // for those to come
}

// records are the objects of one shape in a text, by row, as far as their values have been made.
type records struct {
	// set by the indexer
	number entry // among the records of the text
	last   *key
	rows   int

	doc     *document
	shape   *shape
	columns [][]goja.Value // a column is made when it is first asked for
}

func (d *document) recordsAt(number entry) *records {
	r := d.records[number]
	if r.doc == nil {
		r.doc, r.shape = d, r.last.end()
	}
	return r
}

func (d *document) value(n entry) goja.Value {
	switch n.kind() {
	case entryInt:
		return d.vm.ToValue(n.at())
	case entryPlain:
		return d.vm.ToValue(plainText(d.text, n.at()))
	case entryString:
		return stringValue(d.vm, d.text, n.at())
	case entryArray:
		return d.array(n.at())
	case entryObject:
		return d.object(n.at())
	case entryWide:
		return d.wide(n.at())
	}
	return d.word(n.at())
}

func (d *document) word(at int) goja.Value {
	switch d.text[at] {
	case 't':
		return d.vm.ToValue(true)
	case 'f':
		return d.vm.ToValue(false)
	case 'n':
		return goja.Null()
	}
	return d.vm.ToValue(number(numberText(d.text, at)))
}

func (d *document) array(at int) goja.Value {
	base := len(d.items)
	for _, n := range d.itemsAt(at) {
		d.items = append(d.items, d.value(n))
	}
	o := d.vm.NewArray(d.items[base:]...)
	clear(d.items[base:]) // or they would be held until the next array comes
	d.items = kept(d.items[:base])
	return o
}

func (d *document) itemsAt(at int) []entry { return d.tape[at+1 : at+1+int(d.tape[at])] }

// kept is what of a buffer is kept for the next text: a long one is not.
func kept[T any](buffer []T) []T {
	const most = 1 << 14
	if len(buffer) == 0 && cap(buffer) > most {
		return nil
	}
	return buffer
}

func (d *document) object(at int) goja.Value {
	r := d.recordsAt(d.tape[at])
	if d.eager || d.reader.eager || r.shape.odd || len(r.shape.names) == 0 {
		return d.ordinary(r, at)
	}
	return d.lazy(r, at)
}

func (d *document) ordinary(r *records, at int) *goja.Object {
	o := d.vm.NewObject()
	for column, name := range r.shape.names {
		setOwn(o, name, d.value(d.tape[at+2+column]))
	}
	return o
}

// wide makes an object with names that are in no shape.
func (d *document) wide(at int) goja.Value {
	r := d.recordsAt(d.tape[at])
	o := d.ordinary(r, at)
	from := at + 2 + len(r.shape.names)
	further := d.tape[from : from+2*int(d.tape[at+1])]
	for i := 0; i < len(further); i += 2 {
		d.e.setAt(o, exactly(stringValue(d.vm, d.text, further[i].at())), d.value(further[i+1]))
	}
	return o
}

// setOwn makes an own property, whatever the prototype has of that name: `__proto__`, or what a program put or froze
// there. Set would look there first.
func setOwn(o *goja.Object, key string, v goja.Value) {
	o.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// setAt and deleteAt do it at a step, which can be a name that a Go string can't hold. What can't be changed stays as it
// is, but a proxy may throw.
func (e *Engine) setAt(o *goja.Object, at step, v goja.Value) {
	if at.exact == nil && kindOf(o) != kindProxy {
		setOwn(o, at.name, v)
		return
	}
	d := e.vm.NewObject()
	setOwn(d, "value", v)
	for _, flag := range []string{"writable", "enumerable", "configurable"} {
		setOwn(d, flag, e.vm.ToValue(true))
	}
	e.invoke(e.real.reflect, "defineProperty", o, at.value(e.vm), d)
}

func (e *Engine) deleteAt(o *goja.Object, at step) {
	if at.exact == nil && kindOf(o) != kindProxy {
		_ = o.Delete(at.name)
		return
	}
	e.invoke(e.real.reflect, "deleteProperty", o, at.value(e.vm))
}
