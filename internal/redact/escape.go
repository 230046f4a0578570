package redact

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonString is what stands between the quotes of a string, from where no more was looked at up to the closing one.
type jsonString struct {
	text   []byte
	at, to int
}

// closing is where the string that begins at from ends.
func closing(text []byte, from int) int {
	for at := from; at < len(text); {
		switch n := bytes.IndexAny(text[at:], `"\`); {
		case n < 0:
			return len(text)
		case text[at+n] == '"':
			return at + n
		default:
			at += n + 2
		}
	}
	return len(text)
}

// units widens a range until no escape is cut. Ranges come in order; what belongs to the one before is left out.
func (s *jsonString) units(from, to int) (int, int) {
	low, high := max(from, s.at), to
	for s.at < to {
		n := bytes.IndexByte(s.text[s.at:to], '\\')
		if n < 0 {
			s.at = to
			break
		}
		begin := s.at + n
		size, _ := escape(s.text[begin:s.to])
		s.at = begin + max(size, 1)
		if begin < from && from < s.at {
			low = begin
		}
		high = max(high, s.at)
	}
	return low, high
}

// isName reports whether the string is the name of a member: only there a colon follows.
func (s *jsonString) isName() bool {
	return bytes.HasPrefix(bytes.TrimLeft(s.text[min(len(s.text), s.to+1):], " \t\r\n"), []byte(":"))
}

// unescape replaces JSON's escapes by what they stand for, wherever they stand. It reports whether there were any.
func unescape(text []byte) ([]byte, bool) {
	var out []byte
	done := 0
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\\')
		if n < 0 {
			break
		}
		at += n
		size, r := escape(text[at:])
		if size == 0 {
			at++
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(text))
		}
		out = utf8.AppendRune(append(out, text[done:at]...), r)
		at += size
		done = at
	}
	if done == 0 {
		return nil, false
	}
	return append(out, text[done:]...), true
}

// escape reads the escape that text begins with; its size is 0 if it is none.
func escape(text []byte) (size int, r rune) {
	if len(text) < 2 {
		return 0, 0
	}
	switch text[1] {
	case '"', '\\', '/':
		return 2, rune(text[1])
	case 'b':
		return 2, '\b'
	case 'f':
		return 2, '\f'
	case 'n':
		return 2, '\n'
	case 'r':
		return 2, '\r'
	case 't':
		return 2, '\t'
	case 'u':
		high := unit(text)
		if high < 0 {
			return 0, 0
		}
		if utf16.IsSurrogate(high) {
			if pair := utf16.DecodeRune(high, unit(text[6:])); pair != utf8.RuneError {
				return 12, pair
			}
			return 6, utf8.RuneError
		}
		return 6, high
	}
	return 0, 0
}

// unit is the UTF-16 unit of \uXXXX, or -1.
func unit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// locate moves spans of what text stands for, in order, to where it is written in text.
func locate(text []byte, spans []span) {
	at, plain := 0, 0 // the same place in both
	find := func(want int, end bool) int {
		for plain < want {
			reach := min(len(text), at+want-plain)
			n := bytes.IndexByte(text[at:reach], '\\')
			if n < 0 {
				at, plain = at+want-plain, want
				break
			}
			size, r := escape(text[at+n:])
			length := 1
			if size == 0 {
				size = 1
			} else {
				length = utf8.RuneLen(r)
			}
			if want < plain+n+length {
				if end {
					return at + n + size
				}
				return at + n
			}
			at, plain = at+n+size, plain+n+length
		}
		return at
	}
	for i := range spans {
		spans[i].from = find(spans[i].from, false)
		spans[i].to = find(spans[i].to, true)
	}
}
