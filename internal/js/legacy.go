package js

import (
	"math"

	"github.com/dop251/goja"
)

// What is in no new program, and in what models learned from: Annex B of the standard, and Error.captureStackTrace of V8.

// addLegacy gives goja's built-ins what goja leaves out.
func (e *Engine) addLegacy() {
	text, object, date := e.prototype("String"), e.real.objectPrototype, e.prototype("Date")
	for _, f := range []struct {
		holder *goja.Object
		name   string
		length int
		call   func(goja.FunctionCall) goja.Value
	}{
		{text, "anchor", 1, e.element("anchor", "a", "name")},
		{text, "big", 0, e.element("big", "big", "")},
		{text, "blink", 0, e.element("blink", "blink", "")},
		{text, "bold", 0, e.element("bold", "b", "")},
		{text, "fixed", 0, e.element("fixed", "tt", "")},
		{text, "fontcolor", 1, e.element("fontcolor", "font", "color")},
		{text, "fontsize", 1, e.element("fontsize", "font", "size")},
		{text, "italics", 0, e.element("italics", "i", "")},
		{text, "link", 1, e.element("link", "a", "href")},
		{text, "small", 0, e.element("small", "small", "")},
		{text, "strike", 0, e.element("strike", "strike", "")},
		{text, "sub", 0, e.element("sub", "sub", "")},
		{text, "sup", 0, e.element("sup", "sup", "")},
		{object, "__defineGetter__", 2, e.defineAccessor("__defineGetter__", "get")},
		{object, "__defineSetter__", 2, e.defineAccessor("__defineSetter__", "set")},
		{object, "__lookupGetter__", 1, e.lookUpAccessor("get")},
		{object, "__lookupSetter__", 1, e.lookUpAccessor("set")},
		{date, "getYear", 0, e.getYear(date)},
		{date, "setYear", 1, e.setYear(date)},
		{e.real.plainError, "captureStackTrace", 2, e.captureStackTrace},
	} {
		hide(f.holder, f.name, e.native(f.name, f.length, f.call))
	}
	hide(date, "toGMTString", date.Get("toUTCString"))
}

// element puts a string into an element of HTML.
func (e *Engine) element(name, tag, attribute string) func(goja.FunctionCall) goja.Value {
	return func(fc goja.FunctionCall) goja.Value {
		s := e.thisText(fc, name)
		var b goja.StringBuilder
		b.WriteUTF8String("<" + tag)
		if attribute != "" {
			value := e.toString(fc.Argument(0))
			if s.Length()+len("&quot;")*value.Length() > maxString {
				panic(e.newError(e.real.rangeError, "Invalid string length"))
			}
			b.WriteUTF8String(" " + attribute + `="`)
			from := 0
			for i := range value.Length() {
				if value.CharAt(i) == '"' {
					b.WriteString(value.Substring(from, i))
					b.WriteUTF8String("&quot;")
					from = i + 1
				}
			}
			b.WriteString(value.Substring(from, value.Length()))
			b.WriteRune('"')
		}
		b.WriteRune('>')
		b.WriteString(s)
		b.WriteUTF8String("</" + tag + ">")
		return b.String()
	}
}

// defineAccessor is __defineGetter__ or __defineSetter__.
func (e *Engine) defineAccessor(name, kind string) func(goja.FunctionCall) goja.Value {
	return func(fc goja.FunctionCall) goja.Value {
		o, f := fc.This.ToObject(e.vm), fc.Argument(1)
		if !isCallable(f) {
			panic(e.newError(e.real.typeError, name+" takes a function, it was given "+kindName(f)))
		}
		settle(o)
		descriptor := e.vm.CreateObject(nil)
		setOwn(descriptor, kind, f)
		setOwn(descriptor, "enumerable", e.vm.ToValue(true))
		setOwn(descriptor, "configurable", e.vm.ToValue(true))
		if !must(e.real.defineProperty(nil, o, fc.Argument(0), descriptor)).ToBoolean() {
			panic(e.newError(e.real.typeError, "Cannot redefine property"))
		}
		return goja.Undefined()
	}
}

// lookUpAccessor is __lookupGetter__ or __lookupSetter__.
func (e *Engine) lookUpAccessor(kind string) func(goja.FunctionCall) goja.Value {
	return func(fc goja.FunctionCall) goja.Value {
		first := fc.This.ToObject(e.vm)
		key := e.propertyKey(fc.Argument(0))
		for o := first; o != nil; o = o.Prototype() {
			settle(o)
			if d, ok := must(e.real.getOwnPropertyDescriptor(nil, o, key)).(*goja.Object); ok {
				return get(d, kind)
			}
		}
		return goja.Undefined()
	}
}

func (e *Engine) getYear(date *goja.Object) func(goja.FunctionCall) goja.Value {
	year := method(date, "getFullYear")
	return func(fc goja.FunctionCall) goja.Value {
		v := must(year(fc.This))
		return e.vm.ToValue(v.ToFloat() - 1900)
	}
}

func (e *Engine) setYear(date *goja.Object) func(goja.FunctionCall) goja.Value {
	time, set, setTime := method(date, "getTime"), method(date, "setFullYear"), method(date, "setTime")
	return func(fc goja.FunctionCall) goja.Value {
		must(time(fc.This)) // throws for what is no Date
		year := math.Trunc(fc.Argument(0).ToNumber().ToFloat())
		switch {
		case math.IsNaN(year):
			return must(setTime(fc.This, e.vm.ToValue(year)))
		case year >= 0 && year <= 99:
			year += 1900
		}
		return must(set(fc.This, e.vm.ToValue(year)))
	}
}

// captureStackTrace gives an object the stack that an Error would have that was made here, as classes of errors written for node
// ask for it. Its second argument, a function above which nothing is to show, means nothing.
func (e *Engine) captureStackTrace(fc goja.FunctionCall) goja.Value {
	o, ok := fc.Argument(0).(*goja.Object)
	if !ok {
		panic(e.newError(e.real.typeError, "Error.captureStackTrace takes an object, it was given "+kindName(fc.Argument(0))))
	}
	settle(o)
	hide(o, "stack", stackText(o, e.vm.CaptureCallStack(0, nil)[1:])) // without this function
	return goja.Undefined()
}
