// Package rawjson finds values in JSON text without decoding them.
//
// The daemon carries tool results of megabytes between a gateway and a worker. It must know where the
// parts of a message begin and end, but what is inside a result is the worker's to parse. So this
// package checks what it walks over (the members of an object, the items of an array) and only pairs
// brackets and quotes in what it skips: text that it accepts can still be no valid JSON further down.
package rawjson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxDepth bounds how deep values may nest: a peer may not make us, or a worker, recurse without end.
const MaxDepth = 512

// maxMembers bounds the objects that Object walks: envelopes and tool results have a handful of members.
const maxMembers = 64

// Cursor walks text from front to back, each byte once.
type Cursor struct {
	text []byte
	at   int
	open int // values that Check is inside of
}

// New returns a cursor at the beginning of text.
func New(text []byte) *Cursor {
	c := &Cursor{text: text}
	c.space()
	return c
}

// Object walks the object that begins here. For every member it calls each with the key, decoded; each must
// take the value, by any method of c. A key that stands twice is an error: two readers of one message must
// not be able to see two different messages.
func (c *Cursor) Object(each func(key string) error) error {
	var seen []string
	return c.members(func(key string) error {
		switch {
		case slices.Contains(seen, key):
			return twice(key)
		case len(seen) == maxMembers:
			return fmt.Errorf("an object has more than %d members", maxMembers)
		}
		seen = append(seen, key)
		return each(key)
	})
}

func twice(key string) error { return fmt.Errorf("the key %.40q stands twice in one object", key) }

func (c *Cursor) members(each func(key string) error) error {
	return c.walk('{', '}', func() error {
		raw, err := c.AppendString(nil)
		if err != nil {
			return err
		}
		if c.space(); !c.next(':') {
			return c.wanted("':'")
		}
		c.space()
		return each(string(raw))
	})
}

// Check walks all of text, which must be JSON by encoding/json, and refuses what readers take differently: a key that
// stands twice in one object, and nesting below MaxDepth.
func Check(text []byte) error {
	c := New(text)
	if err := c.check(); err != nil {
		return err
	}
	return c.End()
}

func (c *Cursor) check() error {
	if c.at == len(c.text) || c.text[c.at] != '{' && c.text[c.at] != '[' {
		return c.Skip()
	}
	if c.open++; c.open > MaxDepth {
		return fmt.Errorf("nested deeper than %d at byte %d", MaxDepth, c.at)
	}
	defer func() { c.open-- }()
	if c.text[c.at] == '[' {
		return c.Array(c.check)
	}
	seen := make(map[string]bool)
	return c.members(func(key string) error {
		if seen[key] {
			return twice(key)
		}
		seen[key] = true
		return c.check()
	})
}

// Array walks the array that begins here; each must take the item, by any method of c.
func (c *Cursor) Array(each func() error) error {
	return c.walk('[', ']', each)
}

// walk takes what stands between open and close: nothing, or items with commas between.
func (c *Cursor) walk(open, close byte, item func() error) error {
	if !c.next(open) {
		return c.wanted("'" + string(open) + "'")
	}
	if c.space(); c.next(close) {
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		if c.space(); c.next(close) {
			return nil
		}
		if !c.next(',') {
			return c.wanted("',' or '" + string(close) + "'")
		}
		c.space()
	}
}

// AtObject reports whether an object begins here.
func (c *Cursor) AtObject() bool { return c.at < len(c.text) && c.text[c.at] == '{' }

// AtArray reports whether an array begins here.
func (c *Cursor) AtArray() bool { return c.at < len(c.text) && c.text[c.at] == '[' }

// End is an error if anything but white space is left.
func (c *Cursor) End() error {
	if c.space(); c.at < len(c.text) {
		return c.wanted("the end")
	}
	return nil
}

// Value takes the value that begins here, and returns its text.
func (c *Cursor) Value() ([]byte, error) {
	from := c.at
	err := c.Skip()
	return c.text[from:c.at], err
}

