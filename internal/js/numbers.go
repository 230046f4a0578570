package js

import (
	"math"
	"math/big"
	"slices"

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
	*construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		return made(e.withoutBigInt(args), newTarget)
	}
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

// mendRadix has toString write numbers in other bases than ten to the precision that they have, as V8 does. goja writes all
// digits of the exact value, which are no better.
func (e *Engine) mendRadix() {
	call, _ := insideOf(e.prototype("Number").Get("toString").(*goja.Object))
	toString := *call
	*call = func(fc goja.FunctionCall) goja.Value {
		if len(fc.Arguments) == 0 || !goja.IsNumber(fc.This) || goja.IsUndefined(fc.Arguments[0]) {
			return toString(fc)
		}
		radix := fc.Arguments[0].ToInteger()
		f := fc.This.ToFloat()
		if radix < 2 || radix > 36 || radix == 10 || math.IsNaN(f) || math.IsInf(f, 0) {
			return toString(goja.FunctionCall{This: fc.This, Arguments: []goja.Value{e.vm.ToValue(radix)}})
		}
		return e.vm.ToValue(radixText(f, float64(radix)))
	}
}

const radixDigits = "0123456789abcdefghijklmnopqrstuvwxyz"

// radixText writes as many digits as tell a number from its neighbours, and zeros for those before the point that are beyond
// its 53 bits.
func radixText(f, radix float64) string {
	if f < 0 {
		return "-" + radixText(-f, radix)
	}
	whole, fraction := math.Modf(f)
	var below []byte // digits behind the point
	delta := max(math.SmallestNonzeroFloat64, (math.Nextafter(f, math.Inf(1))-f)/2)
	for fraction >= delta {
		fraction *= radix
		delta *= radix
		digit := math.Trunc(fraction)
		below = append(below, byte(digit))
		fraction -= digit
		if (fraction > 0.5 || fraction == 0.5 && int(digit)&1 == 1) && fraction+delta > 1 {
			for len(below) > 0 && float64(below[len(below)-1])+1 == radix {
				below = below[:len(below)-1]
			}
			if len(below) == 0 {
				whole++
			} else {
				below[len(below)-1]++
			}
			break
		}
	}
	var above []byte // digits before the point, the last one first
	for whole/radix >= 1<<53 {
		whole /= radix
		above = append(above, '0')
	}
	for {
		digit := math.Mod(whole, radix)
		above = append(above, radixDigits[int(digit)])
		if whole = (whole - digit) / radix; whole <= 0 {
			break
		}
	}
	slices.Reverse(above)
	if len(below) == 0 {
		return string(above)
	}
	for i := range below {
		below[i] = radixDigits[below[i]]
	}
	return string(above) + "." + string(below)
}
