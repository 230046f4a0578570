package js

import (
	"slices"
	"strings"
	"unicode/utf8"
	"weak"

	"github.com/dop251/goja"
)

// What lazy objects don't notice, and could tell them from ordinary ones, is kept from them here.

// tellsApart reports whether a program has syntax that acts on an object past all that it consists of: private names, the
// fields of a class whose parent's constructor returns an object of its own, and `super[symbol] = x`. Such a program gets
// ordinary objects from the beginning, which takes longer and changes nothing else. Keywords can't be written with
// escapes, so a program without these words has none of it; one that has them may be no more than commented.
func tellsApart(program string) bool {
	if strings.Contains(program, "super") {
		return true
	}
	return strings.Contains(program, "class") && (strings.Contains(program, "extends") || hasPrivateName(program))
}

// hasPrivateName looks for #x, but not for the `#${x}` of a template.
func hasPrivateName(program string) bool {
	for i := range len(program) - 1 {
		c := program[i+1]
		switch {
		case program[i] != '#' || c == '$' && strings.HasPrefix(program[i:], "#${"):
		case 'a' <= c|' ' && c|' ' <= 'z' || c == '_' || c == '$' || c == '\\' || c >= utf8.RuneSelf:
			return true
		}
	}
	return false
}

// newCode makes all objects ordinary, those to come too: eval or Function is about to parse a text that nobody has seen.
// It can name every part of the library.
func (r *reader) newCode() {
	r.e.promiseAbsent()
	r.eager = true
	for _, p := range r.living {
		if b := p.Value(); b != nil {
			for i := range b {
				b[i].settle()
			}
		}
	}
	r.living = nil
}

// before is a parser option that calls f whenever a parser is made with it.
func before[T any](option func(*T), f func()) func(*T) {
	return func(options *T) {
		f()
		option(options)
	}
}

// block holds lazy objects of one document. The list of those that there are keeps none of them.
type block [16]lazy

// newLazy gives room for a lazy object.
func (d *document) newLazy() *lazy {
	if len(d.room) == 0 {
		b := new(block)
		if len(d.living) == cap(d.living) {
			d.living = slices.DeleteFunc(d.living, func(p weak.Pointer[block]) bool { return p.Value() == nil })
			d.living = slices.Grow(d.living, len(d.living)+1)
		}
		d.living = append(d.living, weak.Make(b))
		d.room = b[:]
	}
	l := &d.room[0]
	d.room = d.room[1:]
	return l
}

// settleFirst exchanges the built-ins that goja carries out on a dynamic object without asking it, refuses for one, or
// answers with its prototype. The new ones make it ordinary first.
func (e *Engine) settleFirst() {
	object, reflect, proxy := e.real.object, e.real.reflect, e.global("Proxy")
	for _, b := range []struct {
		holder *goja.Object
		names  []string
	}{
		{object, []string{"defineProperty", "defineProperties", "freeze", "getPrototypeOf", "preventExtensions", "seal", "setPrototypeOf"}},
		{reflect, []string{"defineProperty", "getPrototypeOf", "preventExtensions", "set", "setPrototypeOf"}},
		{proxy, []string{"revocable"}},
	} {
		for _, name := range b.names {
			hide(b.holder, name, e.settlesFirst(b.holder.Get(name)))
		}
	}
	e.settleFirstInProto()
	construct, _ := goja.AssertConstructor(proxy)
	e.define("Proxy", e.vm.ToValue(e.vm.NewProxy(proxy, &goja.ProxyTrapConfig{
		Construct: func(_ *goja.Object, args []goja.Value, newTarget *goja.Object) *goja.Object {
			settle(args...)
			return must(construct(newTarget, args...))
		},
	})))
}

// settleFirstInProto does it to the getter and setter of __proto__.
func (e *Engine) settleFirstInProto() {
	proto := e.real.objectPrototype
	d := must(e.real.getOwnPropertyDescriptor(nil, proto, e.vm.ToValue("__proto__"))).(*goja.Object)
	proto.DefineAccessorProperty("__proto__", e.settlesFirst(d.Get("get")), e.settlesFirst(d.Get("set")), goja.FLAG_TRUE, goja.FLAG_FALSE)
}

func (e *Engine) settlesFirst(builtin goja.Value) goja.Value {
	f, _ := goja.AssertFunction(builtin)
	o := builtin.(*goja.Object)
	return e.native(o.Get("name").String(), int(o.Get("length").ToInteger()), func(fc goja.FunctionCall) goja.Value {
		settle(fc.This)
		settle(fc.Arguments...)
		return must(f(fc.This, fc.Arguments...))
	})
}

func settle(values ...goja.Value) {
	for _, v := range values {
		if l := lazyBehind(v); l != nil {
			l.settle()
		}
	}
}
