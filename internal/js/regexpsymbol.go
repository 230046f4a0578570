package js

import (
	"math"
	"strings"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/js/regexp"
)

// stringMethod is match, matchAll or search of String.prototype.
func (r *regexps) stringMethod(name string, symbol *goja.Symbol, flags string) func(goja.FunctionCall) goja.Value {
	return func(fc goja.FunctionCall) goja.Value {
		if goja.IsUndefined(fc.This) || goja.IsNull(fc.This) {
			r.typeError("String.prototype.%s called on %s", name, kindName(fc.This))
		}
		given := fc.Argument(0)
		if o, ok := given.(*goja.Object); ok {
			if flags != "" && r.isRegExp(o) {
				r.wantGlobal(o, name)
			}
			if v, ok := r.bySymbol(o, symbol, fc.This); ok {
				return v
			}
		}
		s := r.e.toString(fc.This)
		o := r.object(r.initialize(given, r.e.vm.ToValue(flags)))
		v, ok := r.bySymbol(o, symbol, s)
		if !ok {
			r.typeError("RegExp.prototype[Symbol.%s] is not a function", name)
		}
		return v
	}
}

func (r *regexps) wantGlobal(o *goja.Object, name string) {
	flags := get(o, "flags")
	if goja.IsUndefined(flags) || goja.IsNull(flags) {
		r.typeError("String.prototype.%s called with a RegExp whose flags are %s", name, kindName(flags))
	}
	if !strings.Contains(r.e.toString(flags).String(), "g") {
		r.typeError("String.prototype.%s called with a non-global RegExp argument", name)
	}
}

// bySymbol calls the method of that name, if there is one.
func (r *regexps) bySymbol(o *goja.Object, symbol *goja.Symbol, s goja.Value) (goja.Value, bool) {
	m := o.GetSymbol(symbol)
	if m == nil || goja.IsUndefined(m) || goja.IsNull(m) {
		return nil, false
	}
	call := goja.FunctionCall{This: o, Arguments: []goja.Value{s}}
	switch m {
	case goja.Value(r.symMatch):
		return r.symbolMatch(call), true
	case goja.Value(r.symSearch):
		return r.symbolSearch(call), true
	case goja.Value(r.symMatchAll):
		return r.symbolMatchAll(call), true
	}
	f, ok := goja.AssertFunction(m)
	if !ok {
		r.typeError("%s is not a function", symbol)
	}
	v, err := f(o, s)
	if err != nil {
		panic(err)
	}
	return v, true
}

func (r *regexps) symbolMatch(fc goja.FunctionCall) goja.Value {
	o := r.receiver(fc.This, "[Symbol.match]")
	s := r.subject(r.e.toString(fc.Argument(0)))
	flags := r.flagsOf(o)
	if !strings.Contains(flags, "g") {
		return r.execute(o, &s)
	}
	var items []any
	r.eachMatch(o, &s, flags, func(found []int32) {
		items = append(items, s.Substring(int(found[0]), int(found[1])))
	}, func(result *goja.Object) {
		items = append(items, r.e.toString(get(result, "0")))
	})
	if items == nil {
		return goja.Null()
	}
	return r.e.vm.NewArray(items...)
}

// eachMatch goes through all matches of a global RegExp: by our own exec as bounds, which are good for the call, else
// as the objects that its exec returns.
func (r *regexps) eachMatch(o *goja.Object, s *subject, flags string, found func([]int32), returned func(*goja.Object)) {
	unicode := strings.ContainsAny(flags, "uv")
	r.setLastIndex(o, 0)
	if exec := o.Get("exec"); r.builtin(o, exec) && r.of(o).flags.Has(regexp.Global) {
		// Nothing of the program runs in here, and lastIndex is 0 again after the last match.
		p, sticky := r.of(o), r.of(o).flags.Has(regexp.Sticky)
		for at := int64(0); at <= int64(s.Length()); {
			m := r.match(p, s, int(at), sticky)
			if m == nil {
				break
			}
			if at = int64(m[1]); m[0] == m[1] {
				at = advance(s, at, unicode)
			}
			found(m)
		}
		return
	}
	for {
		v := r.execute(o, s)
		result, ok := v.(*goja.Object)
		if !ok {
			return
		}
		r.breathe()
		returned(result)
		if r.e.toString(get(result, "0")).Length() == 0 {
			r.setLastIndex(o, advance(s, r.lastIndex(o), unicode))
		}
	}
}

