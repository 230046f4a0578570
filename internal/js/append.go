package js

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// minTip is the length from which on a string that grows gets room to grow in place. Shorter ones are copied, which
// costs less than the book-keeping.
const minTip = 256

// tips are the buffers of the last few strings that were appended to. A string is immutable, but the room behind the
// last one that was made in a buffer is nobody's: appending to that one takes it, and every string made so far stays as
// it is. Appending to any other string copies it.
//
// A buffer is made with the first string in it, at most twice as long as that, and all further ones are longer. So no
// string holds more than twice its own size, and the tips hold no more than maxTips buffers that the program dropped.
type tips struct {
	ascii [maxTips][]byte
	wide  [maxTips][]uint16 // UTF-16 behind a byte order mark, as goja has it
	next  int               // the one to be replaced next
}

// maxTips is how many strings a program can build by turns.
const maxTips = 4

var (
	asciiType = reflect.TypeOf(goja.StringFromUTF16([]uint16{'a'}))
	wideType  = reflect.TypeOf(goja.StringFromUTF16([]uint16{'é'}))
	unitsType = reflect.TypeFor[[]uint16]()
)

// append is the `+` of a program where it appends to a string, see rewrite.go. goja copies both sides.
func (e *Engine) append(fc goja.FunctionCall) goja.Value {
	left, right := fc.Arguments[0], fc.Arguments[1]
	l, ok := left.(goja.String)
	if !ok {
		return e.plus(left, right)
	}
	r, ok := right.(goja.String)
	if !ok {
		switch right.(type) {
		case *goja.Object, *goja.Symbol:
			return e.plus(left, right)
		}
		r = e.vm.ToValue(right.String()).(goja.String)
	}
	size := l.Length() + r.Length()
	if size > maxString {
		panic(e.newError(e.real.rangeError, "Invalid string length"))
	}
	if size < minTip {
		return l.Concat(r)
	}
	l, r = plain(l), plain(r)
	if reflect.TypeOf(l) == asciiType && reflect.TypeOf(r) == asciiType {
		return e.tips.appendASCII(l.String(), r.String())
	}
	return e.tips.appendWide(l, r)
}

// plus is any other `+`.
func (e *Engine) plus(left, right goja.Value) goja.Value {
	if e.addition == nil {
		e.addition, _ = goja.AssertFunction(must(e.vm.RunProgram(goja.MustCompile("", "(a, b) => a + b", false))))
	}
	return must(e.addition(nil, left, right))
}

// plain makes a string that came from Go what goja makes of it in the end.
func plain(s goja.String) goja.String {
	if t := reflect.TypeOf(s); t == asciiType || t == wideType {
		return s
	}
	return s.Substring(0, s.Length())
}

func (t *tips) appendASCII(left, right string) goja.Value {
	for i, tip := range t.ascii {
		if len(tip) == len(left) && unsafe.SliceData(tip) == unsafe.StringData(left) {
			t.ascii[i] = append(tip, right...)
			return asciiString(t.ascii[i])
		}
	}
	both := make([]byte, 0, len(left)+len(right)) // no room yet: most strings are appended to once
	both = append(append(both, left...), right...)
	t.ascii[t.turn()] = both
	return asciiString(both)
}

// asciiString shares the memory.
func asciiString(b []byte) goja.Value {
	s := unsafe.String(unsafe.SliceData(b), len(b))
	return reflect.ValueOf(s).Convert(asciiType).Interface().(goja.Value)
}

func (t *tips) appendWide(left, right goja.String) goja.Value {
	if reflect.TypeOf(left) == wideType {
		units := wideUnits(left)
		for i, tip := range t.wide {
			if len(tip) == len(units) && unsafe.SliceData(tip) == unsafe.SliceData(units) {
				t.wide[i] = appendUnits(tip, right)
				return wideString(t.wide[i])
			}
		}
	}
	both := make([]uint16, 0, 1+left.Length()+right.Length())
	both = appendUnits(appendUnits(append(both, unistring.BOM), left), right)
	t.wide[t.turn()] = both
	return wideString(both)
}

func appendUnits(units []uint16, s goja.String) []uint16 {
	if reflect.TypeOf(s) == wideType {
		return append(units, wideUnits(s)[1:]...)
	}
	for _, c := range []byte(s.String()) {
		units = append(units, uint16(c))
	}
	return units
}

func wideUnits(s goja.String) []uint16 {
	return reflect.ValueOf(s).Convert(unitsType).Interface().([]uint16)
}

// wideString shares the memory. At least one unit is not ASCII.
func wideString(units []uint16) goja.Value {
	return reflect.ValueOf(units[:len(units):len(units)]).Convert(wideType).Interface().(goja.Value)
}

func (t *tips) turn() int {
	t.next = (t.next + 1) % maxTips
	return t.next
}
