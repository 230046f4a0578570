package js

import (
	"strconv"
	"strings"
)

// write writes a value of a text that was never made: as JSON.stringify would, if there is no toJSON to be called. It
// is not for a document with odd objects.
func (d *document) write(w *output, n entry) {
	w.spill()
	switch n.kind() {
	case entryInt:
		w.buf = strconv.AppendInt(w.buf, int64(n.at()), 10)
	case entryPlain:
		w.verbatim(plainText(d.text, n.at()))
	case entryString:
		d.writeString(w, n.at())
	case entryArray:
		d.writeArray(w, n.at())
	case entryObject:
		d.writeObject(w, n.at())
	default:
		d.writeWord(w, n.at())
	}
}

func (w *output) verbatim(inside string) {
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, inside...)
	w.buf = append(w.buf, '"')
}

func (d *document) writeArray(w *output, at int) {
	items := d.itemsAt(at)
	w.open('[')
	for i, n := range items {
		w.next(i == 0)
		d.write(w, n)
	}
	w.close(']', len(items) == 0)
}

func (d *document) writeObject(w *output, at int) {
	s := d.recordsAt(d.tape[at]).shape
	w.open('{')
	for i, column := range s.order {
		w.next(i == 0)
		w.verbatim(s.quoted[i])
		w.colon()
		d.write(w, d.tape[at+2+column])
	}
	w.close('}', len(s.order) == 0)
}

func (d *document) writeWord(w *output, at int) {
	switch d.text[at] {
	case 't':
		w.buf = append(w.buf, "true"...)
	case 'f':
		w.buf = append(w.buf, "false"...)
	case 'n':
		w.null()
	default:
		d.writeNumber(w, at)
	}
}

func (d *document) writeNumber(w *output, at int) {
	text, whole := numberText(d.text, at)
	if isShortest(text, whole) {
		w.buf = append(w.buf, text...)
		return
	}
	switch n := number(text, whole).(type) {
	case int64:
		w.buf = strconv.AppendInt(w.buf, n, 10)
	case float64:
		w.number(n)
	}
}

// isShortest tells of a number whether it is written as ECMAScript writes it. It knows only the numbers of few enough
// digits for each to be a double of its own, so that no shorter text can stand for the same one.
func isShortest(text string, whole bool) bool {
	const digits = 15
	if len(text) > digits || text[0] == '-' && text[1] == '0' || strings.ContainsAny(text, "eE") {
		return false
	}
	return whole || text[len(text)-1] != '0' && !strings.HasPrefix(text, "0.00000")
}

func (d *document) writeString(w *output, at int) {
	inside, usual := quotedText(d.text, at)
	if usual && !(w.wire && hasSeparator(inside)) {
		w.verbatim(inside)
		return
	}
	w.string(stringValue(d.vm, d.text, at))
}

func hasSeparator(s string) bool {
	return strings.Contains(s, "\u2028") || strings.Contains(s, "\u2029")
}

// quotedText is what stands between the quotation marks of a string, and whether its escapes are those that
// JSON.stringify would write.
func quotedText(text string, at int) (inside string, usual bool) {
	usual = true
	quote := -1
	for end := at; ; {
		if quote < end {
			quote = end + strings.IndexByte(text[end:], '"')
		}
		backslash := strings.IndexByte(text[end:quote], '\\')
		if backslash < 0 {
			return text[at:quote], usual
		}
		end += backslash + 2
		usual = usual && strings.IndexByte(`"\bfnrt`, text[end-1]) >= 0
	}
}
