package upstream

import "bytes"

// special marks the bytes that a JSON string can't hold as they are.
var special = func() (table [256]bool) {
	for c := range ' ' {
		table[c] = true
	}
	table['"'], table['\\'] = true, true
	return table
}()

// string spends nearly all of the scanner's time, so it looks at most bytes once, in a table.
func (s *scanner) string() bool {
	if !s.next('"') {
		return false
	}
	text, i := s.text, s.at
	for i < len(text) {
		c := text[i]
		switch {
		case !special[c]:
			i++
		case c == '"':
			s.at = i + 1
			return true
		case c == '\\':
			n := escape(text[i:])
			if n == 0 {
				return false
			}
			i += n
		default:
			return false
		}
	}
	return false
}

// escape returns the length of the escape sequence that text starts with, or 0.
func escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) >= 6 && len(bytes.Trim(text[2:6], "0123456789abcdefABCDEF")) == 0 {
			return 6
		}
	}
	return 0
}

func (s *scanner) number() bool {
	s.next('-')
	if !s.next('0') && !s.digits() {
		return false
	}
	if s.next('.') && !s.digits() {
		return false
	}
	if s.next('e') || s.next('E') {
		_ = s.next('+') || s.next('-')
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}

func (s *scanner) word(word string) bool {
	if !bytes.HasPrefix(s.text[s.at:], []byte(word)) {
		return false
	}
	s.at += len(word)
	return true
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) next(c byte) bool {
	if s.peek() != c || s.at == len(s.text) {
		return false
	}
	s.at++
	return true
}

// peek returns 0 at the end; a NUL byte is no JSON either.
func (s *scanner) peek() byte {
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}
