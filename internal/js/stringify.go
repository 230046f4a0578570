package js

import (
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// maxStringify bounds nesting for JSON.stringify, which recurses. V8 gives up at about the same depth.
const maxStringify = 5000

// stringifier is JSON.stringify. goja's own indents wrongly after an empty object or array, and takes each string and
// each lazy object apart.
type stringifier struct {
	output
	e        *Engine
	replacer goja.Callable
	only     []step         // names of members to write, if a list was given
	above    []*goja.Object // the objects being written
}

func (e *Engine) jsonStringify(fc goja.FunctionCall) goja.Value {
	s := stringifier{e: e, output: output{most: maxStringify}}
	var holder *goja.Object
	if replacer, ok := fc.Argument(1).(*goja.Object); ok {
		if f, ok := goja.AssertFunction(replacer); ok {
			s.replacer = f
			holder = e.vm.NewObject()
			setOwn(holder, "", fc.Argument(0))
		} else if isArray(replacer) {
			s.only = s.names(replacer)
		}
	}
	s.gap = gap(fc.Argument(2))
	v := s.prepare(holder, named(""), fc.Argument(0))
	if s.omitted(v) {
		return goja.Undefined()
	}
	s.value(v)
	return e.vm.ToValue(string(s.buf))
}

// names are those in a list given as replacer.
func (s *stringifier) names(list *goja.Object) []step {
	names := []step{}
	for i := range length(list) {
		v := item(list, i)
		o, ok := v.(*goja.Object)
		if ok && kindOf(o) != kindWrapper || ok && o.ClassName() == "Boolean" || !ok && !goja.IsNumber(v) && !goja.IsString(v) {
			continue
		}
		name := exactly(s.e.string(v))
		if !slices.ContainsFunc(names, name.same) {
			names = append(names, name)
		}
	}
	return names
}

// string is ECMAScript's ToString: goja's gives numbers as they are.
func (e *Engine) string(v goja.Value) goja.String {
	v = v.ToString()
	if s, ok := v.(goja.String); ok {
		return s
	}
	return e.vm.ToValue(v.String()).(goja.String)
}

// gap is what the third argument makes of one level: up to ten spaces, or the first ten characters of a string.
func gap(v goja.Value) string {
	if o, ok := v.(*goja.Object); ok && kindOf(o) == kindWrapper {
		switch o.ClassName() {
		case "Number":
			v = o.ToNumber()
		case "String":
			v = o.ToString()
		}
	}
	const most = 10
	switch {
	case goja.IsNumber(v):
		return strings.Repeat(" ", int(max(0, min(most, v.ToInteger()))))
	case goja.IsString(v):
		s := v.(goja.String)
		return s.Substring(0, min(most, s.Length())).String()
	}
	return ""
}

// prepare gives what is to be written for the value that stands in holder.
func (s *stringifier) prepare(holder *goja.Object, at step, v goja.Value) goja.Value {
	if v == nil {
		v = goja.Undefined()
	}
	if toJSON, ok := goja.AssertFunction(s.toJSON(v)); ok {
		v = must(toJSON(v, at.value(s.e.vm)))
	}
	if s.replacer != nil {
		v = must(s.replacer(holder, at.value(s.e.vm), v))
	}
	return s.unwrapped(v)
}

// toJSON is that of an object or a BigInt, which a getter of its prototype sees as it is.
func (s *stringifier) toJSON(v goja.Value) goja.Value {
	if o, ok := v.(*goja.Object); ok {
		return o.Get("toJSON")
	}
	if goja.IsBigInt(v) {
		return s.e.invoke(s.e.real.reflect, "get", s.e.real.bigIntPrototype, s.e.vm.ToValue("toJSON"), v)
	}
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // an exception of the program, or the end of it
	}
	return v
}

// unwrapped is the primitive in an object that stands for one.
func (s *stringifier) unwrapped(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok || kindOf(o) != kindWrapper {
		return v
	}
	switch o.ClassName() {
	case "Number":
		return o.ToNumber()
	case "Boolean":
		return s.e.vm.ToValue(o.Export())
	}
	return s.e.string(o)
}

// omitted values are left out of objects, and null in arrays.
func (s *stringifier) omitted(v goja.Value) bool {
	switch v := v.(type) {
	case nil, *goja.Symbol:
		return true
	case *goja.Object:
		_, ok := goja.AssertFunction(v)
		return ok
	}
	return goja.IsUndefined(v)
}

func (s *stringifier) value(v goja.Value) {
	switch v := v.(type) {
	case *goja.Object:
		s.object(v)
	case goja.String:
		s.string(v)
	default:
		if goja.IsBigInt(v) {
			s.refuseBigInt()
		}
		s.primitive(v)
	}
}

func (s *stringifier) refuseBigInt() {
	panic(s.e.newError(s.e.real.typeError, "Do not know how to serialize a BigInt"))
}

func (s *stringifier) object(o *goja.Object) {
	switch {
	case o.ExportType() == bigIntType:
		s.refuseBigInt()
	case o.ExportType() != proxyType && o.ClassName() == "RawJSON":
		s.buf = append(s.buf, o.Get("rawJSON").String()...)
		return
	case slices.Contains(s.above, o):
		panic(s.e.newError(s.e.real.typeError, "Converting circular structure to JSON"))
	case len(s.above) == maxStringify:
		panic(s.e.newError(s.e.real.rangeError, "Maximum call stack size exceeded: nested more than "+strconv.Itoa(maxStringify)+" levels deep"))
	}
	s.above = append(s.above, o)
	switch {
	case isArray(o):
		s.array(o)
	case s.only != nil:
		s.listed(o)
	default:
		s.fields(o)
	}
	s.above = s.above[:len(s.above)-1]
}

var bigIntType = reflect.TypeFor[*big.Int]()

func (s *stringifier) array(o *goja.Object) {
	s.open('[')
	size := length(o)
	for i := range size {
		v := s.prepare(o, step{index: i}, item(o, i))
		s.next(i == 0)
		if s.omitted(v) {
			s.null()
		} else {
			s.value(v)
		}
	}
	s.close(']', size == 0)
}

func (s *stringifier) fields(o *goja.Object) {
	f := s.e.fieldsOf(o, &s.output)
	if s.replacer != nil {
		f.told = nil
	}
	s.open('{')
	first := true
	for i := range f.names {
		wrote := f.write(&s.output, i, first) || s.field(o, f.at(i), f.value(i), first)
		first = first && !wrote
	}
	s.close('}', first)
}

func (s *stringifier) listed(o *goja.Object) {
	s.open('{')
	first := true
	for _, at := range s.only {
		wrote := s.field(o, at, s.e.valueAt(o, at), first)
		first = first && !wrote
	}
	s.close('}', first)
}

func (s *stringifier) field(o *goja.Object, at step, v goja.Value, first bool) (wrote bool) {
	if v = s.prepare(o, at, v); s.omitted(v) {
		return false
	}
	s.next(first)
	s.name(at)
	s.value(v)
	return true
}
