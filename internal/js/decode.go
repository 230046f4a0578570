package js

import (
	"fmt"
	"strconv"
	"strings"
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

// setOwn makes an own property, whatever the prototype has of that name: `__proto__`, or what a program put or froze
// there. Set would look there first.
func setOwn(o *goja.Object, key string, v goja.Value) {
	o.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
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

func (d *decoder) unexpected() error {
	if d.pos >= len(d.text) {
		//lint:ignore ST1005 the words of V8
		return fmt.Errorf("Unexpected end of JSON input")
	}
	r, _ := utf8.DecodeRuneInString(d.text[d.pos:])
	//lint:ignore ST1005 the words of V8
	return fmt.Errorf("Unexpected token %s in JSON%s", strconv.QuoteRune(r), d.where())
}

func (d *decoder) where() string {
	before := d.text[:d.pos]
	line := strings.Count(before, "\n") + 1
	column := utf16Length(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf(" at position %d (line %d column %d)", utf16Length(before), line, column)
}
