package js

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxJSON is the longest text that is read as JSON, in bytes: places in it have entryBits bits. No string is longer.
const maxJSON = maxString

// An entry is one value of a text: in its upper bits what it is, and below them where it stands.
type entry uint32

const entryBits = 29

const (
	entryWord   entry = iota << entryBits // a number, true, false or null: its place in the text
	entryInt                              // a small integer: itself
	entryPlain                            // a string of ASCII without escapes: the place of its first character
	entryString                           // any other string: the same
	entryArray                            // the place in the tape of: number of items, items
	entryObject                           // of: number of its records, place among them, a value for each name of the shape
	entryWide                             // of: number of its records, number of further members, values as above, names and values of the further ones
)

func (n entry) kind() entry { return n &^ (1<<entryBits - 1) }
func (n entry) at() int     { return int(n & (1<<entryBits - 1)) }

// indexer checks a whole text once and notes where its values stand, so that reading one later can't fail and finds it
// without reading those before it. Names of members are not noted but are keys in the tree of shapes, where the next
// one is guessed from what followed last time: on regular data, reading a name is one comparison.
type indexer struct {
	// set by whoever makes one
	text   string
	shapes *shapes

	// the result, once index returned nil
	tape    []entry // made by index if there is no buffer for it
	records []*records
	root    entry
	deepest int  // nesting of containers
	rough   bool // there is a string with bytes above ASCII
	odd     bool // there is an object of an odd shape, or of none

	stack []entry // values of the containers that are open
	depth int     // of them
	bad   int     // where the text is wrong; len(text): it ends too early
	deep  bool    // what is wrong is its depth
}

// index reads the text. Its error says where and what is wrong, in V8's words.
func (x *indexer) index() error {
	x.tape = slices.Grow(x.tape, len(x.text)/8)
	var at int
	x.root, at = x.value(x.space(0), x.shapes.top)
	for _, r := range x.records {
		r.last.records = nil // the tree holds no text
	}
	if at >= 0 {
		if at = x.space(at); at == len(x.text) {
			return nil
		}
		x.bad = at
	}
	if x.deep {
		return fmt.Errorf("JSON nested more than %d levels deep%s", maxDepth, x.where())
	}
	return x.unexpected()
}

// fail notes where the text is wrong. What reads a value returns the place behind it, or what fail returns.
func (x *indexer) fail(at int) int {
	x.bad = at
	return -1
}

// value reads the value at a place. Objects in it begin as those did that stood in the same member before.
func (x *indexer) value(at int, below *key) (entry, int) {
	switch x.peek(at) {
	case '"':
		return x.string(at + 1)
	case '{':
		return x.nested(at, below)
	case '[':
		return x.nested(at, below)
	case 't':
		return x.word(at, "true")
	case 'f':
		return x.word(at, "false")
	case 'n':
		return x.word(at, "null")
	}
	return x.number(at)
}

func (x *indexer) nested(at int, below *key) (n entry, end int) {
	if x.depth == maxDepth {
		x.deep = true
		return 0, x.fail(at)
	}
	x.depth++
	x.deepest = max(x.deepest, x.depth)
	if x.text[at] == '{' {
		n, end = x.object(at+1, below)
	} else {
		n, end = x.array(at+1, below)
	}
	x.depth--
	return n, end
}

func (x *indexer) array(at int, below *key) (entry, int) {
	base := len(x.stack)
	if at = x.space(at); x.peek(at) == ']' {
		return x.close(entryArray, base, 0), at + 1
	}
	for {
		item, end := x.value(at, below)
		if end < 0 {
			return 0, end
		}
		x.stack = append(x.stack, item)
		if at = x.space(end); x.peek(at) == ']' {
			return x.close(entryArray, base, entry(len(x.stack)-base)), at + 1
		}
		if x.peek(at) != ',' {
			return 0, x.fail(at)
		}
		at = x.space(at + 1)
	}
}

