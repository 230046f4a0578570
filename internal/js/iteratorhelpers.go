package js

import (
	"math"
	"reflect"

	"github.com/dop251/goja"
)

// helper is an iterator that Iterator.prototype.map and its like return: ECMAScript's Iterator Helper, or what
// Iterator.from wraps an iterator of the program's own in.
type helper struct {
	noProperties
	next func() (v goja.Value, ok bool)
	end  func() // closes what is below it; nil: there is nothing yet

	running, begun, ended bool
}

// noProperties is a dynamic object without any: its methods are on its prototype.
type noProperties struct{}

func (noProperties) Get(string) goja.Value       { return nil }
func (noProperties) Set(string, goja.Value) bool { return false }
func (noProperties) Has(string) bool             { return false }
func (noProperties) Delete(string) bool          { return true }
func (noProperties) Keys() []string              { return nil }

// iterators are the objects that iterator helpers are made of.
type iterators struct {
	constructor *goja.Object
	prototype   *goja.Object // %IteratorPrototype%
	helper      *goja.Object // %IteratorHelperPrototype%
	wrapper     *goja.Object // %WrapForValidIteratorPrototype%
	list        *goja.Object // %URLSearchParamsIteratorPrototype%
}

// wrapped is an iterator of the program's own that has got the helpers by Iterator.from.
type wrapped struct {
	noProperties
	iteration
}

