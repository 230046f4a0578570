package regexp

import (
	"slices"
	"sync"
	"unicode"
)

// Canonicalize of the standard makes characters equal under flag i: with u or v those with one simple case folding,
// else those with one upper case, which must be a single code unit and may not be ASCII if the character is not.

// folder is one of the two. Both only ever join characters of one orbit of unicode.SimpleFold.
type folder bool

const (
	byUpper   folder = false
	byFolding folder = true
)

func folderOf(f Flags) folder { return folder(f.Has(Unicode | UnicodeSets)) }

func (f folder) canon(c rune) rune {
	if f == byUpper {
		return upper(c)
	}
	if c < 128 {
		if 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}
	return folded(c)
}

// folded is the ASCII letter of an orbit, else its least character: any will do.
func folded(c rune) rune {
	least := c
	f := byFolding
	f.orbit(c, func(x rune) {
		if x >= 'a' && x <= 'z' {
			least = x
		} else if least >= 128 {
			least = min(least, x)
		}
	})
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

func upper(c rune) rune {
	if c < 128 {
		if 'a' <= c && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}
	if c > 0xFFFF || longUpper(c) {
		return c
	}
	u := unicode.ToUpper(c)
	if u < 128 || u > 0xFFFF {
		return c
	}
	return u
}

// longUpper says that the full upper case of a character has several code units, as SpecialCasing.txt has it.
func longUpper(c rune) bool {
	switch {
	case c < 0x0149:
		return c == 0xDF
	case c < 0x1E96:
		return c == 0x149 || c == 0x1F0 || c == 0x390 || c == 0x3B0 || c == 0x587
	case c <= 0x1E9A:
		return true
	case c < 0x1F50 || c > 0xFB17:
		return false
	case c <= 0x1F56:
		return c&1 == 0
	case c >= 0x1F80 && c <= 0x1FAF:
		return true
	case c >= 0x1FB2 && c <= 0x1FFC:
		switch c {
		case 0x1FB2, 0x1FB3, 0x1FB4, 0x1FB6, 0x1FB7, 0x1FBC, 0x1FC2, 0x1FC3, 0x1FC4, 0x1FC6, 0x1FC7, 0x1FCC, 0x1FD2, 0x1FD3,
			0x1FD6, 0x1FD7, 0x1FE2, 0x1FE3, 0x1FE4, 0x1FE6, 0x1FE7, 0x1FF2, 0x1FF3, 0x1FF4, 0x1FF6, 0x1FF7, 0x1FFC:
			return true
		}
		return false
	}
	return c >= 0xFB00 && c <= 0xFB06 || c >= 0xFB13
}

// later are the simple foldings that Unicode 15.1 added to those of Go's tables.
var later = map[rune]rune{0x390: 0x1FD3, 0x1FD3: 0x390, 0x3B0: 0x1FE3, 0x1FE3: 0x3B0, 0xFB05: 0xFB06, 0xFB06: 0xFB05}

// orbit visits the characters that are equal to c, and c.
func (f folder) orbit(c rune, visit func(rune)) {
	visit(c)
	if f == byUpper {
		u := upper(c)
		for x := unicode.SimpleFold(c); x != c; x = unicode.SimpleFold(x) {
			if upper(x) == u {
				visit(x)
			}
		}
		return
	}
	for x := unicode.SimpleFold(c); x != c; x = unicode.SimpleFold(x) {
		visit(x)
	}
	if x, ok := later[c]; ok {
		visit(x)
	}
}

// few is a set so small that its characters are folded one by one.
const few = 300

// close adds to a set what is equal to its characters.
func (f folder) close(s *set) *set {
	var more []span
	add := func(c rune) {
		if !s.has(c) {
			more = append(more, span{c, c})
		}
	}
	if s.count() <= few {
		for _, x := range s.spans {
			for c := x.lo; c <= x.hi; c++ {
				f.orbit(c, add)
			}
		}
	} else {
		for _, orbit := range orbits[f]() {
			if slices.ContainsFunc(orbit, s.has) {
				for _, c := range orbit {
					add(c)
				}
			}
		}
	}
	if more == nil {
		return s
	}
	return newSet(append(more, s.spans...)...)
}

// orbits are all that have more than one character, once a large set asks for them.
var orbits = map[folder]func() [][]rune{byUpper: sync.OnceValue(byUpper.orbits), byFolding: sync.OnceValue(byFolding.orbits)}

func (f folder) orbits() (all [][]rune) {
	add := func(c rune) {
		var orbit []rune
		f.orbit(c, func(x rune) { orbit = append(orbit, x) })
		if len(orbit) > 1 && c == slices.Min(orbit) {
			all = append(all, orbit)
		}
	}
	for _, r := range unicode.CaseRanges {
		for c := rune(r.Lo); c <= rune(r.Hi); c++ {
			add(c)
		}
	}
	for c := range later {
		add(c)
	}
	return all
}
