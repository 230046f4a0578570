package js

import (
	"errors"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// compile finds the program in a text and compiles it: the text as it stands, else what its code fence holds. The
// engine's source is afterwards what positions are to be read by.
func (e *Engine) compile(text string) (*goja.Program, *Outcome) {
	e.dog.enter() // parsers, too, are held to the limits
	defer e.dog.leave()
	program, bad := e.find(text)
	if l := e.source.lowered; l != nil && tellsApart(l.text) {
		e.json.newCode()
	}
	if e.stopped() != nil {
		halted := e.halted(nil)
		halted.Error.Hint = "the program took too long to read: write it shorter, with fewer expressions inside each other"
		return nil, &halted
	}
	if bad != nil {
		return nil, e.syntaxError(bad)
	}
	return program, nil
}

func (e *Engine) find(text string) (*goja.Program, *fault) {
	fences := findFences(text)
	e.source = e.newSource(text, fence{end: len(text)})
	if len(fences) == 0 {
		return e.source.read()
	}
	// A text that begins with ``` is never a program of its own: it calls an empty string as a template tag.
	if !strings.HasPrefix(strings.TrimLeft(text, blanks), "```") {
		if program, bad := e.source.read(); bad == nil || bad.final {
			return program, bad
		}
	}
	f, several := chooseFence(fences)
	e.source = e.newSource(text, f)
	if several {
		return nil, &fault{source: e.source, offset: f.start, final: true, message: severalFences}
	}
	return e.source.read()
}

const severalFences = "the text has several code fences, and more than one may be the program"

// read compiles the code as it stands, else without its `export`, else as TypeScript. Only what goja refuses is given
// to esbuild: plain programs pay nothing for it.
func (s *source) read() (*goja.Program, *fault) {
	for {
		program, bad := s.build()
		if bad == nil || bad.final {
			return program, bad
		}
		if s.unexport(bad.offset) {
			continue
		}
		program, worse := s.inOlderWords(s.build)
		if worse == nil {
			return program, nil
		}
		lowered := s.lowered
		s.lowered = nil
		if s.unexport(worse.offset) {
			continue
		}
		// The parser that came further understood more of it.
		if worse.offset > bad.offset {
			s.lowered = lowered
			return nil, worse
		}
		return nil, bad
	}
}

// fault is why a text is no program.
type fault struct {
	source  *source
	message string
	offset  int  // in the text as sent; behind the code: at its end
	final   bool // no other reading of the text can mend it
}

// fault is the first thing that goja's parser or compiler refused.
func (s *source) fault(err error) *fault {
	var list parser.ErrorList
	var syntax *goja.CompilerSyntaxError
	var reference *goja.CompilerReferenceError
	message, at := err.Error(), file.Position{}
	switch {
	case errors.As(err, &list) && len(list) > 0:
		message, at = list[0].Message, list[0].Position
	case errors.As(err, &syntax):
		message, at = syntax.Message, syntax.File.Position(syntax.Offset)
	case errors.As(err, &reference):
		message, at = reference.Message, reference.File.Position(reference.Offset)
	}
	offset := s.offset(at)
	if strings.HasSuffix(message, " ILLEGAL") && offset >= s.start && offset < s.end {
		message = "Unexpected character " + quoted(s.text[offset:])
	}
	return &fault{source: s, message: message, offset: offset}
}

func (e *Engine) syntaxError(bad *fault) *Outcome {
	s := bad.source
	if bad.offset > s.end { // the parser stumbled over our suffix
		bad.message = "Unexpected end of input"
	}
	failure := &Error{Message: clipText("SyntaxError: "+bad.message, maxMessage)}
	s.place(failure, s.clamp(bad.offset))
	failure.Hint = e.syntaxHint(failure, s)
	return &Outcome{Kind: KindError, Error: failure}
}
