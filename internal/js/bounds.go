package js

import "github.com/dop251/goja"

// maxString is V8's longest string. goja has no bound of its own: 'x'.repeat(2**40) asks Go for a terabyte, and
// under an address space limit that kills the process where node throws.
const maxString = 1<<29 - 24

// boundStrings puts the bound before the built-ins that make long strings out of nothing.
func (e *Engine) boundStrings() {
	e.boundString("repeat", func(s goja.String, n float64) float64 { return n * float64(s.Length()) })
	length := func(_ goja.String, n float64) float64 { return n }
	e.boundString("padStart", length)
	e.boundString("padEnd", length)
}

// boundString bounds a method of one count, given the length of what it makes. The string and the count are converted
// here, once and in the standard's order, as a program can see when they are.
func (e *Engine) boundString(name string, length func(s goja.String, n float64) float64) {
	proto := e.global("String").Get("prototype").(*goja.Object)
	original := method(proto, name)
	hide(proto, name, e.native(name, 1, func(fc goja.FunctionCall) goja.Value {
		if _, symbol := fc.This.(*goja.Symbol); symbol || goja.IsUndefined(fc.This) || goja.IsNull(fc.This) {
			return must(original(fc.This)) // throws
		}
		s, n := e.string(fc.This), fc.Argument(0).ToNumber()
		args := []goja.Value{n}
		if len(fc.Arguments) > 1 {
			args = append(args, fc.Arguments[1])
		}
		if n := n.ToFloat(); n > 1 && length(s, n) > maxString {
			panic(e.newError(e.real.rangeError, "Invalid string length"))
		}
		return must(original(s, args...))
	}))
}
