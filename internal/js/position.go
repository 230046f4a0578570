package js

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"

	"github.com/sandboxd/sandboxd/internal/clip"
)

// maxFrame is how much of a line an error shows, in characters: minified text is one line.
const maxFrame = 200

// source is the program as it was sent, and what is compiled of it. goja's positions are in the compiled text, with
// columns in bytes.
type source struct {
	text       string // as it was sent
	start, end int    // of the code in it: all of it, or what a code fence holds
	label      string // of the fence
	code       string // with what goja does not know blanked out: it is as long as what stands in the text
	wrapped    string // the code in our function
	lowered    *lowered
	exported   string // the name of its default export
	regexps    *regexps
}

func (e *Engine) newSource(text string, code fence) *source {
	s := newSource(text, code)
	s.regexps = &e.regexps
	return s
}

func newSource(text string, code fence) *source {
	s := &source{text: text, start: code.start, end: code.end, label: code.label, code: text[code.start:code.end]}
	if strings.HasPrefix(s.code, "#!") {
		s.code = "//" + s.code[2:]
	}
	s.wrapped = prefix + s.code + suffix
	return s
}

// compiled is the text that goja gets.
func (s *source) compiled() string {
	if s.lowered != nil {
		return s.lowered.text
	}
	return s.wrapped
}

// offset is the place in the text as sent of a position in the compiled text, out of the code's range if it is in the
// wrapper, and -1 if it is nowhere.
func (s *source) offset(at file.Position) int { return s.unwrap(s.wrappedOffset(at)) }

func (s *source) wrappedOffset(at file.Position) int {
	if s.lowered != nil {
		return s.lowered.origin(at, s.wrapped)
	}
	return byteOffset(s.wrapped, at.Line, at.Column-1)
}

// unwrap makes a place in the text as sent of one in the wrapped text.
func (s *source) unwrap(offset int) int {
	if offset < 0 {
		return -1
	}
	return offset - len(prefix) + s.start
}

// byteOffset is where a position lies in a text, its column counted in bytes from 0; behind the text if there is no
// such line.
func byteOffset(text string, line, column int) int {
	start := 0
	for range line - 1 {
		n := lineLength(text[start:])
		if n < 0 {
			return len(text) + 1
		}
		start += n
	}
	return start + column
}

func (s *source) clamp(offset int) int { return max(s.start, min(offset, s.end)) }

// holds tells whether the offset lies in the program.
func (s *source) holds(offset int) bool { return offset >= s.start && offset <= s.end }

// fenced says that a fence could be read in the text, and is not: it is compiled with all that is around it.
func (s *source) fenced() bool {
	return s.start == 0 && s.end == len(s.text) && strings.Contains(s.text, "```")
}

// place sets the position of a failure.
func (s *source) place(failure *Error, offset int) {
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
func (s *source) frame(start, offset int) string {
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
func (s *source) locate(failure *Error, frames []goja.StackFrame) bool {
	at, depth := s.find(frames)
	if depth >= 0 {
		s.place(failure, s.offset(at))
	}
	return depth >= 0
}

// find is the place in the compiled text of the innermost frame that lies in the program, and how many frames are
// inside of it; -1: there is none.
func (s *source) find(frames []goja.StackFrame) (at file.Position, depth int) {
	for i := range frames {
		if frames[i].SrcName() != fileName {
			continue
		}
		if at := frames[i].Position(); s.holds(s.offset(at)) {
			return at, i
		}
	}
	return file.Position{}, -1
}

// findText does the same with the `stack` of an Error object, where it is all that is left of the frames.
// Only the block of lines at its end is goja's; a message above it may imitate one.
func (s *source) findText(stack string) (at file.Position, depth int) {
	lines := strings.Split(strings.TrimRight(stack, "\n"), "\n")
	first := len(lines)
	for first > 0 && strings.HasPrefix(lines[first-1], "\tat ") {
		first--
	}
	made, depth := file.Position{}, -1
	for i, line := range lines[first:] {
		if at, ok := framePosition(line); ok && s.holds(s.offset(at)) {
			if !s.callsParent(at) {
				return at, i
			}
			if depth < 0 {
				made, depth = at, i
			}
		}
	}
	return made, depth
}

// callsParent says that a class of the program's own calls Error there: it is not the place that an error is of.
func (s *source) callsParent(at file.Position) bool {
	text := s.compiled()
	before := strings.TrimRight(text[:max(0, min(byteOffset(text, at.Line, at.Column-1), len(text)))], blanks)
	return strings.HasSuffix(before, "super") || strings.HasSuffix(before, "Error.captureStackTrace")
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

// utf16Prefix is the length in bytes of the first n UTF-16 code units.
func utf16Prefix(text string, n int) int {
	for i, r := range text {
		if n <= 0 {
			return i
		}
		if n--; r > 0xFFFF {
			n--
		}
	}
	return len(text)
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
	return clip.To(text, limit-len(mark)) + mark
}
