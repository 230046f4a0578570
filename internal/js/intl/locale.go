package intl

import (
	_ "embed" // the locales
	"strconv"
	"strings"
	"sync"
)

//go:embed locales.txt
var localeText string

// locale is how numbers are written in another locale than en-US.
type locale struct {
	tag            string
	decimal, group string
	least, size    int  // digits from which on there are groups, and of a group
	after          bool // the currency stands behind the number
	space, percent string
	symbols        map[string]string
}

var locales = sync.OnceValue(func() map[string][]string { return table(localeText) })

// KnowsNumbers says that numbers can be written as in a locale, besides en and en-US.
func KnowsNumbers(tag string) bool { return locales()[tag] != nil }

func localeOf(tag string) *locale {
	row := locales()[tag]
	if row == nil {
		return nil
	}
	l := &locale{tag: tag, decimal: row[0], group: row[1], after: row[4] == "after", space: row[5], percent: row[6], symbols: map[string]string{}}
	l.least, _ = strconv.Atoi(row[2])
	l.size, _ = strconv.Atoi(row[3])
	for pair := range strings.SplitSeq(row[7], " ") {
		currency, symbol, _ := strings.Cut(pair, "=")
		l.symbols[currency] = symbol
	}
	return l
}

// check refuses what there are no words or patterns of.
func (l *locale) check(f *NumberFormat) {
	refuse := func(option, value string) {
		fail("%s %s is supported in en-US, and not in %s", option, value, l.tag)
	}
	switch {
	case f.Style == "unit":
		refuse("style", f.Style)
	case f.CurrencyDisplay == "name":
		refuse("currencyDisplay", f.CurrencyDisplay)
	case f.Notation != "standard":
		refuse("notation", f.Notation)
	case f.CurrencySign == "accounting" && (!strings.HasPrefix(l.tag, "en-") || l.size != 3):
		refuse("currencySign", f.CurrencySign)
	}
}

// written puts the signs of the locale in a number's parts.
func (l *locale) written(parts []Part) []Part {
	for i := range parts {
		switch parts[i].Type {
		case "decimal":
			parts[i].Value = l.decimal
		case "group":
			parts[i].Value = l.group
		}
	}
	return parts
}

// symbol is that of a currency, if it is another than in en-US.
func (l *locale) symbol(f *NumberFormat, symbol string) string {
	if f.CurrencyDisplay == "code" {
		return symbol
	}
	key := f.Currency
	if f.CurrencyDisplay == "narrowSymbol" {
		key += "/n"
	}
	if other, ok := l.symbols[key]; ok {
		return other
	}
	return symbol
}
