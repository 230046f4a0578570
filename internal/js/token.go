package js

import (
	"math/bits"
	"unicode/utf8"
)

// What the indexer reads of a text between brackets, commas and colons. Each returns the place behind it, or what fail
// returns.

// peek is the byte at a place, 0 at the end of the text.
func (x *indexer) peek(at int) byte {
	if at < len(x.text) {
		return x.text[at]
	}
	return 0
}

func (x *indexer) space(at int) int {
	if at < len(x.text) && x.text[at] > ' ' {
		return at
	}
	return x.spaces(at)
}

func (x *indexer) spaces(at int) int {
	for at < len(x.text) {
		switch x.text[at] {
		case ' ', '\t', '\n', '\r':
			at++
		default:
			return at
		}
	}
	return at
}

func (x *indexer) word(at int, word string) (entry, int) {
	for i := range len(word) {
		if x.peek(at+i) != word[i] {
			return 0, x.fail(at + i)
		}
	}
	return entryWord | entry(at), at + len(word)
}

func (x *indexer) number(start int) (entry, int) {
	text, first, n := x.text, start, 0
	if x.peek(start) == '-' {
		first++
	}
	at := first
	for at < len(text) && text[at]-'0' <= 9 {
		n = n*10 + int(text[at]-'0') // of many digits it means nothing
		at++
	}
	switch digits := at - first; {
	case digits == 0:
		return 0, x.fail(at)
	case digits > 1 && text[first] == '0':
		return 0, x.fail(first + 1)
	case at < len(text) && (text[at] == '.' || text[at]|' ' == 'e'):
		return entryWord | entry(start), x.fraction(at)
	case digits > 8 || first > start:
		return entryWord | entry(start), at
	}
	return entryInt | entry(n), at
}

// fraction reads what follows the whole part of a number.
func (x *indexer) fraction(at int) int {
	if x.text[at] == '.' {
		if at = x.digits(at + 1); at < 0 {
			return at
		}
	}
	if c := x.peek(at); c == 'e' || c == 'E' {
		at++
		if c := x.peek(at); c == '+' || c == '-' {
			at++
		}
		at = x.digits(at)
	}
	return at
}

func (x *indexer) digits(at int) int {
	first := at
	for x.peek(at)-'0' <= 9 {
		at++
	}
	if at == first {
		return x.fail(at)
	}
	return at
}

// string reads a string from its first character on.
func (x *indexer) string(start int) (entry, int) {
	at := skipPlain(x.text, start)
	if x.peek(at) == '"' {
		return entryPlain | entry(start), at + 1
	}
	for {
		switch c := x.peek(at); {
		case c == '"':
			return entryString | entry(start), at + 1
		case c == '\\':
			if at = x.escape(at + 1); at < 0 {
				return 0, at
			}
		case c < ' ':
			return 0, x.fail(at)
		default:
			x.rough = x.rough || c >= utf8.RuneSelf
			at++
		}
	}
}

// escape reads what follows a backslash.
func (x *indexer) escape(at int) int {
	c := x.peek(at)
	if c != 'u' {
		if escapes[c] == 0 {
			return x.fail(at)
		}
		return at + 1
	}
	if at+5 > len(x.text) {
		return x.fail(len(x.text))
	}
	for i := 1; i <= 4; i++ {
		if hexValue(x.text[at+i]) < 0 {
			return x.fail(at)
		}
	}
	return at + 5
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// skipPlain gives the place from which on text is not ASCII without quotation marks, backslashes and control characters.
// It looks at eight bytes at a time.
func skipPlain(text string, at int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for len(text)-at >= 8 {
		w := load64(text[at : at+8])
		quote, backslash := w^'"'*ones, w^'\\'*ones
		if found := ((quote-ones)&^quote | (backslash-ones)&^backslash | (w-' '*ones)&^w | w) & highs; found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
		at += 8
	}
	for at < len(text) && isPlain(text[at]) {
		at++
	}
	return at
}

func isPlain(c byte) bool { return ' ' <= c && c < utf8.RuneSelf && c != '"' && c != '\\' }

// load64 is written so that the compiler makes one load of it.
func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
