package js

import (
	"math"
	"strings"
	"time"
	"weak"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/js/intl"
)

// intlObject makes Intl.
func (e *Engine) intlObject() *goja.Object {
	o := e.vm.NewObject()
	tagged(e, o, "Intl")
	hide(o, "getCanonicalLocales", e.native("getCanonicalLocales", 1, func(fc goja.FunctionCall) goja.Value {
		return e.strings(unique(e.localeList(fc.Argument(0))))
	}))
	for _, c := range e.intlClasses() {
		hide(o, c.name, e.intlClass(c))
	}
	return o
}

type intlClass struct {
	name    string
	known   func(tag string) bool // locales besides en and en-US
	resolve func(s *intlSlot, o intl.Options) error
	methods []intlMethod
}

type intlMethod struct {
	name   string
	length int
	bound  bool // an accessor that gives a function for the object
	f      func(s *intlSlot, fc goja.FunctionCall) goja.Value
}

func (e *Engine) intlClasses() []intlClass {
	return []intlClass{
		{"NumberFormat", intl.KnowsNumbers, func(s *intlSlot, o intl.Options) (err error) {
			s.format, err = intl.NewNumberFormat(o, s.locale)
			return err
		}, []intlMethod{
			{"format", 1, true, func(s *intlSlot, fc goja.FunctionCall) goja.Value {
				return e.vm.ToValue(s.format.(*intl.NumberFormat).Format(e.decimal(fc.Argument(0))))
			}},
			{"formatToParts", 1, false, func(s *intlSlot, fc goja.FunctionCall) goja.Value {
				return e.parts(s.format.(*intl.NumberFormat).Parts(e.decimal(fc.Argument(0))), "")
			}},
			{"formatRange", 2, false, func(s *intlSlot, fc goja.FunctionCall) goja.Value {
				from, to := e.decimal(fc.Argument(0)), e.decimal(fc.Argument(1))
				text, err := s.format.(*intl.NumberFormat).Range(from, to)
				return e.vm.ToValue(resolved(e, text, err))
			}},
			{"resolvedOptions", 0, false, func(s *intlSlot, _ goja.FunctionCall) goja.Value {
				return e.numberOptions(s.locale, s.format.(*intl.NumberFormat))
			}},
		}},
		{"DateTimeFormat", intl.KnowsDates, func(s *intlSlot, o intl.Options) (err error) {
			s.format, err = intl.NewDateFormat(o, intl.AnyDate, s.locale)
			return err
		}, []intlMethod{
			{"format", 1, true, func(s *intlSlot, fc goja.FunctionCall) goja.Value {
				return e.vm.ToValue(s.format.(*intl.DateFormat).Format(e.time(fc.Argument(0))))
			}},
			{"formatToParts", 1, false, func(s *intlSlot, fc goja.FunctionCall) goja.Value {
				return e.parts(s.format.(*intl.DateFormat).Parts(e.time(fc.Argument(0))), "")
			}},
			{"formatRange", 2, false, func(s *intlSlot, fc goja.FunctionCall) goja.Value {
				if goja.IsUndefined(fc.Argument(0)) || goja.IsUndefined(fc.Argument(1)) {
					panic(e.newError(e.real.typeError, "startDate or endDate cannot be undefined"))
				}
				text, err := s.format.(*intl.DateFormat).Range(e.time(fc.Argument(0)), e.time(fc.Argument(1)))
				return e.vm.ToValue(resolved(e, text, err))
			}},
			{"resolvedOptions", 0, false, func(s *intlSlot, _ goja.FunctionCall) goja.Value {
				return e.dateOptions(s.locale, s.format.(*intl.DateFormat))
			}},
		}},
		{"Collator", nil, func(s *intlSlot, o intl.Options) (err error) {
			s.format, err = intl.NewCollator(o)
			return err
		}, []intlMethod{
			{"compare", 2, true, func(s *intlSlot, fc goja.FunctionCall) goja.Value {
				a, b := fc.Argument(0).ToString().String(), fc.Argument(1).ToString().String()
				return e.vm.ToValue(s.format.(*intl.Collator).Compare(a, b))
			}},
			{"resolvedOptions", 0, false, func(s *intlSlot, _ goja.FunctionCall) goja.Value {
				c := s.format.(*intl.Collator)
				return e.listed("locale", s.locale, "usage", c.Usage, "sensitivity", c.Sensitivity, "ignorePunctuation", c.IgnorePunctuation,
					"collation", "default", "numeric", c.Numeric, "caseFirst", c.CaseFirst)
			}},
		}},
		{"PluralRules", nil, e.resolvePlural, []intlMethod{
			{"select", 1, false, func(s *intlSlot, fc goja.FunctionCall) goja.Value {
				return e.vm.ToValue(intl.Plural(s.format.(*intl.NumberFormat), s.ordinal, intl.FromFloat(fc.Argument(0).ToFloat())))
			}},
			{"resolvedOptions", 0, false, func(s *intlSlot, _ goja.FunctionCall) goja.Value { return e.pluralOptions(s) }},
		}},
		{"ListFormat", nil, func(s *intlSlot, o intl.Options) (err error) {
			s.kind, s.style, err = intl.ListOptions(o)
			return err
		}, []intlMethod{
			{"format", 1, false, func(s *intlSlot, fc goja.FunctionCall) goja.Value {
				return e.vm.ToValue(intl.Join(e.list(s, fc)))
			}},
			{"formatToParts", 1, false, func(s *intlSlot, fc goja.FunctionCall) goja.Value { return e.parts(e.list(s, fc), "") }},
			{"resolvedOptions", 0, false, func(s *intlSlot, _ goja.FunctionCall) goja.Value {
				return e.listed("locale", s.locale, "type", s.kind, "style", s.style)
			}},
		}},
		{"RelativeTimeFormat", nil, func(s *intlSlot, o intl.Options) (err error) {
			s.style, s.auto, err = intl.RelativeOptions(o)
			return err
		}, []intlMethod{
			{"format", 2, false, func(s *intlSlot, fc goja.FunctionCall) goja.Value {
				return e.vm.ToValue(intl.Join(e.relative(s, fc)))
			}},
			{"formatToParts", 2, false, func(s *intlSlot, fc goja.FunctionCall) goja.Value {
				return e.parts(e.relative(s, fc), strings.TrimSuffix(fc.Argument(1).ToString().String(), "s"))
			}},
			{"resolvedOptions", 0, false, func(s *intlSlot, _ goja.FunctionCall) goja.Value {
				numeric := "always"
				if s.auto {
					numeric = "auto"
				}
				return e.listed("locale", s.locale, "style", s.style, "numeric", numeric, "numberingSystem", "latn")
			}},
		}},
	}
}

