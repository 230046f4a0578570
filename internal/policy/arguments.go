package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep arguments nest.
const maxDepth = 64

// Arguments are those of one call, read once. What is judged, shown, hashed and sent are the same: JSON has the bytes, Value what
// they mean, and any reader of the bytes sees what Value has, as nothing in them is left to the reader: no name twice, no number
// that a float64 does not have, no half of a surrogate pair, no text that is not UTF-8.
type Arguments struct {
	JSON  []byte // without white space between, in the order that the caller chose
	Value map[string]any
}

// Hash is the SHA-256 of the bytes.
func (a Arguments) Hash() [sha256.Size]byte { return sha256.Sum256(a.JSON) }

// ReadArguments reads one JSON object. Numbers are written anew as JavaScript writes them: 1.0 and 1e0 are 1, for all.
func ReadArguments(text []byte) (Arguments, error) {
	if i := invalid(text); i >= 0 {
		return Arguments{}, fmt.Errorf("the arguments are not UTF-8, at byte %d", i)
	}
	if i := halfPair(text); i >= 0 {
		return Arguments{}, fmt.Errorf("the arguments have half of a surrogate pair, at byte %d: readers would not agree on it; use toWellFormed()", i)
	}
	if !json.Valid(text) { // else it is one value, and nothing after it
		var syntax *json.SyntaxError
		err := json.Unmarshal(text, new(any))
		if errors.As(err, &syntax) {
			return Arguments{}, fmt.Errorf("the arguments are no JSON, at byte %d: %w", syntax.Offset, err)
		}
		return Arguments{}, fmt.Errorf("the arguments are no JSON: %w", err)
	}
	r := argumentReader{text: text, out: make([]byte, 0, len(text))}
	value, err := r.value(0)
	if err != nil {
		return Arguments{}, fmt.Errorf("the arguments: %w", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return Arguments{}, errors.New("the arguments are no object: want {name: value, …}")
	}
	return Arguments{r.out, object}, nil
}

// argumentReader writes what it reads, which is known to be JSON: no index is beyond the text.
type argumentReader struct {
	text []byte
	at   int
	out  []byte
}

func (r *argumentReader) value(depth int) (any, error) {
	r.space()
	switch b := r.text[r.at]; b {
	case '{', '[':
		if depth == maxDepth {
			return nil, fmt.Errorf("they nest more than %d levels deep", maxDepth)
		}
		if b == '[' {
			return r.array(depth)
		}
		return r.object(depth)
	case '"':
		s, err := r.quoted()
		r.string(s)
		return s, err
	case 't':
		r.word("true")
		return true, nil
	case 'f':
		r.word("false")
		return false, nil
	case 'n':
		r.word("null")
		return nil, nil
	}
	begin := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.eE0123456789", r.text[r.at]) >= 0 {
		r.at++
	}
	return r.number(json.Number(r.text[begin:r.at]))
}

func (r *argumentReader) word(w string) {
	r.at += len(w)
	r.out = append(r.out, w...)
}

func (r *argumentReader) array(depth int) (any, error) {
	items := []any{}
	for r.begin('['); !r.ends(']', len(items)); {
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

func (r *argumentReader) object(depth int) (any, error) {
	members := map[string]any{}
	for r.begin('{'); !r.ends('}', len(members)); {
		name, err := r.quoted()
		if err != nil {
			return nil, err
		}
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("the name %q stands twice in one object", name)
		}
		r.string(name)
		r.space()
		r.begin(':')
		if members[name], err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return members, nil
}

func (r *argumentReader) begin(b byte) {
	r.at++
	r.out = append(r.out, b)
}

// ends passes the end of a list, or the comma before its next item.
func (r *argumentReader) ends(end byte, items int) bool {
	r.space()
	switch {
	case r.text[r.at] == end:
		r.begin(end)
		return true
	case items > 0:
		r.begin(',')
		r.space()
	}
	return false
}

func (r *argumentReader) space() {
	for strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// quoted reads a string.
func (r *argumentReader) quoted() (s string, err error) {
	begin, plain := r.at, true
	for r.at++; r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			plain = false
			r.at++
		}
	}
	r.at++
	if plain {
		return string(r.text[begin+1 : r.at-1]), nil
	}
	err = json.Unmarshal(r.text[begin:r.at], &s)
	return s, err
}

// number is an int64 where JavaScript and JSON agree on each integer, else a float64.
func (r *argumentReader) number(n json.Number) (any, error) {
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("the number %.30s is too large", n)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		r.out = strconv.AppendInt(r.out, int64(f), 10)
		return int64(f), nil
	}
	text, err := json.Marshal(f) // as ECMAScript does it
	r.out = append(r.out, text...)
	return f, err
}

func (r *argumentReader) string(s string) {
	if strings.IndexFunc(s, special) < 0 {
		r.out = append(append(append(r.out, '"'), s...), '"')
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // strings always can be
	r.out = append(r.out, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// special are the characters that encoding/json writes as escapes.
func special(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == '\u2028' || r == '\u2029' }

// invalid is where text stops being UTF-8, or -1.
func invalid(text []byte) int {
	if utf8.Valid(text) { // many times faster
		return -1
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}

// halfPair is where an escape stands for half of a surrogate pair alone, or -1. Backslashes stand only in strings.
func halfPair(text []byte) int {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		switch unit := escaped(text[i:]); {
		case unit >= 0xd800 && unit < 0xdc00:
			if low := escaped(text[i+6:]); low < 0xdc00 || low > 0xdfff {
				return i
			}
			i += 11
		case unit >= 0xdc00 && unit <= 0xdfff:
			return i
		default:
			i++ // what follows is escaped
		}
	}
	return -1
}

// escaped is the UTF-16 unit of an escape \uXXXX, or -1.
func escaped(text []byte) int64 {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int64(unit)
}