// addIterators gives every iterator its helpers.
func (e *Engine) addIterators() {
	array := e.vm.NewArray()
	values := must(method(e.real.arrayPrototype, "values")(array)).(*goja.Object)
	e.iterators.prototype = values.Prototype().Prototype()
	proto := e.iterators.prototype
	for _, f := range []struct {
		name string
		call func(it *goja.Object, arg goja.Value, args []goja.Value) goja.Value
	}{
		{"map", e.iteratorMap}, {"filter", e.iteratorFilter}, {"take", e.iteratorTake}, {"drop", e.iteratorDrop},
		{"flatMap", e.iteratorFlatMap}, {"reduce", e.iteratorReduce}, {"toArray", e.iteratorToArray},
		{"forEach", e.iteratorForEach}, {"some", e.iteratorSome}, {"every", e.iteratorEvery}, {"find", e.iteratorFind},
	} {
		length := 1
		if f.name == "toArray" {
			length = 0
		}
		hide(proto, f.name, e.native(f.name, length, func(fc goja.FunctionCall) goja.Value {
			it, ok := fc.This.(*goja.Object)
			if !ok {
				panic(e.newError(e.real.typeError, "Iterator.prototype."+f.name+" called on "+kindName(fc.This)))
			}
			return f.call(it, fc.Argument(0), fc.Arguments)
		}))
	}
	proto.DefineDataPropertySymbol(e.dispose, e.native("[Symbol.dispose]", 0, func(fc goja.FunctionCall) goja.Value {
		o := fc.This.ToObject(e.vm)
		if f := orUndefined(o.Get("return")); !goja.IsUndefined(f) && !goja.IsNull(f) {
			e.call(f, o)
		}
		return goja.Undefined()
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// iteratorConstructor is the global Iterator, made when a program can name it.
func (e *Engine) iteratorConstructor() *goja.Object {
	s, proto := &e.iterators, e.iterators.prototype
	s.constructor = e.vm.ToValue(func(cc goja.ConstructorCall) *goja.Object {
		if cc.NewTarget == nil || cc.NewTarget == s.constructor { // goja gives none for a plain `new`
			panic(e.newError(e.real.typeError, "Iterator is abstract: extend it, or use Iterator.from"))
		}
		return nil
	}).(*goja.Object)
	e.rename(s.constructor, "Iterator", 0)
	s.constructor.DefineDataProperty("prototype", proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	hide(s.constructor, "from", e.native("from", 1, e.iteratorFrom))
	hide(s.constructor, "concat", e.native("concat", 0, e.iteratorConcat))
	get, set := e.weird(goja.SymToStringTag, e.vm.ToValue("Iterator"))
	proto.DefineAccessorPropertySymbol(goja.SymToStringTag, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE)
	get, set = e.weird(nil, s.constructor)
	proto.DefineAccessorProperty("constructor", get, set, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return s.constructor
}

// weird are the getter and setter that ECMAScript gives Iterator.prototype's constructor (or a symbol) for the web's
// sake: an assignment to an object that inherits makes a property of its own.
func (e *Engine) weird(symbol *goja.Symbol, v goja.Value) (get, set goja.Value) {
	name := "constructor"
	if symbol != nil {
		name = "[Symbol.toStringTag]"
	}
	get = e.native("get "+name, 0, func(goja.FunctionCall) goja.Value { return v })
	set = e.native("set "+name, 1, func(fc goja.FunctionCall) goja.Value {
		o, ok := fc.This.(*goja.Object)
		if !ok || o == e.iterators.prototype {
			panic(e.newError(e.real.typeError, "Iterator.prototype's "+name+" can't be assigned to"))
		}
		var key goja.Value = e.vm.ToValue(name)
		if symbol != nil {
			key = symbol
		}
		if own := must(e.real.getOwnPropertyDescriptor(nil, o, key)); goja.IsUndefined(own) {
			d := e.vm.NewObject()
			setOwn(d, "value", fc.Argument(0))
			for _, flag := range []string{"writable", "enumerable", "configurable"} {
				setOwn(d, flag, e.vm.ToValue(true))
			}
			if !must(e.real.defineProperty(nil, o, key, d)).ToBoolean() {
				panic(e.newError(e.real.typeError, "can't define "+name))
			}
			return goja.Undefined()
		}
		if symbol != nil {
			must(0, o.SetSymbol(symbol, fc.Argument(0)))
		} else {
			must(0, o.Set(name, fc.Argument(0)))
		}
		return goja.Undefined()
	})
	return get, set
}

// newHelper is an iterator over what next gives. It is closed by end.
func (e *Engine) newHelper(next func() (goja.Value, bool), end func()) *goja.Object {
	o := e.vm.NewDynamicObject(&helper{next: next, end: end})
	o.SetPrototype(e.helperPrototype())
	return o
}

func (e *Engine) helperPrototype() *goja.Object {
	if e.iterators.helper == nil {
		p := e.vm.CreateObject(e.iterators.prototype)
		hide(p, "next", e.native("next", 0, e.helperNext))
		hide(p, "return", e.native("return", 0, e.helperReturn))
		tag(e, p, "Iterator Helper")
		e.iterators.helper = p
	}
	return e.iterators.helper
}

// behind is the state that an object of the library holds in Go. The type is asked first: to export another object is to
// copy all of it.
func behind[T any](v goja.Value) (state T, ok bool) {
	if o, isObject := v.(*goja.Object); isObject && o.ExportType() == reflect.TypeFor[T]() {
		state, ok = o.Export().(T)
	}
	return state, ok
}

func (e *Engine) helperOf(fc goja.FunctionCall) *helper {
	if h, ok := behind[*helper](fc.This); ok {
		if h.running {
			panic(e.newError(e.real.typeError, "Generator is already running"))
		}
		return h
	}
	panic(e.newError(e.real.typeError, "this is not an Iterator Helper"))
}

func (e *Engine) helperNext(fc goja.FunctionCall) goja.Value {
	h := e.helperOf(fc)
	if h.ended {
		return e.result(goja.Undefined(), true)
	}
	h.begun, h.running = true, true
	h.ended = true // if next throws
	defer func() { h.running = false }()
	v, ok := h.next()
	if !ok {
		return e.result(goja.Undefined(), true)
	}
	h.ended = false
	return e.result(v, false)
}

func (e *Engine) helperReturn(fc goja.FunctionCall) goja.Value {
	h := e.helperOf(fc)
	if !h.ended {
		h.ended = true
		h.running = h.begun // one that has not begun is at its end before its iterator is closed
		defer func() { h.running = false }()
		h.end()
	}
	return e.result(goja.Undefined(), true)
}

// function checks an argument before `next` is looked up, and closes the iterator if it is not a function.
func (e *Engine) function(it *goja.Object, f goja.Value, name string) iteration {
	if !isCallable(f) {
		iteration{e: e, it: it}.refuse(e.real.typeError, "Iterator.prototype."+name+" takes a function, it was given "+kindName(f))
	}
	return e.direct(it)
}

func (e *Engine) iteratorMap(it *goja.Object, f goja.Value, _ []goja.Value) goja.Value {
	i, n := e.function(it, f, "map"), counter{vm: e.vm}
	return e.newHelper(func() (v goja.Value, ok bool) {
		if v, ok = i.step(); ok {
			i.closing(func() { v = e.call(f, goja.Undefined(), v, n.next()) })
		}
		return v, ok
	}, i.close)
}

func (e *Engine) iteratorFilter(it *goja.Object, f goja.Value, _ []goja.Value) goja.Value {
	i, n := e.function(it, f, "filter"), counter{vm: e.vm}
	return e.newHelper(func() (goja.Value, bool) {
		for {
			v, ok := i.step()
			if !ok {
				return nil, false
			}
			take := false
			i.closing(func() { take = e.call(f, goja.Undefined(), v, n.next()).ToBoolean() })
			if take {
				return v, true
			}
		}
	}, i.close)
}

const maxSafeInteger = 1<<53 - 1

// limit is a count of items, which can be Infinity.
func (e *Engine) limit(it *goja.Object, arg goja.Value, name string) (iteration, float64) {
	i, limit := iteration{e: e, it: it}, math.NaN()
	i.closing(func() { limit = arg.ToNumber().ToFloat() })
	if math.IsNaN(limit) || math.Trunc(limit) < 0 || limit > maxSafeInteger && !math.IsInf(limit, 1) {
		i.refuse(e.real.rangeError, "Iterator.prototype."+name+" takes a number from 0 to 2^53-1, or Infinity")
	}
	return e.direct(it), math.Trunc(limit)
}

func (e *Engine) iteratorTake(it *goja.Object, arg goja.Value, _ []goja.Value) goja.Value {
	i, left := e.limit(it, arg, "take")
	return e.newHelper(func() (goja.Value, bool) {
		if left == 0 {
			i.close()
			return nil, false
		}
		left--
		return i.step()
	}, i.close)
}

func (e *Engine) iteratorDrop(it *goja.Object, arg goja.Value, _ []goja.Value) goja.Value {
	i, left := e.limit(it, arg, "drop")
	return e.newHelper(func() (goja.Value, bool) {
		for ; left > 0; left-- {
			if _, ok := i.step(); !ok {
				return nil, false
			}
		}
		return i.step()
	}, i.close)
}

func (e *Engine) iteratorFlatMap(it *goja.Object, f goja.Value, _ []goja.Value) goja.Value {
	outer, n := e.function(it, f, "flatMap"), counter{vm: e.vm}
	var inner *iteration
	next := func() (v goja.Value, ok bool) {
		for {
			if inner == nil {
				if v, ok = outer.step(); !ok {
					return nil, false
				}
				outer.closing(func() {
					i := e.flattenable(e.call(f, goja.Undefined(), v, n.next()), false)
					inner = &i
				})
			}
			outer.closing(func() { v, ok = inner.step() })
			if ok {
				return v, true
			}
			inner = nil
		}
	}
	return e.newHelper(next, func() {
		if inner != nil {
			outer.closing(inner.close)
		}
		outer.close()
	})
}

// flattenable takes a value for an iterable, or else for an iterator.
func (e *Engine) flattenable(v goja.Value, strings bool) iteration {
	o, isObject := v.(*goja.Object)
	if !isObject && (!strings || !goja.IsString(v)) {
		panic(e.newError(e.real.typeError, kindName(v)+" is not an iterable or an iterator"))
	}
	if f := e.method(v, goja.SymIterator); !goja.IsUndefined(f) {
		return e.opened(f, v)
	}
	if !isObject {
		panic(e.newError(e.real.typeError, kindName(v)+" is not iterable"))
	}
	return e.direct(o)
}

func (e *Engine) iteratorReduce(it *goja.Object, f goja.Value, args []goja.Value) goja.Value {
	i, n := e.function(it, f, "reduce"), counter{vm: e.vm}
	var sum goja.Value
	if len(args) > 1 {
		sum = args[1]
	} else {
		var ok bool
		if sum, ok = i.step(); !ok {
			panic(e.newError(e.real.typeError, "Reduce of a done iterator with no initial value"))
		}
		n.next()
	}
	i.each(func(v goja.Value) bool {
		sum = e.call(f, goja.Undefined(), sum, v, n.next())
		return true
	})
	return sum
}

func (e *Engine) iteratorToArray(it *goja.Object, _ goja.Value, _ []goja.Value) goja.Value {
	i := e.direct(it)
	var items []any
	for v, ok := i.step(); ok; v, ok = i.step() {
		items = append(items, v)
	}
	return e.vm.NewArray(items...)
}

func (e *Engine) iteratorForEach(it *goja.Object, f goja.Value, _ []goja.Value) goja.Value {
	n := counter{vm: e.vm}
	e.function(it, f, "forEach").each(func(v goja.Value) bool {
		e.call(f, goja.Undefined(), v, n.next())
		return true
	})
	return goja.Undefined()
}

// first gives the first value for which the predicate's truth is wanted.
func (e *Engine) first(it *goja.Object, f goja.Value, name string, wanted bool) (found goja.Value) {
	n := counter{vm: e.vm}
	e.function(it, f, name).each(func(v goja.Value) bool {
		if e.call(f, goja.Undefined(), v, n.next()).ToBoolean() == wanted {
			found = v
		}
		return found == nil
	})
	return found
}

func (e *Engine) iteratorSome(it *goja.Object, f goja.Value, _ []goja.Value) goja.Value {
	return e.vm.ToValue(e.first(it, f, "some", true) != nil)
}

func (e *Engine) iteratorEvery(it *goja.Object, f goja.Value, _ []goja.Value) goja.Value {
	return e.vm.ToValue(e.first(it, f, "every", false) == nil)
}

func (e *Engine) iteratorFind(it *goja.Object, f goja.Value, _ []goja.Value) goja.Value {
	return orUndefined(e.first(it, f, "find", true))
}

func (e *Engine) iteratorFrom(fc goja.FunctionCall) goja.Value {
	i := e.flattenable(fc.Argument(0), true)
	for p := i.it.Prototype(); p != nil; p = p.Prototype() {
		if p == e.iterators.prototype {
			return i.it
		}
	}
	o := e.vm.NewDynamicObject(&wrapped{iteration: i})
	o.SetPrototype(e.wrapperPrototype())
	return o
}

func (e *Engine) wrapperPrototype() *goja.Object {
	if e.iterators.wrapper == nil {
		of := func(fc goja.FunctionCall) iteration {
			if w, ok := behind[*wrapped](fc.This); ok {
				return w.iteration
			}
			panic(e.newError(e.real.typeError, "this was not made by Iterator.from"))
		}
		p := e.vm.CreateObject(e.iterators.prototype)
		hide(p, "next", e.native("next", 0, func(fc goja.FunctionCall) goja.Value {
			i := of(fc)
			return e.call(i.next, i.it)
		}))
		hide(p, "return", e.native("return", 0, func(fc goja.FunctionCall) goja.Value {
			i := of(fc)
			if f := orUndefined(i.it.Get("return")); !goja.IsUndefined(f) && !goja.IsNull(f) {
				return e.call(f, i.it)
			}
			return e.result(goja.Undefined(), true)
		}))
		e.iterators.wrapper = p
	}
	return e.iterators.wrapper
}

func (e *Engine) iteratorConcat(fc goja.FunctionCall) goja.Value {
	open := make([]goja.Value, len(fc.Arguments))
	items := append([]goja.Value(nil), fc.Arguments...)
	for n, v := range items {
		if _, ok := v.(*goja.Object); !ok {
			panic(e.newError(e.real.typeError, "Iterator.concat takes iterable objects, it was given "+kindName(v)))
		}
		if open[n] = e.method(v, goja.SymIterator); goja.IsUndefined(open[n]) {
			panic(e.newError(e.real.typeError, kindName(v)+" is not iterable"))
		}
	}
	var i *iteration
	return e.newHelper(func() (goja.Value, bool) {
		for {
			if i == nil {
				if len(items) == 0 {
					return nil, false
				}
				opened := e.opened(open[0], items[0])
				i, open, items = &opened, open[1:], items[1:]
			}
			if v, ok := i.step(); ok {
				return v, true
			}
			i = nil
		}
	}, func() {
		if i != nil {
			i.close()
		}
	})
}

// counter is the index that callbacks are given.
type counter struct {
	vm *goja.Runtime
	n  int64
}

func (c *counter) next() goja.Value {
	c.n++
	return c.vm.ToValue(c.n - 1)
}
