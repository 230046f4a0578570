// Package evidence tells whether the arguments of a call carry material from earlier results of the same run.
//
// It keeps fingerprints, no text: of each result, hashes of pieces that are chosen so that any stretch of Certain characters has
// one (winnowing: Schleimer, Wilkerson and Aiken, 2003), and hashes of words with a digit or an @ in them, such as identifiers,
// addresses and keys, which are found by themselves. Only letters and digits count: case, white space, punctuation and JSON's
// escapes make no difference. What a program encodes or takes apart is not found. Evidence shows what is plain; its absence
// shows nothing.
package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd/internal/clip"
)

const (
	piece    = 16 // letters and digits that are fingerprinted together
	window   = 16 // pieces of which one is kept
	leastOf  = 8  // letters and digits of a word that is found by itself
	mostOf   = 64 // longer words have pieces
	maxFound = 16 // pieces of evidence that one call gets

	// Certain is how many letters and digits of one result, together, are found for certain.
	Certain = piece + window - 1
)

// maxPrints bounds what is kept of one run: 12 bytes each, and what a map needs. When it is reached, half of the pieces go: longer
// stretches only are found for certain then.
const maxPrints = 1 << 17

// Trail is what is known of the results of a run. It is for one goroutine at a time.
type Trail struct {
	base, mix uint64 // of the hashes; whoever writes a result must not make two texts look alike
	calls     map[uint64]int32
	thin      uint64 // a print is kept if it has none of these bits
	most      int
}

// NewTrail returns the trail of a run that has read nothing.
func NewTrail() *Trail {
	return &Trail{base: rand.Uint64() | 1, mix: rand.Uint64() | 1, calls: map[uint64]int32{}, most: maxPrints}
}

// Read adds the result of a call.
func (t *Trail) Read(call int, text []byte) {
	t.scan(text, func(p print) {
		if p.chosen && p.hash&t.thin == 0 {
			t.keep(p.hash, call)
		}
	})
}

func (t *Trail) keep(hash uint64, call int) {
	if _, ok := t.calls[hash]; ok {
		return // where it was read first
	}
	for len(t.calls) >= t.most {
		t.thin = t.thin<<1 | 1
		maps.DeleteFunc(t.calls, func(hash uint64, _ int32) bool { return hash&t.thin != 0 })
	}
	if hash&t.thin == 0 {
		t.calls[hash] = int32(call)
	}
}

// Found is material of an earlier result in an argument.
type Found struct {
	Path       string // of the argument, such as body or items[2].text
	Characters int    // letters and digits that stand together, at least
	Call       int    // whose result has them
}

func (f Found) String() string {
	return fmt.Sprintf("`%s` carries at least %d characters from call %d", f.Path, f.Characters, f.Call)
}

// Find looks for material of earlier results in arguments, which are as encoding/json has them, or with int64 for numbers. What it
// finds most of comes first.
func (t *Trail) Find(arguments map[string]any) []Found {
	if len(t.calls) == 0 {
		return nil
	}
	var all []Found
	t.walk("", arguments, &all)
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Compare(b.Characters, a.Characters) })
	return all[:min(len(all), maxFound)]
}

func (t *Trail) walk(path string, value any, all *[]Found) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner := name
			if path != "" {
				inner = path + "." + shortened(name)
			}
			t.look(shortened(inner+" (its name)"), name, all)
			t.walk(shortened(inner), v[name], all)
		}
	case []any:
		for i, item := range v {
			t.walk(shortened(path+"["+strconv.Itoa(i)+"]"), item, all)
		}
	case string:
		t.look(path, v, all)
	case int64:
		t.look(path, strconv.FormatInt(v, 10), all)
	case float64:
		t.look(path, strconv.FormatFloat(v, 'f', -1, 64), all)
	}
}

// look finds, for each call, the longest stretch of one text that its result has.
func (t *Trail) look(path, text string, all *[]Found) {
	if len(text) < leastOf {
		return
	}
	type stretch struct{ from, to, longest int }
	byCall := map[int]stretch{}
	t.scan([]byte(text), func(p print) {
		call, ok := t.calls[p.hash]
		if !ok {
			return
		}
		s := byCall[int(call)]
		if s.longest == 0 || p.from > s.to+window { // no piece was kept in between: another stretch
			s.from = p.from
		}
		s.from = min(s.from, p.from)
		s.to = max(s.to, p.to)
		s.longest = max(s.longest, s.to-s.from)
		byCall[int(call)] = s
	})
	for _, call := range slices.Sorted(maps.Keys(byCall)) {
		*all = append(*all, Found{path, byCall[call].longest, call})
	}
}

