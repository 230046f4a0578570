package js

import "github.com/dop251/goja"

// tokens are what FinalizationRegistry.unregister is given.
type tokens map[goja.Value]bool

func (e *Engine) weakNatives() natives {
	// weakly refuses what can't be held weakly: what is neither an object nor a symbol that is found only by who has it.
	weakly := func(v goja.Value) {
		symbol, isSymbol := v.(*goja.Symbol)
		if !isObject(v) && (!isSymbol || !goja.IsUndefined(must(e.real.keyFor(nil, symbol)))) {
			panic(e.newError(e.real.typeError, kindName(v)+" can't be referred to weakly"))
		}
	}
	return natives{
		"weakly": func(fc goja.FunctionCall) goja.Value {
			weakly(fc.Argument(0))
			return goja.Undefined()
		},
		"newTokens": func(goja.FunctionCall) goja.Value { return hold(e, tokens{}) },
		"keep": func(fc goja.FunctionCall) goja.Value {
			weakly(fc.Argument(1))
			heldIn[tokens](fc.Argument(0))[fc.Argument(1)] = true
			return goja.Undefined()
		},
		"remove": func(fc goja.FunctionCall) goja.Value {
			t, token := heldIn[tokens](fc.Argument(0)), fc.Argument(1)
			there := t[token]
			delete(t, token)
			return e.vm.ToValue(there)
		},
	}
}
