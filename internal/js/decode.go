package js

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// parseJSON turns JSON text into values. It stands in for JSON.parse too, as goja's own is twice as slow, throws on
// 1e400, loses lone surrogates, has no positions in its errors, and overflows Go's stack on a million brackets.
// Strings without escapes share the memory of the text.
func (e *Engine) parseJSON(text string) (goja.Value, error) {
	d := decoder{vm: e.vm, text: text}
	d.space()
	v, err := d.value()
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(text) {
		return nil, d.unexpected()
	}
	return v, nil
}

type decoder struct {
	vm    *goja.Runtime
	text  string
	pos   int
	depth int
}

// space skips white space and gives the character after it, or 0 at the end.
func (d *decoder) space() byte {
	for d.pos < len(d.text) {
		switch c := d.text[d.pos]; c {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return c
		}
	}
	return 0
}

func (d *decoder) value() (goja.Value, error) {
	switch c := d.peek(); c {
	case '{', '[':
		return d.nested(c)
	case '"':
		return d.string()
	case 't':
		return d.word("true", d.vm.ToValue(true))
	case 'f':
		return d.word("false", d.vm.ToValue(false))
	case 'n':
		return d.word("null", goja.Null())
	}
	return d.number()
}

func (d *decoder) peek() byte {
	if d.pos < len(d.text) {
		return d.text[d.pos]
	}
	return 0
}

func (d *decoder) word(word string, v goja.Value) (goja.Value, error) {
	for i := range len(word) {
		if d.peek() != word[i] {
			return nil, d.unexpected()
		}
		d.pos++
	}
	return v, nil
}

func (d *decoder) nested(open byte) (v goja.Value, err error) {
	if d.depth == maxDepth {
		return nil, fmt.Errorf("JSON nested more than %d levels deep%s", maxDepth, d.where())
	}
	d.depth++
	d.pos++
	if open == '{' {
		v, err = d.object()
	} else {
		v, err = d.array()
	}
	d.depth--
	return v, err
}

func (d *decoder) object() (goja.Value, error) {
	o := d.vm.NewObject()
	if d.space() == '}' {
		d.pos++
		return o, nil
	}
	for {
		if d.space() != '"' {
			return nil, d.unexpected()
		}
		key, err := d.string()
		if err != nil {
			return nil, err
		}
		if d.space() != ':' {
			return nil, d.unexpected()
		}
		d.pos++
		d.space()
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		setOwn(o, key.String(), v)
		switch d.space() {
		case ',':
			d.pos++
		case '}':
			d.pos++
			return o, nil
		default:
			return nil, d.unexpected()
		}
	}
}

// setOwn makes `__proto__` a property like any other, where Set would set the prototype.
func setOwn(o *goja.Object, key string, v goja.Value) {
	if key == "__proto__" {
		o.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		return
	}
	o.Set(key, v)
}

func (d *decoder) array() (goja.Value, error) {
	var items []any
	if d.space() == ']' {
		d.pos++
		return d.vm.NewArray(), nil
	}
	for {
		d.space()
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		switch d.space() {
		case ',':
			d.pos++
		case ']':
			d.pos++
			return d.vm.NewArray(items...), nil
		default:
			return nil, d.unexpected()
		}
	}
}

func (d *decoder) number() (goja.Value, error) {
	start := d.pos
	if d.peek() == '-' {
		d.pos++
	}
	first := d.pos
	n := d.digits()
	if n > 1 && d.text[first] == '0' {
		d.pos = first + 1
		return nil, d.unexpected()
	}
	if n == 0 {
		return nil, d.unexpected()
	}
	whole := true
	if d.peek() == '.' {
		whole = false
		d.pos++
		if d.digits() == 0 {
			return nil, d.unexpected()
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		whole = false
		d.pos++
		if c := d.peek(); c == '+' || c == '-' {
			d.pos++
		}
		if d.digits() == 0 {
			return nil, d.unexpected()
		}
	}
	return d.vm.ToValue(number(d.text[start:d.pos], whole)), nil
}

func number(text string, whole bool) any {
	if whole && len(text) < 16 && text != "-0" {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i
		}
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range is ±Inf, as in ECMAScript
	if f == 0 && text[0] == '-' {
		return math.Copysign(0, -1)
	}
	return f
}

func (d *decoder) digits() (n int) {
	for c := d.peek(); c >= '0' && c <= '9'; c = d.peek() {
		d.pos++
		n++
	}
	return n
}

func (d *decoder) string() (goja.Value, error) {
	d.pos++
	start := d.pos
	for d.pos < len(d.text) {
		switch c := d.text[d.pos]; {
		case c == '"':
			s := d.text[start:d.pos]
			d.pos++
			return d.vm.ToValue(s), nil
		case c == '\\':
			return d.escaped(start)
		case c < 0x20:
			return nil, d.unexpected()
		}
		d.pos++
	}
	return nil, d.unexpected()
}

// escaped goes on in UTF-16, which holds lone surrogates, after the first backslash of a string.
func (d *decoder) escaped(start int) (goja.Value, error) {
	units := utf16.Encode([]rune(d.text[start:d.pos]))
	for d.pos < len(d.text) {
		c := d.text[d.pos]
		switch {
		case c == '"':
			d.pos++
			return goja.StringFromUTF16(units), nil
		case c == '\\':
			unit, ok := d.escape()
			if !ok {
				return nil, d.unexpected()
			}
			units = append(units, unit)
		case c < 0x20:
			return nil, d.unexpected()
		default:
			r, size := utf8.DecodeRuneInString(d.text[d.pos:])
			units = utf16.AppendRune(units, r)
			d.pos += size
		}
	}
	return nil, d.unexpected()
}

var escapes = [256]uint16{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (d *decoder) escape() (uint16, bool) {
	d.pos++
	c := d.peek()
	if c == 'u' {
		if d.pos+5 > len(d.text) {
			d.pos = len(d.text)
			return 0, false
		}
		unit, err := strconv.ParseUint(d.text[d.pos+1:d.pos+5], 16, 16)
		if err != nil {
			return 0, false
		}
		d.pos += 5
		return uint16(unit), true
	}
	if escapes[c] == 0 {
		return 0, false
	}
	d.pos++
	return escapes[c], true
}

func (d *decoder) unexpected() error {
	if d.pos >= len(d.text) {
		return fmt.Errorf("Unexpected end of JSON input")
	}
	r, _ := utf8.DecodeRuneInString(d.text[d.pos:])
	return fmt.Errorf("Unexpected token %s in JSON%s", strconv.QuoteRune(r), d.where())
}

func (d *decoder) where() string {
	before := d.text[:d.pos]
	line := strings.Count(before, "\n") + 1
	column := utf16Length(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf(" at position %d (line %d column %d)", utf16Length(before), line, column)
}
