package js

import (
	"fmt"
	"strings"
)

// restack gives the frames of an Error's stack in a text their places in the program as it was sent, and drops those
// of what is not the program's: the wrapper, esbuild's helpers and the library.
func (s *source) restack(text string) string {
	const frame = "\tat "
	if !strings.Contains(text, frame) {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		before, rest, isFrame := strings.Cut(line, frame)
		if isFrame && (strings.Contains(rest, libraryFile) || strings.HasPrefix(rest, "RegExp (RegExp:")) { // our constructor, which is JavaScript
			continue
		}
		at, ok := framePosition(line)
		if !isFrame || !ok || strings.TrimSpace(before) != "" {
			lines = append(lines, line)
			continue
		}
		offset := s.offset(at)
		if !s.holds(offset) {
			continue
		}
		var placed Error
		s.place(&placed, offset)
		name, _, named := strings.Cut(rest, " (")
		if position := fmt.Sprintf("%s:%d:%d", fileName, placed.Line, placed.Column); named {
			line = before + frame + name + " (" + position + ")"
		} else {
			line = before + frame + position
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
