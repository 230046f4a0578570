// Package regexp matches ECMAScript regular expressions, as ECMA-262 2025 with Annex B defines them.
//
// It is a backtracking matcher over UTF-16 code units, with a stack of its own: it never recurses on the subject, its
// memory is bounded, and it can be stopped. Go's regexp has no lookaround and no backreferences.
package regexp

import (
	"errors"
	"strings"
	"unicode/utf16"
)

// Flags are those of a regular expression, as a set.
type Flags uint8

const (
	HasIndices Flags = 1 << iota
	Global
	IgnoreCase
	Multiline
	DotAll
	Unicode
	UnicodeSets
	Sticky
)

// flagNames are in the order of RegExp.prototype.flags.
const flagNames = "dgimsuvy"

// ParseFlags reads a text of flags. It is not ok if one is unknown or repeated, or if u and v are both there.
func ParseFlags(text string) (f Flags, ok bool) {
	for _, c := range text {
		i := strings.IndexRune(flagNames, c)
		if i < 0 || f&(1<<i) != 0 {
			return 0, false
		}
		f |= 1 << i
	}
	return f, f&(Unicode|UnicodeSets) != Unicode|UnicodeSets
}

func (f Flags) Has(g Flags) bool { return f&g != 0 }

func (f Flags) String() string {
	var b []byte
	for i := range flagNames {
		if f&(1<<i) != 0 {
			b = append(b, flagNames[i])
		}
	}
	return string(b)
}

// Bounds of one pattern. A program that needs more means something else by it.
const (
	maxSource   = 1 << 17 // code units: the program takes a few hundred bytes for each
	maxDepth    = 500     // groups and classes inside each other: parser and compiler recurse
	maxCaptures = 1<<15 - 1
	maxProgram  = 1 << 18 // instructions
)

// Error is why a pattern is no regular expression. Messages are V8's.
type Error struct {
	Message string
	Offset  int // in the pattern, in code units
}

func (e *Error) Error() string { return e.Message }

// Reasons for Match to give up.
var (
	ErrStopped = errors.New("the match was stopped")
	ErrStack   = errors.New("the regular expression needs too much backtracking for a text of this length")
)

// Group is a named capture group.
type Group struct {
	Name    string
	Indexes []int // of the captures that bear it: several if they stand in different alternatives
}

// Program is a compiled regular expression. It does not change, and may be shared.
type Program struct {
	Flags    Flags
	Captures int     // with the whole match, which is number 0
	Groups   []Group // in the order of the pattern

	code    []inst
	regs    int
	unicode bool // u or v: characters are code points

	start start
}

// Size is about how many bytes a program takes.
func (p *Program) Size() int { return len(p.code) * 200 }

// Compile compiles a pattern. Its error is an *Error.
func Compile(source []uint16, flags Flags) (*Program, error) {
	p, err := parse(source, flags)
	if err != nil {
		return nil, err
	}
	return compile(p)
}

// CompileString is Compile for a pattern in UTF-8.
func CompileString(source string, flags Flags) (*Program, error) {
	return Compile(utf16.Encode([]rune(source)), flags)
}
