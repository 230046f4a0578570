package rawjson

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends what the inside of a string literal stands for.
func unescape(dst, in []byte) ([]byte, error) {
	dst = slices.Grow(dst, len(in)) // no escape is shorter than what it stands for
	out := len(dst)
	dst = dst[:out+len(in)]
	at := 0
	for at < len(in) {
		if in[at] != '\\' {
			n := plain(dst[out:], in[at:])
			at, out = at+n, out+n
			continue
		}
		if at+1 < len(in) && simple[in[at+1]] != 0 {
			dst[out] = simple[in[at+1]]
			at, out = at+2, out+1
			continue
		}
		r, size := unicode(in[at:])
		if size == 0 {
			return dst[:out], fmt.Errorf("no escape: %.6q", in[at:])
		}
		out += utf8.EncodeRune(dst[out:], r)
		at += size
	}
	return dst[:out], nil
}

// plain copies up to the first backslash, eight bytes at a time, and returns how many it copied.
// dst is at least as long as in.
func plain(dst, in []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	n := 0
	for len(in)-n >= 8 {
		word := binary.LittleEndian.Uint64(in[n:])
		binary.LittleEndian.PutUint64(dst[n:], word)
		x := word ^ '\\'*ones // a zero byte where a backslash stands
		if found := (x - ones) &^ x & highs; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
		n += 8
	}
	for n < len(in) && in[n] != '\\' {
		dst[n] = in[n]
		n++
	}
	return n
}

// simple maps the letter after a backslash to what the two stand for; 0: no such escape.
var simple = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unicode reads \uXXXX, or the two that make a pair, and returns how many bytes it read; 0: it is none.
func unicode(in []byte) (rune, int) {
	r, ok := hex4(in)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if low, ok := hex4(in[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(in []byte) (rune, bool) {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range in[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
