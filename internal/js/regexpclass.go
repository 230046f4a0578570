package js

import (
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/js/regexp"
)

// flagNames are the accessors of RegExp.prototype, in the order in which `flags` reads them.
var flagNames = [...]struct {
	name string
	flag regexp.Flags
}{
	{"hasIndices", regexp.HasIndices}, {"global", regexp.Global}, {"ignoreCase", regexp.IgnoreCase},
	{"multiline", regexp.Multiline}, {"dotAll", regexp.DotAll}, {"unicode", regexp.Unicode},
	{"unicodeSets", regexp.UnicodeSets}, {"sticky", regexp.Sticky},
}

// gojaFlags are those that goja's own literals can have.
var gojaFlags = [...]struct {
	name string
	flag regexp.Flags
}{
	{"global", regexp.Global}, {"ignoreCase", regexp.IgnoreCase}, {"multiline", regexp.Multiline},
	{"dotAll", regexp.DotAll}, {"unicode", regexp.Unicode}, {"sticky", regexp.Sticky},
}

// constructorProgram is JavaScript, as no function of Go's is told by goja whether it was called or constructs. It is
// compiled once in a process: goja's programs do not change.
var constructorProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("RegExp", "(create => function RegExp(pattern, flags) { return create(pattern, flags, new.target, this) })", false)
})

