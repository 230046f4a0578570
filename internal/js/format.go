package js

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"
)

// format is node's util.format: %-directives in a first string, strings bare, everything else inspected.
func (e *Engine) format(args []goja.Value) string {
	if len(args) == 0 {
		return ""
	}
	var b strings.Builder
	if first, ok := args[0].(goja.String); ok {
		args = args[1:]
		text := first.String()
		if len(args) > 0 && strings.Contains(text, "%") {
			args = e.directives(&b, text, args)
		} else {
			b.WriteString(text)
		}
	} else {
		b.WriteString(e.inspect(args[0]))
		args = args[1:]
	}
	for _, v := range args {
		b.WriteByte(' ')
		b.WriteString(e.bare(v))
	}
	return b.String()
}

func (e *Engine) bare(v goja.Value) string {
	if goja.IsString(v) {
		return v.String()
	}
	return e.inspect(v)
}

// directives writes the text with its %-directives filled in and gives the arguments that are left.
func (e *Engine) directives(b *strings.Builder, text string, args []goja.Value) []goja.Value {
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			return args
		}
		if after == "" {
			b.WriteByte('%')
			return args
		}
		directive := after[0]
		text = after[1:]
		switch {
		case directive == '%':
			b.WriteByte('%')
		case strings.IndexByte("sdifjoOc", directive) >= 0 && len(args) > 0:
			b.WriteString(e.directive(directive, args[0]))
			args = args[1:]
		default:
			b.WriteByte('%')
			b.WriteByte(directive)
		}
	}
}

func (e *Engine) directive(d byte, v goja.Value) string {
	_, object := v.(*goja.Object)
	switch {
	case d == 'c':
		return ""
	case d == 's':
		return e.bare(v)
	case d == 'd' || d == 'f':
		if !object && !goja.IsBigInt(v) && kindName(v) != "a symbol" {
			return v.ToNumber().String()
		}
	case d == 'i':
		if goja.IsNumber(v) {
			return fmt.Sprint(v.ToInteger())
		}
	}
	return e.inspect(v)
}
