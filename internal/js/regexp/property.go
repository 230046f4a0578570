package regexp

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

//go:generate node tables.mjs
//go:generate gofmt -w tables.go

// Tables are arrays, which cost nothing at start as maps do.
type (
	named      struct{ name, text string }
	scriptCode struct {
		code  string
		first rune // a character of the script
	}
)

func find(table []named, name string) (string, bool) {
	for _, n := range table {
		if n.name == name {
			return n.text, true
		}
	}
	return "", false
}

// lookUp is the set of characters with a property: \p{name=value}, or \p{name} if there is no value.
func lookUp(name, value string, both bool) (*set, bool) {
	if !both {
		if s, ok := category(name); ok {
			return s, true
		}
		return binaryProperty(name)
	}
	switch name {
	case "General_Category", "gc":
		return category(value)
	case "Script", "sc":
		return script(value)
	case "Script_Extensions", "scx":
		return extensions(value)
	}
	return nil, false
}

func category(name string) (*set, bool) {
	if short, ok := unicode.CategoryAliases[name]; ok {
		name = short
	}
	if t, ok := unicode.Categories[name]; ok {
		return ofTable(t), true
	}
	return nil, false
}

// byCode are the scripts by their codes of four letters: of each one character is known.
var byCode = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, s := range scriptCodes {
		for name, table := range unicode.Scripts {
			if unicode.Is(table, s.first) {
				names[s.code] = name
			}
		}
	}
	names["Qaac"], names["Qaai"] = names["Copt"], names["Zinh"]
	return names
})

func scriptName(name string) string {
	if long, ok := byCode()[name]; ok {
		return long
	}
	return name
}

func script(name string) (*set, bool) {
	if name == "Unknown" || name == "Zzzz" {
		var known []*unicode.RangeTable
		for _, t := range unicode.Scripts {
			known = append(known, t)
		}
		return ofTable(known...).complement(), true
	}
	t, ok := unicode.Scripts[scriptName(name)]
	if !ok {
		return nil, false
	}
	return ofTable(t), true
}

func extensions(name string) (*set, bool) {
	s, ok := script(name)
	if !ok {
		return nil, false
	}
	long := scriptName(name)
	for _, x := range scriptExtensions {
		if byCode()[x.name] == long {
			d := unpack(x.text)
			return s.union(d).minus(s.intersect(d)), true
		}
	}
	return s, true
}

// unpack reads ranges of tables.go.
func unpack(text string) *set {
	var out []span
	end := rune(0)
	for field := range strings.FieldsSeq(text) {
		gap, more, _ := strings.Cut(field, "-")
		lo := end + base36(gap)
		end = lo + base36(more)
		out = append(out, span{lo, end})
	}
	return newSet(out...)
}

func base36(s string) rune {
	n, _ := strconv.ParseInt(s, 36, 32) // of "": 0
	return rune(n)
}

// shortNames are the aliases of binary properties.
var shortNames = [...]named{
	{"AHex", "ASCII_Hex_Digit"}, {"Alpha", "Alphabetic"}, {"Bidi_C", "Bidi_Control"}, {"Bidi_M", "Bidi_Mirrored"}, {"CI", "Case_Ignorable"},
	{"CWCF", "Changes_When_Casefolded"}, {"CWCM", "Changes_When_Casemapped"}, {"CWKCF", "Changes_When_NFKC_Casefolded"},
	{"CWL", "Changes_When_Lowercased"}, {"CWT", "Changes_When_Titlecased"}, {"CWU", "Changes_When_Uppercased"},
	{"DI", "Default_Ignorable_Code_Point"}, {"Dep", "Deprecated"}, {"Dia", "Diacritic"}, {"EBase", "Emoji_Modifier_Base"},
	{"EComp", "Emoji_Component"}, {"EMod", "Emoji_Modifier"}, {"EPres", "Emoji_Presentation"}, {"Ext", "Extender"},
	{"ExtPict", "Extended_Pictographic"}, {"Gr_Base", "Grapheme_Base"}, {"Gr_Ext", "Grapheme_Extend"}, {"Hex", "Hex_Digit"},
	{"IDC", "ID_Continue"}, {"IDS", "ID_Start"}, {"IDSB", "IDS_Binary_Operator"}, {"IDST", "IDS_Trinary_Operator"}, {"Ideo", "Ideographic"},
	{"Join_C", "Join_Control"}, {"LOE", "Logical_Order_Exception"}, {"Lower", "Lowercase"}, {"NChar", "Noncharacter_Code_Point"},
	{"Pat_Syn", "Pattern_Syntax"}, {"Pat_WS", "Pattern_White_Space"}, {"QMark", "Quotation_Mark"}, {"RI", "Regional_Indicator"},
	{"SD", "Soft_Dotted"}, {"STerm", "Sentence_Terminal"}, {"Term", "Terminal_Punctuation"}, {"UIdeo", "Unified_Ideograph"},
	{"Upper", "Uppercase"}, {"VS", "Variation_Selector"}, {"XIDC", "XID_Continue"}, {"XIDS", "XID_Start"}, {"space", "White_Space"},
}

