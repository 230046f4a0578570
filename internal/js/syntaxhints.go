package js

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// otherLanguages are labels of code fences that say that what they hold is no program.
var otherLanguages = []string{"bash", "sh", "shell", "zsh", "console", "python", "py", "ruby", "go", "java", "rust", "php", "sql", "html", "css", "yaml", "json", "xml", "text", "txt", "diff"}

// syntaxHint explains the syntax errors whose message says little.
func (e *Engine) syntaxHint(failure *Error, s *source) string {
	before, after := s.around(failure)
	switch {
	case strings.HasSuffix(failure.Message, severalFences):
		return "send one program, without anything around it"
	case slices.Contains(otherLanguages, s.label):
		return fmt.Sprintf("the code fence says %s: a program is JavaScript or TypeScript", s.label)
	case importSyntax().MatchString(failure.Frame):
		failure.Message = "SyntaxError: import is not available"
		return e.instead(noModules)
	case strings.ContainsAny(failure.Frame, "“”‘’"):
		return "the line has typographic quotation marks: use \" or '"
	case strings.HasSuffix(failure.Message, "Invalid destructuring binding target") && nestedDefault().MatchString(failure.Frame):
		return "the engine can't read `await` inside of an array pattern that has a default of its own: take that array apart on a line of its own"
	case pythonSyntax().MatchString(failure.Frame):
		return "this looks like Python: a program is JavaScript or TypeScript"
	case awaitBefore().MatchString(before):
		return notAsync
	case yieldBefore().MatchString(before):
		return "this yield stands in a function that is no generator: write function*"
	case strings.HasPrefix(failure.Message, "SyntaxError: Illegal break") || strings.HasPrefix(failure.Message, "SyntaxError: Illegal continue"):
		return "a callback is no loop: return from it, or use for…of, some or find"
	case endsInQuote(before) && startsWithName(after):
		return "a string ends before this: inside of one, write its quotation mark with a backslash"
	case strings.HasSuffix(failure.Message, "Unexpected end of input"):
		return "a bracket or a template is not closed"
	case colonRefused().MatchString(failure.Message) && objectSyntax().MatchString(failure.Frame):
		return "a statement can't begin with an object: write return { … }, or ({ … })"
	}
	return ""
}

// around is the text of the line on both sides of where a syntax error is.
func (s *source) around(failure *Error) (before, after string) {
	if failure.Line == 0 {
		return "", ""
	}
	start := byteOffset(s.text, failure.Line, 0)
	line := s.text[start:]
	if n := lineLength(line); n >= 0 {
		line = line[:n]
	}
	at := utf16Prefix(line, failure.Column-1)
	return line[:at], line[at:]
}

func endsInQuote(text string) bool {
	return text != "" && strings.ContainsAny(text[len(text)-1:], "'\"`")
}

func startsWithName(text string) bool {
	for _, r := range text {
		return isNamePart(r)
	}
	return false
}

func isNamePart(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
