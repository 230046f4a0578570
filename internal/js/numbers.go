package js

import (
	"math"
	"math/big"

	"github.com/dop251/goja"
)

var nan = math.NaN()

// mendNumbers has Number take BigInts of any size, of which goja takes 64 bits.
func (e *Engine) mendNumbers() {
	call, construct := insideOf(e.global("Number"))
	convert, made := *call, *construct
	*call = func(fc goja.FunctionCall) goja.Value {
		fc.Arguments = e.withoutBigInt(fc.Arguments)
		return convert(fc)
	}
	*construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object { return made(e.withoutBigInt(args), newTarget) }
}

// withoutBigInt has the number that is next to a BigInt for the first argument.
func (e *Engine) withoutBigInt(args []goja.Value) []goja.Value {
	if len(args) == 0 || !goja.IsBigInt(args[0]) {
		return args
	}
	f, _ := new(big.Float).SetInt(args[0].Export().(*big.Int)).Float64()
	return []goja.Value{e.vm.ToValue(f)}
}

// insideOf is what a built-in class does when it is called, and when it makes an object: to be exchanged in place, so that
// the class stays the object that it was.
func insideOf(class *goja.Object) (call *func(goja.FunctionCall) goja.Value, construct *func([]goja.Value, *goja.Object) *goja.Object) {
	kept := keptOf(class).Elem()
	return at[func(goja.FunctionCall) goja.Value](kept, fieldIndex(kept.Type(), "f")),
		at[func([]goja.Value, *goja.Object) *goja.Object](kept, fieldIndex(kept.Type(), "construct"))
}
