package regexp

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"unicode"
)

// TestFolding compares both foldings with node's, as far as Go's Unicode tables go.
func TestFolding(t *testing.T) {
	text, err := os.ReadFile("testdata/fold.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		Upper  [][2]rune
		Orbits [][]rune
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	uppers := map[rune]rune{}
	for _, p := range g.Upper {
		uppers[p[0]] = p[1]
	}
	for c := range rune(0x10000) {
		want, ok := uppers[c]
		if !ok || newer(c, want) {
			want = c
		}
		if got := upper(c); got != want {
			t.Errorf("upper case of U+%04X: got U+%04X, want U+%04X", c, got, want)
		}
	}
	orbits := map[rune][]rune{}
	for _, o := range g.Orbits {
		for _, c := range o {
			orbits[c] = slices.DeleteFunc(slices.Clone(o), func(x rune) bool { return x != c && newer(c, x) })
		}
	}
	for c := range rune(0x20000) {
		want := orbits[c]
		if want == nil {
			want = []rune{c}
		}
		var got []rune
		byFolding.orbit(c, func(x rune) { got = append(got, x) })
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("folding of U+%04X: got %04X, want %04X", c, got, want)
		}
		for _, x := range got {
			if byFolding.canon(x) != byFolding.canon(c) {
				t.Errorf("U+%04X and U+%04X have different canonical characters", c, x)
			}
		}
	}
}

// newer says that Go's Unicode has not one of two characters, or their relation, yet.
func newer(c, x rune) bool {
	return unicode.Is(unicode.Cn, c) || unicode.Is(unicode.Cn, x) || c == 0x19B || c == 0x264
}
