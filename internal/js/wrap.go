package js

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
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

// build parses what is to be compiled of the source, makes sure that it is one function body and nothing else, gives
// it its value, and compiles it.
func (s *source) build() (*goja.Program, *fault) {
	tree, bad := s.parse()
	if bad != nil {
		return nil, bad
	}
	fn, at, ok := s.body(tree)
	if !ok {
		return nil, &fault{source: s, message: "Unexpected token }", offset: at, final: true}
	}
	if s.fenced() && tagsTemplate(tree) {
		return nil, &fault{source: s, message: "Unexpected token ```", offset: s.start}
	}
	if bad := s.literals(tree); bad != nil {
		return nil, bad
	}
	fn.Body.List = s.withResult(fn.Body.List)
	if rewrite(fn, s.compiled()) {
		withFunctions(tree)
	}
	return s.finish(tree)
}

// parse reads what is to be compiled. A fault of the parser itself, which it has for the literal "\u{10FFFF}", counts as a
// text that it does not know: esbuild writes it in other words.
func (s *source) parse() (tree *ast.Program, bad *fault) {
	defer func() {
		if x := recover(); x != nil {
			tree, bad = nil, &fault{source: s, message: fmt.Sprint(x), offset: s.start}
		}
	}()
	tree, err := parseProgram(s.compiled())
	if err != nil {
		return nil, s.fault(err)
	}
	return tree, nil
}

func (s *source) finish(tree *ast.Program) (*goja.Program, *fault) {
	hoist(tree, strings.TrimPrefix(s.compiled(), prefix))
	program, err := goja.CompileAST(tree, false)
	if err != nil {
		return nil, s.fault(err)
	}
	return program, nil
}

// body is the one function that the program is. It is not ok if the text closes our function and goes on outside of
// it, as `}); x(); (async function(){` does: balanced text of that kind parses, so only the tree can tell. The last
// statement must be a call of the function that our prefix began and our suffix ended; esbuild puts its helpers before.
func (s *source) body(tree *ast.Program) (fn *ast.FunctionLiteral, escapesAt int, ok bool) {
	end := len(s.wrapped) - len(suffix) + len("\n")
	for i, statement := range tree.Body {
		if s.lowered != nil && isHelper(statement) {
			continue
		}
		fn := leftmostFunction(statement)
		if fn == nil {
			return nil, s.start, false
		}
		brace := s.wrappedOffset(tree.File.Position(int(fn.Body.RightBrace) - tree.File.Base()))
		if i < len(tree.Body)-1 || brace != end {
			return nil, s.unwrap(min(brace, end)), false
		}
		if call, ok := expression(statement).(*ast.CallExpression); ok && call.Callee == ast.Expression(fn) {
			moveDown(tree, fn)
			return fn, 0, true
		}
	}
	return nil, s.unwrap(end), false
}

// isHelper says that a statement is of esbuild's runtime: they have names that begin with two underscores.
func isHelper(s ast.Statement) bool {
	declaration, ok := s.(*ast.VariableStatement)
	if !ok {
		return false
	}
	for _, b := range declaration.List {
		if name, ok := b.Target.(*ast.Identifier); !ok || !strings.HasPrefix(string(name.Name), "__") {
			return false
		}
	}
	return true
}

// moveDown puts esbuild's helpers into the function, so that the program's globals are the same with and without them.
// They stand behind its directives, of which "use strict" must stay the first.
func moveDown(tree *ast.Program, fn *ast.FunctionLiteral) {
	helpers := tree.Body[:len(tree.Body)-1]
	if len(helpers) == 0 {
		return
	}
	n := 0
	for n < len(fn.Body.List) && isDirective(fn.Body.List[n]) {
		n++
	}
	list := append([]ast.Statement{}, fn.Body.List[:n]...)
	list = append(list, helpers...)
	fn.Body.List = append(list, fn.Body.List[n:]...)
	fn.DeclarationList = append(tree.DeclarationList, fn.DeclarationList...)
	tree.Body, tree.DeclarationList = tree.Body[len(helpers):], nil
}

func isDirective(s ast.Statement) bool {
	_, ok := expression(s).(*ast.StringLiteral)
	return ok
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

// quoted is the character that a parser stumbled over.
func quoted(text string) string {
	r, _ := utf8.DecodeRuneInString(text)
	return strconv.QuoteRune(r)
}
