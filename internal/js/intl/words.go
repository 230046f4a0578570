package intl

import (
	"math"
	"strings"
)

// Plural is the category of a number as it was formatted: one, or other; of an ordinal also two and few.
func Plural(f *NumberFormat, ordinal bool, d Decimal) string {
	n, _ := f.number(d)
	text := Join(n.parts)
	if !ordinal {
		if n.singular {
			return "one"
		}
		return "other"
	}
	text = strings.ReplaceAll(text, ",", "")
	if strings.Trim(text, "0123456789") != "" || strings.HasSuffix(text, "11") || strings.HasSuffix(text, "12") || strings.HasSuffix(text, "13") {
		return "other"
	}
	switch text[len(text)-1] {
	case '1':
		return "one"
	case '2':
		return "two"
	case '3':
		return "few"
	}
	return "other"
}

// List joins words as English does. Kind is conjunction, disjunction or unit; style is long, short or narrow.
func List(words []string, kind, style string) (parts []Part) {
	between, last := ", ", ", "
	if style == "narrow" && kind == "unit" {
		between, last = " ", " "
	}
	pair := last
	if word := map[string]string{"conjunction": "and", "disjunction": "or"}[kind]; word != "" {
		if kind == "conjunction" && style == "short" {
			word = "&"
		}
		last, pair = ", "+word+" ", " "+word+" "
		if kind == "conjunction" && style == "narrow" {
			last, pair = ", ", ", "
		}
	}
	for i, w := range words {
		switch {
		case i == 0:
		case len(words) == 2:
			parts = append(parts, Part{"literal", pair})
		case i == len(words)-1:
			parts = append(parts, Part{"literal", last})
		default:
			parts = append(parts, Part{"literal", between})
		}
		parts = append(parts, Part{"element", w})
	}
	return parts
}

// relativeUnits are the units of RelativeTimeFormat: short, and with auto the words for -1, 0 and 1.
var relativeUnits = map[string]struct{ short, plural, narrow, past, now, next string }{
	"second":  {"sec.", "sec.", "s", "", "now", ""},
	"minute":  {"min.", "min.", "m", "", "this minute", ""},
	"hour":    {"hr.", "hr.", "h", "", "this hour", ""},
	"day":     {"day", "days", "d", "yesterday", "today", "tomorrow"},
	"week":    {"wk.", "wk.", "w", "last week", "this week", "next week"},
	"month":   {"mo.", "mo.", "mo", "last month", "this month", "next month"},
	"quarter": {"qtr.", "qtrs.", "q", "last quarter", "this quarter", "next quarter"},
	"year":    {"yr.", "yr.", "y", "last year", "this year", "next year"},
}

// Relative says how far away a time is: in 3 days, 1 week ago, and with auto also yesterday.
func Relative(f *NumberFormat, value float64, unit, style string, auto bool) (parts []Part, err error) {
	defer caught(&err)
	unit = strings.TrimSuffix(unit, "s")
	u, ok := relativeUnits[unit]
	if !ok {
		fail("Invalid unit argument for format() '%s': it is one of second, minute, hour, day, week, month, quarter, year", clip(unit))
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		fail("The value of a relative time must be finite")
	}
	past := value < 0 || value == 0 && math.Signbit(value)
	if auto {
		word := map[float64]string{-1: u.past, 0: u.now, 1: u.next}[value]
		if style != "long" {
			for long, short := range map[string]string{" week": " wk.", " month": " mo.", " quarter": " qtr.", " year": " yr."} {
				if value != 0 || strings.HasPrefix(word, "this ") {
					word = strings.Replace(word, long, short, 1)
				}
			}
		}
		if word != "" {
			return []Part{{"literal", word}}, nil
		}
	}
	n, _ := f.number(FromFloat(math.Abs(value)))
	word := " " + unit
	switch {
	case style == "short" && n.singular:
		word = " " + u.short
	case style == "short":
		word = " " + u.plural
	case style == "narrow":
		word = u.narrow
	case !n.singular:
		word += "s"
	}
	if past {
		return append(n.parts, Part{"literal", word + " ago"}), nil
	}
	return append(append([]Part{{"literal", "in "}}, n.parts...), Part{"literal", word}), nil
}

// PluralOptions says whether PluralRules are for ordinals.
func PluralOptions(o Options) (ordinal bool, err error) {
	defer caught(&err)
	return o.oneOf("type", "cardinal", "cardinal", "ordinal") == "ordinal", nil
}

// ListOptions are those of ListFormat.
func ListOptions(o Options) (kind, style string, err error) {
	defer caught(&err)
	kind = o.oneOf("type", "conjunction", "conjunction", "disjunction", "unit")
	return kind, o.oneOf("style", "long", "long", "short", "narrow"), nil
}

// RelativeOptions are those of RelativeTimeFormat.
func RelativeOptions(o Options) (style string, auto bool, err error) {
	defer caught(&err)
	style = o.oneOf("style", "long", "long", "short", "narrow")
	return style, o.oneOf("numeric", "always", "always", "auto") == "auto", nil
}