// newConstructor is RegExp.
func (r *regexps) newConstructor() *goja.Object {
	made, err := r.e.vm.RunProgram(constructorProgram())
	if err != nil {
		panic("js: " + err.Error()) // at New, on every run: a wrong goja
	}
	bind, _ := goja.AssertFunction(made)
	v, err := bind(goja.Undefined(), r.e.native("RegExp", 4, func(fc goja.FunctionCall) goja.Value {
		if goja.IsUndefined(fc.Argument(2)) {
			return r.create(fc.Argument(0), fc.Argument(1), nil)
		}
		return r.create(fc.Argument(0), fc.Argument(1), fc.Argument(3).(*goja.Object).Prototype())
	}))
	if err != nil {
		panic("js: " + err.Error())
	}
	c := v.(*goja.Object)
	c.DefineDataProperty("prototype", r.proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	species := r.e.native("get [Symbol.species]", 0, func(fc goja.FunctionCall) goja.Value { return fc.This })
	c.DefineAccessorPropertySymbol(goja.SymSpecies, species, nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return c
}

// install puts our RegExp in the place of goja's: the constructor, and all of its prototype's methods and accessors.
func (r *regexps) install(e *Engine) {
	r.e = e
	r.matcher.Stop = func() bool { return e.stopped() != nil }
	class := e.global("RegExp")
	r.proto = class.Get("prototype").(*goja.Object)
	r.own, _ = goja.AssertConstructor(class)
	r.recompile = method(r.proto, "compile")
	r.matchAll, _ = goja.AssertFunction(r.proto.GetSymbol(goja.SymMatchAll))
	r.source = e.getter(r.proto, "source")
	for _, f := range gojaFlags {
		r.flagOf = append(r.flagOf, e.getter(r.proto, f.name))
	}
	r.constructor = r.newConstructor()
	e.define("RegExp", r.constructor)
	hide(r.constructor, "escape", e.native("escape", 1, r.escape))
	hide(r.proto, "constructor", r.constructor)
	source := e.protoMethod("Function", "toString")
	hide(e.prototype("Function"), "toString", e.native("toString", 0, func(fc goja.FunctionCall) goja.Value {
		if fc.This == r.constructor { // a function of ours in JavaScript, in the place of one that has no source
			return e.vm.ToValue("function RegExp() { [native code] }")
		}
		return must(source(fc.This))
	}))
	r.accessors()
	r.methods()
}

// getter is an accessor as it was before the program ran.
func (e *Engine) getter(o *goja.Object, name string) goja.Callable {
	d, err := e.real.getOwnPropertyDescriptor(goja.Undefined(), o, e.vm.ToValue(name))
	if err != nil {
		panic("js: " + err.Error()) // at New, on every run: a wrong goja
	}
	return method(d.(*goja.Object), "get")
}

func (r *regexps) accessors() {
	access := func(name string, get func(goja.FunctionCall) goja.Value) {
		r.proto.DefineAccessorProperty(name, r.e.native("get "+name, 0, get), nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	for _, f := range flagNames {
		access(f.name, func(fc goja.FunctionCall) goja.Value {
			if p := r.of(fc.This); p != nil {
				return r.e.vm.ToValue(p.flags.Has(f.flag))
			}
			r.protoOnly(fc.This, f.name)
			return goja.Undefined()
		})
	}
	access("source", func(fc goja.FunctionCall) goja.Value {
		if p := r.of(fc.This); p != nil {
			return r.shown(p)
		}
		r.protoOnly(fc.This, "source")
		return r.e.vm.ToValue("(?:)")
	})
	access("flags", func(fc goja.FunctionCall) goja.Value {
		return r.e.vm.ToValue(r.readFlags(r.receiver(fc.This, "get flags")))
	})
}

// protoOnly refuses all values but RegExp.prototype, of which accessors have an answer.
func (r *regexps) protoOnly(v goja.Value, name string) {
	if v != goja.Value(r.proto) {
		r.typeError("RegExp.prototype.%s getter called on %s, which is no RegExp", name, kindName(v))
	}
}

func (r *regexps) receiver(v goja.Value, name string) *goja.Object {
	o, ok := v.(*goja.Object)
	if !ok {
		r.typeError("RegExp.prototype.%s called on %s, which is no object", name, kindName(v))
	}
	return o
}

// readFlags asks for each flag by its name, as `flags` does.
func (r *regexps) readFlags(o *goja.Object) string {
	var flags regexp.Flags
	for _, f := range flagNames {
		if v := o.Get(f.name); v != nil && v.ToBoolean() {
			flags |= f.flag
		}
	}
	return flags.String()
}

func (r *regexps) methods() {
	define := func(name string, length int, f func(goja.FunctionCall) goja.Value) *goja.Object {
		fn := r.e.native(name, length, f)
		hide(r.proto, name, fn)
		return fn
	}
	symbol := func(s *goja.Symbol, name string, length int, f func(goja.FunctionCall) goja.Value) *goja.Object {
		fn := r.e.native("[Symbol."+name+"]", length, f)
		r.proto.DefineDataPropertySymbol(s, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		return fn
	}
	r.exec = define("exec", 1, r.execMethod)
	define("test", 1, r.test)
	define("toString", 0, r.toString)
	define("compile", 2, r.compileMethod)
	r.symMatch = symbol(goja.SymMatch, "match", 1, r.symbolMatch)
	r.symMatchAll = symbol(goja.SymMatchAll, "matchAll", 1, r.symbolMatchAll)
	r.symReplace = symbol(goja.SymReplace, "replace", 2, r.symbolReplace)
	r.symSearch = symbol(goja.SymSearch, "search", 1, r.symbolSearch)
	symbol(goja.SymSplit, "split", 2, r.symbolSplit)

	// goja's own String methods but these go by the symbols.
	strings := r.e.prototype("String")
	hide(strings, "match", r.e.native("match", 1, r.stringMethod("match", goja.SymMatch, "")))
	hide(strings, "matchAll", r.e.native("matchAll", 1, r.stringMethod("matchAll", goja.SymMatchAll, "g")))
	hide(strings, "search", r.e.native("search", 1, r.stringMethod("search", goja.SymSearch, "")))
}

// isRegExp is the standard's: what says so by Symbol.match, else what is one.
func (r *regexps) isRegExp(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	if m := o.GetSymbol(goja.SymMatch); m != nil && !goja.IsUndefined(m) {
		return m.ToBoolean()
	}
	return r.of(o) != nil
}

// create is RegExp(pattern, flags), and without `new` if there is no prototype for what is made.
func (r *regexps) create(source, flags goja.Value, proto *goja.Object) *goja.Object {
	is := r.isRegExp(source)
	if proto == nil {
		if o, ok := source.(*goja.Object); ok && is && goja.IsUndefined(flags) && o.Get("constructor") == goja.Value(r.constructor) {
			return o
		}
		proto = r.proto
	}
	if p := r.of(source); p != nil {
		source = p.source.String
		if goja.IsUndefined(flags) {
			flags = r.e.vm.ToValue(p.flags.String())
		}
	} else if is {
		o := source.(*goja.Object)
		source = get(o, "source")
		if goja.IsUndefined(flags) {
			flags = get(o, "flags")
		}
	}
	o := r.object(r.initialize(source, flags))
	if proto != r.proto {
		o.SetPrototype(proto)
	}
	return o
}

func (r *regexps) toString(fc goja.FunctionCall) goja.Value {
	o := r.receiver(fc.This, "toString")
	var b goja.StringBuilder
	b.WriteRune('/')
	b.WriteString(r.e.toString(get(o, "source")))
	b.WriteRune('/')
	b.WriteString(r.e.toString(get(o, "flags")))
	return b.String()
}

// get is a property, undefined if there is none.
func get(o *goja.Object, name string) goja.Value {
	if v := o.Get(name); v != nil {
		return v
	}
	return goja.Undefined()
}

func (r *regexps) compileMethod(fc goja.FunctionCall) goja.Value {
	o, _ := fc.This.(*goja.Object)
	if r.of(fc.This) == nil {
		r.typeError("RegExp.prototype.compile called on %s, which is no RegExp", kindName(fc.This))
	}
	source, flags := fc.Argument(0), fc.Argument(1)
	if p := r.of(source); p != nil {
		if !goja.IsUndefined(flags) {
			r.typeError("RegExp.prototype.compile takes no flags together with a RegExp")
		}
		source, flags = p.source.String, r.e.vm.ToValue(p.flags.String())
	}
	p := r.initialize(source, flags)
	r.remember(o, p)
	if _, err := r.recompile(o, r.e.vm.ToValue(numbered(p))); err != nil { // sets lastIndex, too
		panic(err)
	}
	return o
}

// escape is RegExp.escape.
func (r *regexps) escape(fc goja.FunctionCall) goja.Value {
	text, ok := fc.Argument(0).(goja.String)
	if !ok {
		r.typeError("RegExp.escape takes a string, not %s", kindName(fc.Argument(0)))
	}
	s := r.subject(text)
	units := s.units()
	var b goja.StringBuilder
	for i := 0; i < len(units); i++ {
		c := rune(units[i])
		if utf16.IsSurrogate(c) && i+1 < len(units) {
			if pair := utf16.DecodeRune(c, rune(units[i+1])); pair != 0xFFFD {
				b.WriteRune(pair)
				i++
				continue
			}
		}
		r.escapeOne(&b, c, i == 0)
	}
	return b.String()
}

const hexDigits = "0123456789abcdef"

func (r *regexps) escapeOne(b *goja.StringBuilder, c rune, first bool) {
	control := strings.IndexRune("\t\n\v\f\r", c)
	switch {
	case control >= 0:
		b.WriteUTF8String(`\` + "tnvfr"[control:control+1])
	case strings.ContainsRune(`^$\.*+?()[]{}|/`, c):
		b.WriteUTF8String(`\` + string(c))
	case first && (c >= '0' && c <= '9' || c|' ' >= 'a' && c|' ' <= 'z'), c < 128 && strings.ContainsRune(",-=<>#&!%:;@~'`\" ", c), c == 0xA0:
		b.WriteUTF8String(`\x` + string(hexDigits[c>>4]) + string(hexDigits[c&15]))
	case utf16.IsSurrogate(c), c == 0x1680, c >= 0x2000 && c <= 0x200A, c == 0x2028, c == 0x2029, c == 0x202F, c == 0x205F, c == 0x3000, c == 0xFEFF:
		b.WriteUTF8String(`\u` + string([]byte{hexDigits[c>>12], hexDigits[c>>8&15], hexDigits[c>>4&15], hexDigits[c&15]}))
	default:
		b.WriteRune(c)
	}
}
