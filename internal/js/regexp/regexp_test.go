package regexp_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/sandboxd/sandboxd/internal/js/regexp"
)

// TestMatch holds what the node of the golden file does not know yet, by the standard's text: modifiers and names that
// several groups bear.
func TestMatch(t *testing.T) {
	for _, c := range []struct{ pattern, flags, text, want string }{
		{"(?i:a)b", "", "Ab", "0:2"},
		{"(?i:a)b", "", "AB", ""},
		{"(?-i:a)b", "i", "aB", "0:2"},
		{"(?-i:a)b", "i", "AB", ""},
		{"(?i-s:.a)", "s", "\nA", ""},
		{"(?s:.)b.", "", "\nb\n", ""},
		{"(?s:.)b", "", "\nb", "0:2"},
		{"(?m:^b)", "", "a\nb", "2:3"},
		{"(?m:a$)", "", "a\nb", "0:1"},
		{"(?-m:^b)", "m", "a\nb", ""},
		{"(a)(?i:\\1)", "", "aA", "0:2 0:1"},
		{"(?i:(?-i:a)b)", "", "aB", "0:2"},
		{"(?i:[^x])", "", "X", ""},
		{"(?i:\\b\\w)", "u", "\u017f", "0:1"},
		{"\\w", "u", "\u017f", ""},
		{"(?<x>a)|(?<x>b)", "", "b", "0:1 - 0:1"},
		{"(?:(?<x>a)|(?<x>b))\\k<x>", "", "abb", "1:3 - 1:2"},
		{"(?:(?:(?<x>a)|(?<x>b)|c)\\k<x>){2}", "", "aac", "0:3 - -"},
		{"(?<=\\k<x>(?:(?<x>a)|(?<x>b)))$", "", "bb", "2:2 - 1:2"},
		{"[\\p{Emoji_Keycap_Sequence}x]", "v", "1\ufe0f\u20e3", "0:3"},
		{"[\\p{Emoji_Keycap_Sequence}1]", "v", "1", "0:1"},
		{"[\\q{ab|a}b]", "iv", "AB", "0:2"},
		{"[\\p{L}--\\q{a|bc}]", "v", "a", ""},
	} {
		t.Run("/"+c.pattern+"/"+c.flags, func(t *testing.T) {
			flags, ok := regexp.ParseFlags(c.flags)
			if !ok {
				t.Fatal(c.flags)
			}
			p, err := regexp.CompileString(c.pattern, flags)
			if err != nil {
				t.Fatal(err)
			}
			var m regexp.Matcher
			found, err := m.MatchUTF16(p, utf16.Encode([]rune(c.text)), 0, false)
			if err != nil || bounds(found) != c.want {
				t.Errorf("got %s, %v, want %s", bounds(found), err, c.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		pattern, flags, want string
		offset               int
	}{
		{"a(b", "", "Unterminated group", 1},
		{"ab)", "", "Unmatched ')'", 2},
		{"😀(", "u", "Unterminated group", 2},
		{"(?ii:a)", "", "Repeated flag in flag group", 3},
		{"(?i-i:a)", "", "Repeated flag in flag group", 4},
		{"(?-:a)", "", "Invalid flag group", 0},
		{"(?i--s:a)", "", "Multiple dashes in flag group", 4},
		{"(?g:a)", "", "Invalid group", 0},
		{"(?<x>a)(?<x>b)", "", "Duplicate capture group name", 10},
		{"(?<x>a)(?:b|(?<x>c))", "", "Duplicate capture group name", 15},
		{"(?:(?<x>a)|b)(?<x>c)", "", "Duplicate capture group name", 16},
		{"(?<x>(?<x>a)|b)", "", "Duplicate capture group name", 8},
		{`\p{RGI_Emoji}`, "v", `\p{RGI_Emoji} stands for strings, which is not supported`, 3},
		{`[^\q{ab}]`, "v", "Negated character class may contain strings", 0},
		{strings.Repeat("(", 501) + strings.Repeat(")", 501), "", "Regular expression too large: nested too deeply", 500},
		{strings.Repeat("[", 501) + strings.Repeat("]", 501), "v", "Regular expression too large: nested too deeply", 499},
		{strings.Repeat("a", 1<<17+1), "", "Regular expression too large", 1 << 17},
		{strings.Repeat(`\p{L}`, 1001), "u", "Regular expression too large", 5003},
		{strings.Repeat(`[\W]`, 1001), "i", "Regular expression too large", 4004},
		{strings.Repeat("()", 1<<15), "", "Too many captures", 65533},
	} {
		flags, _ := regexp.ParseFlags(c.flags)
		_, err := regexp.CompileString(c.pattern, flags)
		var e *regexp.Error
		if !errors.As(err, &e) || e.Message != c.want || e.Offset != c.offset {
			t.Errorf("/%.40s/%s: got %+v, want %s at %d", c.pattern, c.flags, err, c.want, c.offset)
		}
	}
}

func TestFlags(t *testing.T) {
	for text, want := range map[string]string{"": "", "yvsmigd": "dgimsvy", "u": "u", "gg": "-", "uv": "-", "x": "-", "é": "-"} {
		got := "-"
		if f, ok := regexp.ParseFlags(text); ok {
			got = f.String()
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// A match can take for ever, or more memory than there is: both end.
func TestEnds(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for _, c := range []struct {
		name, pattern, text string
		want                error
	}{
		{"nested quantifiers", "^(a+)+$", strings.Repeat("a", 50) + "!", regexp.ErrStopped},
		{"alternatives", "^(a|a)*$", strings.Repeat("a", 50) + "!", regexp.ErrStopped},
		{"lookbehind", "(?<=^x(a+)+)b", strings.Repeat("a", 50) + "b", regexp.ErrStopped},
		{"backreference", `^(a*)*\1(a*)*\2b`, strings.Repeat("a", 300), regexp.ErrStopped},
		{"empty iterations", "(?:|a){2147483646}b", "a", regexp.ErrStack},
		{"quadratic", ".*.*.*b", strings.Repeat("a", 1<<14), regexp.ErrStopped},
		{"a frame a character", "(?:a|b)*c?", long, nil},
		{"too many frames", "(?:(a)|(b)|(a))*c", strings.Repeat(long, 4), regexp.ErrStack},
		{"only empty", "(?:){2147483647}$", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := regexp.CompileString(c.pattern, 0)
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			m := regexp.Matcher{Stop: func() bool { asked++; return asked > 60 }}
			if _, err := m.MatchASCII(p, c.text, 0, false); err != c.want {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// TestLinear counts nothing and would take hours, was one of these not matched without a choice for each character.
func TestLinear(t *testing.T) {
	text := strings.Repeat("key = value, ", 1<<16)
	for _, pattern := range []string{
		`^(?:\w+ = \w+, )*$`, `(?:[^"\\]|\\.)*$`, `^(?:[^;]*;)?`, `x$`, `,\s*$`, `(?:foo|bar|baz)`, `^.*(?=!)|$`, `^[^!]*!|$`,
	} {
		p, err := regexp.CompileString(pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		m := regexp.Matcher{Stop: func() bool { asked++; return asked > 100 }}
		if _, err := m.MatchASCII(p, text, 0, false); err != nil {
			t.Errorf("/%s/: %v", pattern, err)
		}
	}
}

// TestLargePatterns: the longest patterns are compiled in a moment, whatever they are made of.
func TestLargePatterns(t *testing.T) {
	for _, part := range []string{"a", "a|", "a*", `\b`, "(?:)", "[a-c]", "[^x]", "x{2,3}", "(?=", "()?", `\1()`, "(?<!a)", `\W`, "(?:a|b)*?"} {
		pattern := strings.Repeat(part, 30_000/len(part))
		for _, flags := range []regexp.Flags{0, regexp.IgnoreCase} {
			if p, err := regexp.CompileString(pattern, flags); err == nil {
				var m regexp.Matcher
				if _, err := m.MatchASCII(p, "aab", 0, true); err != nil {
					t.Errorf("%s: %v", part, err)
				}
			}
		}
	}
	for _, class := range []string{strings.Repeat("a", 100_000), strings.Repeat("é-ü", 30_000), `\q{` + strings.Repeat("ab|", 40_000) + "}"} {
		if _, err := regexp.CompileString("["+class+"]", regexp.UnicodeSets|regexp.IgnoreCase); err != nil {
			t.Error(err)
		}
	}
}

// TestProperties compares counts of characters with what UAX #44 says a property is made of, or what is common knowledge.
func TestProperties(t *testing.T) {
	for _, c := range []struct{ property, has, lacks string }{
		{"L", "aé中𝒜", "1_ "}, {"Letter", "a", "1"}, {"Lu", "AÉ", "aé"}, {"Uppercase_Letter", "A", "a"}, {"gc=Nd", "1٣", "a"},
		{"General_Category=Decimal_Number", "1", "a"}, {"LC", "aA", "中"}, {"Cn", "\u0378", "a"}, {"punct", ".«", "a"},
		{"sc=Latn", "aé", "α"}, {"Script=Latin", "a", "α"}, {"scx=Deva", "क\u0964", "a"}, {"sc=Deva", "क", "\u0964"},
		{"Script_Extensions=Greek", "α", "a"}, {"sc=Zyyy", "1 ", "a"}, {"sc=Qaac", "ⲁ", "a"}, {"scx=Zinh", "\ufe00", "a"},
		{"Alpha", "aα中", "1"}, {"Uppercase", "AⒶ", "a"}, {"Lower", "aª", "A"}, {"White_Space", " \u00a0", "a"}, {"ASCII", "a", "é"},
		{"Any", "a\u0378", ""}, {"Assigned", "a", "\u0378"}, {"ID_Start", "a中℘", "1_"}, {"IDC", "a1_·", "-"}, {"XIDS", "a", "\u0e33"},
		{"Emoji", "😀1#", "a"}, {"Emoji_Presentation", "😀", "1❤"}, {"ExtPict", "😀❤", "1"}, {"EMod", "\U0001F3FD", "😀"},
		{"RI", "\U0001F1E9", "D"}, {"Math", "+∑", "a"}, {"Hex", "fF９ｆ", "g"}, {"DI", "\u00ad\u200b\ufe0f", "a\ufff9"},
		{"Gr_Ext", "\u0301", "a"}, {"Cased", "aA", "中"}, {"CI", "'\u0301", "a"}, {"CWU", "aß", "A"}, {"Bidi_M", "()", "a"},
	} {
		for _, text := range []struct {
			chars string
			want  bool
		}{{c.has, true}, {c.lacks, false}} {
			for _, r := range text.chars {
				p, err := regexp.CompileString(`^\p{`+c.property+`}$`, regexp.Unicode)
				if err != nil {
					t.Errorf("%s: %v", c.property, err)
					continue
				}
				var m regexp.Matcher
				if found, _ := m.MatchUTF16(p, utf16.Encode([]rune{r}), 0, false); (found != nil) != text.want {
					t.Errorf("\\p{%s} and U+%04X: got %v, want %v", c.property, r, found != nil, text.want)
				}
			}
		}
	}
	for _, property := range []string{"", "Foo", "lu", "sc=", "sc=Foo", "gc=Latin", "Alphabetic=Yes", "IsL", "Latin", "Script", " L", "L ", "Block=X"} {
		if _, err := regexp.CompileString(`\p{`+property+"}", regexp.Unicode); err == nil {
			t.Errorf("\\p{%s} is accepted", property)
		}
	}
}

// A lastIndex inside of a surrogate pair is one before it, with flag u.
func TestStartsInsideAPair(t *testing.T) {
	for flags, want := range map[regexp.Flags]string{regexp.Unicode: "0:2", 0: "1:2"} {
		p, err := regexp.CompileString(".", flags)
		if err != nil {
			t.Fatal(err)
		}
		var m regexp.Matcher
		if found, _ := m.MatchUTF16(p, utf16.Encode([]rune("😀")), 1, false); bounds(found) != want {
			t.Errorf("%v: got %s, want %s", flags, bounds(found), want)
		}
	}
}

// A matcher is used again and again, for programs of any size.
func TestMatcherIsReused(t *testing.T) {
	var m regexp.Matcher
	var got []string
	for _, c := range []struct{ pattern, text string }{{"(a)(b)?(c)", "xac"}, {"b", "ab"}, {"(?:(a)|(b))+", "ab"}, {"(?!(a))b", "b"}, {"x", "y"}} {
		p, err := regexp.CompileString(c.pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		found, err := m.MatchASCII(p, c.text, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, bounds(found))
	}
	if want := []string{"1:3 1:2 - 2:3", "1:2", "0:2 - 1:2", "0:1 -", ""}; !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", fmt.Sprint(got), fmt.Sprint(want))
	}
}
