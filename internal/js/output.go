package js

import (
	"reflect"
	"strconv"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ftoa"
)

// output is JSON text that is being written.
type output struct {
	buf []byte
	gap string // what a level is indented by; empty: all on one line

	// wire makes the text fit for a line of a protocol: U+2028 and U+2029, which some readers take for ends of
	// lines, are escaped.
	wire bool

	most    int   // levels of nesting
	limit   int64 // over it, text is counted and thrown away; 0: there is none
	dropped int64
	level   int
}

// size is the length of the whole text.
func (w *output) size() int64 { return w.dropped + int64(len(w.buf)) }

// spill keeps a value that is far too large from filling memory twice. Its size is still told.
func (w *output) spill() {
	if w.limit > 0 && int64(len(w.buf)) > w.limit {
		w.dropped += int64(len(w.buf))
		w.buf = w.buf[:0]
	}
}

func (w *output) open(bracket byte) {
	w.buf = append(w.buf, bracket)
	w.level++
}

// next begins a member or an item.
func (w *output) next(first bool) {
	w.spill()
	if !first {
		w.buf = append(w.buf, ',')
	}
	w.line()
}

func (w *output) close(bracket byte, empty bool) {
	w.level--
	if !empty {
		w.line()
	}
	w.buf = append(w.buf, bracket)
}

func (w *output) line() {
	if w.gap == "" {
		return
	}
	w.buf = append(w.buf, '\n')
	for range w.level {
		w.buf = append(w.buf, w.gap...)
	}
}

// name writes the name of a member and the colon.
func (w *output) name(at step) {
	if at.exact != nil {
		w.string(at.exact)
	} else {
		w.quote(at.name)
	}
	w.colon()
}

func (w *output) colon() {
	w.buf = append(w.buf, ':')
	if w.gap != "" {
		w.buf = append(w.buf, ' ')
	}
}

func (w *output) null() { w.buf = append(w.buf, "null"...) }

// primitive writes any value that is neither a string nor an object.
func (w *output) primitive(v goja.Value) {
	switch v.ExportType() {
	case intType:
		w.buf = strconv.AppendInt(w.buf, v.ToInteger(), 10)
	case floatType:
		w.number(v.ToFloat())
	case boolType:
		w.buf = strconv.AppendBool(w.buf, v.ToBoolean())
	default:
		w.null()
	}
}

var (
	intType   = reflect.TypeFor[int64]()
	floatType = reflect.TypeFor[float64]()
	boolType  = reflect.TypeFor[bool]()
)

func (w *output) number(f float64) {
	if f-f != 0 { // NaN or infinite
		w.null()
		return
	}
	var room [32]byte
	w.buf = append(w.buf, ftoa.FToStr(f, ftoa.ModeStandard, 0, room[:0])...)
}