// intlClass makes the constructor of a class.
func (e *Engine) intlClass(c intlClass) *goja.Object {
	var proto *goja.Object
	class := e.vm.ToValue(func(cc goja.ConstructorCall) *goja.Object {
		o := cc.This
		if cc.NewTarget == nil && (o.Prototype() != proto || e.locales.slots[weak.Make(o)] != nil) { // it was called without new
			o = e.vm.CreateObject(proto)
		}
		s := &intlSlot{class: c.name, locale: e.locale(cc.Argument(0), c.known)}
		if err := c.resolve(s, e.options(cc.Argument(1))); err != nil {
			resolved(e, s, err)
		}
		e.locales.keep(o, s)
		return o
	}).(*goja.Object)
	class.DefineDataProperty("name", e.vm.ToValue(c.name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	class.DefineDataProperty("length", e.vm.ToValue(0), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	hide(class, "supportedLocalesOf", e.native("supportedLocalesOf", 1, func(fc goja.FunctionCall) goja.Value {
		return e.strings(unique(e.supported(fc.Argument(0), c.known)))
	}))
	proto = class.Get("prototype").(*goja.Object)
	class.DefineDataProperty("prototype", proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	tagged(e, proto, "Intl."+c.name)
	for _, m := range c.methods {
		if m.bound {
			e.boundMethod(proto, c.name, m)
			continue
		}
		hide(proto, m.name, e.native(m.name, m.length, func(fc goja.FunctionCall) goja.Value {
			return m.f(e.slotOf(fc.This, c.name, m.name), fc)
		}))
	}
	return class
}

// boundMethod makes an accessor whose value is a function that knows its object: rows.map(formatter.format) works.
func (e *Engine) boundMethod(proto *goja.Object, class string, m intlMethod) {
	get := e.native("get "+m.name, 0, func(fc goja.FunctionCall) goja.Value {
		s := e.slotOf(fc.This, class, m.name)
		if s.bound == nil {
			s.bound = e.native("", m.length, func(fc goja.FunctionCall) goja.Value { return m.f(s, fc) })
		}
		return s.bound
	})
	proto.DefineAccessorProperty(m.name, get, nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// keep gives an object its slot. Objects that are gone lose theirs when there are twice as many as there were.
func (l *locales) keep(o *goja.Object, s *intlSlot) {
	if len(l.slots) >= max(l.sweep, 256) {
		for p := range l.slots {
			if p.Value() == nil {
				delete(l.slots, p)
			}
		}
		l.sweep = 2 * len(l.slots)
	}
	l.slots[weak.Make(o)] = s
}

func (e *Engine) slotOf(v goja.Value, class, method string) *intlSlot {
	if o, ok := v.(*goja.Object); ok {
		if s := e.locales.slots[weak.Make(o)]; s != nil && s.class == class {
			return s
		}
	}
	panic(e.newError(e.real.typeError, "Method Intl."+class+".prototype."+method+" called on incompatible receiver "+kindName(v)))
}

func tagged(e *Engine, o *goja.Object, name string) {
	o.DefineDataPropertySymbol(goja.SymToStringTag, e.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// listed is an object of names and values by turns; those that are "" or -1 are left out.
func (e *Engine) listed(pairs ...any) *goja.Object {
	o := e.vm.NewObject()
	for i := 0; i < len(pairs); i += 2 {
		if v := pairs[i+1]; v != "" && v != -1 {
			setOwn(o, pairs[i].(string), e.vm.ToValue(v))
		}
	}
	return o
}

func (e *Engine) strings(list []string) *goja.Object {
	values := make([]goja.Value, len(list))
	for i, s := range list {
		values[i] = e.vm.ToValue(s)
	}
	return e.newArray(values)
}

func unique(list []string) (once []string) {
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			once = append(once, s)
		}
	}
	return once
}

func (e *Engine) supported(v goja.Value, known func(string) bool) (list []string) {
	for _, l := range e.localeList(v) {
		if known != nil && known(l) || l == "en" || strings.HasPrefix(l, "en-US") {
			list = append(list, l)
		}
	}
	return list
}

func (e *Engine) parts(parts []intl.Part, unit string) *goja.Object {
	values := make([]goja.Value, len(parts))
	for i, p := range parts {
		if unit != "" && p.Type == "literal" {
			values[i] = e.listed("type", p.Type, "value", p.Value)
			continue
		}
		values[i] = e.listed("type", p.Type, "value", p.Value, "unit", unit)
	}
	return e.newArray(values)
}

// time is the argument of a date's format: now, if there is none.
func (e *Engine) time(v goja.Value) time.Time {
	if goja.IsUndefined(v) {
		v = must(e.locales.now(nil))
	}
	ms := v.ToFloat()
	if math.IsNaN(ms) || math.Abs(ms) > 8.64e15 {
		panic(e.newError(e.real.rangeError, "Invalid time value"))
	}
	return time.UnixMilli(int64(ms))
}

func (e *Engine) list(s *intlSlot, fc goja.FunctionCall) []intl.Part {
	var words []string
	if v := fc.Argument(0); !goja.IsUndefined(v) {
		for _, v := range e.iterated(v) {
			if !goja.IsString(v) {
				panic(e.newError(e.real.typeError, "Iterable yielded "+clipText(e.inspect(v), maxName)+" which is not a string"))
			}
			words = append(words, v.String())
		}
	}
	return intl.List(words, s.kind, s.style)
}

func (e *Engine) relative(s *intlSlot, fc goja.FunctionCall) []intl.Part {
	value, unit := fc.Argument(0).ToFloat(), fc.Argument(1).ToString().String()
	if e.locales.number == nil {
		e.locales.number, _ = intl.NewNumberFormat(e.options(goja.Undefined()), "en-US")
	}
	parts, err := intl.Relative(e.locales.number, value, unit, s.style, s.auto)
	return resolved(e, parts, err)
}

func (e *Engine) resolvePlural(s *intlSlot, o intl.Options) (err error) {
	if s.ordinal, err = intl.PluralOptions(o); err != nil {
		return err
	}
	s.format, err = intl.NewNumberFormat(func(name string, kind intl.Kind) any {
		if strings.Contains(name, "Digits") || strings.HasPrefix(name, "rounding") {
			return o(name, kind)
		}
		return nil
	}, "en-US")
	return err
}

func (e *Engine) pluralOptions(s *intlSlot) goja.Value {
	f := s.format.(*intl.NumberFormat)
	kind, categories := "cardinal", []string{"one", "other"}
	if s.ordinal {
		kind, categories = "ordinal", []string{"few", "one", "two", "other"}
	}
	o := e.listed("locale", s.locale, "type", kind, "minimumIntegerDigits", f.MinInteger,
		"minimumSignificantDigits", f.MinDigits, "maximumSignificantDigits", f.MaxDigits,
		"minimumFractionDigits", f.MinFraction, "maximumFractionDigits", f.MaxFraction)
	setOwn(o, "pluralCategories", e.strings(categories))
	return o
}

func (e *Engine) numberOptions(locale string, f *intl.NumberFormat) goja.Value {
	var grouping any = f.UseGrouping
	if grouping == "" {
		grouping = false
	}
	return e.listed("locale", locale, "numberingSystem", "latn", "style", f.Style, "currency", f.Currency,
		"currencyDisplay", f.CurrencyDisplay, "currencySign", f.CurrencySign, "unit", f.Unit, "unitDisplay", f.UnitDisplay,
		"minimumIntegerDigits", f.MinInteger, "minimumSignificantDigits", f.MinDigits, "maximumSignificantDigits", f.MaxDigits,
		"minimumFractionDigits", f.MinFraction, "maximumFractionDigits", f.MaxFraction, "useGrouping", grouping,
		"notation", f.Notation, "compactDisplay", f.CompactDisplay, "signDisplay", f.SignDisplay, "roundingMode", f.RoundingMode,
		"roundingIncrement", 1, "trailingZeroDisplay", f.TrailingZeroDisplay, "roundingPriority", f.RoundingPriority)
}

func (e *Engine) dateOptions(locale string, f *intl.DateFormat) goja.Value {
	o := e.listed("locale", locale, "calendar", "gregory", "numberingSystem", "latn", "timeZone", f.Zone)
	if f.Hour != "" {
		setOwn(o, "hourCycle", e.vm.ToValue(f.HourCycle))
		setOwn(o, "hour12", e.vm.ToValue(f.HourCycle == "h11" || f.HourCycle == "h12"))
	}
	fields := []any{"dateStyle", f.DateStyle, "timeStyle", f.TimeStyle}
	if f.DateStyle == "" && f.TimeStyle == "" {
		fields = []any{"weekday", f.Weekday, "era", f.Era, "year", f.Year, "month", f.Month, "day", f.Day, "dayPeriod", f.DayPeriod,
			"hour", f.Hour, "minute", f.Minute, "second", f.Second, "fractionalSecondDigits", max(f.FractionDigits, 0), "timeZoneName", f.TimeZoneName}
	}
	for i := 0; i < len(fields); i += 2 {
		if v := fields[i+1]; v != "" && v != 0 {
			setOwn(o, fields[i].(string), e.vm.ToValue(v))
		}
	}
	return o
}