func (r *regexps) symbolSearch(fc goja.FunctionCall) goja.Value {
	o := r.receiver(fc.This, "[Symbol.search]")
	s := r.subject(r.e.toString(fc.Argument(0)))
	before := get(o, "lastIndex")
	zero := r.e.vm.ToValue(0)
	if !before.SameAs(zero) {
		r.put(o, "lastIndex", zero)
	}
	v := r.execute(o, &s)
	if after := get(o, "lastIndex"); !after.SameAs(before) {
		r.put(o, "lastIndex", before)
	}
	if result, ok := v.(*goja.Object); ok {
		return get(result, "index")
	}
	return r.e.vm.ToValue(-1)
}

// species is the constructor that objects derived from this one are made by; nil: RegExp itself.
func (r *regexps) species(o *goja.Object) *goja.Object {
	c := get(o, "constructor")
	if goja.IsUndefined(c) || c == goja.Value(r.constructor) && !r.patchable {
		return nil
	}
	of, ok := c.(*goja.Object)
	if !ok {
		r.typeError("the constructor of a RegExp is %s, which is no object", kindName(c))
	}
	s := of.GetSymbol(goja.SymSpecies)
	if s == nil || goja.IsUndefined(s) || goja.IsNull(s) || s == goja.Value(r.constructor) {
		return nil
	}
	if _, ok := goja.AssertConstructor(s); !ok {
		r.typeError("%s is not a constructor", kindName(s))
	}
	return s.(*goja.Object)
}

// derive makes the RegExp of that species which a method works with.
func (r *regexps) derive(o, species *goja.Object, flags string) *goja.Object {
	if species == nil {
		return r.create(o, r.e.vm.ToValue(flags), r.proto)
	}
	construct, _ := goja.AssertConstructor(species)
	made, err := construct(nil, o, r.e.vm.ToValue(flags))
	if err != nil {
		panic(err)
	}
	return made
}

func (r *regexps) symbolMatchAll(fc goja.FunctionCall) goja.Value {
	o := r.receiver(fc.This, "[Symbol.matchAll]")
	s := r.e.toString(fc.Argument(0))
	species := r.species(o)
	flags := r.flagsOf(o)
	matcher := r.derive(o, species, flags)
	r.setLastIndex(matcher, r.lastIndex(o))
	return r.iterator(matcher, s, flags)
}

