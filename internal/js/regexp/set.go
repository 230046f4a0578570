package regexp

import (
	"slices"
	"sort"
	"unicode"
)

const maxRune = 0x10FFFF

// span is a range of characters with both ends in it.
type span struct{ lo, hi rune }

// set is a set of characters: sorted spans that do not touch, and what makes asking fast.
type set struct {
	spans  []span
	latin1 bits
}

// bits is a set of the first 256 characters.
type bits [4]uint64

func (b *bits) has(c rune) bool { return b[c>>6&3]&(1<<(c&63)) != 0 }

func (b *bits) add(lo, hi rune) {
	for c := lo; c <= min(hi, 255); c++ {
		b[c>>6] |= 1 << (c & 63)
	}
}

func newSet(spans ...span) *set {
	s := &set{spans: normal(spans)}
	for _, x := range s.spans {
		if x.lo > 255 {
			break
		}
		s.latin1.add(x.lo, x.hi)
	}
	return s
}

// normal sorts spans, and joins those that touch.
func normal(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo - b.lo) })
	out := spans[:1]
	for _, x := range spans[1:] {
		last := &out[len(out)-1]
		if x.lo <= last.hi+1 {
			last.hi = max(last.hi, x.hi)
		} else {
			out = append(out, x)
		}
	}
	return out
}

func (s *set) has(c rune) bool {
	if uint32(c) < 256 {
		return s.latin1.has(c)
	}
	return s.find(c)
}

func (s *set) find(c rune) bool {
	i := sort.Search(len(s.spans), func(i int) bool { return s.spans[i].hi >= c })
	return i < len(s.spans) && s.spans[i].lo <= c
}

// single is the only character of a set.
func (s *set) single() (rune, bool) {
	if len(s.spans) == 1 && s.spans[0].lo == s.spans[0].hi {
		return s.spans[0].lo, true
	}
	return 0, false
}

// count is the number of characters.
func (s *set) count() (n int) {
	for _, x := range s.spans {
		n += int(x.hi-x.lo) + 1
	}
	return n
}

func (s *set) max() rune {
	if len(s.spans) == 0 {
		return -1
	}
	return s.spans[len(s.spans)-1].hi
}

// whole says that a character of the set is never a part of a surrogate pair, nor one.
func (s *set) whole() bool {
	for _, x := range s.spans {
		if x.hi > 0xFFFF || x.lo <= 0xDFFF && x.hi >= 0xD800 {
			return false
		}
	}
	return true
}

func (s *set) complement() *set {
	var out []span
	next := rune(0)
	for _, x := range s.spans {
		if x.lo > next {
			out = append(out, span{next, x.lo - 1})
		}
		next = x.hi + 1
	}
	if next <= maxRune {
		out = append(out, span{next, maxRune})
	}
	return newSet(out...)
}

func (s *set) union(t *set) *set { return newSet(append(slices.Clone(s.spans), t.spans...)...) }

func (s *set) minus(t *set) *set { return s.intersect(t.complement()) }

func (s *set) intersect(t *set) *set {
	var out []span
	for i, j := 0, 0; i < len(s.spans) && j < len(t.spans); {
		a, b := s.spans[i], t.spans[j]
		if lo, hi := max(a.lo, b.lo), min(a.hi, b.hi); lo <= hi {
			out = append(out, span{lo, hi})
		}
		if a.hi < b.hi {
			i++
		} else {
			j++
		}
	}
	return newSet(out...)
}

// ofTable is the set of one of Go's Unicode tables.
func ofTable(tables ...*unicode.RangeTable) *set {
	var out []span
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			out = append(out, span{lo, hi})
			return
		}
		for c := lo; c <= hi; c += stride {
			out = append(out, span{c, c})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return newSet(out...)
}

// The sets that escapes of one letter stand for.
func digits() *set { return newSet(span{'0', '9'}) }

func words() *set { return newSet(span{'0', '9'}, span{'A', 'Z'}, span{'_', '_'}, span{'a', 'z'}) }

func spaces() *set {
	return newSet(span{'\t', '\r'}, span{' ', ' '}, span{0xA0, 0xA0}, span{0x1680, 0x1680}, span{0x2000, 0x200A},
		span{0x2028, 0x2029}, span{0x202F, 0x202F}, span{0x205F, 0x205F}, span{0x3000, 0x3000}, span{0xFEFF, 0xFEFF})
}

func lineEnds() *set { return newSet(span{'\n', '\n'}, span{'\r', '\r'}, span{0x2028, 0x2029}) }
