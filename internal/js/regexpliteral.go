package js

import (
	"errors"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/sandboxd/sandboxd/internal/js/regexp"
)

// mayHoldLiteral says that there may be a regular expression in a text: a slash that begins no comment. Most programs
// have none, and are not walked through.
func mayHoldLiteral(text string) bool {
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '/')
		if n < 0 {
			return false
		}
		i += n
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case next == '/': // a comment, or a URL in a string
			i += 2
		case next == '*', i > 0 && text[i-1] == '*':
			i++
		default:
			return true
		}
	}
}

// literals makes ours of the regular expressions in a program.
func (s *source) literals(tree *ast.Program) (bad *fault) {
	if s.regexps == nil || !mayHoldLiteral(s.compiled()) {
		return nil
	}
	walk(tree, func(n ast.Node) bool {
		if l, ok := n.(*ast.RegExpLiteral); ok && bad == nil {
			bad = s.literal(tree, l)
		}
		return bad == nil
	})
	return bad
}

func (s *source) literal(tree *ast.Program, l *ast.RegExpLiteral) *fault {
	flags, ok := regexp.ParseFlags(l.Flags)
	if !ok {
		return s.faultAt(tree, l.Idx, "Invalid regular expression flags")
	}
	p := s.regexps.pattern(s.regexps.e.toString(s.regexps.e.vm.ToValue(l.Pattern)), flags)
	if err := s.regexps.compile(p); err != nil {
		at := l.Idx + 1
		var e *regexp.Error
		if errors.As(err, &e) {
			at += file.Idx(utf16Prefix(l.Pattern, e.Offset))
		}
		return s.faultAt(tree, at, invalid(l.Pattern, l.Flags, err))
	}
	l.Pattern, l.Flags = numbered(p), ""
	return nil
}

func (s *source) faultAt(tree *ast.Program, at file.Idx, message string) *fault {
	offset := s.offset(tree.File.Position(int(at) - tree.File.Base()))
	return &fault{source: s, message: message, offset: offset, final: true}
}
