package js

import (
	"math"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/js/regexp"
)

func (r *regexps) execMethod(fc goja.FunctionCall) goja.Value {
	p := r.of(fc.This)
	if p == nil {
		r.typeError("RegExp.prototype.exec called on %s, which is no RegExp", kindName(fc.This))
	}
	s := r.subject(r.e.toString(fc.Argument(0)))
	return r.builtinExec(fc.This.(*goja.Object), &s)
}

func (r *regexps) test(fc goja.FunctionCall) goja.Value {
	o := r.receiver(fc.This, "test")
	s := r.subject(r.e.toString(fc.Argument(0)))
	if r.builtin(o, o.Get("exec")) {
		_, found := r.find(o, &s)
		return r.e.vm.ToValue(found != nil)
	}
	return r.e.vm.ToValue(!goja.IsNull(r.execute(o, &s)))
}

// builtin says that calling exec means our own on a RegExp of ours.
func (r *regexps) builtin(o *goja.Object, exec goja.Value) bool {
	return exec == goja.Value(r.exec) && r.of(o) != nil
}

// execute is RegExpExec: by the object's own exec, if it has one.
func (r *regexps) execute(o *goja.Object, s *subject) goja.Value {
	exec := o.Get("exec")
	if exec == goja.Value(r.exec) && r.of(o) != nil {
		return r.builtinExec(o, s)
	}
	if f, ok := goja.AssertFunction(exec); ok {
		v, err := f(o, s.String)
		if err != nil {
			panic(err)
		}
		if _, ok := v.(*goja.Object); !ok && !goja.IsNull(v) {
			r.typeError("exec returned %s: it must return an object or null", kindName(v))
		}
		return v
	}
	if r.of(o) == nil {
		r.typeError("exec of %s is not a function, and it is no RegExp", kindName(o))
	}
	return r.builtinExec(o, s)
}

// builtinExec is RegExpBuiltinExec.
func (r *regexps) builtinExec(o *goja.Object, s *subject) goja.Value {
	p, found := r.find(o, s)
	if found == nil {
		return goja.Null()
	}
	return r.result(p, s, found)
}

// find is RegExpBuiltinExec without its result: it reads lastIndex and sets it.
func (r *regexps) find(o *goja.Object, s *subject) (*pattern, []int32) {
	at := r.lastIndex(o)
	p := r.of(o) // reading lastIndex may have compiled it anew
	moves := p.flags.Has(regexp.Global | regexp.Sticky)
	if !moves {
		at = 0
	}
	var found []int32
	if at <= int64(s.Length()) {
		found = r.match(p, s, int(at), p.flags.Has(regexp.Sticky))
	}
	switch {
	case moves && found == nil:
		r.setLastIndex(o, 0)
	case moves:
		r.setLastIndex(o, int64(found[1]))
	}
	return p, found
}

// lastIndex is ToLength of the property.
func (r *regexps) lastIndex(o *goja.Object) int64 { return toLength(get(o, "lastIndex")) }

func toLength(v goja.Value) int64 { return min(max(v.ToInteger(), 0), 1<<53-1) }

func (r *regexps) setLastIndex(o *goja.Object, n int64) { r.put(o, "lastIndex", r.e.vm.ToValue(n)) }

// put sets a property, or throws, as in strict code.
func (r *regexps) put(o *goja.Object, name string, v goja.Value) {
	if err := o.Set(name, v); err != nil {
		panic(err)
	}
}

// capture is what a group matched, nil if it took no part.
func capture(s *subject, found []int32, n int) goja.String {
	if found[2*n] < 0 || found[2*n+1] < 0 {
		return nil
	}
	return s.Substring(int(found[2*n]), int(found[2*n+1]))
}

func captured(s *subject, found []int32, n int) goja.Value {
	if c := capture(s, found, n); c != nil {
		return c
	}
	return goja.Undefined()
}

// result is the array that exec returns.
func (r *regexps) result(p *pattern, s *subject, found []int32) *goja.Object {
	items := make([]any, len(found)/2)
	for i := range items {
		items[i] = captured(s, found, i)
	}
	a := r.e.vm.NewArray(items...)
	define(a, "index", r.e.vm.ToValue(found[0]))
	define(a, "input", s.String)
	define(a, "groups", r.groups(p.program, func(n int) goja.Value { return items[n].(goja.Value) }))
	if p.flags.Has(regexp.HasIndices) {
		define(a, "indices", r.indices(p, found))
	}
	return a
}

// define makes a property of an object that no program has seen yet.
func define(o *goja.Object, name string, v goja.Value) {
	o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// groups is an object of the named groups, undefined if there are none. Of several groups with one name it has the one
// that took part.
func (r *regexps) groups(p *regexp.Program, value func(int) goja.Value) goja.Value {
	if len(p.Groups) == 0 {
		return goja.Undefined()
	}
	o := r.e.vm.CreateObject(nil)
	for _, g := range p.Groups {
		v := goja.Undefined()
		for _, n := range g.Indexes {
			if x := value(n); !goja.IsUndefined(x) {
				v = x
			}
		}
		define(o, g.Name, v)
	}
	return o
}

func (r *regexps) indices(p *pattern, found []int32) goja.Value {
	items := make([]any, len(found)/2)
	for i := range items {
		items[i] = goja.Undefined()
		if found[2*i] >= 0 && found[2*i+1] >= 0 {
			items[i] = r.e.vm.NewArray(found[2*i], found[2*i+1])
		}
	}
	a := r.e.vm.NewArray(items...)
	define(a, "groups", r.groups(p.program, func(n int) goja.Value { return items[n].(goja.Value) }))
	return a
}

// plain says that what the program sees of a RegExp's flags can only be what they are.
func (r *regexps) plain(o *goja.Object) bool { return !r.patchable && o.Prototype() == r.proto }

// flagsOf is the property flags.
func (r *regexps) flagsOf(o *goja.Object) string {
	if p := r.of(o); p != nil && r.plain(o) {
		return p.flags.String()
	}
	return r.e.toString(get(o, "flags")).String()
}

// advance is AdvanceStringIndex.
func advance(s *subject, at int64, unicode bool) int64 {
	if unicode && at+1 < int64(len(s.wide)) && s.wide[at]&0xFC00 == 0xD800 && s.wide[at+1]&0xFC00 == 0xDC00 {
		return at + 2
	}
	return min(at, math.MaxInt64-1) + 1
}