// close moves the values of a container that ends to the tape, behind its head.
func (x *indexer) close(kind entry, base int, head ...entry) entry {
	at := len(x.tape)
	x.tape = append(x.tape, head...)
	x.tape = append(x.tape, x.stack[base:]...)
	x.stack = x.stack[:base]
	return kind | entry(at)
}

func (x *indexer) object(at int, below *key) (entry, int) {
	base := len(x.stack)
	last, guess := x.shapes.root, &below.inner
	if at = x.space(at); x.peek(at) == '}' {
		return x.closeObject(base, last), at + 1
	}
	for {
		k, end := x.key(at, last, *guess)
		switch {
		case end < 0:
			return 0, end
		case k == nil:
			return x.wide(at, base, last)
		}
		*guess = k
		value, end := x.member(end, k)
		if end < 0 {
			return 0, end
		}
		x.stack = append(x.stack, value)
		last, guess = k, &k.next
		if x.peek(end) == '}' {
			return x.closeObject(base, last), end + 1
		}
		if x.peek(end) != ',' {
			return 0, x.fail(end)
		}
		at = x.space(end + 1)
	}
}

func (x *indexer) closeObject(base int, last *key) entry {
	x.odd = x.odd || last.odd
	r := x.recordsOf(last)
	r.rows++
	return x.close(entryObject, base, r.number, entry(r.rows-1))
}

// key reads a name, and is its key after last, probably guess: nil if the tree has none for it.
func (x *indexer) key(at int, last, guess *key) (*key, int) {
	if guess != nil && strings.HasPrefix(x.text[at:], guess.quoted) {
		return guess, at + len(guess.quoted)
	}
	name, end := x.name(at)
	if end < 0 {
		return nil, end
	}
	decoded, ok := stringText(x.text, name.at())
	if !ok || !wellFormed(decoded) {
		return nil, end
	}
	return x.shapes.after(last, decoded, x.text[at:end]), end
}

func (x *indexer) name(at int) (entry, int) {
	if x.peek(at) != '"' {
		return 0, x.fail(at)
	}
	return x.string(at + 1)
}

// member reads a colon and a value, and the space behind.
func (x *indexer) member(at int, k *key) (entry, int) {
	if at = x.space(at); x.peek(at) != ':' {
		return 0, x.fail(at)
	}
	value, end := x.value(x.space(at+1), k)
	if end < 0 {
		return 0, end
	}
	return value, x.space(end)
}

// wide reads the members of an object from the first on that the tree of shapes does not take.
func (x *indexer) wide(at, base int, last *key) (entry, int) {
	x.odd = true
	further := 0
	for {
		name, end := x.name(at)
		if end < 0 {
			return 0, end
		}
		value, end := x.member(end, x.shapes.top)
		if end < 0 {
			return 0, end
		}
		x.stack = append(x.stack, name, value)
		further++
		if x.peek(end) == '}' {
			return x.close(entryWide, base, x.recordsOf(last).number, entry(further)), end + 1
		}
		if x.peek(end) != ',' {
			return 0, x.fail(end)
		}
		at = x.space(end + 1)
	}
}

// recordsOf are those in this text of the shape that ends with a key.
func (x *indexer) recordsOf(last *key) *records {
	r := last.records
	if r == nil {
		r = &records{last: last, number: entry(len(x.records))}
		last.records = r
		x.records = append(x.records, r)
	}
	return r
}

func (x *indexer) unexpected() error {
	if x.bad >= len(x.text) {
		//lint:ignore ST1005 the words of V8
		return fmt.Errorf("Unexpected end of JSON input")
	}
	r, _ := utf8.DecodeRuneInString(x.text[x.bad:])
	//lint:ignore ST1005 the words of V8
	return fmt.Errorf("Unexpected token %s in JSON%s", strconv.QuoteRune(r), x.where())
}

func (x *indexer) where() string {
	before := x.text[:x.bad]
	line := strings.Count(before, "\n") + 1
	column := utf16Length(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf(" at position %d (line %d column %d)", utf16Length(before), line, column)
}
