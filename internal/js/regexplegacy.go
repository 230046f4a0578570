package js

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"
)

// The last match, as RegExp.$1, RegExp.lastMatch and others tell it, which old programs ask for. No standard has them, but all
// engines do.

// lastMatch is what they are about.
type lastMatch struct {
	wanted bool // the program could ask
	in     subject
	found  [20]int32 // begin and end of the match and its first nine groups, -1 for a group that is not in it
	last   int       // group
}

// asksLastMatch says that a program may ask for the last match.
func asksLastMatch(program string) bool {
	return strings.Contains(program, "RegExp") || strings.Contains(program, "constructor")
}

func (m *lastMatch) note(s *subject, found []int32) {
	m.in = *s
	n := copy(m.found[:], found)
	for i := n; i < len(m.found); i++ {
		m.found[i] = -1
	}
	m.last = len(found)/2 - 1
}

// keepLastMatch gives RegExp the properties of the last match. Programs that can't come to RegExp don't pay for them.
func (r *regexps) keepLastMatch() {
	if r.lastMatch.wanted {
		return
	}
	r.lastMatch.wanted = true
	access := func(get func() goja.Value, names ...string) {
		for _, name := range names {
			r.constructor.DefineAccessorProperty(name, r.e.native("get "+name, 0, func(goja.FunctionCall) goja.Value {
				return get()
			}), r.e.native("set "+name, 1, func(goja.FunctionCall) goja.Value { return goja.Undefined() }), goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
	m := &r.lastMatch
	part := func(from, to int32) goja.Value {
		if m.in.String == nil || from < 0 {
			return r.e.emptyString()
		}
		return m.in.Substring(int(from), int(to))
	}
	for i := 1; i <= 9; i++ {
		access(func() goja.Value { return part(m.found[2*i], m.found[2*i+1]) }, fmt.Sprintf("$%d", i))
	}
	access(func() goja.Value { return part(m.found[0], m.found[1]) }, "lastMatch", "$&")
	access(func() goja.Value { return part(0, m.found[0]) }, "leftContext", "$`")
	access(func() goja.Value {
		if m.in.String == nil {
			return r.e.emptyString()
		}
		return part(m.found[1], int32(m.in.Length()))
	}, "rightContext", "$'")
	access(func() goja.Value {
		if m.last < 1 || m.last > 9 {
			return r.e.emptyString()
		}
		return part(m.found[2*m.last], m.found[2*m.last+1])
	}, "lastParen", "$+")
	access(func() goja.Value {
		if m.in.String == nil {
			return r.e.emptyString()
		}
		return m.in.String
	}, "input", "$_")
}
