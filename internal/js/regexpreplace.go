package js

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/js/regexp"
)

// replaced is one match that is to be replaced.
type replaced struct {
	position, length int // of the match
	found            []int32
	captures         []goja.Value // of a result of the program's own exec; the match is the first
	groups           goja.Value   // of such a result
}

// replacer makes the string that replace returns.
type replacer struct {
	*regexps
	s        subject
	program  *regexp.Program // of what found is: its pattern may lose it while a function of the program runs
	with     goja.String
	simple   bool // with has no $
	call     goja.Callable
	out      goja.StringBuilder
	changed  bool
	size     int
	asked    int // the size at which it was last asked whether the run was stopped
	position int // in s: what is before is in out
}

func (r *regexps) symbolReplace(fc goja.FunctionCall) goja.Value {
	o := r.receiver(fc.This, "[Symbol.replace]")
	w := &replacer{regexps: r, s: r.subject(r.e.toString(fc.Argument(0)))}
	var functional bool
	if w.call, functional = goja.AssertFunction(fc.Argument(1)); !functional {
		w.with = w.e.toString(fc.Argument(1))
		w.simple = !strings.Contains(w.with.String(), "$")
	}
	flags := r.flagsOf(o)
	if strings.Contains(flags, "g") {
		w.global(o, flags)
	} else {
		w.first(o)
	}
	if !w.changed {
		return w.s.String
	}
	w.copy(w.position, w.s.Length())
	return w.out.String()
}

// first replaces one match.
func (w *replacer) first(o *goja.Object) {
	if w.builtin(o, o.Get("exec")) {
		p, found := w.find(o, &w.s)
		if found != nil {
			w.program = p.program
			w.replace(replaced{found: append([]int32(nil), found...)})
		}
		return
	}
	if result, ok := w.execute(o, &w.s).(*goja.Object); ok {
		w.replace(w.returned(result))
	}
}

// global replaces all matches. They are all found before the first is replaced.
func (w *replacer) global(o *goja.Object, flags string) {
	var bounds []int32
	var results []*goja.Object
	stride := 0
	p := w.of(o)
	if w.call == nil && w.simple && p != nil {
		// A text without $ needs no list of what is found.
		w.eachMatch(o, &w.s, flags, func(found []int32) {
			w.copy(w.position, int(found[0]))
			w.write(w.with)
			w.position = int(found[1])
			w.changed = true
		}, func(result *goja.Object) { results = append(results, result) })
	} else {
		w.eachMatch(o, &w.s, flags, func(found []int32) {
			stride, w.program = len(found), p.program
			bounds = append(bounds, found...)
		}, func(result *goja.Object) { results = append(results, result) })
	}
	for i := 0; i < len(bounds); i += stride {
		w.replace(replaced{found: bounds[i : i+stride]})
	}
	for _, result := range results {
		w.replace(w.returned(result))
	}
}

// returned reads what an exec of the program returned.
func (w *replacer) returned(result *goja.Object) replaced {
	n := max(toLength(get(result, "length"))-1, 0)
	matched := w.e.toString(get(result, "0"))
	m := replaced{length: matched.Length(), captures: []goja.Value{matched}}
	m.position = int(min(max(get(result, "index").ToInteger(), 0), int64(w.s.Length())))
	for i := int64(1); i <= n; i++ {
		w.breathe()
		c := item(result, i)
		if !goja.IsUndefined(c) {
			c = w.e.toString(c)
		}
		m.captures = append(m.captures, c)
	}
	m.groups = get(result, "groups")
	return m
}

func (w *replacer) replace(m replaced) {
	if m.found != nil {
		m.position, m.length = int(m.found[0]), int(m.found[1]-m.found[0])
	}
	var text goja.String
	if w.call != nil {
		text = w.called(&m)
	} else if m.captures != nil && !goja.IsUndefined(m.groups) {
		m.groups = m.groups.ToObject(w.e.vm)
	}
	if m.position < w.position {
		return
	}
	w.copy(w.position, m.position)
	w.position = m.position + m.length
	w.changed = true
	if w.call != nil {
		w.write(text)
	} else {
		w.expand(&m)
	}
}

