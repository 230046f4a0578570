// Package rawjson finds values in JSON text without decoding them.
//
// The daemon carries tool results of megabytes between a gateway and a worker. It must know where the
// parts of a message begin and end, but what is inside a result is the worker's to parse. So this
// package checks what it walks over (the members of one object, the items of one array) and only pairs
// brackets and quotes below that: text that it accepts can still be no valid JSON further down.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth bounds how deep values may nest: a peer may not make us, or a worker, recurse without end.
const MaxDepth = 512

// Member is one member of an object: its key, decoded, and the text of its value.
type Member struct {
	Key   string
	Value []byte
}

// Object calls each for every member of the one object that text consists of, in order.
// The value's bytes are those of text. Duplicate keys are an error: two readers of one message
// must not be able to see two different messages.
func Object(text []byte, each func(Member) error) error {
	var seen []string
	return walk(text, '{', '}', func(i int) (int, error) {
		if text[i] != '"' {
			return 0, syntax(text, i, "a key in quotes")
		}
		end, err := skipString(text, i)
		if err != nil {
			return 0, err
		}
		key, err := key(text[i:end])
		if err != nil {
			return 0, err
		}
		for _, s := range seen {
			if s == key {
				return 0, fmt.Errorf("the key %q stands twice in one object", key)
			}
		}
		if len(seen) == maxMembers {
			return 0, fmt.Errorf("an object has more than %d members", maxMembers)
		}
		seen = append(seen, key)
		i = space(text, end)
		if i == len(text) || text[i] != ':' {
			return 0, syntax(text, i, "':'")
		}
		i = space(text, i+1)
		end, err = Skip(text, i)
		if err != nil {
			return 0, err
		}
		return end, each(Member{key, text[i:end]})
	})
}

// maxMembers bounds the objects that are walked: envelopes and tool results have a handful of members,
// and finding duplicates is quadratic.
const maxMembers = 64

// Array calls each for every item of the one array that text consists of, in order.
func Array(text []byte, each func(item []byte) error) error {
	return walk(text, '[', ']', func(i int) (int, error) {
		end, err := Skip(text, i)
		if err != nil {
			return 0, err
		}
		return end, each(text[i:end])
	})
}

// walk reads what stands between open and close: nothing, or what item reads, with commas between.
// item gets the index of its first byte and returns the one just past its last.
func walk(text []byte, open, close byte, item func(i int) (int, error)) error {
	i := space(text, 0)
	if i == len(text) || text[i] != open {
		return syntax(text, i, "'"+string(open)+"'")
	}
	i = space(text, i+1)
	for first := true; ; first = false {
		if i == len(text) {
			return syntax(text, i, "'"+string(close)+"'")
		}
		if text[i] == close && first {
			return atEnd(text, i+1)
		}
		end, err := item(i)
		if err != nil {
			return err
		}
		i = space(text, end)
		switch {
		case i < len(text) && text[i] == close:
			return atEnd(text, i+1)
		case i < len(text) && text[i] == ',':
			i = space(text, i+1)
		default:
			return syntax(text, i, "',' or '"+string(close)+"'")
		}
	}
}

func atEnd(text []byte, i int) error {
	if i = space(text, i); i != len(text) {
		return syntax(text, i, "the end")
	}
	return nil
}

// Skip returns the index just past the value that begins at text[i].
func Skip(text []byte, i int) (int, error) {
	if i >= len(text) {
		return 0, syntax(text, i, "a value")
	}
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{', '[':
		return skipNested(text, i)
	}
	end := i
	for end < len(text) && !strings.ContainsRune(" \t\r\n,:]}", rune(text[end])) {
		end++
	}
	if !json.Valid(text[i:end]) {
		return 0, syntax(text, i, "a value")
	}
	return end, nil
}

func skipNested(text []byte, i int) (int, error) {
	var open [MaxDepth]byte // the closing bracket that each open one wants
	depth := 0
	for i < len(text) {
		switch c := text[i]; c {
		case '"':
			end, err := skipString(text, i)
			if err != nil {
				return 0, err
			}
			i = end
			continue
		case '{', '[':
			if depth == MaxDepth {
				return 0, fmt.Errorf("nested deeper than %d at byte %d", MaxDepth, i)
			}
			open[depth] = c + 2 // in ASCII, '}' is '{'+2 and ']' is '['+2
			depth++
		case '}', ']':
			depth--
			if open[depth] != c {
				return 0, syntax(text, i, "'"+string(open[depth])+"'")
			}
			if depth == 0 {
				return i + 1, nil
			}
		}
		i++
	}
	return 0, errUnclosed
}

var errUnclosed = errors.New("the text ends inside a value")

// skipString returns the index just past the string that begins at text[i].
func skipString(text []byte, i int) (int, error) {
	start := i
	for i++; ; i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return 0, errUnclosed
		}
		i += n
		if !escaped(text, start, i) {
			return i + 1, nil
		}
	}
}

// escaped reports whether an odd number of backslashes stands before text[i], counted back to start.
func escaped(text []byte, start, i int) bool {
	n := 0
	for i--; i > start && text[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

func syntax(text []byte, i int, want string) error {
	if i >= len(text) {
		return fmt.Errorf("the text ends where %s should stand", want)
	}
	return fmt.Errorf("%q at byte %d where %s should stand", text[i], i, want)
}

func key(literal []byte) (string, error) {
	text, err := AppendString(nil, literal)
	return string(text), err
}

// AppendString appends the text that a JSON string literal, quotes included, stands for. What can't be
// UTF-8, a lone surrogate, becomes U+FFFD. Its result may share no memory with literal.
func AppendString(dst, literal []byte) ([]byte, error) {
	if len(literal) < 2 || literal[0] != '"' || literal[len(literal)-1] != '"' {
		return dst, errors.New("not a string")
	}
	rest := literal[1 : len(literal)-1]
	for {
		n := bytes.IndexByte(rest, '\\')
		if n < 0 {
			return append(dst, rest...), nil
		}
		dst = append(dst, rest[:n]...)
		rest = rest[n+1:]
		var err error
		if dst, rest, err = appendEscape(dst, rest); err != nil {
			return dst, err
		}
	}
}

// simple maps the letter after a backslash to what the two stand for; 0: no such escape.
var simple = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// appendEscape appends what an escape stands for; rest begins after its backslash.
func appendEscape(dst, rest []byte) ([]byte, []byte, error) {
	if len(rest) == 0 {
		return dst, rest, errUnclosed
	}
	if c := simple[rest[0]]; c != 0 {
		return append(dst, c), rest[1:], nil
	}
	r, ok := hex4(rest)
	if !ok {
		return dst, rest, fmt.Errorf("no escape: \\%.5s", rest)
	}
	rest = rest[5:]
	if utf16.IsSurrogate(r) {
		if len(rest) > 0 && rest[0] == '\\' {
			if low, ok := hex4(rest[1:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return utf8.AppendRune(dst, pair), rest[6:], nil
				}
			}
		}
		r = utf8.RuneError
	}
	return utf8.AppendRune(dst, r), rest, nil
}

// hex4 reads uXXXX.
func hex4(b []byte) (rune, bool) {
	if len(b) < 5 || b[0] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[1:5] {
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
