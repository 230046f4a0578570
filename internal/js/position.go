package js

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
)

// maxFrame is how much of a line an error shows, in characters: minified text is one line.
const maxFrame = 200

// source is the program as it was sent. goja's positions are in the wrapped text, with columns in bytes.
type source struct{ text string }

// offset is the place in the program of a position in the wrapped text, out of range if it is in the wrapper.
func (s source) offset(at file.Position) int {
	start := 0
	for line := 1; line < at.Line; line++ {
		n := lineLength(s.text[start:])
		if n < 0 {
			return len(s.text) + 1
		}
		start += n
	}
	if at.Line <= 1 {
		return at.Column - 1 - len(prefix)
	}
	return start + at.Column - 1
}

func (s source) clamp(offset int) int { return max(0, min(offset, len(s.text))) }

// holds tells whether the offset lies in the program.
func (s source) holds(offset int) bool { return offset >= 0 && offset <= len(s.text) }

// place sets the position of a failure.
func (s source) place(failure *Error, offset int) {
	line, start := 1, 0
	for {
		n := lineLength(s.text[start:])
		if n < 0 || start+n > offset {
			break
		}
		start += n
		line++
	}
	failure.Line = line
	failure.Column = utf16Length(s.text[start:offset]) + 1
	failure.Frame = s.frame(start, offset)
}

// frame is the text of the line that begins at start, clipped around the offset.
func (s source) frame(start, offset int) string {
	text := s.text[start:]
	if n := lineLength(text); n >= 0 {
		text = text[:n]
	}
	text = strings.TrimRight(text, "\r\n\u2028\u2029")
	before := []rune(text[:min(offset-start, len(text))])
	after := []rune(text[len(string(before)):])
	if len(before)+len(after) <= maxFrame {
		return string(before) + string(after)
	}
	left := min(len(before), max(maxFrame/2, maxFrame-len(after)))
	right := min(len(after), maxFrame-left)
	clipped := string(before[len(before)-left:]) + string(after[:right])
	if left < len(before) {
		clipped = "…" + clipped
	}
	if right < len(after) {
		clipped += "…"
	}
	return clipped
}

// locate places a failure at the innermost frame that lies in the program.
func (s source) locate(failure *Error, frames []goja.StackFrame) bool {
	for i := range frames {
		if frames[i].SrcName() != fileName {
			continue
		}
		if offset := s.offset(frames[i].Position()); s.holds(offset) {
			s.place(failure, offset)
			return true
		}
	}
	return false
}

// locateText does the same from the `stack` of an Error object, where it is all that is left of the frames.
// Only the block of lines at its end is goja's; a message above it may imitate one.
func (s source) locateText(failure *Error, stack string) bool {
	lines := strings.Split(strings.TrimRight(stack, "\n"), "\n")
	first := len(lines)
	for first > 0 && strings.HasPrefix(lines[first-1], "\tat ") {
		first--
	}
	for _, line := range lines[first:] {
		at, ok := framePosition(line)
		if !ok {
			continue
		}
		if offset := s.offset(at); s.holds(offset) {
			s.place(failure, offset)
			return true
		}
	}
	return false
}

// framePosition reads `program.js:3:5(12)` out of a line of a stack.
func framePosition(line string) (file.Position, bool) {
	_, rest, ok := strings.Cut(line, fileName+":")
	if !ok {
		return file.Position{}, false
	}
	row, rest, _ := strings.Cut(rest, ":")
	column, _, _ := strings.Cut(rest, "(")
	l, err := strconv.Atoi(row)
	c, err2 := strconv.Atoi(column)
	return file.Position{Line: l, Column: c}, err == nil && err2 == nil
}

// lineLength is the length of the first line with its end, by goja's rules, or -1 if no line ends in the text.
func lineLength(text string) int {
	for i, r := range text {
		switch r {
		case '\n':
			return i + 1
		case '\r':
			if strings.HasPrefix(text[i+1:], "\n") {
				return i + 2
			}
			return i + 1
		case '\u2028', '\u2029':
			return i + 3
		}
	}
	return -1
}

func utf16Length(text string) (n int) {
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// clipText cuts at a rune boundary and says so.
func clipText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const mark = " […]"
	cut := max(0, limit-len(mark))
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark
}
