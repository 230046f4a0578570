package js

import (
	"reflect"
	"strconv"
	"time"
	"unicode"

	"github.com/dop251/goja"
)

// kind sorts objects by what they are inside, whatever their prototype or toStringTag says.
type kind int

const (
	kindObject kind = iota
	kindArray
	kindFunction
	kindError
	kindDate
	kindRegExp
	kindMap
	kindSet
	kindPromise
	kindProxy
	kindTypedArray
	kindArrayBuffer
	kindWrapper // Number, String, Boolean object
	kindTools   // tools, or a server
)

var kindNames = [...]string{
	kindObject: "an object", kindArray: "an array", kindFunction: "a function", kindError: "an Error", kindDate: "a Date",
	kindRegExp: "a RegExp", kindMap: "a Map", kindSet: "a Set", kindPromise: "a Promise", kindProxy: "a Proxy",
	kindTypedArray: "a typed array", kindArrayBuffer: "an ArrayBuffer", kindWrapper: "a wrapped primitive",
	kindTools: "a part of `tools`",
}

var exportKinds = map[reflect.Type]kind{
	reflect.TypeFor[*goja.Promise]():    kindPromise,
	reflect.TypeFor[goja.ArrayBuffer](): kindArrayBuffer,
	reflect.TypeFor[time.Time]():        kindDate,
	reflect.TypeFor[[][2]any]():         kindMap,
	reflect.TypeFor[[]any]():            kindSet, // or an array, which its class tells
	reflect.TypeFor[*toolbox]():         kindTools,
	reflect.TypeFor[*server]():          kindTools,
	reflect.TypeFor[[]uint8]():          kindTypedArray,
	reflect.TypeFor[[]int8]():           kindTypedArray,
	reflect.TypeFor[[]uint16]():         kindTypedArray,
	reflect.TypeFor[[]int16]():          kindTypedArray,
	reflect.TypeFor[[]uint32]():         kindTypedArray,
	reflect.TypeFor[[]int32]():          kindTypedArray,
	reflect.TypeFor[[]float32]():        kindTypedArray,
	reflect.TypeFor[[]float64]():        kindTypedArray,
	reflect.TypeFor[[]int64]():          kindTypedArray,
	reflect.TypeFor[[]uint64]():         kindTypedArray,
}

var (
	plainType = reflect.TypeFor[map[string]any]()
	proxyType = reflect.TypeFor[goja.Proxy]()
)

func kindOf(o *goja.Object) kind {
	export := o.ExportType()
	if export == proxyType { // a revoked one throws when it is asked for its class
		return kindProxy
	}
	class := o.ClassName()
	if class == "Array" {
		return kindArray
	}
	if (export == plainType || export == lazyType) && class == "Object" {
		return kindObject
	}
	if k, ok := exportKinds[export]; ok {
		return k
	}
	if _, ok := goja.AssertFunction(o); ok {
		return kindFunction
	}
	switch class {
	case "Error":
		return kindError
	case "RegExp":
		return kindRegExp
	case "Number", "String", "Boolean":
		return kindWrapper
	}
	return kindObject
}

// kindName says what a value is, with its article, for messages.
func kindName(v goja.Value) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	case goja.IsBigInt(v):
		return "a BigInt"
	case goja.IsNumber(v):
		return "a number"
	case goja.IsString(v):
		return "a string"
	}
	switch v := v.(type) {
	case *goja.Symbol:
		return "a symbol"
	case *goja.Object:
		return kindNames[kindOf(v)]
	}
	return "a boolean"
}

// isArray is ECMAScript's IsArray: it looks through proxies, and throws for one that was revoked.
func isArray(o *goja.Object) bool {
	for kindOf(o) == kindProxy {
		target := o.Export().(goja.Proxy).Target()
		if target == nil {
			o.ClassName() // throws
			return false
		}
		o = target
	}
	return kindOf(o) == kindArray
}

func length(o *goja.Object) int64 {
	v := o.Get("length")
	if v == nil {
		return 0
	}
	return v.ToInteger()
}

func item(o *goja.Object, i int64) goja.Value {
	v := o.Get(strconv.FormatInt(i, 10))
	if v == nil {
		return goja.Undefined()
	}
	return v
}

// firstItems are up to n items of an array.
func (e *Engine) firstItems(o *goja.Object, n int64) []goja.Value {
	var items []goja.Value
	for i := range min(n, length(o)) {
		items = append(items, item(o, i))
	}
	return items
}

// isIdentifier says that a name can stand behind a dot.
func isIdentifier(name string) bool {
	for i, r := range name {
		if !unicode.IsLetter(r) && r != '_' && r != '$' && (i == 0 || !unicode.IsNumber(r)) {
			return false
		}
	}
	return name != ""
}

// property is how a program writes access to a property: .a or ["a-b"].
func property(name string) string {
	if isIdentifier(name) {
		return "." + name
	}
	return "[" + strconv.Quote(name) + "]"
}