// iterator has goja make a RegExp String Iterator. goja's matchAll is called on an object that stands for the matcher:
// it answers with what was decided here, and the iterator asks it for the matches.
func (r *regexps) iterator(matcher *goja.Object, text goja.String, flags string) goja.Value {
	vm := r.e.vm
	s := r.subject(text)
	stand := vm.CreateObject(nil)
	define(stand, "exec", vm.ToValue(func(goja.FunctionCall) goja.Value { return r.execute(matcher, &s) }))
	stand.DefineAccessorProperty("lastIndex",
		vm.ToValue(func(goja.FunctionCall) goja.Value { return get(matcher, "lastIndex") }),
		vm.ToValue(func(fc goja.FunctionCall) goja.Value {
			r.put(matcher, "lastIndex", fc.Argument(0))
			return goja.Undefined()
		}), goja.FLAG_FALSE, goja.FLAG_FALSE)
	define(stand, "flags", vm.ToValue(strings.ReplaceAll(flags, "v", "u"))) // goja goes by code points with u only
	class := vm.CreateObject(nil)
	class.DefineDataPropertySymbol(goja.SymSpecies, vm.ToValue(func(goja.ConstructorCall) *goja.Object { return stand }),
		goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	define(stand, "constructor", class)
	iterator, err := r.matchAll(stand, text)
	if err != nil {
		panic(err)
	}
	return iterator
}

func (r *regexps) symbolSplit(fc goja.FunctionCall) goja.Value {
	o := r.receiver(fc.This, "[Symbol.split]")
	s := r.subject(r.e.toString(fc.Argument(0)))
	species := r.species(o)
	flags := r.flagsOf(o)
	limit := uint32(1<<32 - 1)
	if species == nil && r.plain(o) && r.builtin(o, o.Get("exec")) {
		p := r.of(o)
		if v := fc.Argument(1); !goja.IsUndefined(v) {
			limit = toUint32(v)
		}
		return r.e.vm.NewArray(r.pieces(p, &s, limit)...)
	}
	if !strings.Contains(flags, "y") {
		flags += "y"
	}
	splitter := r.derive(o, species, flags)
	if v := fc.Argument(1); !goja.IsUndefined(v) {
		limit = toUint32(v)
	}
	return r.e.vm.NewArray(r.splitBy(splitter, &s, limit, strings.ContainsAny(flags, "uv"))...)
}

func toUint32(v goja.Value) uint32 {
	f := math.Mod(math.Trunc(v.ToNumber().ToFloat()), 1<<32)
	if math.IsNaN(f) { // of what is no number, or infinite
		return 0
	}
	return uint32(int64(f))
}

// pieces splits by our own exec. A search finds what the standard looks for at one place after another.
func (r *regexps) pieces(p *pattern, s *subject, limit uint32) (list []any) {
	length := s.Length()
	if limit == 0 {
		return nil
	}
	if length == 0 {
		if r.match(p, s, 0, true) != nil {
			return nil
		}
		return []any{s.String}
	}
	unicode := p.flags.Has(regexp.Unicode | regexp.UnicodeSets)
	begin := 0
	for at := 0; at < length; {
		m := r.match(p, s, at, false)
		if m == nil || int(m[0]) >= length {
			break
		}
		if int(m[1]) == begin { // it matches nothing, where the piece begins
			at = int(advance(s, int64(m[0]), unicode))
			continue
		}
		list = append(list, s.Substring(begin, int(m[0])))
		for i := 1; i < len(m)/2 && uint32(len(list)) < limit; i++ {
			list = append(list, captured(s, m, i))
		}
		if uint32(len(list)) >= limit {
			return list
		}
		begin = int(m[1])
		at = begin
	}
	return append(list, s.Substring(begin, length))
}

// splitBy splits by whatever exec a splitter has.
func (r *regexps) splitBy(splitter *goja.Object, s *subject, limit uint32, unicode bool) (list []any) {
	length := int64(s.Length())
	switch {
	case limit == 0:
		return nil
	case length == 0:
		if !goja.IsNull(r.execute(splitter, s)) {
			return nil
		}
		return []any{s.String}
	}
	begin := int64(0)
	for at := begin; at < length; {
		r.breathe()
		r.setLastIndex(splitter, at)
		v := r.execute(splitter, s)
		z, ok := v.(*goja.Object)
		if !ok {
			at = advance(s, at, unicode)
			continue
		}
		end := min(r.lastIndex(splitter), length)
		if end == begin {
			at = advance(s, at, unicode)
			continue
		}
		list = append(list, s.Substring(int(begin), int(at)))
		if uint32(len(list)) == limit {
			return list
		}
		begin = end
		captures := max(toLength(get(z, "length"))-1, 0)
		for i := int64(1); i <= captures; i++ {
			r.breathe()
			list = append(list, item(z, i))
			if uint32(len(list)) == limit {
				return list
			}
		}
		at = begin
	}
	return append(list, s.Substring(int(begin), int(length)))
}
