package js

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// Bounds of the text of one value. What is left out is marked; the console's own limit comes after these.
const (
	inspectDepth  = 4
	inspectItems  = 100
	inspectString = 2000     // characters of a string inside a value
	inspectText   = 16 << 10 // bytes of one value
)

// inspect is the text of a value as node's util.inspect would write it on one line. It reads no getter, calls no
// toString and asks no Proxy, so that logging can't run the program.
func (e *Engine) inspect(v goja.Value) string {
	in := inspector{e: e}
	in.value(v)
	return clipText(in.String(), inspectText)
}

type inspector struct {
	strings.Builder
	e     *Engine
	above []*goja.Object
}

func (in *inspector) value(v goja.Value) {
	switch v := v.(type) {
	case nil:
		in.WriteString("undefined")
	case *goja.Object:
		in.object(v)
	case *goja.Symbol:
		in.WriteString("Symbol(" + v.String() + ")")
	case goja.String:
		in.WriteString(quote(v.String()))
	default:
		in.WriteString(v.String())
		if goja.IsBigInt(v) {
			in.WriteByte('n')
		}
	}
}

// quote prefers single quotes, as node does.
func quote(s string) string {
	if r := []rune(s); len(r) > inspectString {
		return quote(string(r[:inspectString])) + "… " + strconv.Itoa(len(r)-inspectString) + " more characters"
	}
	q := strconv.Quote(s)
	if strings.Contains(s, "'") {
		return q
	}
	return "'" + strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) + "'"
}

func (in *inspector) object(o *goja.Object) {
	for _, p := range in.above {
		if p == o {
			in.WriteString("[Circular]")
			return
		}
	}
	k := kindOf(o)
	if in.short(o, k) {
		return
	}
	if len(in.above) > inspectDepth {
		in.WriteString(map[bool]string{true: "[Array]", false: "[Object]"}[k == kindArray])
		return
	}
	in.above = append(in.above, o)
	switch k {
	case kindObject:
		if !in.web(o) {
			in.fields(o)
		}
	case kindArray, kindTypedArray:
		in.items(o, k)
	case kindMap:
		in.entries(o, "Map", in.e.real.mapForEach, true)
	case kindSet:
		in.entries(o, "Set", in.e.real.setForEach, false)
	default:
		in.fields(o)
	}
	in.above = in.above[:len(in.above)-1]
}

// short writes the kinds that have no insides to show.
func (in *inspector) short(o *goja.Object, k kind) bool {
	switch k {
	case kindFunction:
		in.WriteString("[Function" + suffixed(": ", in.text(o, "name")) + "]")
	case kindError:
		in.error(o)
	case kindDate:
		in.WriteString(in.native(in.e.real.dateToISO, o, "Invalid Date"))
	case kindRegExp:
		in.WriteString(in.e.regexps.text(o))
	case kindPromise:
		states := map[goja.PromiseState]string{
			goja.PromiseStatePending: "<pending>", goja.PromiseStateFulfilled: "<fulfilled>", goja.PromiseStateRejected: "<rejected>",
		}
		in.WriteString("Promise { " + states[o.Export().(*goja.Promise).State()] + " }")
	case kindProxy:
		in.WriteString("[Proxy]")
	case kindArrayBuffer:
		in.WriteString("ArrayBuffer { " + strconv.Itoa(len(o.Export().(goja.ArrayBuffer).Bytes())) + " bytes }")
	case kindWrapper:
		in.WriteString("[" + o.ClassName() + "]")
	case kindTools:
		in.WriteString("[tools: " + strings.Join(o.Keys(), ", ") + "]")
	default:
		return false
	}
	return true
}

// web writes what the library's objects hold inside, where they have a text.
func (in *inspector) web(o *goja.Object) bool {
	for _, c := range in.e.texts {
		if v, err := c.text(o); err == nil {
			in.WriteString(c.name + " { " + c.label + quote(v.String()) + " }")
			return true
		}
	}
	return false
}

// native calls a method of the engine's own, whatever the program put in its place.
func (in *inspector) native(f goja.Callable, o *goja.Object, otherwise string) string {
	v, err := f(o)
	if err != nil {
		return otherwise
	}
	return v.String()
}

func (in *inspector) error(o *goja.Object) {
	title := in.text(o, "name")
	if title == "" {
		title = "Error"
	}
	in.WriteString(title + suffixed(": ", in.text(o, "message")))
}

// text is a string property of the object or its prototypes, if it is plain data.
func (in *inspector) text(o *goja.Object, name string) string {
	for depth := 0; o != nil && depth < 10; depth++ {
		if kindOf(o) == kindProxy {
			return ""
		}
		if v, ok := in.own(o, name); ok {
			if s, ok := v.(goja.String); ok {
				return s.String()
			}
			return ""
		}
		o = o.Prototype()
	}
	return ""
}

// own is the value of an own data property; for an accessor the value is nil.
func (in *inspector) own(o *goja.Object, name string) (v goja.Value, ok bool) {
	descriptor, err := in.e.real.getOwnPropertyDescriptor(goja.Undefined(), o, in.e.vm.ToValue(name))
	if err != nil {
		return nil, false
	}
	d, ok := descriptor.(*goja.Object)
	if !ok {
		return nil, false
	}
	return d.Get("value"), true
}
