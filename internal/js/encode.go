package js

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"
)

var errNotAwaited = errors.New("await is missing")

// maxDepth bounds nesting in JSON, both ways. What carries the text between processes, within messages of its own,
// takes 512.
const maxDepth = 500

// encoder writes a value as JSON text, as JSON.stringify does, and beyond it, at any depth: a Map with string keys
// becomes an object, another Map an array of pairs, a Set or typed array an array, an Error an object with name and
// message. What JSON.stringify drops or loses without a word is an error with its path: a Promise, a BigInt.
//
// Reading properties may run code of the program and panic with its exception: call it within Try.
type encoder struct {
	output
	e    *Engine
	root string // what paths begin with

	path  []step
	above []*goja.Object // the objects being written
}

// newEncoder writes no more than about limit bytes, and counts the others.
func newEncoder(e *Engine, root string, limit int64) *encoder {
	return &encoder{e: e, root: root, output: output{wire: true, limit: limit, most: maxDepth}}
}

func (n *encoder) encode(v goja.Value) error {
	v, err := n.prepare(v, named(""))
	if err != nil {
		return err
	}
	return n.value(v)
}

// prepare applies toJSON, so that what it returns can be left out.
func (n *encoder) prepare(v goja.Value, at step) (goja.Value, error) {
	o, ok := v.(*goja.Object)
	if !ok {
		if v != nil && goja.IsBigInt(v) {
			return n.bigInt(v, at)
		}
		return v, nil
	}
	if toJSON, ok := goja.AssertFunction(o.Get("toJSON")); ok {
		return toJSON(o, at.value(n.e.vm))
	}
	return v, nil
}

// bigInt allows for programs that set BigInt.prototype.toJSON, which is the usual way around JSON.stringify's error.
func (n *encoder) bigInt(v goja.Value, at step) (goja.Value, error) {
	toJSON, ok := goja.AssertFunction(v.ToObject(n.e.vm).Get("toJSON"))
	if !ok {
		return nil, n.fail("%s is a BigInt, which JSON can't hold: use String(x) or Number(x)")
	}
	return toJSON(v, at.value(n.e.vm))
}

// omitted values are left out of objects, and null in arrays.
func omitted(v goja.Value) bool {
	if v == nil || goja.IsUndefined(v) {
		return true
	}
	if _, ok := v.(*goja.Symbol); ok {
		return true
	}
	o, ok := v.(*goja.Object)
	return ok && kindOf(o) == kindFunction
}

func (n *encoder) value(v goja.Value) error {
	n.spill()
	if omitted(v) {
		n.null()
		return nil
	}
	switch v := v.(type) {
	case *goja.Object:
		return n.object(v)
	case goja.String:
		n.string(v)
	default:
		n.primitive(v)
	}
	return nil
}

func (n *encoder) object(o *goja.Object) error {
	for _, p := range n.above {
		if p == o {
			return n.fail("%s is circular: it contains itself")
		}
	}
	if len(n.above) == maxDepth {
		return fmt.Errorf("too deeply nested: more than %d levels", maxDepth)
	}
	n.above = append(n.above, o)
	err := n.container(o)
	n.above = n.above[:len(n.above)-1]
	return err
}

func (n *encoder) container(o *goja.Object) error {
	switch kindOf(o) {
	case kindArray, kindTypedArray:
		return n.array(o)
	case kindPromise:
		return fmt.Errorf("%w at %s: it is a Promise", errNotAwaited, n.where())
	case kindMap:
		return n.mapObject(o)
	case kindSet:
		return n.set(o)
	case kindError:
		return n.errorObject(o)
	case kindWrapper:
		return n.wrapper(o)
	case kindTools:
		return n.fail("%s is a part of `tools`, which is not data: call a tool and use its result")
	case kindProxy:
		if isArray(o) {
			return n.array(o)
		}
	}
	n.open('{')
	return n.fields(o, true)
}

func (n *encoder) wrapper(o *goja.Object) error {
	switch o.ClassName() {
	case "Number":
		return n.value(o.ToNumber())
	case "Boolean":
		return n.value(n.e.vm.ToValue(o.Export()))
	}
	return n.value(o.ToString())
}

func (n *encoder) array(o *goja.Object) error {
	n.open('[')
	size := length(o)
	for i := range size {
		if err := n.element(i, item(o, i)); err != nil {
			return err
		}
	}
	n.close(']', size == 0)
	return nil
}

func (n *encoder) element(i int64, v goja.Value) error {
	n.next(i == 0)
	at := step{index: i}
	n.path = append(n.path, at)
	v, err := n.prepare(v, at)
	if err == nil {
		err = n.value(v)
	}
	n.path = n.path[:len(n.path)-1]
	return err
}

// fields writes the enumerable own properties, and the end of the object; first tells that no field was written before.
func (n *encoder) fields(o *goja.Object, first bool) error {
	fields := n.e.fieldsOf(o, &n.output)
	for i := range fields.names {
		if fields.write(&n.output, i, first) {
			first = false
			continue
		}
		wrote, err := n.field(fields.at(i), fields.value(i), first)
		if err != nil {
			return err
		}
		first = first && !wrote
	}
	n.close('}', first)
	return nil
}

func (n *encoder) field(at step, v goja.Value, first bool) (wrote bool, err error) {
	n.path = append(n.path, at)
	v, err = n.prepare(v, at)
	if wrote = err == nil && !omitted(v); wrote {
		n.next(first)
		n.name(at)
		err = n.value(v)
	}
	n.path = n.path[:len(n.path)-1]
	return wrote, err
}

func (n *encoder) fail(format string) error {
	return fmt.Errorf(format, n.where())
}

func (n *encoder) where() string {
	var b strings.Builder
	b.WriteString(n.root)
	for _, s := range n.path {
		if s.index < 0 {
			b.WriteString(property(s.name))
		} else {
			fmt.Fprintf(&b, "[%d]", s.index)
		}
	}
	return clipText(b.String(), 256)
}
