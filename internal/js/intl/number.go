package intl

import (
	_ "embed" // the tables
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Part is a piece of a formatted text, as formatToParts gives it.
type Part struct{ Type, Value string }

// Join is the text of parts.
func Join(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Value)
	}
	return b.String()
}

// NumberFormat formats numbers. Its fields are options as they were resolved; a count of -1 is none.
type NumberFormat struct {
	Style, Currency, CurrencyDisplay, CurrencySign, Unit, UnitDisplay string
	Notation, CompactDisplay, SignDisplay, UseGrouping                string
	RoundingMode, RoundingPriority, TrailingZeroDisplay               string
	MinInteger, MinFraction, MaxFraction, MinDigits, MaxDigits        int

	locale *locale // nil: en-US
}

var roundingModes = []string{"ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"}

// NewNumberFormat resolves options, in the order that ECMA-402 reads them in.
func NewNumberFormat(o Options, tag string) (f *NumberFormat, err error) {
	defer caught(&err)
	f = &NumberFormat{MinFraction: -1, MaxFraction: -1, MinDigits: -1, MaxDigits: -1, locale: localeOf(tag)}
	f.Style = o.oneOf("style", "decimal", "decimal", "percent", "currency", "unit")
	f.readCurrency(o)
	f.readUnit(o)
	f.Notation = o.oneOf("notation", "standard", "standard", "scientific", "engineering", "compact")
	f.readDigits(o)
	compact := o.oneOf("compactDisplay", "short", "short", "long")
	if f.Notation == "compact" {
		f.CompactDisplay = compact
	}
	f.readGrouping(o)
	f.SignDisplay = o.oneOf("signDisplay", "auto", "auto", "never", "always", "exceptZero", "negative")
	if f.locale != nil {
		f.locale.check(f)
	}
	return f, nil
}

func (f *NumberFormat) readCurrency(o Options) {
	currency := o.oneOf("currency", "")
	if currency == "" && o("currency", Text) == nil {
		if f.Style == "currency" {
			failType("Currency code is required with currency style.")
		}
	} else if len(currency) != 3 || strings.Trim(strings.ToUpper(currency), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		fail("Invalid currency code : %s", clip(currency))
	}
	display := o.oneOf("currencyDisplay", "symbol", "code", "symbol", "narrowSymbol", "name")
	sign := o.oneOf("currencySign", "standard", "standard", "accounting")
	if f.Style == "currency" {
		f.Currency, f.CurrencyDisplay, f.CurrencySign = strings.ToUpper(currency), display, sign
	}
}

func (f *NumberFormat) readUnit(o Options) {
	unit := o.oneOf("unit", "")
	if unit == "" && f.Style == "unit" {
		failType("Invalid unit argument for Intl.NumberFormat() ''")
	}
	if unit != "" && unitPatterns(unit) == nil {
		fail("Invalid unit argument for Intl.NumberFormat() '%s'", clip(unit))
	}
	display := o.oneOf("unitDisplay", "short", "short", "narrow", "long")
	if f.Style == "unit" {
		f.Unit, f.UnitDisplay = unit, display
	}
}

// readDigits is SetNumberFormatDigitOptions.
func (f *NumberFormat) readDigits(o Options) {
	least, most := 0, 3
	switch f.Style {
	case "currency":
		least = currencyOf(f.Currency).digits
		most = least
	case "percent":
		most = 0
	}
	f.MinInteger = max(1, o.integer("minimumIntegerDigits", 1, 21))
	minFraction, maxFraction := o("minimumFractionDigits", Number), o("maximumFractionDigits", Number)
	minDigits, maxDigits := o("minimumSignificantDigits", Number), o("maximumSignificantDigits", Number)
	given := func(name string, v any) Options {
		return func(string, Kind) any { return v }
	}
	if o.integer("roundingIncrement", 1, 5000) > 1 {
		fail("roundingIncrement is not supported: round the number before it is formatted")
	}
	f.RoundingMode = o.oneOf("roundingMode", "halfExpand", roundingModes...)
	f.RoundingPriority = o.oneOf("roundingPriority", "auto", "auto", "morePrecision", "lessPrecision")
	f.TrailingZeroDisplay = o.oneOf("trailingZeroDisplay", "auto", "auto", "stripIfInteger")
	hasDigits, hasFraction := minDigits != nil || maxDigits != nil, minFraction != nil || maxFraction != nil
	needDigits, needFraction := true, true
	if f.RoundingPriority == "auto" {
		needDigits = hasDigits
		needFraction = !hasDigits && (hasFraction || f.Notation != "compact")
	}
	if needDigits {
		f.MinDigits, f.MaxDigits = 1, 21
		if hasDigits {
			f.MinDigits = max(1, given("", minDigits).integer("minimumSignificantDigits", 1, 21))
			if n := given("", maxDigits).integer("maximumSignificantDigits", f.MinDigits, 21); n > 0 {
				f.MaxDigits = n
			}
		}
	}
	if needFraction {
		f.MinFraction, f.MaxFraction = least, most
		if hasFraction {
			lo := given("", minFraction).integer("minimumFractionDigits", 0, 100)
			hi := given("", maxFraction).integer("maximumFractionDigits", 0, 100)
			switch {
			case lo < 0:
				f.MinFraction, f.MaxFraction = min(least, hi), hi
			case hi < 0:
				f.MinFraction, f.MaxFraction = lo, max(most, lo)
			case lo > hi:
				fail("maximumFractionDigits value is out of range: it is less than minimumFractionDigits")
			default:
				f.MinFraction, f.MaxFraction = lo, hi
			}
		}
	}
	if !needDigits && !needFraction { // of compact numbers
		f.MinFraction, f.MaxFraction, f.MinDigits, f.MaxDigits = 0, 0, 1, 2
		f.RoundingPriority = "morePrecision"
	}
}

