package js

import (
	"strconv"

	"github.com/dop251/goja"
)

func (in *inspector) items(o *goja.Object, k kind) {
	if k == kindTypedArray {
		in.WriteString(in.constructorName(o) + " ")
	}
	size, _ := in.own(o, "length")
	n := int64(0)
	if k == kindTypedArray {
		n = length(o)
	} else if size != nil {
		n = size.ToInteger()
	}
	in.list("[", "]", n, func(i int64) {
		v, ok := in.own(o, strconv.FormatInt(i, 10))
		in.slot(v, ok)
	})
}

func (in *inspector) slot(v goja.Value, ok bool) {
	switch {
	case !ok:
		in.WriteString("<empty>")
	case v == nil:
		in.WriteString("[Getter]")
	default:
		in.value(v)
	}
}

func (in *inspector) entries(o *goja.Object, name string, forEach goja.Callable, pairs bool) {
	var keys, values []goja.Value
	n := int64(0)
	in.e.each(forEach, o, func(v, k goja.Value) {
		if n++; n <= inspectItems {
			keys, values = append(keys, k), append(values, v)
		}
	})
	in.WriteString(name + "(" + strconv.FormatInt(n, 10) + ") ")
	in.list("{", "}", n, func(i int64) {
		if pairs {
			in.value(keys[i])
			in.WriteString(" => ")
		}
		in.value(values[i])
	})
}

func (in *inspector) fields(o *goja.Object) {
	if name := in.constructorName(o); name != "" && name != "Object" {
		in.WriteString(name + " ")
	}
	keys := o.Keys()
	in.list("{", "}", int64(len(keys)), func(i int64) {
		if isIdentifier(keys[i]) {
			in.WriteString(keys[i])
		} else {
			in.WriteString(quote(keys[i]))
		}
		in.WriteString(": ")
		v, ok := in.own(o, keys[i])
		in.slot(v, ok)
	})
}

func (in *inspector) constructorName(o *goja.Object) string {
	proto := o.Prototype()
	if proto == nil {
		return "[Object: null prototype]"
	}
	if kindOf(proto) == kindProxy {
		return ""
	}
	ctor, _ := in.own(proto, "constructor")
	if fn, ok := ctor.(*goja.Object); ok && kindOf(fn) == kindFunction {
		return in.text(fn, "name")
	}
	return ""
}

// list writes up to inspectItems of n items, and stops early when the text is long enough.
func (in *inspector) list(open, end string, n int64, one func(i int64)) {
	if n == 0 {
		in.WriteString(open + end)
		return
	}
	in.WriteString(open + " ")
	for i := range n {
		if i > 0 {
			in.WriteString(", ")
		}
		if i == inspectItems || in.Len() > inspectText {
			in.WriteString("… " + strconv.FormatInt(n-i, 10) + " more")
			break
		}
		one(i)
	}
	in.WriteString(" " + end)
}

func suffixed(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}
