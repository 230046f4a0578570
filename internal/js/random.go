package js

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/dop251/goja"
)

// maxRandom is how many bytes getRandomValues fills at once, as in browsers.
const maxRandom = 64 << 10

// cryptoObject is as much of the web's crypto as needs no cryptography: randomness, from the run's own source.
func (e *Engine) cryptoObject() map[string]goja.Value {
	o := e.vm.NewObject()
	tag(e, o, "Crypto")
	hide(o, "randomUUID", e.native("randomUUID", 0, func(goja.FunctionCall) goja.Value {
		var b [16]byte
		e.random.Read(b[:])
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
		s := hex.EncodeToString(b[:])
		return e.vm.ToValue(s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:])
	}))
	hide(o, "getRandomValues", e.native("getRandomValues", 1, e.getRandomValues))
	subtle := e.native("get subtle", 0, func(goja.FunctionCall) goja.Value {
		panic(e.newError(e.real.plainError, "crypto.subtle is not available: a program has no cryptography; crypto.randomUUID and crypto.getRandomValues are there"))
	})
	o.DefineAccessorProperty("subtle", subtle, nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return map[string]goja.Value{"crypto": o}
}

func (e *Engine) getRandomValues(fc goja.FunctionCall) goja.Value {
	v := fc.Argument(0)
	o, ok := v.(*goja.Object)
	if !ok || kindOf(o) != kindTypedArray {
		panic(e.notFilled(v))
	}
	switch items := o.Export().(type) { // each is the array's own memory
	case []uint8:
		fillRandom(e, items)
	case []int8:
		fillRandom(e, items)
	case []uint16:
		fillRandom(e, items)
	case []int16:
		fillRandom(e, items)
	case []uint32:
		fillRandom(e, items)
	case []int32:
		fillRandom(e, items)
	case []uint64:
		fillRandom(e, items)
	case []int64:
		fillRandom(e, items)
	default:
		panic(e.notFilled(v))
	}
	return o
}

func (e *Engine) notFilled(v goja.Value) *goja.Object {
	return e.webError("TypeMismatchError", "crypto.getRandomValues takes a typed array of integers, it was given "+kindName(v))
}

func fillRandom[T uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64](e *Engine, items []T) {
	if binary.Size(items) > maxRandom {
		panic(e.webError("QuotaExceededError", fmt.Sprintf("crypto.getRandomValues fills at most %d bytes at once", maxRandom)))
	}
	for i := range items {
		items[i] = T(e.random.Uint64())
	}
}

// performanceObject reads the run's clock. It begins when the program can first name it.
func (e *Engine) performanceObject() map[string]goja.Value {
	origin := e.now()
	o := e.vm.NewObject()
	tag(e, o, "Performance")
	hide(o, "now", e.native("now", 0, func(goja.FunctionCall) goja.Value {
		return e.vm.ToValue(milliseconds(e.now().Sub(origin)))
	}))
	hide(o, "timeOrigin", e.vm.ToValue(float64(origin.UnixMicro())/1e3))
	return map[string]goja.Value{"performance": o}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