func (f *NumberFormat) readGrouping(o Options) {
	f.UseGrouping = "auto"
	if f.Notation == "compact" {
		f.UseGrouping = "min2"
	}
	switch v := o("useGrouping", Raw).(type) {
	case bool:
		f.UseGrouping = map[bool]string{true: "always"}[v]
	case string:
		switch v {
		case "min2", "auto", "always":
			f.UseGrouping = v
		case "true", "false", "":
			if v == "" {
				f.UseGrouping = ""
			}
		default:
			fail("Value %s out of range for option useGrouping: it is one of min2, auto, always, true, false", clip(v))
		}
	}
}

// Format is the text of a number.
func (f *NumberFormat) Format(d Decimal) string { return Join(f.Parts(d)) }

// Parts are the pieces of that.
func (f *NumberFormat) Parts(d Decimal) []Part {
	n, sign := f.number(d)
	return f.signed(n, sign)
}

// number is the digits of one without its sign, which is '-', '+' or 0; and whether English says it in the singular.
type formatted struct {
	parts    []Part
	singular bool
}

func (f *NumberFormat) number(d Decimal) (n formatted, sign byte) {
	if f.Style == "percent" && len(d.digits) > 0 {
		d.exp += 2
	}
	if d.nan || d.infinite {
		n.parts = []Part{{"nan", "NaN"}}
		if d.infinite {
			n.parts = []Part{{"infinity", "∞"}}
		}
		return n, f.sign(d)
	}
	scale := f.scale(d)
	scaled := f.round(d, scale)
	if s := f.scale(scaled.shifted(scale)); s != scale && !d.zero() { // 999,999 is 1M
		scale = s
		scaled = f.round(d, scale)
	}
	integer, fraction := scaled.text(f.MinInteger, f.minFraction(scaled))
	if f.TrailingZeroDisplay == "stripIfInteger" && strings.Trim(fraction, "0") == "" {
		fraction = ""
	}
	n.parts = f.grouped(integer)
	if fraction != "" {
		n.parts = append(n.parts, Part{"decimal", "."}, Part{"fraction", fraction})
	}
	n.singular = strings.TrimLeft(integer, "0") == "1" && fraction == "" && scale == 0
	n.parts = f.scaledBy(n.parts, scale)
	return n, f.sign(scaled)
}

func (d Decimal) shifted(n int) Decimal {
	if !d.zero() {
		d.exp += n
	}
	return d
}

// scale is the power of ten that is written apart.
func (f *NumberFormat) scale(d Decimal) int {
	m := d.magnitude()
	switch f.Notation {
	case "compact":
		return min(max(m-m%3, 0), 12)
	case "scientific":
		return m
	case "engineering":
		return m - ((m%3)+3)%3
	}
	return 0
}

// round rounds a number that is divided by a power of ten.
func (f *NumberFormat) round(d Decimal, scale int) Decimal {
	d = d.shifted(-scale)
	return d.rounded(f.keep(d), f.RoundingMode)
}