// Rest takes all that is left but the bytes of end, which must stand last, unseen. Who uses it must walk
// what it returns, and call End.
func (c *Cursor) Rest(end string) ([]byte, error) {
	rest, found := bytes.CutSuffix(bytes.TrimRight(c.text[c.at:], " \t\r\n"), []byte(end))
	if !found {
		c.at = len(c.text)
		return nil, c.wanted("'" + end + "'")
	}
	c.at += len(rest)
	return rest, nil
}

// Skip takes the value that begins here.
func (c *Cursor) Skip() error {
	if c.at == len(c.text) {
		return c.wanted("a value")
	}
	switch c.text[c.at] {
	case '"':
		return c.skipString()
	case '{', '[':
		return c.skipNested()
	}
	from := c.at
	for c.at < len(c.text) && !strings.ContainsRune(" \t\r\n,:]}", rune(c.text[c.at])) {
		c.at++
	}
	if !json.Valid(c.text[from:c.at]) {
		c.at = from
		return c.wanted("a value")
	}
	return nil
}

func (c *Cursor) skipNested() error {
	var open [MaxDepth]byte // the closing bracket that each open one wants
	depth := 0
	for c.at < len(c.text) {
		switch b := c.text[c.at]; b {
		case '"':
			if err := c.skipString(); err != nil {
				return err
			}
			continue
		case '{', '[':
			if depth == MaxDepth {
				return fmt.Errorf("nested deeper than %d at byte %d", MaxDepth, c.at)
			}
			open[depth] = b + 2 // in ASCII, '}' is '{'+2 and ']' is '['+2
			depth++
		case '}', ']':
			depth--
			if open[depth] != b {
				return c.wanted("'" + string(open[depth]) + "'")
			}
			if depth == 0 {
				c.at++
				return nil
			}
		}
		c.at++
	}
	return errUnclosed
}

var errUnclosed = errors.New("the text ends inside a value")

func (c *Cursor) skipString() error {
	from := c.at
	for at := from + 1; ; at++ {
		n := bytes.IndexByte(c.text[at:], '"')
		if n < 0 {
			c.at = len(c.text)
			return errUnclosed
		}
		at += n
		if c.text[at-1] != '\\' || !escaped(c.text, from, at) {
			c.at = at + 1
			return nil
		}
	}
}

// escaped reports whether an odd number of backslashes stands before text[at], counted back to from.
func escaped(text []byte, from, at int) bool {
	n := 0
	for at--; at > from && text[at] == '\\'; at-- {
		n++
	}
	return n%2 == 1
}

// AppendString takes the string that begins here, and appends the text that it stands for. What can't be
// UTF-8, a lone surrogate, becomes U+FFFD.
func (c *Cursor) AppendString(dst []byte) ([]byte, error) {
	if c.at == len(c.text) || c.text[c.at] != '"' {
		return dst, c.wanted("a string")
	}
	from := c.at + 1
	if err := c.skipString(); err != nil {
		return dst, err
	}
	return unescape(dst, c.text[from:c.at-1])
}

func (c *Cursor) next(b byte) bool {
	if c.at < len(c.text) && c.text[c.at] == b {
		c.at++
		return true
	}
	return false
}

func (c *Cursor) space() {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return
		}
	}
}

func (c *Cursor) wanted(what string) error {
	if c.at >= len(c.text) {
		return fmt.Errorf("the text ends where %s should stand", what)
	}
	return fmt.Errorf("%q at byte %d where %s should stand", c.text[c.at], c.at, what)
}

// Control is the index of the first control character that JSON allows nowhere; -1 if there is none.
func Control(text []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	at := 0
	for len(text)-at >= 8 {
		word := binary.LittleEndian.Uint64(text[at:])
		if (word-' '*ones)&^word&highs != 0 { // a byte below the space, in this word
			break
		}
		at += 8
	}
	for ; at < len(text); at++ {
		if b := text[at]; b < ' ' && b != '\t' && b != '\n' && b != '\r' {
			return at
		}
	}
	return -1
}
