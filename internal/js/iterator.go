package js

import "github.com/dop251/goja"

// iteration is what ECMAScript calls an iterator record: an iterator, and its `next` as it was at the beginning.
type iteration struct {
	e    *Engine
	it   *goja.Object
	next goja.Value
}

// direct takes an object for an iterator.
func (e *Engine) direct(o *goja.Object) iteration { return iteration{e, o, o.Get("next")} }

// step gives the next value; ok is false at the end. An exception of the iterator itself does not close it.
func (i iteration) step() (v goja.Value, ok bool) {
	r, isObject := i.e.call(i.next, i.it).(*goja.Object)
	if !isObject {
		panic(i.e.newError(i.e.real.typeError, "an iterator's next() did not return an object"))
	}
	if truthy(r.Get("done")) {
		return nil, false
	}
	return orUndefined(r.Get("value")), true
}

// close ends an iteration that was not taken to its end.
func (i iteration) close() {
	f := orUndefined(i.it.Get("return"))
	if goja.IsUndefined(f) || goja.IsNull(f) {
		return
	}
	if _, ok := i.e.call(f, i.it).(*goja.Object); !ok {
		panic(i.e.newError(i.e.real.typeError, "an iterator's return() did not return an object"))
	}
}

// closing runs f; if it throws, the iteration is closed, and that exception is the one that counts.
func (i iteration) closing(f func()) {
	if ex := i.e.vm.Try(f); ex != nil {
		i.e.vm.Try(i.close)
		panic(ex)
	}
}

// refuse closes the iteration, and throws.
func (i iteration) refuse(class *goja.Object, message string) {
	i.closing(func() { panic(i.e.newError(class, message)) })
}

// each calls f with every value that is left, until it returns false.
func (i iteration) each(f func(v goja.Value) bool) {
	for {
		v, ok := i.step()
		if !ok {
			return
		}
		more := false
		i.closing(func() { more = f(v) })
		if !more {
			i.close()
			return
		}
	}
}

func (e *Engine) iterationOf(iterable goja.Value) iteration {
	f := e.method(iterable, goja.SymIterator)
	if goja.IsUndefined(f) {
		panic(e.newError(e.real.typeError, kindName(iterable)+" is not iterable"))
	}
	return e.opened(f, iterable)
}

// opened is the iteration that a Symbol.iterator method gives.
func (e *Engine) opened(f, iterable goja.Value) iteration {
	it, ok := e.call(f, iterable).(*goja.Object)
	if !ok {
		panic(e.newError(e.real.typeError, "what [Symbol.iterator]() returned is not an object"))
	}
	return e.direct(it)
}

// method is a method of a value under a symbol: undefined if there is none. A value that can't be called throws.
func (e *Engine) method(v goja.Value, name *goja.Symbol) goja.Value {
	if goja.IsUndefined(v) || goja.IsNull(v) {
		panic(e.newError(e.real.typeError, kindName(v)+" is not iterable"))
	}
	var f goja.Value
	if o, ok := v.(*goja.Object); ok {
		f = orUndefined(o.GetSymbol(name))
	} else { // a getter is to see the primitive
		f = orUndefined(must(e.real.get(nil, v.ToObject(e.vm), name, v)))
	}
	if goja.IsNull(f) {
		return goja.Undefined()
	}
	if _, ok := goja.AssertFunction(f); !ok && !goja.IsUndefined(f) {
		panic(e.newError(e.real.typeError, name.String()+" is "+kindName(f)+", not a function"))
	}
	return f
}

// call calls what is to be a function.
func (e *Engine) call(f, this goja.Value, args ...goja.Value) goja.Value {
	callable, ok := goja.AssertFunction(orUndefined(f))
	if !ok {
		panic(e.newError(e.real.typeError, kindName(f)+" is not a function"))
	}
	return must(callable(this, args...))
}

func (e *Engine) result(v goja.Value, done bool) *goja.Object {
	o := e.vm.NewObject()
	setOwn(o, "value", v)
	setOwn(o, "done", e.vm.ToValue(done))
	return o
}

func orUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}

func truthy(v goja.Value) bool { return v != nil && v.ToBoolean() }

func isCallable(v goja.Value) bool {
	_, ok := goja.AssertFunction(v)
	return ok
}
