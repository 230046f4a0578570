package intl

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Options reads one option of a program's, as the kind of value that is asked for: string, float64 or bool. An option that
// is absent is nil. An exception of the program passes through as a panic.
type Options func(name string, kind Kind) any

// Kind is how an option is to be converted.
type Kind int

const (
	Text Kind = iota
	Number
	Bool
	Raw // a string, or true or false where the program wrote that
)

// Error is what is wrong with options or values. It becomes a RangeError unless Type is set.
type Error struct {
	Message string
	Type    bool // a TypeError
}

func (e *Error) Error() string { return e.Message }

func fail(format string, args ...any) { panic(&Error{Message: fmt.Sprintf(format, args...)}) }

func failType(format string, args ...any) {
	panic(&Error{Message: fmt.Sprintf(format, args...), Type: true})
}

// caught turns fail into an error; the program's own exceptions go on.
func caught(err *error) {
	switch x := recover().(type) {
	case nil:
	case *Error:
		*err = x
	default:
		panic(x)
	}
}

// oneOf is an option with a list of values; empty if it is absent and there is no fallback.
func (o Options) oneOf(name, fallback string, allowed ...string) string {
	v := o(name, Text)
	if v == nil {
		return fallback
	}
	s := v.(string)
	if len(allowed) > 0 && !slices.Contains(allowed, s) {
		fail("Value %s out of range for option %s: it is one of %s", clip(s), name, strings.Join(allowed, ", "))
	}
	return s
}

// integer is an option between two bounds; -1 if it is absent.
func (o Options) integer(name string, low, high int) int {
	v := o(name, Number)
	if v == nil {
		return -1
	}
	f := v.(float64)
	if math.IsNaN(f) || f < float64(low) || f > float64(high) {
		fail("%s value is out of range: it is between %d and %d", name, low, high)
	}
	return int(f)
}

// clip keeps a program's text from filling a message.
func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
