package js

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// string writes well-formed JSON: a lone surrogate, which UTF-8 can't hold, as an escape.
func (w *output) string(s goja.String) {
	start := len(w.buf)
	if !w.quote(s.String()) {
		w.buf = w.buf[:start]
		w.units(s)
	}
}

// quote writes a string as JSON, unless there is U+FFFD in it, which may stand for a lone surrogate.
func (w *output) quote(s string) bool {
	w.buf = append(w.buf, '"')
	for at := 0; ; {
		end := skipPlain(s, at)
		w.buf = append(w.buf, s[at:end]...)
		if end == len(s) {
			w.buf = append(w.buf, '"')
			return true
		}
		r, size := utf8.DecodeRuneInString(s[end:])
		if r == utf8.RuneError {
			return false
		}
		w.unit(r)
		at = end + size
	}
}

func (w *output) units(s goja.String) {
	w.buf = append(w.buf, '"')
	for i := 0; i < s.Length(); {
		r, size := runeAt(s, i)
		w.unit(r)
		i += size
	}
	w.buf = append(w.buf, '"')
}

// runeAt is the character at an index of a string, or the lone surrogate there, and its size in UTF-16.
func runeAt(s goja.String, i int) (r rune, size int) {
	r = rune(s.CharAt(i))
	if utf16.IsSurrogate(r) && i+1 < s.Length() {
		if pair := utf16.DecodeRune(r, rune(s.CharAt(i+1))); pair != utf8.RuneError {
			return pair, 2
		}
	}
	return r, 1
}

// unit writes a character of a string, or one half of it, escaped where it has to be.
func (w *output) unit(c rune) {
	switch c {
	case '"', '\\':
		w.buf = append(w.buf, '\\', byte(c))
	case '\b':
		w.buf = append(w.buf, '\\', 'b')
	case '\f':
		w.buf = append(w.buf, '\\', 'f')
	case '\n':
		w.buf = append(w.buf, '\\', 'n')
	case '\r':
		w.buf = append(w.buf, '\\', 'r')
	case '\t':
		w.buf = append(w.buf, '\\', 't')
	default:
		if c < 0x20 || c >= 0xD800 && c < 0xE000 || w.wire && (c == 0x2028 || c == 0x2029) {
			w.buf = fmt.Appendf(w.buf, `\u%04x`, c)
		} else {
			w.buf = utf8.AppendRune(w.buf, c)
		}
	}
}
