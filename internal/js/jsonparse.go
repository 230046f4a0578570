package js

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
)

// jsonParse is JSON.parse over our own reader.
func (e *Engine) jsonParse(fc goja.FunctionCall) goja.Value {
	text := e.jsonText(fc.Argument(0))
	reviver, ok := goja.AssertFunction(fc.Argument(1))
	if !ok {
		v, err := e.json.parse(text)
		return e.parsed(v, notText(fc.Argument(0), err))
	}
	root := e.vm.NewObject()
	v, err := e.json.read(text, true) // each object is going to be changed
	setOwn(root, "", e.parsed(v, notText(fc.Argument(0), err)))
	r := reviving{e: e, reviver: reviver}
	return r.value(root, named(""))
}

// notText says of what is no text why it can't be parsed: programs parse what a tool answered, which is parsed already.
func notText(v goja.Value, err error) error {
	if err == nil || goja.IsString(v) {
		return err
	}
	name := kindName(v)
	if isObject(v) {
		name += ", which is no text: there is nothing to parse"
	}
	return fmt.Errorf("JSON.parse was given %s", name)
}

func (e *Engine) parsed(v goja.Value, err error) goja.Value {
	if err != nil {
		panic(e.newError(e.real.syntaxError, err.Error()))
	}
	return v
}

// jsonText is the argument as Go holds strings. A lone surrogate, which it can't hold, becomes an escape: in a string of
// JSON that is the same, and outside of one it is as wrong.
func (e *Engine) jsonText(v goja.Value) string {
	if _, ok := v.(*goja.Symbol); ok {
		panic(e.newError(e.real.typeError, "Cannot convert a Symbol value to a string"))
	}
	text := v.String()
	s, ok := v.(goja.String)
	if !ok || wellFormed(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < s.Length(); {
		r, size := runeAt(s, i)
		i += size
		if utf16.IsSurrogate(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// reviving is JSON.parse's second pass.
type reviving struct {
	e       *Engine
	reviver goja.Callable
}

func (r reviving) value(holder *goja.Object, at step) goja.Value {
	v := r.e.valueAt(holder, at)
	if v == nil {
		v = goja.Undefined()
	}
	if o, ok := v.(*goja.Object); ok {
		r.inside(o)
	}
	return must(r.reviver(holder, at.value(r.e.vm), v))
}

func (r reviving) inside(o *goja.Object) {
	if isArray(o) {
		for i := range length(o) {
			r.member(o, step{name: strconv.FormatInt(i, 10), index: i})
		}
		return
	}
	f := r.e.fieldsOf(o, &output{})
	for i := range f.names {
		r.member(o, f.at(i))
	}
}

func (r reviving) member(o *goja.Object, at step) {
	if v := r.value(o, at); goja.IsUndefined(v) {
		r.e.deleteAt(o, at)
	} else {
		r.e.setAt(o, at, v)
	}
}
