package js

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// string writes well-formed JSON: a lone surrogate, which UTF-8 can't hold, as an escape.
func (n *encoder) string(s goja.String) {
	text := s.String()
	if !strings.ContainsRune(text, utf8.RuneError) {
		n.buf = appendString(n.buf, text)
		return
	}
	n.buf = append(n.buf, '"')
	for i := 0; i < s.Length(); i++ {
		c := rune(s.CharAt(i))
		if c >= 0xD800 && c < 0xDC00 && i+1 < s.Length() {
			if low := rune(s.CharAt(i + 1)); low >= 0xDC00 && low < 0xE000 {
				n.buf = utf8.AppendRune(n.buf, (c-0xD800)<<10|(low-0xDC00)+0x10000)
				i++
				continue
			}
		}
		n.buf = appendUnit(n.buf, c)
	}
	n.buf = append(n.buf, '"')
}

// appendString quotes text. U+2028 and U+2029 are escaped, as some readers of lines take them for line ends.
func appendString(buf []byte, text string) []byte {
	buf = append(buf, '"')
	start := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' && c != 0xE2 {
			continue
		}
		if c == 0xE2 && !strings.HasPrefix(text[i:], "\u2028") && !strings.HasPrefix(text[i:], "\u2029") {
			continue
		}
		buf = append(buf, text[start:i]...)
		r, size := utf8.DecodeRuneInString(text[i:])
		buf = appendUnit(buf, r)
		i += size - 1
		start = i + 1
	}
	buf = append(buf, text[start:]...)
	return append(buf, '"')
}

// appendUnit writes one UTF-16 unit, escaped where it has to be.
func appendUnit(buf []byte, c rune) []byte {
	switch c {
	case '"', '\\':
		return append(buf, '\\', byte(c))
	case '\b':
		return append(buf, '\\', 'b')
	case '\f':
		return append(buf, '\\', 'f')
	case '\n':
		return append(buf, '\\', 'n')
	case '\r':
		return append(buf, '\\', 'r')
	case '\t':
		return append(buf, '\\', 't')
	}
	if c < 0x20 || c >= 0xD800 && c < 0xE000 || c == 0x2028 || c == 0x2029 {
		return fmt.Appendf(buf, `\u%04x`, c)
	}
	return utf8.AppendRune(buf, c)
}