// shortened bounds a path, at each of its steps: names of arguments are the program's own, and one of half their size above as many items
// would be copied for each of these.
func shortened(path string) string {
	const most = 100
	if len(path) <= most {
		return path
	}
	return clip.To(path, most) + "…"
}

// print is a fingerprint of the letters and digits from one number up to another.
type print struct {
	hash     uint64
	from, to int
	chosen   bool // it is kept of a result
}

// scan calls each with the prints of a text: those of all its pieces, and of its words.
func (t *Trail) scan(text []byte, each func(print)) {
	s := scanner{t: t, each: each, drop: 1}
	for range piece {
		s.drop *= t.base
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) { // JSON in a text
			i++
			switch text[i] {
			case 'n', 'r', 't', 'b', 'f':
				s.end()
				continue
			case 'u':
				if r, ok := escaped(text[i+1:]); ok {
					i += 4
					for _, c := range utf8.AppendRune(nil, r) {
						s.next(c)
					}
					continue
				}
			}
			c = text[i]
		}
		s.next(c)
	}
	s.end()
}

// escaped is the character of an escape behind \u.
func escaped(text []byte) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[:4]), 16, 16)
	return rune(n), err == nil
}

// scanner makes prints of a text.
type scanner struct {
	t    *Trail
	each func(print)
	drop uint64 // base to the power of piece

	n    int         // letters and digits so far
	ring [piece]byte // the last of them
	hash uint64      // of them, as a polynomial of base

	recent [window]uint64 // hashes of the last pieces
	least  int            // n after the least of them

	word    uint64 // hash of the word
	length  int    // of the word
	telling bool   // it has a digit or an @
}

// next takes one character of the text.
func (s *scanner) next(c byte) {
	class := classes[c]
	if class == 0 {
		s.end()
		return
	}
	s.telling = s.telling || class&telling != 0
	k := uint64(class & letter)
	if k == 0 { // it joins what is around it
		return
	}
	s.word, s.length = s.word*s.t.base+k, s.length+1
	oldest := s.ring[s.n%piece]
	s.ring[s.n%piece] = byte(k)
	s.hash = s.hash*s.t.base + k - s.drop*uint64(oldest)
	if s.n++; s.n >= piece {
		s.piece(s.t.finish(s.hash))
	}
}

// piece chooses the least hash of each window.
func (s *scanner) piece(hash uint64) {
	s.recent[s.n%window] = hash
	p := print{hash, s.n - piece, s.n, false}
	switch {
	case s.least == 0 || hash <= s.recent[s.least%window]:
		s.least, p.chosen = s.n, true
	case s.n-s.least >= window: // it is not in the window any more
		s.least = s.n
		for n := s.n - 1; n > s.n-window; n-- {
			if s.recent[n%window] < s.recent[s.least%window] {
				s.least = n
			}
		}
		if s.least < s.n {
			s.each(print{s.recent[s.least%window], s.least - piece, s.least, true})
		}
		p.chosen = s.least == s.n
	}
	s.each(p)
}

// end ends a word.
func (s *scanner) end() {
	if s.telling && s.length >= leastOf && s.length <= mostOf {
		s.each(print{s.t.finish(s.word ^ uint64(s.length)), s.n - s.length, s.n, true})
	}
	s.word, s.length, s.telling = 0, 0, false
}

// finish makes all bits of a hash depend on all of its bits.
func (t *Trail) finish(hash uint64) uint64 {
	high, low := bits.Mul64(hash^t.base, t.mix)
	return high ^ low
}

// classes tell what a character is: the letter or digit that counts, in lower case; whether it makes a word telling; 0 for what ends
// a word.
var classes = func() (all [256]uint16) {
	for c := range all {
		switch {
		case c >= 'a' && c <= 'z', c >= 0x80:
			all[c] = uint16(c)
		case c >= 'A' && c <= 'Z':
			all[c] = uint16(c + 'a' - 'A')
		case c >= '0' && c <= '9':
			all[c] = uint16(c) | telling
		case c == '@':
			all[c] = telling
		case c == '.', c == '-', c == '_', c == '+':
			all[c] = joining
		}
	}
	return all
}()

const (
	letter  = 0xff
	telling = 0x100
	joining = 0x200
)
