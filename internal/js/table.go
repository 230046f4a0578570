package js

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// consoleTable writes an array of objects (or of anything) as columns. A value that has no rows is logged as it is.
func (e *Engine) consoleTable(args []goja.Value) {
	if len(args) == 0 {
		e.log("log", "")
		return
	}
	o, ok := args[0].(*goja.Object)
	if !ok || kindOf(o) != kindArray && kindOf(o) != kindObject {
		e.log("log", e.format(args[:1]))
		return
	}
	t := table{in: inspector{e: e}, columns: []string{"(index)"}}
	t.fill(o)
	e.log("log", clipText(t.text(), inspectText))
}

type table struct {
	in      inspector
	columns []string
	rows    []map[string]string
}

func (t *table) fill(o *goja.Object) {
	names := o.Keys()
	for _, name := range names[:min(len(names), inspectItems)] {
		v, _ := t.in.own(o, name)
		row := map[string]string{"(index)": name}
		if record, ok := v.(*goja.Object); ok && (kindOf(record) == kindObject || kindOf(record) == kindArray) {
			t.record(row, record)
		} else {
			t.cell(row, "Values", v)
		}
		t.rows = append(t.rows, row)
	}
	if more := len(names) - inspectItems; more > 0 {
		t.rows = append(t.rows, map[string]string{"(index)": "… " + strconv.Itoa(more) + " more"})
	}
}

func (t *table) record(row map[string]string, record *goja.Object) {
	const maxColumns = 30
	for _, name := range record.Keys() {
		if len(t.columns) == maxColumns {
			return
		}
		v, _ := t.in.own(record, name)
		t.cell(row, name, v)
	}
}

func (t *table) cell(row map[string]string, column string, v goja.Value) {
	known := false
	for _, c := range t.columns {
		known = known || c == column
	}
	if !known {
		t.columns = append(t.columns, column)
	}
	row[column] = clipText(t.in.e.inspect(v), 200)
}

func (t *table) text() string {
	var b strings.Builder
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = utf8.RuneCountInString(c)
		for _, row := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[c]))
		}
	}
	line := func(cell func(column string) string) {
		for i, c := range t.columns {
			text := cell(c)
			b.WriteString(text)
			if i < len(t.columns)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)) + "  ")
			}
		}
		b.WriteByte('\n')
	}
	line(func(column string) string { return column })
	for _, row := range t.rows {
		line(func(column string) string { return row[column] })
	}
	return strings.TrimRight(b.String(), "\n ")
}