// ofGo are the properties that Go's tables have under the same name.
var ofGo = [...]string{
	"ASCII_Hex_Digit", "Bidi_Control", "Dash", "Deprecated", "Diacritic", "Extender",
	"Hex_Digit", "IDS_Binary_Operator", "IDS_Trinary_Operator", "Ideographic", "Join_Control",
	"Logical_Order_Exception", "Noncharacter_Code_Point", "Pattern_Syntax", "Pattern_White_Space",
	"Quotation_Mark", "Radical", "Regional_Indicator", "Sentence_Terminal", "Soft_Dotted",
	"Terminal_Punctuation", "Unified_Ideograph", "Variation_Selector", "White_Space",
}

func binaryProperty(name string) (*set, bool) {
	if long, ok := find(shortNames[:], name); ok {
		name = long
	}
	if slices.Contains(ofGo[:], name) {
		return ofTable(unicode.Properties[name]), true
	}
	if ranges, ok := find(generatedProperties[:], name); ok {
		return unpack(ranges), true
	}
	if s := derived(name); s != nil {
		return s, true
	}
	return nil, false
}

// derived are the properties that UAX #44 derives from others.
func derived(name string) *set {
	switch name {
	case "Any":
		return newSet(span{0, maxRune})
	case "ASCII":
		return newSet(span{0, 127})
	case "Assigned":
		return ofTable(unicode.Cn).complement()
	case "Math":
		return ofTable(unicode.Sm, unicode.Other_Math)
	case "Alphabetic":
		return ofTable(unicode.Lu, unicode.Ll, unicode.Lt, unicode.Lm, unicode.Lo, unicode.Nl, unicode.Other_Lowercase,
			unicode.Other_Uppercase, unicode.Other_Alphabetic)
	case "Lowercase":
		return ofTable(unicode.Ll, unicode.Other_Lowercase)
	case "Uppercase":
		return ofTable(unicode.Lu, unicode.Other_Uppercase)
	case "Cased":
		return ofTable(unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
	case "ID_Start":
		return ofTable(unicode.L, unicode.Nl, unicode.Other_ID_Start).minus(ofTable(unicode.Pattern_Syntax, unicode.Pattern_White_Space))
	case "ID_Continue":
		return ofTable(unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue).
			minus(ofTable(unicode.Pattern_Syntax, unicode.Pattern_White_Space))
	case "XID_Start":
		return derived("ID_Start").minus(notXIDStart()).minus(notXID())
	case "XID_Continue":
		return derived("ID_Continue").minus(notXID())
	case "Default_Ignorable_Code_Point":
		return ofTable(unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector).
			minus(ofTable(unicode.White_Space, unicode.Prepended_Concatenation_Mark)).
			minus(newSet(span{0xFFF9, 0xFFFB}, span{0x13430, 0x13440}))
	case "Grapheme_Extend":
		return ofTable(unicode.Me, unicode.Mn, unicode.Other_Grapheme_Extend)
	case "Grapheme_Base":
		return derived("Assigned").minus(ofTable(unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, unicode.Zl, unicode.Zp)).
			minus(derived("Grapheme_Extend"))
	}
	return nil
}

// What XID_Start and XID_Continue leave out, so that identifiers stay such under NFKC (UAX #31, 5.1).
func notXID() *set {
	return newSet(span{0x37A, 0x37A}, span{0x309B, 0x309C}, span{0xFC5E, 0xFC63}, span{0xFDFA, 0xFDFB}, span{0xFE70, 0xFE70},
		span{0xFE72, 0xFE72}, span{0xFE74, 0xFE74}, span{0xFE76, 0xFE76}, span{0xFE78, 0xFE78}, span{0xFE7A, 0xFE7A},
		span{0xFE7C, 0xFE7C}, span{0xFE7E, 0xFE7E})
}

func notXIDStart() *set {
	return newSet(span{0xE33, 0xE33}, span{0xEB3, 0xEB3}, span{0xFF9E, 0xFF9F})
}
