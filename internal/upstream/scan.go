package upstream

import (
	"bytes"
	"unicode/utf8"
)

// maxDepth is how deep JSON may be nested here; the SDK's own decoder has the same bound.
const maxDepth = 1000

// splitResponse finds the result in a JSON-RPC response without decoding it, in one pass that also proves that
// all of the message is valid JSON and UTF-8. It reports false for all other messages, broken ones included:
// those are rare, and the SDK's decoder says what is wrong with them.
func splitResponse(message []byte) (id, result []byte, ok bool) {
	s := scanner{text: bytes.TrimSpace(message)}
	plain := s.object(0, func(key, value []byte) bool {
		switch string(key) {
		case `"id"`:
			id = value
		case `"result"`:
			result = value
		case `"jsonrpc"`:
			return string(value) == `"2.0"`
		case `"error"`, `"method"`:
			return false
		}
		return bytes.IndexByte(key, '\\') < 0 // it could spell one of the above
	})
	ok = plain && s.at == len(s.text) && len(id) > 0 && len(result) > 0 && result[0] == '{' && utf8.Valid(s.text)
	return id, result, ok
}

// scanner walks over JSON (RFC 8259). Its methods report whether what they name stands at the position, and go past it.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) value(depth int) bool {
	switch s.peek() {
	case '"':
		return s.string()
	case '{':
		return s.object(depth, nil)
	case '[':
		return s.array(depth)
	}
	return s.word("true") || s.word("false") || s.word("null") || s.number()
}

// object gives each member to visit, which may end the walk by false.
func (s *scanner) object(depth int, visit func(key, value []byte) bool) bool {
	if !s.next('{') || depth >= maxDepth {
		return false
	}
	if s.space(); s.next('}') {
		return true
	}
	for {
		key, value, ok := s.member(depth)
		if !ok || visit != nil && !visit(key, value) {
			return false
		}
		if s.space(); s.next('}') {
			return true
		}
		if !s.next(',') {
			return false
		}
	}
}

func (s *scanner) member(depth int) (key, value []byte, ok bool) {
	s.space()
	start := s.at
	if !s.string() {
		return nil, nil, false
	}
	key = s.text[start:s.at]
	if s.space(); !s.next(':') {
		return nil, nil, false
	}
	s.space()
	start = s.at
	ok = s.value(depth + 1)
	return key, s.text[start:s.at], ok
}

func (s *scanner) array(depth int) bool {
	if !s.next('[') || depth >= maxDepth {
		return false
	}
	if s.space(); s.next(']') {
		return true
	}
	for {
		if s.space(); !s.value(depth + 1) {
			return false
		}
		if s.space(); s.next(']') {
			return true
		}
		if !s.next(',') {
			return false
		}
	}
}
