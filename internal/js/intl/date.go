package intl

import (
	"fmt"
	"strings"
	"time"
)

// DateFormat formats times as en-US, and as a few other locales as far as those are known. Its fields are options as they were resolved; empty is absent.
type DateFormat struct {
	HourCycle, DateStyle, TimeStyle                     string
	Weekday, Era, Year, Month, Day                      string
	DayPeriod, Hour, Minute, Second, TimeZoneName, Zone string
	FractionDigits                                      int

	zone   *zone
	space  string      // before AM and PM
	locale *dateLocale // nil: en-US
}

// Need says which fields a method is about: those that must be there, and those that are added if none of them is.
type Need int

const (
	AnyDate  Need = iota // Intl.DateTimeFormat: the date is added
	AnyBoth              // toLocaleString: date and time are
	OnlyDate             // toLocaleDateString
	OnlyTime             // toLocaleTimeString
)

// NewDateFormat resolves options, in the order that ECMA-402 reads them in.
func NewDateFormat(o Options, need Need, locale string) (f *DateFormat, err error) {
	defer caught(&err)
	f = &DateFormat{space: "\u202f", locale: dateLocaleOf(locale)}
	if c := o.oneOf("calendar", "gregory"); c != "gregory" && c != "iso8601" {
		fail("calendar %s is not supported: gregory is", clip(c))
	}
	if n := o.oneOf("numberingSystem", "latn"); n != "latn" {
		fail("numberingSystem %s is not supported: latn is", clip(n))
	}
	hour12 := o("hour12", Bool)
	f.HourCycle = o.oneOf("hourCycle", f.locale.cycle(), "h11", "h12", "h23", "h24")
	if hour12 != nil {
		f.HourCycle = map[bool]string{true: "h12", false: "h24"}[hour12.(bool)] // node 20 has h24
		if f.HourCycle == "h24" && f.locale.cycle() == "h23" {
			f.HourCycle = "h23"
		}
	}
	name := "UTC"
	if v := o("timeZone", Text); v != nil {
		name = v.(string)
	}
	f.zone = newZone(name)
	f.Zone = f.zone.name
	f.readFields(o)
	f.complete(need)
	f.locale.check(f, locale)
	return f, nil
}

func (f *DateFormat) readFields(o Options) {
	widths := []string{"narrow", "short", "long"}
	f.Weekday = o.oneOf("weekday", "", widths...)
	f.Era = o.oneOf("era", "", widths...)
	f.Year = o.oneOf("year", "", "2-digit", "numeric")
	f.Month = o.oneOf("month", "", "2-digit", "numeric", "narrow", "short", "long")
	f.Day = o.oneOf("day", "", "2-digit", "numeric")
	f.DayPeriod = o.oneOf("dayPeriod", "", widths...)
	f.Hour = o.oneOf("hour", "", "2-digit", "numeric")
	f.Minute = o.oneOf("minute", "", "2-digit", "numeric")
	f.Second = o.oneOf("second", "", "2-digit", "numeric")
	f.FractionDigits = max(0, o.integer("fractionalSecondDigits", 1, 3))
	f.TimeZoneName = o.oneOf("timeZoneName", "", "short", "long", "shortOffset", "longOffset")
	o.oneOf("formatMatcher", "", "basic", "best fit")
	styles := []string{"full", "long", "medium", "short"}
	f.DateStyle = o.oneOf("dateStyle", "", styles...)
	f.TimeStyle = o.oneOf("timeStyle", "", styles...)
}

