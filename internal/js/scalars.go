package js

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

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