// called asks the function for the replacement.
func (w *replacer) called(m *replaced) goja.String {
	w.breathe()
	args := m.captures
	groups := m.groups
	if m.found != nil {
		args = make([]goja.Value, len(m.found)/2, len(m.found)/2+3)
		for i := range args {
			args[i] = captured(&w.s, m.found, i)
		}
		captures := args
		groups = w.groups(w.program, func(n int) goja.Value { return captures[n] })
	}
	args = append(args, w.e.vm.ToValue(m.position), w.s.String)
	if !goja.IsUndefined(groups) {
		args = append(args, groups)
	}
	v, err := w.call(goja.Undefined(), args...)
	if err != nil {
		panic(err)
	}
	return w.e.toString(v)
}

// grow keeps what is written within the longest string, and ends a long job when the run was stopped.
func (w *replacer) grow(n int) {
	if w.size += n; w.size > maxString {
		panic(w.e.newError(w.e.real.rangeError, "Invalid string length"))
	}
	if w.size-w.asked > 1<<20 {
		w.asked = w.size
		if w.e.stopped() != nil {
			w.halt()
		}
	}
}

func (w *replacer) copy(from, to int) {
	if from < to {
		w.grow(to - from)
		w.out.WriteSubstring(w.s.String, from, to)
	}
}

func (w *replacer) write(s goja.String) {
	w.grow(s.Length())
	w.out.WriteString(s)
}

// expand writes the replacement with $1 and the like replaced: GetSubstitution.
func (w *replacer) expand(m *replaced) {
	if w.simple {
		w.write(w.with)
		return
	}
	n := w.with.Length()
	plain := 0
	for i := 0; i+1 < n; {
		if w.with.CharAt(i) != '$' {
			i++
			continue
		}
		length, write := w.reference(m, i)
		if length == 0 {
			i++
			continue
		}
		w.literal(plain, i)
		write()
		i += length
		plain = i
	}
	w.literal(plain, n)
}

func (w *replacer) literal(from, to int) {
	if from < to {
		w.grow(to - from)
		w.out.WriteSubstring(w.with, from, to)
	}
}

// reference reads what $ at an index begins: its length, 0 if it is only a $, and what writes it.
func (w *replacer) reference(m *replaced, at int) (length int, write func()) {
	switch c := w.with.CharAt(at + 1); {
	case c == '$':
		return 2, func() { w.literal(at, at+1) }
	case c == '&':
		return 2, func() { w.capture(m, 0) }
	case c == '`':
		return 2, func() { w.copy(0, m.position) }
	case c == '\'':
		return 2, func() { w.copy(min(m.position+m.length, w.s.Length()), w.s.Length()) }
	case c == '<':
		return w.named(m, at)
	case c >= '0' && c <= '9':
		count := len(m.captures)
		if m.found != nil {
			count = len(m.found) / 2
		}
		n, length := int(c-'0'), 2
		if at+2 < w.with.Length() {
			if d := w.with.CharAt(at + 2); d >= '0' && d <= '9' && n*10+int(d-'0') < count {
				n, length = n*10+int(d-'0'), 3
			}
		}
		if n > 0 && n < count {
			return length, func() { w.capture(m, n) }
		}
	}
	return 0, nil
}

func (w *replacer) capture(m *replaced, n int) {
	switch {
	case m.found == nil:
		if c := m.captures[n]; !goja.IsUndefined(c) {
			w.write(c.(goja.String))
		}
	case m.found[2*n] >= 0 && m.found[2*n+1] >= 0:
		w.copy(int(m.found[2*n]), int(m.found[2*n+1]))
	}
}

// named reads $<name>, which is text if there are no named groups.
func (w *replacer) named(m *replaced, at int) (length int, write func()) {
	if m.found != nil && len(w.program.Groups) == 0 || m.found == nil && goja.IsUndefined(m.groups) {
		return 0, nil
	}
	end := at + 2
	for end < w.with.Length() && w.with.CharAt(end) != '>' {
		end++
	}
	if end == w.with.Length() {
		return 0, nil
	}
	name := w.with.Substring(at+2, end).String()
	return end + 1 - at, func() {
		if m.found == nil {
			if v := get(m.groups.(*goja.Object), name); !goja.IsUndefined(v) {
				w.write(w.e.toString(v))
			}
			return
		}
		for _, g := range w.program.Groups {
			for _, n := range g.Indexes {
				if g.Name == name {
					w.capture(m, n)
				}
			}
		}
	}
}