// complete adds what a method shows when it is not told what to, and refuses what contradicts.
func (f *DateFormat) complete(need Need) {
	date := f.Weekday != "" || f.Year != "" || f.Month != "" || f.Day != ""
	clock := f.DayPeriod != "" || f.Hour != "" || f.Minute != "" || f.Second != "" || f.FractionDigits > 0
	if f.DateStyle != "" || f.TimeStyle != "" {
		switch {
		case date || clock || f.Era != "" || f.TimeZoneName != "":
			failType("Can't set date and time fields when dateStyle or timeStyle is used")
		case need == OnlyDate && f.TimeStyle != "":
			failType("Invalid option : timeStyle")
		case need == OnlyTime && f.DateStyle != "":
			failType("Invalid option : dateStyle")
		}
		f.styled()
		return
	}
	if (need == OnlyDate || !clock && need != OnlyTime) && !date {
		f.Year, f.Month, f.Day = "numeric", "numeric", "numeric"
	}
	if need == OnlyTime && !clock || need == AnyBoth && !date && !clock {
		f.Hour, f.Minute, f.Second = "numeric", "numeric", "numeric"
	}
}

// styled sets the fields of a style.
func (f *DateFormat) styled() {
	switch f.DateStyle {
	case "full":
		f.Weekday, f.Month, f.Day, f.Year = "long", "long", "numeric", "numeric"
	case "long":
		f.Month, f.Day, f.Year = "long", "numeric", "numeric"
	case "medium":
		f.Month, f.Day, f.Year = "short", "numeric", "numeric"
	case "short":
		f.Month, f.Day, f.Year = "numeric", "numeric", "2-digit"
	}
	if f.TimeStyle == "" {
		return
	}
	f.Hour, f.Minute = "numeric", "2-digit"
	if f.TimeStyle != "short" {
		f.Second = "2-digit"
	}
	f.TimeZoneName = map[string]string{"full": "long", "long": "short"}[f.TimeStyle]
}

// Format is the text of a time. V8 has no narrow space in it, as the parts and ranges have.
func (f *DateFormat) Format(t time.Time) string {
	g := *f
	g.space = " "
	return Join(g.Parts(t))
}

// Parts are the pieces of that.
func (f *DateFormat) Parts(t time.Time) []Part {
	t = t.In(f.zone.location)
	return f.joined(f.date(t), f.clock(t))
}

// joined puts what is said of the day before what is said of the time.
func (f *DateFormat) joined(date, clock []Part) []Part {
	if len(date) == 0 || len(clock) == 0 {
		return append(date, clock...)
	}
	glue := ", "
	switch {
	case f.locale != nil && (f.Month == "numeric" || f.Month == "2-digit"):
		glue = f.locale.glue
	case f.Month == "long":
		glue = " at "
	case f.Month == "" && f.Year == "" && f.Day == "" && f.Hour != "":
		glue = " "
	}
	return append(append(date, Part{"literal", glue}), clock...)
}

// datePattern is how the fields of a date stand together, each as its letter.
func (f *DateFormat) datePattern() string {
	year, month, day := f.Year != "", f.Month != "", f.Day != ""
	named := f.Month == "short" || f.Month == "long" || f.Month == "narrow"
	var p string
	switch {
	case f.locale != nil && year && month && day && !named:
		p = f.locale.numbers
	case f.locale != nil && month && day && named:
		p = f.locale.named
		if !year {
			p = strings.TrimSuffix(strings.TrimSuffix(p, " y"), ",")
		}
	case year && month && day && named:
		p = "M d, y"
	case year && month && day:
		p = "M/d/y"
	case month && day && named:
		p = "M d"
	case month && day:
		p = "M/d"
	case year && month && named:
		p = "M y"
	case year && month:
		p = "M/y"
	case year && day && f.Weekday == "":
		return "y (D: d)"
	case year:
		p = "y"
	case month:
		p = "M"
	case day:
		p = "d"
	}
	if f.Weekday != "" {
		switch {
		case p == "":
			p = "E"
		case month && day:
			p = "E, " + p
		case year && day:
			p = "d E y"
		default:
			p += " E"
		}
	}
	if f.Era != "" {
		p = strings.TrimSpace(p + " G")
	}
	return p
}

