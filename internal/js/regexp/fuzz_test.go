package regexp_test

import (
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf16"

	goregexp "regexp"

	"github.com/sandboxd/sandboxd/internal/js/regexp"
)

// FuzzMatch: no pattern makes the compiler or the matcher panic or run on, ASCII is matched as UTF-16 is, and where Go's
// regexp has the same language, it has the same answers.
func FuzzMatch(f *testing.F) {
	for _, c := range []struct{ pattern, flags, text string }{
		{"a|b", "", "ab"}, {"(a*)*b", "i", "aab"}, {"^(?<x>\\d+)(?=\\k<x>)", "m", "1\n22"}, {"[\\p{L}--[a-z]]", "v", "é"},
		{"(?<=(a|bc)+)d", "u", "abcd"}, {"(?:a?){2,5}?$", "s", "aaa"}, {"[^\\W_]+?\\b", "giu", "né"}, {"(?i:a)(?!b)", "y", "Ac"},
		{"\\101\\c[\\c_]{", "", "A"}, {"(?:){9}x*?", "d", "x"}, {"\\ud83d[\\udc00-\\udfff]", "u", "😀"}, {"[a-c&&b]", "v", "b"},
	} {
		f.Add(c.pattern, c.flags, c.text)
	}
	f.Fuzz(func(t *testing.T, pattern, flagText, text string) {
		flags, ok := regexp.ParseFlags(flagText)
		if !ok {
			return
		}
		p, err := regexp.CompileString(pattern, flags)
		if err != nil {
			return
		}
		asked := 0
		m := regexp.Matcher{Stop: func() bool { asked++; return asked > 20 }}
		units := utf16.Encode([]rune(text))
		found, err := m.MatchUTF16(p, units, 0, false)
		if err != nil {
			return
		}
		wide := bounds(found)
		for i := 0; i < len(found); i += 2 {
			if from, to := found[i], found[i+1]; (from < 0) != (to < 0) || from > to || int(to) > len(units) {
				t.Fatalf("captures %s of a text of %d", wide, len(units))
			}
		}
		ascii, ok := asASCII(units)
		if !ok {
			return
		}
		asked = 0
		if found, err = m.MatchASCII(p, ascii, 0, false); err == nil && bounds(found) != wide {
			t.Fatalf("as ASCII %s, as UTF-16 %s", bounds(found), wide)
		}
		if err == nil && common(pattern) && flags&^regexp.Global == 0 {
			if again, err := goregexp.Compile(pattern); err == nil {
				var want []int32
				for _, n := range again.FindStringSubmatchIndex(ascii) {
					want = append(want, int32(n))
				}
				if bounds(want) != bounds(found) {
					t.Fatalf("got %s, Go's regexp has %s", bounds(found), bounds(want))
				}
			}
		}
	})
}

// common says that a pattern means the same to Go: of letters, digits, classes, groups and alternatives, and
// with quantifiers only of one character, as captures in loops and empty iterations differ.
func common(pattern string) bool {
	if strings.ContainsAny(pattern, "\\{}?^$.[") || strings.Contains(pattern, ")*") || strings.Contains(pattern, ")+") {
		return false
	}
	for _, c := range pattern {
		if c > 126 || c < ' ' {
			return false
		}
	}
	_, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil
}
