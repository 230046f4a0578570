package js

import (
	"strings"
	"time"

	"github.com/dop251/goja"
)

// mendDates reads and writes dates as other engines do, where goja does not: see parseDate; UTC by its long name, and years
// of more than four digits in six.
func (e *Engine) mendDates() {
	class, proto := e.global("Date"), e.prototype("Date")
	for name, mend := range map[string]func(string) string{
		"toString":     longZone,
		"toTimeString": longZone,
		"toISOString":  longYear,
	} {
		original := method(proto, name)
		hide(proto, name, e.native(name, 0, func(fc goja.FunctionCall) goja.Value {
			return e.vm.ToValue(mend(must(original(fc.This)).String()))
		}))
	}
	hide(class, "parse", e.native("parse", 1, func(fc goja.FunctionCall) goja.Value {
		return e.dateOf(e.toString(fc.Argument(0)))
	}))
	call, construct := insideOf(class)
	now := *call
	*call = func(fc goja.FunctionCall) goja.Value { return e.vm.ToValue(longZone(now(fc).String())) }
	made := *construct
	*construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		if len(args) == 1 {
			if text, ok := args[0].(goja.String); ok {
				args = []goja.Value{e.dateOf(text)}
			}
		}
		return made(args, newTarget)
	}
}

// dateOf is the time of a text as a number.
func (e *Engine) dateOf(text goja.String) goja.Value {
	if ms, ok := parseDate(text.String(), time.Local); ok {
		return e.vm.ToValue(ms)
	}
	return e.vm.ToValue(nan)
}

func longZone(date string) string {
	if clock, ok := strings.CutSuffix(date, " (UTC)"); ok {
		return clock + " (Coordinated Universal Time)"
	}
	return date
}

func longYear(date string) string {
	if date == "" || date[0] != '-' && date[0] != '+' {
		return date
	}
	missing := len("+012024-01-01T00:00:00.000Z") - len(date)
	return date[:1] + strings.Repeat("0", max(0, missing)) + date[1:]
}