// keep is how many digits stay.
func (f *NumberFormat) keep(d Decimal) int {
	byFraction := d.magnitude() + 1 + f.MaxFraction
	switch {
	case f.MaxDigits < 0:
		return byFraction
	case f.MaxFraction < 0:
		return f.MaxDigits
	case f.RoundingPriority == "lessPrecision":
		return min(byFraction, f.MaxDigits)
	}
	return max(byFraction, f.MaxDigits)
}

func (f *NumberFormat) minFraction(d Decimal) int {
	byDigits := f.MinDigits - 1 - d.magnitude()
	switch {
	case f.MaxDigits < 0:
		return f.MinFraction
	case f.MaxFraction < 0:
		return byDigits
	}
	// The count goes with the rule that was the more, or the less, precise one.
	if (d.magnitude()+1+f.MaxFraction > f.MaxDigits) == (f.RoundingPriority == "morePrecision") {
		return f.MinFraction
	}
	return byDigits
}

func (f *NumberFormat) grouped(integer string) (parts []Part) {
	least, size := 4, 3
	if f.locale != nil {
		size = f.locale.size
		if f.UseGrouping == "auto" {
			least = f.locale.least
		}
	}
	switch f.UseGrouping {
	case "":
		return []Part{{"integer", integer}}
	case "min2":
		least = 5
	case "auto":
		if f.Notation == "compact" {
			least = 5
		}
	}
	if len(integer) < least {
		return []Part{{"integer", integer}}
	}
	last := integer[len(integer)-3:]
	integer = integer[:len(integer)-3]
	for first := (len(integer)-1)%size + 1; integer != ""; first = size {
		parts = append(parts, Part{"integer", integer[:first]})
		parts = append(parts, Part{"group", ","})
		integer = integer[first:]
	}
	return append(parts, Part{"integer", last})
}

var (
	shortScales = map[int]string{3: "K", 6: "M", 9: "B", 12: "T"}
	longScales  = map[int]string{3: "thousand", 6: "million", 9: "billion", 12: "trillion"}
)

func (f *NumberFormat) scaledBy(parts []Part, scale int) []Part {
	switch f.Notation {
	case "compact":
		switch {
		case scale == 0:
		case f.CompactDisplay == "long" && (f.Style != "currency" || f.CurrencyDisplay == "name"):
			parts = append(parts, Part{"literal", " "}, Part{"compact", longScales[scale]})
		default:
			parts = append(parts, Part{"compact", shortScales[scale]})
		}
	case "scientific", "engineering":
		parts = append(parts, Part{"exponentSeparator", "E"})
		if scale < 0 {
			parts = append(parts, Part{"exponentMinusSign", "-"})
			scale = -scale
		}
		parts = append(parts, Part{"exponentInteger", strconv.Itoa(scale)})
	}
	return parts
}

// sign is that which is shown of a number that was rounded.
func (f *NumberFormat) sign(d Decimal) byte {
	none := d.zero() || d.nan
	switch f.SignDisplay {
	case "never":
		return 0
	case "negative":
		if none || !d.negative {
			return 0
		}
	case "exceptZero":
		if none {
			return 0
		}
	case "always":
	default:
		if !d.negative {
			return 0
		}
	}
	if d.negative {
		return '-'
	}
	return '+'
}

// signed puts sign, currency, unit and percent sign around a number.
func (f *NumberFormat) signed(n formatted, sign byte) (parts []Part) {
	brackets := f.CurrencySign == "accounting" && f.CurrencyDisplay != "name" && sign == '-'
	switch {
	case brackets:
		parts = append(parts, Part{"literal", "("})
	case sign == '-':
		parts = append(parts, Part{"minusSign", "-"})
	case sign == '+':
		parts = append(parts, Part{"plusSign", "+"})
	}
	before, behind := f.currencyBefore(n), f.behind(n.singular)
	if l := f.locale; l != nil {
		l.written(n.parts)
		if len(before) > 0 && l.after {
			before, behind = nil, []Part{{"literal", l.space}, before[0]}
		}
	}
	parts = append(parts, before...)
	parts = append(parts, n.parts...)
	parts = append(parts, behind...)
	if brackets {
		parts = append(parts, Part{"literal", ")"})
	}
	return parts
}

func (f *NumberFormat) currencyBefore(n formatted) []Part {
	if f.Style != "currency" || f.CurrencyDisplay == "name" {
		return nil
	}
	c := currencyOf(f.Currency)
	symbol := map[string]string{"code": f.Currency, "symbol": c.symbol, "narrowSymbol": c.narrow}[f.CurrencyDisplay]
	space := false
	if l := f.locale; l != nil {
		symbol, space = l.symbol(f, symbol), l.space != ""
	}
	parts := []Part{{"currency", symbol}}
	if last, _ := utf8.DecodeLastRuneInString(symbol); space || !unicode.IsSymbol(last) && n.parts[0].Type == "integer" {
		parts = append(parts, Part{"literal", "\u00a0"})
	}
	return parts
}

