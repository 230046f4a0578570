package js

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// The program becomes the body of an async function, which gives it await and return at the top. The function is
// sloppy, as node's AsyncFunction and CommonJS modules are: models assign undeclared names, and a program that wants
// strict mode says "use strict" on its first line. The prefix adds no line; the suffix begins one, so that a comment
// on the last line of the program does not swallow it.
const (
	fileName = "program.js"
	prefix   = "(async function(){"
	suffix   = "\n})()"
)

// compile parses the program once and makes sure that it is one function body and nothing else.
func (e *Engine) compile() (*goja.Program, *Outcome) {
	// Not goja.Parse: it keeps no positions. Source maps off: one would make the parser open the file it names.
	tree, err := parser.ParseFile(nil, fileName, prefix+e.source.text+suffix, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, e.syntaxError(err)
	}
	if at, ok := e.escape(tree); ok {
		return nil, e.syntaxErrorAt("Unexpected token }", tree.File.Position(at))
	}
	program, err := goja.CompileAST(tree, false)
	if err != nil {
		return nil, e.syntaxError(err)
	}
	return program, nil
}

// escape tells whether the text closes our function and goes on outside of it, as `}); x(); (async function(){`
// does, and where. Balanced text of that kind parses, so only the tree can tell: it must be one call of the one
// function that begins with our prefix and ends with our suffix.
func (e *Engine) escape(tree *ast.Program) (offset int, escaped bool) {
	end := len(prefix) + len(e.source.text) + len("\n")
	if len(tree.Body) > 0 {
		fn := leftmostFunction(tree.Body[0])
		if fn == nil {
			return len(prefix), true
		}
		brace := int(fn.Body.RightBrace) - tree.File.Base()
		if len(tree.Body) > 1 || brace != end {
			return min(brace, end), true
		}
		if call, ok := expression(tree.Body[0]).(*ast.CallExpression); ok && call.Callee == ast.Expression(fn) {
			return 0, false
		}
	}
	return end, true
}

func expression(s ast.Statement) ast.Expression {
	if es, ok := s.(*ast.ExpressionStatement); ok {
		return es.Expression
	}
	return nil
}

// leftmostFunction finds the function that our prefix began, whatever the text made of it.
func leftmostFunction(s ast.Statement) *ast.FunctionLiteral {
	x := expression(s)
	for {
		switch n := x.(type) {
		case *ast.FunctionLiteral:
			return n
		case *ast.CallExpression:
			x = n.Callee
		case *ast.DotExpression:
			x = n.Left
		case *ast.BracketExpression:
			x = n.Left
		case *ast.BinaryExpression:
			x = n.Left
		case *ast.AssignExpression:
			x = n.Left
		case *ast.ConditionalExpression:
			x = n.Test
		case *ast.SequenceExpression:
			x = n.Sequence[0]
		case *ast.TemplateLiteral:
			x = n.Tag
		case *ast.OptionalChain:
			x = n.Expression
		case *ast.Optional:
			x = n.Expression
		default:
			return nil
		}
	}
}

// syntaxError is the outcome of the first thing that the parser or the compiler refused.
func (e *Engine) syntaxError(err error) *Outcome {
	var list parser.ErrorList
	var syntax *goja.CompilerSyntaxError
	var reference *goja.CompilerReferenceError
	switch {
	case errors.As(err, &list) && len(list) > 0:
		return e.syntaxErrorAt(list[0].Message, list[0].Position)
	case errors.As(err, &syntax):
		return e.syntaxErrorAt(syntax.Message, syntax.File.Position(syntax.Offset))
	case errors.As(err, &reference):
		return e.syntaxErrorAt(reference.Message, reference.File.Position(reference.Offset))
	}
	return e.syntaxErrorAt(err.Error(), file.Position{})
}

func (e *Engine) syntaxErrorAt(message string, at file.Position) *Outcome {
	offset := e.source.offset(at)
	switch {
	case offset > len(e.source.text): // the parser stumbled over our suffix
		message = "Unexpected end of input"
	case strings.HasSuffix(message, " ILLEGAL") && offset >= 0 && offset < len(e.source.text):
		r, _ := utf8.DecodeRuneInString(e.source.text[offset:])
		message = "Unexpected character " + strconv.QuoteRune(r)
	}
	failure := &Error{Message: clipText("SyntaxError: "+message, maxMessage)}
	e.source.place(failure, e.source.clamp(offset))
	failure.Hint = syntaxHint(failure, e.source)
	return &Outcome{Kind: KindError, Error: failure}
}
