package intl

// dateLocale is how dates of numbers, and times of day, are written in another locale than en-US.
type dateLocale struct {
	numbers string // order of year, month and day
	two     bool   // day and month have two digits, whatever is asked for
	short   bool   // that is the short style, too
	am, pm  string // none: hours are counted to 23
	loose   bool   // and may have one digit
	glue    string // between date and time
	named   string // order with the name of a month, which is English; none: names are not known
}

var dateLocales = map[string]*dateLocale{
	"en-GB": {numbers: "d/M/y", two: true, short: true, glue: ", ", named: "d M y"},
	"en-AU": {numbers: "d/M/y", two: true, am: "am", pm: "pm", glue: ", ", named: "d M y"},
	"en-IN": {numbers: "d/M/y", am: "am", pm: "pm", glue: ", ", named: "d M y"},
	"en-CA": {numbers: "y-M-d", two: true, short: true, am: "a.m.", pm: "p.m.", glue: ", ", named: "M d, y"},
	"de":    {numbers: "d.M.y", glue: ", "},
	"fr":    {numbers: "d/M/y", two: true, short: true, glue: " "},
	"es":    {numbers: "d/M/y", loose: true, glue: ", "},
	"it":    {numbers: "d/M/y", two: true, glue: ", "},
	"ja":    {numbers: "y/M/d", loose: true, glue: " "},
	"pt-BR": {numbers: "d/M/y", two: true, short: true, glue: ", "},
	"sv":    {numbers: "y-M-d", two: true, short: true, glue: " "},
}

// dateRegions are the regions whose dates are those of the language alone.
var dateRegions = map[string]string{"de-DE": "de", "fr-FR": "fr", "es-ES": "es", "it-IT": "it", "ja-JP": "ja", "sv-SE": "sv"}

// KnowsDates says that dates can be written as in a locale, besides en and en-US.
func KnowsDates(tag string) bool { return dateLocaleOf(tag) != nil }

func dateLocaleOf(tag string) *dateLocale {
	if language, ok := dateRegions[tag]; ok {
		tag = language
	}
	return dateLocales[tag]
}

// cycle is the hour cycle of the locale.
func (l *dateLocale) cycle() string {
	if l == nil || l.am != "" {
		return "h12"
	}
	return "h23"
}

// check refuses what there are no words or patterns of.
func (l *dateLocale) check(f *DateFormat, tag string) {
	const what = "dates like this are known in en-US; in %s those of year, month and day in numbers are, and hour, minute and second"
	if l == nil {
		return
	}
	if f.DateStyle == "short" && l.short {
		f.Year = "numeric"
	}
	named := f.Month == "long" || f.Month == "short"
	numbers := f.Year != "" && f.Month != "" && f.Day != "" && f.Month != "narrow" && !named && f.Weekday == ""
	date := f.Year != "" || f.Month != "" || f.Day != "" || f.Weekday != ""
	clock := f.Hour != "" || f.Minute != "" || f.Second != ""
	switch {
	case f.Era != "" || f.DayPeriod != "" || f.TimeZoneName != "" || f.FractionDigits > 0,
		clock && (f.Hour == "" || f.Minute == ""), clock && f.HourCycle != l.cycle() && !(l.am != "" && f.HourCycle == "h24"),
		f.DateStyle == "short" && !l.short,
		tag == "en-AU" && (f.Weekday != "" && f.Day != "" || f.Year == "2-digit"):
		fail(what, tag)
	case !date || numbers:
	case l.named == "" || f.Month == "narrow", f.Month != "" && !named && (f.Year != "" || f.Day != ""),
		f.Weekday != "" && date && (f.Year != "" || f.Month != "" || f.Day != "") && !(f.Year != "" && named && f.Day != ""),
		f.Year != "" && f.Month == "" && f.Day != "":
		fail(what, tag)
	}
}