func (f *NumberFormat) behind(singular bool) []Part {
	switch {
	case f.Style == "percent":
		if f.locale != nil && f.locale.percent != "" {
			return []Part{{"literal", f.locale.percent}, {"percentSign", "%"}}
		}
		return []Part{{"percentSign", "%"}}
	case f.CurrencyDisplay == "name":
		c := currencyOf(f.Currency)
		name := c.other
		if singular {
			name = c.one
		}
		return []Part{{"literal", " "}, {"currency", name}}
	case f.Style == "unit":
		return f.unitBehind(singular)
	}
	return nil
}

func (f *NumberFormat) unitBehind(singular bool) []Part {
	at := map[string]int{"short": 0, "narrow": 2, "long": 4}[f.UnitDisplay]
	if !singular {
		at++
	}
	text := strings.TrimPrefix(unitPatterns(f.Unit)[at], "{0}")
	name := strings.TrimLeft(text, " \u00a0")
	kind := "unit"
	if f.Unit == "percent" && f.UnitDisplay != "long" {
		kind = "percentSign"
	}
	if space := text[:len(text)-len(name)]; space != "" {
		return []Part{{"literal", space}, {kind, name}}
	}
	return []Part{{kind, name}}
}

// currency is what CLDR knows of one.
type currency struct {
	digits                     int
	symbol, narrow, one, other string
}

//go:embed currencies.txt
var currencyText string

//go:embed units.txt
var unitText string

func table(text string) map[string][]string {
	rows := map[string][]string{}
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		rows[fields[0]] = fields[1:]
	}
	return rows
}

var (
	currencies = sync.OnceValue(func() map[string][]string { return table(currencyText) })
	units      = sync.OnceValue(func() map[string][]string { return table(unitText) })
)

func currencyOf(code string) currency {
	row, ok := currencies()[code]
	if !ok {
		return currency{2, code, code, code, code}
	}
	digits, _ := strconv.Atoi(row[0])
	return currency{digits, row[1], row[2], row[3], row[4]}
}

// unitPatterns are those for one and for others: short, narrow, long. nil: there is no such unit.
func unitPatterns(unit string) []string {
	if row, ok := units()[unit]; ok && !strings.HasPrefix(unit, "per-") {
		return row
	}
	above, below, ok := strings.Cut(unit, "-per-")
	top, per := units()[above], units()["per-"+below]
	if !ok || top == nil || per == nil {
		return nil
	}
	var row []string
	for i := range top {
		row = append(row, top[i]+per[i])
	}
	return row
}

// Range is the text of two numbers.
func (f *NumberFormat) Range(from, to Decimal) (text string, err error) {
	defer caught(&err)
	if from.nan || to.nan {
		fail("Invalid start or end of a range: NaN")
	}
	if f.locale != nil {
		fail("formatRange is supported in en-US, and not in %s", f.locale.tag)
	}
	n, sign := f.number(from)
	m, sign2 := f.number(to)
	a, b := Join(f.signed(n, sign)), Join(f.signed(m, sign2))
	if a == b {
		return "~" + a, nil
	}
	outside := f.Style == "unit" || f.CurrencyDisplay == "name" // the unit is said once
	scaled := f.Notation != "standard" && (!isPlain(n.parts) || !isPlain(m.parts))
	switch {
	case sign == sign2 && sign != 0 && !scaled && (f.Style == "currency" && !outside || f.Style == "percent"):
		return strings.TrimSuffix(a, Join(f.behind(false))) + "–" + Join(m.parts) + Join(f.behind(false)), nil
	case scaled || f.Style == "currency" && !outside || f.Style == "percent":
		return a + " – " + b, nil
	}
	dash := "–"
	if sign != 0 || sign2 != 0 {
		dash = " – "
	}
	return strings.TrimSuffix(a, Join(f.behind(n.singular))) + dash + strings.TrimSuffix(b, Join(f.behind(m.singular))) + Join(f.behind(false)), nil
}

// isPlain says that there is no scale in the parts of a number.
func isPlain(parts []Part) bool {
	for _, p := range parts {
		if p.Type == "compact" || p.Type == "exponentSeparator" {
			return false
		}
	}
	return true
}
