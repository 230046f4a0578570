package intl

import (
	"cmp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// Collator orders texts as CLDR's root does. Texts of Latin letters are compared here, others by x/text, whose
// tables are older.
type Collator struct {
	Numeric, IgnorePunctuation    bool
	Sensitivity, CaseFirst, Usage string

	other *collate.Collator
}

// NewCollator resolves options.
func NewCollator(o Options) (c *Collator, err error) {
	defer caught(&err)
	c = &Collator{Usage: o.oneOf("usage", "sort", "sort", "search")}
	if name := o.oneOf("collation", "default"); name != "default" {
		fail("collation %s is not supported: default is", clip(name))
	}
	c.Numeric, _ = o("numeric", Bool).(bool)
	c.CaseFirst = o.oneOf("caseFirst", "false", "upper", "lower", "false")
	c.Sensitivity = o.oneOf("sensitivity", "variant", "base", "accent", "case", "variant")
	c.IgnorePunctuation, _ = o("ignorePunctuation", Bool).(bool)
	return c, nil
}

// order is that of ASCII characters that are no letters, digits or controls in CLDR's root.
const order = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"

// ranks are primary weights of ASCII; 0: ignored.
var ranks = sync.OnceValue(func() (r [utf8.RuneSelf]int) {
	for i, c := range order {
		r[c] = i + 1
	}
	for c := '0'; c <= '9'; c++ {
		r[c] = 100 + int(c)
	}
	for c := 'a'; c <= 'z'; c++ {
		r[c], r[c-'a'+'A'] = 200+int(c), 200+int(c)
	}
	return r
})

// Compare is negative, zero or positive.
func (c *Collator) Compare(a, b string) int {
	if a == b {
		return 0
	}
	if !c.Numeric && !c.IgnorePunctuation && isASCII(a) && isASCII(b) {
		return c.compareASCII(a, b)
	}
	x, ok := c.elements(a)
	y, ok2 := c.elements(b)
	if !ok || !ok2 {
		return c.compareOther(a, b)
	}
	return c.compare(x, y)
}

// compareASCII does for most texts what compare does, without a list of their characters.
func (c *Collator) compareASCII(a, b string) int {
	rank := ranks()
	cased := 0 // the first difference in case
	for {
		for a != "" && rank[a[0]] == 0 {
			a = a[1:]
		}
		for b != "" && rank[b[0]] == 0 {
			b = b[1:]
		}
		if a == "" || b == "" {
			if d := cmp.Compare(len(a), len(b)); d != 0 {
				return d
			}
			return cased
		}
		if d := cmp.Compare(rank[a[0]], rank[b[0]]); d != 0 {
			return d
		}
		if cased == 0 && a[0] != b[0] && (c.Sensitivity == "case" || c.Sensitivity == "variant") {
			cased = 1
			if isUpper(a[0]) == (c.CaseFirst == "upper") {
				cased = -1
			}
		}
		a, b = a[1:], b[1:]
	}
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// element is a character with the accents behind it.
type element struct {
	primary string // compares as text
	accents string
	upper   bool
}

func (c *Collator) elements(text string) (list []element, ok bool) {
	if !isASCII(text) {
		text = norm.NFD.String(text)
	}
	rank := ranks()
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if c.Numeric && '0' <= r && r <= '9' {
			n := i
			for n < len(text) && '0' <= text[n] && text[n] <= '9' {
				n++
			}
			list = append(list, element{primary: number(text[i:n])})
			i = n
			continue
		}
		i += size
		switch {
		case 0x300 <= r && r < 0x370:
			if len(list) == 0 {
				return nil, false
			}
			list[len(list)-1].accents += string(r)
		case r >= utf8.RuneSelf:
			return nil, false
		case rank[r] == 0, c.IgnorePunctuation && rank[r] < 100 && unicode.In(r, unicode.P, unicode.White_Space):
		default:
			list = append(list, element{primary: string(rune(rank[r])), upper: 'A' <= r && r <= 'Z'})
		}
	}
	return list, true
}

// number is a primary weight of digits as their value: first how many, then which.
func number(digits string) string {
	digits = strings.TrimLeft(digits, "0")
	return string(rune(100+'0')) + string(rune(1+min(len(digits), 0x8000))) + digits
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (c *Collator) compare(x, y []element) int {
	n := min(len(x), len(y))
	for i := range n {
		if d := strings.Compare(x[i].primary, y[i].primary); d != 0 {
			return d
		}
	}
	if d := cmp.Compare(len(x), len(y)); d != 0 {
		return d
	}
	if c.Sensitivity == "accent" || c.Sensitivity == "variant" {
		for i := range n {
			if d := compareAccents(x[i].accents, y[i].accents); d != 0 {
				return d
			}
		}
	}
	if c.Sensitivity == "case" || c.Sensitivity == "variant" {
		for i := range n {
			if x[i].upper != y[i].upper {
				if x[i].upper == (c.CaseFirst == "upper") {
					return -1
				}
				return 1
			}
		}
	}
	return 0
}

// accentOrder is that of the usual accents in CLDR's root.
const accentOrder = "\u0301\u0300\u0306\u0302\u030c\u030a\u0308\u030b\u0303\u0307\u0328\u0327\u0304"

func compareAccents(a, b string) int {
	rank := func(r rune) int {
		if i := strings.IndexRune(accentOrder, r); i >= 0 {
			return i
		}
		return 0x100 + int(r)
	}
	x, y := []rune(a), []rune(b)
	for i := range min(len(x), len(y)) {
		if d := cmp.Compare(rank(x[i]), rank(y[i])); d != 0 {
			return d
		}
	}
	return cmp.Compare(len(x), len(y))
}

func (c *Collator) compareOther(a, b string) int {
	if c.other == nil {
		var options []collate.Option
		if c.Numeric {
			options = append(options, collate.Numeric)
		}
		switch c.Sensitivity {
		case "base":
			options = append(options, collate.Loose)
		case "accent":
			options = append(options, collate.IgnoreCase)
		case "case":
			options = append(options, collate.IgnoreDiacritics)
		}
		c.other = collate.New(language.Und, options...)
	}
	return c.other.CompareString(a, b)
}
