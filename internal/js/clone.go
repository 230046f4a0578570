package js

import (
	"fmt"
	"slices"

	"github.com/dop251/goja"
)

// The constructors that structuredClone rebuilds objects with. They are looked up when they are needed, as goja makes
// them when they are first asked for, and few programs clone a typed array. A program that replaces one fools itself.
var (
	errorNames      = []string{"EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"}
	typedArrayNames = []string{
		"Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
		"Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
	}
)

// structuredClone copies a value deeply, with cycles, as HTML says. Prototypes and accessors are lost, as they are
// there; a function, symbol, Promise or part of `tools` throws a DataCloneError.
func (e *Engine) structuredClone(fc goja.FunctionCall) goja.Value {
	if len(fc.Arguments) == 0 {
		panic(e.newError(e.real.typeError, "structuredClone takes a value"))
	}
	c := cloner{e: e, copies: map[*goja.Object]*goja.Object{}}
	return c.clone(fc.Arguments[0])
}

type cloner struct {
	e      *Engine
	copies map[*goja.Object]*goja.Object
	depth  int
}

func (c *cloner) clone(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok {
		if _, symbol := v.(*goja.Symbol); symbol {
			c.refuse(v)
		}
		return v
	}
	if copied, ok := c.copies[o]; ok {
		return copied
	}
	if c.depth == maxDepth {
		panic(c.e.newError(c.e.real.rangeError, fmt.Sprintf("structuredClone: nested more than %d levels deep", maxDepth)))
	}
	c.depth++
	defer func() { c.depth-- }()
	return c.object(o)
}

func (c *cloner) object(o *goja.Object) *goja.Object {
	switch k := kindOf(o); k {
	case kindObject:
		return c.fields(o, c.keep(o, c.e.vm.NewObject()))
	case kindArray:
		copied := c.keep(o, c.e.vm.NewArray())
		copied.Set("length", length(o)) // holes stay holes
		return c.fields(o, copied)
	case kindMap, kindSet:
		return c.collection(o, k)
	case kindDate:
		return c.keep(o, c.construct("Date", o.ToNumber()))
	case kindRegExp:
		return c.keep(o, c.e.regexps.clone(o))
	case kindError:
		return c.errorObject(o)
	case kindWrapper:
		return c.keep(o, c.construct(o.ClassName(), c.primitive(o)))
	case kindArrayBuffer:
		bytes := append([]byte(nil), o.Export().(goja.ArrayBuffer).Bytes()...)
		return c.keep(o, c.e.vm.ToValue(c.e.vm.NewArrayBuffer(bytes)).(*goja.Object))
	case kindTypedArray:
		return c.keep(o, c.construct(c.typedArrayName(o), o)) // a constructor copies its argument's items
	}
	c.refuse(o)
	return nil
}

// keep records the copy before its insides are made, so that a cycle finds it.
func (c *cloner) keep(o, copied *goja.Object) *goja.Object {
	c.copies[o] = copied
	return copied
}

func (c *cloner) fields(o, copied *goja.Object) *goja.Object {
	for _, name := range o.Keys() {
		setOwn(copied, name, c.clone(o.Get(name)))
	}
	return copied
}

func (c *cloner) collection(o *goja.Object, k kind) *goja.Object {
	name, add, forEach := "Set", "add", c.e.real.setForEach
	if k == kindMap {
		name, add, forEach = "Map", "set", c.e.real.mapForEach
	}
	copied := c.keep(o, c.construct(name))
	insert := method(copied, add)
	c.e.each(forEach, o, func(v, key goja.Value) {
		args := []goja.Value{c.clone(key), c.clone(v)}
		if _, err := insert(copied, args...); err != nil {
			panic(err)
		}
	})
	return copied
}

func (c *cloner) errorObject(o *goja.Object) *goja.Object {
	name := "Error"
	if v := o.Get("name"); v != nil && slices.Contains(errorNames, v.String()) {
		name = v.String()
	}
	copied := c.keep(o, c.construct(name, o.Get("message")))
	for _, field := range []string{"stack", "cause"} {
		if v := o.Get(field); v != nil && !goja.IsUndefined(v) {
			hide(copied, field, c.clone(v))
		}
	}
	return copied
}

func (c *cloner) primitive(o *goja.Object) goja.Value {
	switch o.ClassName() {
	case "Number":
		return o.ToNumber()
	case "String":
		return o.ToString()
	}
	return c.e.vm.ToValue(o.Export())
}

func (c *cloner) typedArrayName(o *goja.Object) string {
	ctor := o.Get("constructor")
	for _, name := range typedArrayNames {
		if ctor == c.e.vm.Get(name) {
			return name
		}
	}
	c.refuse(o)
	return ""
}

func (c *cloner) construct(name string, args ...goja.Value) *goja.Object {
	o, err := c.e.vm.New(c.e.vm.Get(name), args...)
	if err != nil {
		panic(err)
	}
	return o
}

func (c *cloner) refuse(v goja.Value) {
	panic(c.e.webError("DataCloneError", kindName(v)+" can't be cloned"))
}
