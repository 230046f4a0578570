package js

import "github.com/dop251/goja"

// maxString is V8's longest string. goja has no bound of its own: 'x'.repeat(2**40) asks Go for a terabyte, and
// under an address space limit that kills the process where node throws.
const maxString = 1<<29 - 24

// boundStrings puts the bound before the built-ins that make long strings out of nothing.
func (e *Engine) boundStrings() {
	proto := e.global("String").Get("prototype").(*goja.Object)
	for _, name := range []string{"repeat", "padStart", "padEnd"} {
		original := method(proto, name)
		hide(proto, name, e.native(name, map[bool]int{true: 1, false: 2}[name == "repeat"], func(fc goja.FunctionCall) goja.Value {
			if n := fc.Argument(0).ToFloat(); n > 1 && !e.fits(fc, name == "repeat", n) {
				panic(e.newError(e.real.rangeError, "Invalid string length"))
			}
			v, err := original(fc.This, fc.Arguments...)
			if err != nil {
				panic(err)
			}
			return v
		}))
	}
}

func (e *Engine) fits(fc goja.FunctionCall, repeat bool, n float64) bool {
	s, ok := fc.This.(goja.String)
	if !ok || !repeat {
		return n <= maxString
	}
	return float64(s.Length())*n <= maxString
}
