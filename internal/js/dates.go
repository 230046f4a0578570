package js

import (
	"strings"

	"github.com/dop251/goja"
)

// mendDates writes dates as other engines do, where goja does not: UTC by its long name, and years before our era in six
// digits.
func (e *Engine) mendDates() {
	for name, mend := range map[string]func(string) string{
		"toString":     longZone,
		"toTimeString": longZone,
		"toISOString":  longYear,
	} {
		proto := e.prototype("Date")
		original := method(proto, name)
		hide(proto, name, e.native(name, 0, func(fc goja.FunctionCall) goja.Value {
			return e.vm.ToValue(mend(must(original(fc.This)).String()))
		}))
	}
}

func longZone(date string) string {
	if clock, ok := strings.CutSuffix(date, " (UTC)"); ok {
		return clock + " (Coordinated Universal Time)"
	}
	return date
}

func longYear(date string) string {
	if len(date) == len("-0001-01-01T00:00:00.000Z") && date[0] == '-' {
		return "-00" + date[1:]
	}
	return date
}
