package js

import (
	"regexp"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/js/intl"
)

// locales is what Intl and the toLocale methods of a runtime share.
type locales struct {
	number   *intl.NumberFormat // for numbers without options
	order    *intl.Collator     // for localeCompare without options
	slots    map[weak.Pointer[goja.Object]]*intlSlot
	sweep    int // how many slots there may be before those of objects that are gone are dropped
	arrays   []*goja.Object
	now      goja.Callable
	dateTime goja.Callable
}

// intlSlot is what an object of a class of Intl consists of.
type intlSlot struct {
	class, locale string
	format        any
	ordinal, auto bool   // of PluralRules and RelativeTimeFormat
	kind, style   string // of ListFormat and RelativeTimeFormat
	bound         *goja.Object
}

// setLocales exchanges the built-ins that goja gives no locale, and makes Intl when it is first asked for: most programs
// never do.
func (e *Engine) setLocales() {
	e.locales = &locales{slots: map[weak.Pointer[goja.Object]]*intlSlot{}}
	number, bigint, date, array := e.prototype("Number"), e.prototype("BigInt"), e.prototype("Date"), e.real.arrayPrototype
	typed := e.global("Uint8Array").Prototype().Get("prototype").(*goja.Object)
	e.locales.now, e.locales.dateTime = method(e.global("Date"), "now"), method(date, "getTime")
	check := method(typed, "keys")
	count, _ := goja.AssertFunction(must(e.real.getOwnPropertyDescriptor(nil, typed, e.vm.ToValue("length"))).(*goja.Object).Get("get"))
	value, bigValue := method(number, "valueOf"), method(bigint, "valueOf")
	for _, m := range []struct {
		holder *goja.Object
		name   string
		length int
		f      func(goja.FunctionCall) goja.Value
	}{
		{number, "toLocaleString", 0, func(fc goja.FunctionCall) goja.Value { return e.numberText(must(value(fc.This)), fc) }},
		{bigint, "toLocaleString", 0, func(fc goja.FunctionCall) goja.Value { return e.numberText(must(bigValue(fc.This)), fc) }},
		{date, "toLocaleString", 0, func(fc goja.FunctionCall) goja.Value { return e.dateText(fc, intl.AnyBoth) }},
		{date, "toLocaleDateString", 0, func(fc goja.FunctionCall) goja.Value { return e.dateText(fc, intl.OnlyDate) }},
		{date, "toLocaleTimeString", 0, func(fc goja.FunctionCall) goja.Value { return e.dateText(fc, intl.OnlyTime) }},
		{array, "toLocaleString", 0, e.itemsText},
		{typed, "toLocaleString", 0, func(fc goja.FunctionCall) goja.Value {
			must(check(fc.This)) // it throws if there is no buffer any more
			return e.textOf(fc.This.(*goja.Object), must(count(fc.This)).ToInteger(), fc)
		}},
		{e.prototype("String"), "localeCompare", 1, e.localeCompare},
	} {
		hide(m.holder, m.name, e.native(m.name, m.length, m.f))
	}
	global := e.vm.GlobalObject()
	global.DefineAccessorProperty("Intl",
		e.native("get Intl", 0, func(goja.FunctionCall) goja.Value {
			o := e.intlObject()
			e.define("Intl", o)
			return o
		}),
		e.native("set Intl", 1, func(fc goja.FunctionCall) goja.Value {
			e.define("Intl", fc.Argument(0))
			return goja.Undefined()
		}), goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// resolved throws what was wrong with options.
func resolved[T any](e *Engine, v T, err error) T {
	if err != nil {
		class := e.real.rangeError
		if bad, ok := err.(*intl.Error); ok && bad.Type {
			class = e.real.typeError
		}
		panic(e.newError(class, err.Error()))
	}
	return v
}

// options reads the properties of an object as options.
func (e *Engine) options(v goja.Value) intl.Options {
	if goja.IsUndefined(v) {
		return func(string, intl.Kind) any { return nil }
	}
	o := v.ToObject(e.vm)
	return func(name string, kind intl.Kind) any {
		v := o.Get(name)
		if v == nil || goja.IsUndefined(v) {
			return nil
		}
		switch kind {
		case intl.Number:
			return v.ToFloat()
		case intl.Bool:
			return v.ToBoolean()
		case intl.Raw:
			if b, ok := v.Export().(bool); ok {
				return b
			}
		}
		return v.ToString().String()
	}
}

// languageTag is one of BCP 47, without the old ones that are listed one by one.
var languageTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^([a-z]{2,3}|[a-z]{5,8})(-[a-z]{4})?(-(?:[a-z]{2}|\d{3}))?((?:-(?:[a-z0-9]{5,8}|\d[a-z0-9]{3}))*(?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?)$`)
})

// maxLocales bounds a list of locales.
const maxLocales = 1000

// localeList is CanonicalizeLocaleList.
func (e *Engine) localeList(v goja.Value) (list []string) {
	if v == nil || goja.IsUndefined(v) {
		return nil
	}
	add := func(v goja.Value) {
		_, object := v.(*goja.Object)
		if !object && !goja.IsString(v) {
			panic(e.newError(e.real.typeError, "Language ID should be string or object."))
		}
		m := languageTag().FindStringSubmatch(v.ToString().String())
		if m == nil {
			panic(e.newError(e.real.rangeError, "Incorrect locale information provided: "+clipText(v.ToString().String(), maxName)))
		}
		script := strings.ToLower(m[2])
		if script != "" {
			script = "-" + strings.ToUpper(script[1:2]) + script[2:]
		}
		list = append(list, strings.ToLower(m[1])+script+strings.ToUpper(m[3])+strings.ToLower(m[4]))
	}
	if goja.IsString(v) {
		add(v)
		return list
	}
	o := v.ToObject(e.vm)
	for i := range min(length(o), maxLocales) {
		if v := item(o, i); !goja.IsUndefined(v) {
			add(v)
		}
	}
	return list
}

// locale is the first of those asked for that there is data for, and en-US if there is none. More than English is known
// by the classes that say so, and only exactly: es is not what es-MX needs.
func (e *Engine) locale(v goja.Value, known func(string) bool) string {
	for _, l := range e.localeList(v) {
		tag, _, _ := strings.Cut(l, "-u-")
		switch {
		case known != nil && known(tag), tag == "en-US":
			return tag
		case strings.HasPrefix(tag, "en-US-"):
			return "en-US"
		case tag == "en", strings.HasPrefix(tag, "en-"):
			return "en"
		}
	}
	return "en-US"
}

// decimal is ToIntlMathematicalValue.
func (e *Engine) decimal(v goja.Value) intl.Decimal {
	if o, ok := v.(*goja.Object); ok {
		v = o.ToNumber()
	}
	if goja.IsBigInt(v) || goja.IsString(v) {
		if d, ok := intl.FromText(strings.TrimSpace(v.String())); ok {
			return d
		}
	}
	if goja.IsBigInt(v) {
		panic(e.newError(e.real.rangeError, "the BigInt has too many digits to be formatted"))
	}
	return intl.FromFloat(v.ToFloat())
}

func (e *Engine) numberText(v goja.Value, fc goja.FunctionCall) goja.Value {
	locale, options := e.locale(fc.Argument(0), intl.KnowsNumbers), fc.Argument(1)
	plain := goja.IsUndefined(options) && locale == "en-US"
	f := e.locales.number
	if f == nil || !plain {
		made, err := intl.NewNumberFormat(e.options(options), locale)
		f = resolved(e, made, err)
		if plain {
			e.locales.number = f
		}
	}
	return e.vm.ToValue(f.Format(e.decimal(v)))
}

func (e *Engine) dateText(fc goja.FunctionCall, need intl.Need) goja.Value {
	ms := must(e.locales.dateTime(fc.This)).ToFloat()
	locale := e.locale(fc.Argument(0), intl.KnowsDates)
	f, err := intl.NewDateFormat(e.options(fc.Argument(1)), need, locale)
	resolved(e, f, err)
	if ms != ms {
		return e.vm.ToValue("Invalid Date")
	}
	return e.vm.ToValue(f.Format(time.UnixMilli(int64(ms))))
}

// itemsText is Array.prototype.toLocaleString.
func (e *Engine) itemsText(fc goja.FunctionCall) goja.Value {
	o := fc.This.ToObject(e.vm)
	return e.textOf(o, length(o), fc)
}

func (e *Engine) textOf(o *goja.Object, items int64, fc goja.FunctionCall) goja.Value {
	for _, above := range e.locales.arrays {
		if above == o {
			return e.vm.ToValue("")
		}
	}
	e.locales.arrays = append(e.locales.arrays, o)
	defer func() { e.locales.arrays = e.locales.arrays[:len(e.locales.arrays)-1] }()
	var b goja.StringBuilder
	size := 0
	for i := range items {
		if i > 0 {
			b.WriteRune(',')
		}
		if size++; size > maxString {
			panic(e.newError(e.real.rangeError, "Invalid string length"))
		}
		v := item(o, i)
		if goja.IsUndefined(v) || goja.IsNull(v) {
			continue
		}
		f, ok := goja.AssertFunction(must(e.real.get(nil, v.ToObject(e.vm), e.vm.ToValue("toLocaleString"), v)))
		if !ok {
			panic(e.newError(e.real.typeError, "toLocaleString is not a function"))
		}
		p := must(f(v, fc.Argument(0), fc.Argument(1))).ToString()
		text, ok := p.(goja.String)
		if !ok { // goja gives a number back as it is
			text = e.vm.ToValue(p.String()).(goja.String)
		}
		b.WriteString(text)
		size += text.Length()
	}
	return b.String()
}

func (e *Engine) localeCompare(fc goja.FunctionCall) goja.Value {
	if goja.IsUndefined(fc.This) || goja.IsNull(fc.This) {
		panic(e.newError(e.real.typeError, "String.prototype.localeCompare called on null or undefined"))
	}
	a, b := fc.This.ToString().String(), fc.Argument(0).ToString().String()
	e.locale(fc.Argument(1), nil)
	c := e.locales.order
	if options := fc.Argument(2); c == nil || !goja.IsUndefined(options) {
		made, err := intl.NewCollator(e.options(options))
		c = resolved(e, made, err)
		if goja.IsUndefined(options) {
			e.locales.order = c
		}
	}
	return e.vm.ToValue(c.Compare(a, b))
}
