package js

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// What the indexer found valid is read here without another check.

// plainText is a string of ASCII without escapes, from its first character on. It shares the memory of the text.
func plainText(text string, at int) string {
	return text[at : at+strings.IndexByte(text[at:], '"')]
}

// numberText is the number at a place, and whether it is written without fraction or exponent.
func numberText(text string, at int) (number string, whole bool) {
	end := at
	whole = true
	for ; end < len(text); end++ {
		switch c := text[end]; {
		case '0' <= c && c <= '9' || c == '-' || c == '+':
		case c == '.' || c == 'e' || c == 'E':
			whole = false
		default:
			return text[at:end], whole
		}
	}
	return text[at:], whole
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

// stringValue is any string, from its first character on.
func stringValue(vm *goja.Runtime, text string, at int) goja.String {
	if name, ok := stringText(text, at); ok {
		return vm.ToValue(name).(goja.String)
	}
	return goja.StringFromUTF16(units(text, at))
}

// stringText is a string as Go holds it, if it is well-formed Unicode. Without escapes it shares the memory of the text.
func stringText(text string, at int) (s string, ok bool) {
	rest := text[at:]
	if quote := strings.IndexByte(rest, '"'); strings.IndexByte(rest[:quote], '\\') < 0 {
		return rest[:quote], true
	}
	var b strings.Builder
	for {
		n := strings.IndexAny(rest, `"\`)
		b.WriteString(rest[:n])
		if rest[n] == '"' {
			return b.String(), true
		}
		unit, size := escaped(rest[n:])
		r := rune(unit)
		if utf16.IsSurrogate(r) {
			low := uint16(0)
			if strings.HasPrefix(rest[n+size:], `\u`) {
				low, _ = escaped(rest[n+size:])
			}
			if r = utf16.DecodeRune(r, rune(low)); r == utf8.RuneError {
				return "", false
			}
			size += 6
		}
		b.WriteRune(r)
		rest = rest[n+size:]
	}
}

// units is a string in UTF-16, which holds lone surrogates.
func units(text string, at int) (units []uint16) {
	for rest := text[at:]; rest[0] != '"'; {
		if rest[0] == '\\' {
			unit, size := escaped(rest)
			units = append(units, unit)
			rest = rest[size:]
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		units = utf16.AppendRune(units, r)
		rest = rest[size:]
	}
	return units
}

var escapes = [256]uint16{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped is what the escape that text begins with stands for, and how long it is.
func escaped(text string) (unit uint16, size int) {
	if text[1] != 'u' {
		return escapes[text[1]], 2
	}
	for i := 2; i < 6; i++ {
		unit = unit<<4 | uint16(hexValue(text[i]))
	}
	return unit, 6
}
