package js

import (
	"math"
	"math/big"
	"slices"

	"github.com/dop251/goja"
)

// addFunctions gives goja's built-ins the functions that ECMAScript has given them since.
func (e *Engine) addFunctions() {
	promise, text := e.global("Promise"), e.prototype("String")
	for _, f := range []struct {
		holder *goja.Object
		name   string
		length int
		call   func(goja.FunctionCall) goja.Value
	}{
		{e.real.object, "groupBy", 2, e.objectGroupBy},
		{e.global("Map"), "groupBy", 2, e.mapGroupBy},
		{e.global("Array"), "fromAsync", 1, e.arrayFromAsync},
		{promise, "withResolvers", 0, e.promiseWithResolvers},
		{promise, "try", 1, e.promiseTry},
		{e.global("Math"), "sumPrecise", 1, e.sumPrecise},
		{e.global("Math"), "f16round", 1, e.f16round},
		{text, "isWellFormed", 0, e.isWellFormed},
		{text, "toWellFormed", 0, e.toWellFormed},
	} {
		hide(f.holder, f.name, e.native(f.name, f.length, f.call))
	}
	for _, class := range []string{"Map", "WeakMap"} {
		e.addGetOrInsert(class)
	}
	e.mendAny()
	e.mendFromEntries()
	symbol := e.global("Symbol")
	for name, s := range map[string]**goja.Symbol{"asyncIterator": &e.asyncIterator, "dispose": &e.dispose, "asyncDispose": &e.asyncDispose} {
		*s = goja.NewSymbol("Symbol." + name)
		symbol.DefineDataProperty(name, *s, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	}
}

// groups are the values of an iterable by their key, in the order in which the keys came.
type groups struct {
	keys   []goja.Value
	values [][]any
}

// groupBy asks a Map which group a key has: it tells keys apart as ECMAScript does.
func (e *Engine) groupBy(fc goja.FunctionCall, name string, key func(goja.Value) goja.Value) (g groups) {
	if items := fc.Argument(0); goja.IsUndefined(items) || goja.IsNull(items) {
		panic(e.newError(e.real.typeError, name+" takes an iterable, it was given "+kindName(items)))
	}
	f := fc.Argument(1)
	if !isCallable(f) {
		panic(e.newError(e.real.typeError, name+" takes a function, it was given "+kindName(f)))
	}
	index := must(e.vm.New(e.real.mapConstructor))
	n := counter{vm: e.vm}
	e.iterationOf(fc.Argument(0)).each(func(v goja.Value) bool {
		k := key(e.call(f, goja.Undefined(), v, n.next()))
		at := must(e.real.mapGet(index, k))
		if goja.IsUndefined(at) {
			at = e.vm.ToValue(len(g.keys))
			must(e.real.mapSet(index, k, at))
			g.keys, g.values = append(g.keys, k), append(g.values, nil)
		}
		i := at.ToInteger()
		g.values[i] = append(g.values[i], v)
		return true
	})
	return g
}

func (e *Engine) objectGroupBy(fc goja.FunctionCall) goja.Value {
	g := e.groupBy(fc, "Object.groupBy", e.propertyKey)
	o := e.vm.CreateObject(nil)
	for i, k := range g.keys {
		items := e.vm.NewArray(g.values[i]...)
		if symbol, ok := k.(*goja.Symbol); ok {
			o.DefineDataPropertySymbol(symbol, items, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		} else {
			e.setAt(o, exactly(k.(goja.String)), items)
		}
	}
	return o
}

// propertyKey is a symbol or a string.
func (e *Engine) propertyKey(v goja.Value) goja.Value {
	if o, ok := v.(*goja.Object); ok {
		v = e.primitive(o)
	}
	if symbol, ok := v.(*goja.Symbol); ok {
		return symbol
	}
	return e.text(v)
}

// text is ECMAScript's ToString.
func (e *Engine) text(v goja.Value) goja.String {
	switch s := v.(type) {
	case goja.String:
		return s
	case *goja.Symbol:
		panic(e.newError(e.real.typeError, "Cannot convert a Symbol value to a string"))
	case *goja.Object:
		return e.text(e.primitive(s))
	}
	return e.vm.ToValue(v.String()).(goja.String)
}

// primitive is ECMAScript's ToPrimitive, which prefers a string. It can be a symbol, which goja's ToString refuses.
func (e *Engine) primitive(o *goja.Object) goja.Value {
	if f := e.method(o, goja.SymToPrimitive); !goja.IsUndefined(f) {
		if v := e.call(f, o, e.vm.ToValue("string")); !isObject(v) {
			return v
		}
		panic(e.newError(e.real.typeError, "Cannot convert object to primitive value"))
	}
	for _, name := range []string{"toString", "valueOf"} {
		if f := o.Get(name); isCallable(orUndefined(f)) {
			if v := e.call(f, o); !isObject(v) {
				return v
			}
		}
	}
	panic(e.newError(e.real.typeError, "Cannot convert object to primitive value"))
}

func isObject(v goja.Value) bool {
	_, ok := v.(*goja.Object)
	return ok
}

func (e *Engine) mapGroupBy(fc goja.FunctionCall) goja.Value {
	g := e.groupBy(fc, "Map.groupBy", func(v goja.Value) goja.Value { return v })
	m := must(e.vm.New(e.real.mapConstructor))
	for i, k := range g.keys {
		must(e.real.mapSet(m, k, e.vm.NewArray(g.values[i]...)))
	}
	return m
}

// addGetOrInsert relies on the class's own `has` to refuse what is no Map, and on its own `set` to refuse a key.
func (e *Engine) addGetOrInsert(class string) {
	proto := e.prototype(class)
	has, get, set := method(proto, "has"), method(proto, "get"), method(proto, "set")
	add := func(name string, insert func(m, k, arg goja.Value) goja.Value) {
		hide(proto, name, e.native(name, 2, func(fc goja.FunctionCall) goja.Value {
			m, k := fc.This, fc.Argument(0)
			present := must(has(m, k)).ToBoolean()
			if name == "getOrInsertComputed" && !isCallable(fc.Argument(1)) {
				panic(e.newError(e.real.typeError, name+" takes a function, it was given "+kindName(fc.Argument(1))))
			}
			if present {
				return must(get(m, k))
			}
			v := insert(m, k, fc.Argument(1))
			must(set(m, k, v))
			return v
		}))
	}
	add("getOrInsert", func(_, _, v goja.Value) goja.Value { return v })
	add("getOrInsertComputed", func(m, k, f goja.Value) goja.Value {
		if class == "WeakMap" { // it is to refuse the key before f is called
			if _, ok := k.(*goja.Object); !ok {
				must(set(m, k, goja.Undefined()))
			}
		}
		if goja.IsNumber(k) && k.ToFloat() == 0 {
			k = e.vm.ToValue(0) // and not -0
		}
		return e.call(f, goja.Undefined(), k)
	})
}

// capability is a promise of a class that the program may have made, with what settles it.
type capability struct {
	promise         *goja.Object
	resolve, reject goja.Value
}

func (e *Engine) newCapability(class goja.Value) (c capability) {
	construct, ok := goja.AssertConstructor(class)
	if !ok {
		panic(e.newError(e.real.typeError, kindName(class)+" is not a constructor"))
	}
	c.resolve, c.reject = goja.Undefined(), goja.Undefined()
	executor := e.native("", 2, func(fc goja.FunctionCall) goja.Value {
		if !goja.IsUndefined(c.resolve) || !goja.IsUndefined(c.reject) {
			panic(e.newError(e.real.typeError, "the promise's executor was called twice"))
		}
		c.resolve, c.reject = fc.Argument(0), fc.Argument(1)
		return goja.Undefined()
	})
	c.promise = must(construct(nil, executor))
	if !isCallable(c.resolve) || !isCallable(c.reject) {
		panic(e.newError(e.real.typeError, "the promise's resolve or reject is not a function"))
	}
	return c
}

func (e *Engine) promiseWithResolvers(fc goja.FunctionCall) goja.Value {
	c := e.newCapability(fc.This)
	o := e.vm.NewObject()
	setOwn(o, "promise", c.promise)
	setOwn(o, "resolve", c.resolve)
	setOwn(o, "reject", c.reject)
	return o
}

func (e *Engine) promiseTry(fc goja.FunctionCall) goja.Value {
	if !isObject(fc.This) {
		panic(e.newError(e.real.typeError, "Promise.try called on "+kindName(fc.This)))
	}
	c := e.newCapability(fc.This)
	var v goja.Value
	if ex := e.vm.Try(func() { v = e.call(fc.Argument(0), goja.Undefined(), fc.Arguments[min(1, len(fc.Arguments)):]...) }); ex != nil {
		e.call(c.reject, goja.Undefined(), ex.Value())
	} else {
		e.call(c.resolve, goja.Undefined(), v)
	}
	return c.promise
}

// mendFromEntries has Object.fromEntries take entries with holes, `[, 1]`, which goja fails on.
func (e *Engine) mendFromEntries() {
	call, _ := insideOf(e.real.object.Get("fromEntries").(*goja.Object))
	original := *call
	*call = func(fc goja.FunctionCall) goja.Value {
		entries, ok := arrayOf(fc.Argument(0))
		if !ok || !slices.ContainsFunc(*entries.values, hasHole) {
			return original(fc)
		}
		o := e.vm.NewObject()
		e.iterationOf(fc.Argument(0)).each(func(v goja.Value) bool {
			entry, ok := v.(*goja.Object)
			if !ok {
				panic(e.newError(e.real.typeError, kindName(v)+" is no entry: an entry is an array of a key and a value"))
			}
			key, value := e.propertyKey(get(entry, "0")), get(entry, "1")
			if symbol, ok := key.(*goja.Symbol); ok {
				o.DefineDataPropertySymbol(symbol, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			} else {
				e.setAt(o, exactly(key.(goja.String)), value)
			}
			return true
		})
		return o
	}
}

// hasHole says that key or value of an entry is missing in its array.
func hasHole(entry goja.Value) bool {
	a, ok := arrayOf(entry)
	return ok && slices.Contains((*a.values)[:min(2, len(*a.values))], nil)
}

// mendAny gives the error of Promise.any a message, which it does not have in goja.
func (e *Engine) mendAny() {
	aggregate := e.global("AggregateError")
	construct, _ := goja.AssertConstructor(e.real.plainError)
	call, _ := insideOf(e.global("Promise").Get("any").(*goja.Object))
	*call = func(fc goja.FunctionCall) goja.Value { return e.promiseAny(fc, construct, aggregate) }
}

func (e *Engine) promiseAny(fc goja.FunctionCall, construct goja.Constructor, aggregate *goja.Object) goja.Value {
	class, ok := fc.This.(*goja.Object)
	if !ok {
		panic(e.newError(e.real.typeError, "Promise.any called on "+kindName(fc.This)))
	}
	c := e.newCapability(class)
	errors := []any{}
	left := 1 // that may still be fulfilled, and the loop
	rejected := func() {
		if left--; left == 0 {
			v := must(construct(aggregate, e.vm.ToValue("All promises were rejected")))
			hide(v, "errors", e.vm.NewArray(errors...))
			e.call(c.reject, goja.Undefined(), v)
		}
	}
	if ex := e.vm.Try(func() {
		resolve := class.Get("resolve")
		if !isCallable(orUndefined(resolve)) {
			panic(e.newError(e.real.typeError, "Promise.resolve is not a function"))
		}
		e.iterationOf(fc.Argument(0)).each(func(v goja.Value) bool {
			i, called := len(errors), false
			errors = append(errors, goja.Undefined())
			promise := e.call(resolve, class, v)
			onRejected := e.native("", 1, func(fc goja.FunctionCall) goja.Value {
				if !called {
					called, errors[i] = true, fc.Argument(0)
					rejected()
				}
				return goja.Undefined()
			})
			left++
			e.call(promise.ToObject(e.vm).Get("then"), promise, c.resolve, onRejected)
			return true
		})
		rejected()
	}); ex != nil {
		e.call(c.reject, goja.Undefined(), ex.Value())
	}
	return c.promise
}

// exactBits hold the sum of as many doubles as an iterable can have: 2^53 of up to 2^1024, in steps of 2^-1074.
const exactBits = 1074 + 1024 + 53 + 1

// sumPrecise adds exactly, and rounds once.
func (e *Engine) sumPrecise(fc goja.FunctionCall) goja.Value {
	sum := new(big.Float).SetPrec(exactBits)
	special, minusZero := 0.0, true
	var term big.Float
	e.iterationOf(fc.Argument(0)).each(func(v goja.Value) bool {
		if !goja.IsNumber(v) {
			panic(e.newError(e.real.typeError, "Math.sumPrecise takes numbers, it was given "+kindName(v)))
		}
		switch f := v.ToFloat(); {
		case math.IsNaN(f), math.IsInf(f, 0):
			special += f
		case f != 0:
			sum.Add(sum, term.SetFloat64(f))
			minusZero = false
		case !math.Signbit(f):
			minusZero = false
		}
		return true
	})
	switch f, _ := sum.Float64(); {
	case special != 0 || math.IsNaN(special):
		return e.vm.ToValue(special)
	case minusZero:
		return e.vm.ToValue(math.Copysign(0, -1))
	default:
		return e.vm.ToValue(f + 0) // x - x is +0
	}
}

// f16round rounds to the nearest number of 16 bits: 11 bits of precision, and steps of 2^-24 below 2^-14.
func (e *Engine) f16round(fc goja.FunctionCall) goja.Value {
	f := fc.Argument(0).ToNumber().ToFloat()
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return e.vm.ToValue(f)
	}
	_, exponent := math.Frexp(f)
	step := math.Ldexp(1, max(exponent-11, -24))
	r := math.RoundToEven(f/step) * step
	if math.Abs(r) >= 65520 {
		r = math.Inf(1)
	}
	return e.vm.ToValue(math.Copysign(r, f))
}

// thisText is the string that a method of String.prototype is called on.
func (e *Engine) thisText(fc goja.FunctionCall, name string) goja.String {
	if goja.IsUndefined(fc.This) || goja.IsNull(fc.This) {
		panic(e.newError(e.real.typeError, "String.prototype."+name+" called on "+kindName(fc.This)))
	}
	return e.text(fc.This)
}

// loneSurrogate is the index of the first one, or -1.
func loneSurrogate(s goja.String, from int) int {
	for i := from; i < s.Length(); i++ {
		switch c := s.CharAt(i); {
		case c < 0xd800 || c > 0xdfff:
		case c < 0xdc00 && i+1 < s.Length() && s.CharAt(i+1)&0xfc00 == 0xdc00:
			i++
		default:
			return i
		}
	}
	return -1
}

func (e *Engine) isWellFormed(fc goja.FunctionCall) goja.Value {
	return e.vm.ToValue(loneSurrogate(e.thisText(fc, "isWellFormed"), 0) < 0)
}

func (e *Engine) toWellFormed(fc goja.FunctionCall) goja.Value {
	s := e.thisText(fc, "toWellFormed")
	at := loneSurrogate(s, 0)
	if at < 0 {
		return s
	}
	units := make([]uint16, s.Length())
	for i := range units {
		units[i] = s.CharAt(i)
	}
	for ; at >= 0; at = loneSurrogate(s, at+1) {
		units[at] = 0xfffd
	}
	return goja.StringFromUTF16(units)
}