func (f *DateFormat) date(t time.Time) []Part { return f.fill(f.datePattern(), t) }

// fill replaces the letters of a pattern.
func (f *DateFormat) fill(pattern string, t time.Time) (parts []Part) {
	literal := ""
	for _, c := range pattern {
		if c == 'D' { // the word
			literal += "day"
			continue
		}
		p := f.field(c, t)
		if p.Type == "" {
			literal += string(c)
			continue
		}
		if literal != "" {
			parts = append(parts, Part{"literal", literal})
			literal = ""
		}
		parts = append(parts, p)
	}
	if literal != "" {
		parts = append(parts, Part{"literal", literal})
	}
	return parts
}

func (f *DateFormat) field(c rune, t time.Time) Part {
	switch c {
	case 'E':
		return Part{"weekday", name(t.Weekday().String(), f.Weekday, 3)}
	case 'M':
		if f.Month == "numeric" || f.Month == "2-digit" {
			return Part{"month", digits(int(t.Month()), f.two(f.Month))}
		}
		return Part{"month", name(t.Month().String(), f.Month, 3)}
	case 'd':
		return Part{"day", digits(t.Day(), f.two(f.Day))}
	case 'y':
		year := t.Year()
		if year <= 0 {
			year = 1 - year
		}
		if f.Year == "2-digit" {
			year %= 100
		}
		return Part{"year", digits(year, f.Year)}
	case 'G':
		names := map[string]string{"narrow": "A", "short": "AD", "long": "Anno Domini"}
		if t.Year() <= 0 {
			names = map[string]string{"narrow": "B", "short": "BC", "long": "Before Christ"}
		}
		return Part{"era", names[f.Era]}
	}
	return Part{}
}

// two is the width of a day or month in numbers.
func (f *DateFormat) two(width string) string {
	if f.locale != nil && f.locale.two && f.Year != "" && (f.Month == "numeric" || f.Month == "2-digit") {
		return "2-digit"
	}
	return width
}

// name shortens an English name.
func name(long, width string, short int) string {
	switch width {
	case "narrow":
		return long[:1]
	case "short":
		return long[:short]
	}
	return long
}

func digits(n int, width string) string {
	if width == "2-digit" {
		return fmt.Sprintf("%02d", n)
	}
	return fmt.Sprint(n)
}

func (f *DateFormat) clock(t time.Time) (parts []Part) {
	add := func(kind, value string) { parts = append(parts, Part{kind, value}) }
	seconds := f.Second != "" || f.FractionDigits > 0 && f.Minute != ""
	half := f.HourCycle == "h11" || f.HourCycle == "h12"
	if f.Hour != "" {
		add("hour", f.hour(t.Hour()))
	}
	switch {
	case f.Minute == "":
	case f.Hour != "":
		add("literal", ":")
		add("minute", digits(t.Minute(), "2-digit"))
	case seconds:
		add("minute", digits(t.Minute(), "2-digit"))
	default:
		add("minute", digits(t.Minute(), "numeric"))
	}
	if seconds && !(f.Hour != "" && f.Minute == "") {
		width := "numeric"
		if f.Minute != "" {
			add("literal", ":")
			width = "2-digit"
		}
		add("second", digits(t.Second(), width))
	}
	if f.FractionDigits > 0 {
		if seconds {
			add("literal", ".")
		}
		add("fractionalSecond", fmt.Sprintf("%03d", t.Nanosecond()/1e6)[:f.FractionDigits])
	}
	if f.DayPeriod != "" && (half || f.Hour == "") {
		if f.Hour != "" {
			add("literal", " ")
		}
		add("dayPeriod", f.dayPeriod(t))
	} else if f.Hour != "" && half {
		add("literal", f.space)
		am, pm := "AM", "PM"
		if f.locale != nil {
			am, pm = f.locale.am, f.locale.pm
		}
		add("dayPeriod", map[bool]string{true: am, false: pm}[t.Hour() < 12])
	}
	if f.Hour != "" && f.Minute == "" && f.Second != "" {
		add("literal", " (second: ")
		add("second", digits(t.Second(), "numeric"))
		add("literal", ")")
	}
	if f.TimeZoneName != "" {
		switch {
		case f.Hour != "" && f.Minute == "" && !half:
			add("literal", "h ")
		case len(parts) > 0:
			add("literal", " ")
		}
		add("timeZoneName", f.zone.text(t, f.TimeZoneName))
	}
	return parts
}

