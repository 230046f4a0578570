package js

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
)

// fence is a code fence of Markdown: three or more backticks on a line, code, and as many backticks.
type fence struct {
	label      string // the first word behind the backticks, in lower case
	start, end int    // of the code
}

// findFences are the code fences of a text. Where a comment or a template is open, backticks open none.
func findFences(text string) (fences []fence) {
	if !strings.Contains(text, "```") {
		return nil
	}
	comment, template := false, false
	for at := 0; at < len(text); {
		line := lineAt(text, at)
		ticks, info := fenceLine(line)
		if ticks == 0 || comment || template {
			if opened, closed := strings.LastIndex(line, "/*"), strings.LastIndex(line, "*/"); opened != closed {
				comment = opened > closed
			}
			template = template != (strings.Count(line, "`")%2 == 1)
			at += len(line)
			continue
		}
		label, _, _ := strings.Cut(info, " ")
		f := fence{label: strings.ToLower(label), start: at + len(line)}
		if strings.Contains(info, "`") {
			f.label, f.start = oneLine(text, at)
		}
		f.end, at = closing(text, f.start, ticks)
		fences = append(fences, f)
	}
	return fences
}

// lineAt is the line that begins at an offset, with its end.
func lineAt(text string, at int) string {
	if n := lineLength(text[at:]); n >= 0 {
		return text[at : at+n]
	}
	return text[at:]
}

// blanks may stand before a fence: white space, and the mark that some editors begin a file with.
const blanks = " \t\r\n\uFEFF"

// fenceLine gives the number of backticks that a line begins with, if they are a fence, and what follows them.
func fenceLine(line string) (ticks int, info string) {
	line = strings.TrimLeft(line, blanks)
	info = strings.TrimLeft(line, "`")
	if ticks = len(line) - len(info); ticks < 3 {
		return 0, ""
	}
	return ticks, strings.TrimSpace(info)
}

// oneLine finds the code of a fence that begins on the fence's own line: behind a label that is known, if there is one.
func oneLine(text string, at int) (label string, start int) {
	start = at + strings.IndexByte(text[at:], '`')
	for start < len(text) && text[start] == '`' {
		start++
	}
	if word, _, ok := strings.Cut(strings.TrimSpace(lineAt(text, start)), " "); ok && slices.Contains(ourLabels, strings.ToLower(word)) {
		return strings.ToLower(word), start + strings.Index(text[start:], word) + len(word)
	}
	return "", start
}

// closing finds the end of the code that begins at start, and where to go on behind the fence. One that is not
// closed goes to the end of the text.
func closing(text string, start, ticks int) (end, next int) {
	for at := start; at < len(text); {
		line := lineAt(text, at)
		if n, info := fenceLine(line); n >= ticks && info == "" {
			return trimLineEnd(text, start, at), at + len(line)
		}
		if code, ok := strings.CutSuffix(strings.TrimRight(line, " \t\r\n"), strings.Repeat("`", ticks)); ok && strings.Count(code, "`")%2 == 0 {
			return at + len(code), at + len(line)
		}
		at += len(line)
	}
	return len(text), len(text)
}

func trimLineEnd(text string, start, end int) int {
	return max(start, len(strings.TrimRight(text[:end], "\r\n\u2028\u2029")))
}

// ourLabels are the labels of fences that hold programs. Any other is let through if it is the only fence.
var ourLabels = []string{"js", "javascript", "ts", "typescript", "mjs", "cjs", "mts", "cts", "jsx", "tsx", "node", "ecmascript"}

// chooseFence picks the program: the only fence, or the only one with a label of ours, or the only one without a
// label. Of several it could not tell, and half a program is worse than none.
func chooseFence(fences []fence) (f fence, several bool) {
	for _, is := range []func(fence) bool{
		func(f fence) bool { return slices.Contains(ourLabels, f.label) },
		func(f fence) bool { return f.label == "" },
		func(fence) bool { return true },
	} {
		var fitting []fence
		for _, f := range fences {
			if is(f) {
				fitting = append(fitting, f)
			}
		}
		if len(fitting) > 0 {
			return fitting[min(1, len(fitting)-1)], len(fitting) > 1
		}
	}
	return fence{}, false
}

// tagsTemplate says that a template is the tag of a template. No program means that, but a word of prose before a
// code fence parses as just that.
func tagsTemplate(tree *ast.Program) (found bool) {
	walk(tree, func(n ast.Node) bool {
		if t, ok := n.(*ast.TemplateLiteral); ok {
			_, odd := t.Tag.(*ast.TemplateLiteral)
			found = found || odd
		}
		return !found
	})
	return found
}