func (f *DateFormat) hour(h int) string {
	switch f.HourCycle {
	case "h11":
		return digits(h%12, f.Hour)
	case "h12", "h":
		return digits((h+11)%12+1, f.Hour)
	case "h24":
		return digits((h+23)%24+1, "2-digit")
	}
	// V8 writes an hour that is numeric beside a minute of two digits with one, but for that of a style.
	if f.locale != nil && (f.locale.loose || f.TimeStyle == "" && (f.Minute == "2-digit" || f.Second == "2-digit")) {
		return digits(h, f.Hour)
	}
	return digits(h, "2-digit")
}

// dayPeriod is the part of the day, in the words of CLDR for English.
func (f *DateFormat) dayPeriod(t time.Time) string {
	switch h := t.Hour(); {
	case h == 12 && f.Hour != "" && (f.Minute == "" || t.Minute() == 0 && (f.Second == "" || t.Second() == 0)):
		if f.DayPeriod == "narrow" {
			return "n"
		}
		return "noon"
	case h < 12:
		return "in the morning"
	case h < 18:
		return "in the afternoon"
	case h < 21:
		return "in the evening"
	}
	return "at night"
}

// dash stands between the ends of a range, with thin spaces.
const dash = "\u2009–\u2009"

// Range is the text of two times: what they have in common is said once.
func (f *DateFormat) Range(from, to time.Time) (text string, err error) {
	defer caught(&err)
	if f.locale != nil {
		fail("ranges of dates are supported in en-US only")
	}
	return f.between(from, to), nil
}

func (f *DateFormat) between(from, to time.Time) string {
	from, to = from.In(f.zone.location), to.In(f.zone.location)
	date, clock := f.datePattern() != "", len(f.clock(from)) > 0
	if f.Format(from) == f.Format(to) && (date && (f.Year != "" || from.Year() == to.Year()) || sameDay(from, to)) {
		return f.Format(from)
	}
	g := *f
	switch {
	case clock && sameDay(from, to):
		first := g
		if (from.Hour() < 12) == (to.Hour() < 12) && f.Second == "" {
			first.HourCycle = "h" // an hour of twelve, without AM and PM
		}
		first.TimeZoneName = ""
		both := append(append(first.clock(from), Part{"literal", dash}), g.clock(to)...)
		return Join(g.joined(g.date(from), both))
	case clock:
		if !date {
			g.Year, g.Month, g.Day = "numeric", "numeric", "numeric"
		}
		return Join(g.Parts(from)) + dash + Join(g.Parts(to))
	}
	if f.Year == "" && from.Year() != to.Year() && f.Month != "" {
		g.Year = "numeric"
	}
	return g.dateRange(from, to)
}

func sameDay(a, b time.Time) bool { return a.Year() == b.Year() && a.YearDay() == b.YearDay() }

func (f *DateFormat) dateRange(from, to time.Time) string {
	pattern := f.datePattern()
	first, second := pattern, pattern
	if (f.Month == "short" || f.Month == "long") && from.Year() == to.Year() && f.Era == "" {
		first = strings.TrimSuffix(strings.TrimSuffix(first, ", y"), " y")
		if from.Month() == to.Month() && f.Day != "" && f.Weekday == "" {
			second = strings.TrimPrefix(second, "M ")
		}
	}
	return Join(f.fill(first, from)) + dash + Join(f.fill(second, to))
}
