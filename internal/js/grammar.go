package js

import (
	"errors"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
)

// What goja's parser gets wrong is mended in the tree that it made.

// parseProgram is goja's parser, with what it does not know.
func parseProgram(text string) (*ast.Program, error) {
	// Not goja.Parse: it keeps no positions. Source maps off: one would make the parser open the file it names.
	tree, err := parser.ParseFile(nil, fileName, text, 0, parser.WithDisableSourceMaps)
	if err != nil {
		tree, err = mendPatterns(tree, err, text)
	}
	if err != nil {
		return nil, err
	}
	associate(tree, text)
	bindArguments(tree, text)
	splitChains(tree, text)
	return tree, nil
}

// maxMended is how many patterns of a program are mended: the program is read once more for each.
const maxMended = 100

// mendPatterns mends a default in an array pattern that has a default of its own, `{ a: [b = 1] = [] }`: goja's parser makes
// an assignment of it before it learns that names are declared, and then refuses the inner default. Such patterns are read as
// assignments, the program with a name in the place of each, and the patterns put where the names are. Its error is what
// else was wrong with the program.
func mendPatterns(tree *ast.Program, err error, text string) (*ast.Program, error) {
	masked, patterns := []byte(text), map[int]*ast.ArrayPattern{}
	for err != nil {
		at, p := badPattern(tree, err, text)
		if p == nil || patterns[at] != nil || len(patterns) == maxMended {
			return nil, err
		}
		patterns[at] = p
		for i := at; i < at+int(p.Idx1()-p.Idx0()); i++ {
			if lineEnd(uint16(masked[i])) == "" {
				masked[i] = ' '
			}
		}
		masked[at] = '_'
		tree, err = parser.ParseFile(nil, fileName, masked, 0, parser.WithDisableSourceMaps)
	}
	walk(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignExpression:
			if p := patterns[int(n.Left.Idx0())-tree.File.Base()]; p != nil {
				n.Left = p
			}
		case *ast.Binding: // a parameter
			if p := patterns[int(n.Target.Idx0())-tree.File.Base()]; p != nil {
				n.Target = p
			}
		case *ast.FunctionLiteral:
			n.Source = unmasked(n, n.Source, tree, text)
		case *ast.ArrowFunctionLiteral:
			n.Source = unmasked(n, n.Source, tree, text)
		case *ast.ClassLiteral:
			n.Source = unmasked(n, n.Source, tree, text)
		}
		return true
	})
	return tree, nil
}

// unmasked is the text of a function, which a program can read.
func unmasked(n ast.Node, source string, tree *ast.Program, text string) string {
	from := int(n.Idx0()) - tree.File.Base()
	if to := from + len(source); from >= 0 && to <= len(text) && tree.File.Source()[from:to] == source {
		return text[from:to]
	}
	return source
}

// badPattern is the pattern that goja's parser refused first, and its offset. It is nil if that was something else.
func badPattern(tree *ast.Program, err error, text string) (at int, found *ast.ArrayPattern) {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 || list[0].Message != "Invalid destructuring binding target" {
		return 0, nil
	}
	wrong := byteOffset(text, list[0].Position.Line, list[0].Position.Column-1)
	walk(tree, func(n ast.Node) bool {
		p, ok := n.(*ast.ArrayPattern)
		if !ok || !hasBad(p) {
			return found == nil
		}
		from, to := int(p.Idx0())-tree.File.Base(), int(p.Idx1())-tree.File.Base()
		if from <= wrong && wrong < to {
			if again := parsePattern(text, from, to); again != nil && declares(again) {
				at, found = from, again
			}
		}
		return false
	})
	return at, found
}

func hasBad(p *ast.ArrayPattern) bool {
	for _, x := range p.Elements {
		if _, bad := x.(*ast.BadExpression); bad {
			return true
		}
	}
	return false
}

// parsePattern reads text[from:to] as the left side of an assignment, with the places that it has in the text. It stands in
// a function that does not wait, so that an `await` in it is refused whatever function it is of.
func parsePattern(text string, from, to int) *ast.ArrayPattern {
	const head = "()=>{"
	files := &file.FileSet{}
	// A file begins one behind the end of the one before it.
	if from < len(head)+1 || files.AddFile(fileName, text[:from-len(head)-1]) == 0 {
		return nil
	}
	tree, err := parser.ParseFile(files, fileName, head+text[from:to]+"=0}", 0, parser.WithDisableSourceMaps)
	if err != nil || len(tree.Body) != 1 {
		return nil
	}
	f, ok := expression(tree.Body[0]).(*ast.ArrowFunctionLiteral)
	if !ok {
		return nil
	}
	body, ok := f.Body.(*ast.BlockStatement)
	if !ok || len(body.List) != 1 {
		return nil
	}
	if a, ok := expression(body.List[0]).(*ast.AssignExpression); ok {
		p, _ := a.Left.(*ast.ArrayPattern)
		return p
	}
	return nil
}

// declares says that a pattern assigns to names and not to properties, so that it can declare them.
func declares(x ast.Expression) bool {
	switch x := x.(type) {
	case nil, *ast.Identifier:
		return true
	case *ast.AssignExpression:
		return declares(x.Left)
	case *ast.ArrayPattern:
		for _, element := range x.Elements {
			if !declares(element) {
				return false
			}
		}
		return declares(x.Rest)
	case *ast.ObjectPattern:
		for _, property := range x.Properties {
			if keyed, ok := property.(*ast.PropertyKeyed); ok && !declares(keyed.Value) {
				return false
			}
		}
		return declares(x.Rest)
	}
	return false
}

// associate makes (a < b) < c of a < b < c, which goja's parser reads as a < (b < c).
func associate(program *ast.Program, text string) {
	if strings.Count(text, "<")+strings.Count(text, ">")-strings.Count(text, "=>") < 2 && !strings.Contains(text, " in") {
		return
	}
	base := program.File.Base()
	t := tree{before: func(n ast.Node) {
		first, ok := n.(*ast.BinaryExpression)
		if !ok || !relational(first) {
			return
		}
		for {
			second, ok := first.Right.(*ast.BinaryExpression)
			if !ok || !relational(second) || inParentheses(text, second, base) {
				return
			}
			left := &ast.BinaryExpression{Operator: first.Operator, Left: first.Left, Right: second.Left, Comparison: first.Comparison}
			*first = ast.BinaryExpression{Operator: second.Operator, Left: left, Right: second.Right, Comparison: second.Comparison}
		}
	}}
	t.statements(program.Body)
}

func relational(x *ast.BinaryExpression) bool {
	switch x.Operator {
	case token.LESS, token.LESS_OR_EQUAL, token.GREATER, token.GREATER_OR_EQUAL, token.INSTANCEOF, token.IN:
		return true
	}
	return false
}

// inParentheses says that an expression stands in parentheses, which are not in the tree, and not only its left side.
func inParentheses(text string, x *ast.BinaryExpression, base int) bool {
	before := strings.TrimRight(text[:int(x.Idx0())-base], blanks)
	open := len(before) - len(strings.TrimRight(before, "("+blanks))
	from, to := int(x.Left.Idx1())-base, int(x.Right.Idx0())-base
	between := text[min(from, to):to] // goja miscounts names that are not of ASCII
	return open > 0 && strings.Count(before[len(before)-open:], "(") > strings.Count(between, ")")
}

// bindArguments names `arguments` in each function whose arrow functions use it. goja makes that object for a function that uses
// it itself, and has arrow functions read another value, or fail, where it does not:
//
//	function debounce(f, ms) { let t; return function () { clearTimeout(t); t = setTimeout(() => f.apply(this, arguments), ms) } }
func bindArguments(program *ast.Program, text string) {
	if !strings.Contains(text, argumentsName) || !strings.Contains(text, "=>") {
		return
	}
	walk(program, func(n ast.Node) bool {
		if f, ok := n.(*ast.FunctionLiteral); ok && f.Body != nil && arrowsUseArguments(f) {
			at := 0
			for at < len(f.Body.List) && isDirective(f.Body.List[at]) {
				at++
			}
			use := &ast.ExpressionStatement{Expression: &ast.Identifier{Name: argumentsName, Idx: f.Body.LeftBrace}}
			f.Body.List = slices.Insert(f.Body.List, at, ast.Statement(use))
			usesInParameters(f.ParameterList)
		}
		return true
	})
}

// usesInParameters names it before each arrow function of a parameter, too: those have a scope of their own, that of the body is not
// theirs.
//
//	function f(a = () => arguments.length) { return a() }
func usesInParameters(list *ast.ParameterList) {
	t := tree{before: func(ast.Node) {}, replace: func(x *ast.Expression) {
		if arrow, ok := (*x).(*ast.ArrowFunctionLiteral); ok {
			use := &ast.Identifier{Name: argumentsName, Idx: arrow.Start}
			*x = &ast.SequenceExpression{Sequence: []ast.Expression{use, arrow}}
		}
	}}
	t.parameters(list)
}

const argumentsName = "arguments"

// arrowsUseArguments says that an arrow function inside of a function uses its `arguments`, and that it has no variable of that
// name.
func arrowsUseArguments(f *ast.FunctionLiteral) (use bool) {
	declared := false
	within := func(n ast.Node, visit func(ast.Node) bool) {
		walk(n, func(inner ast.Node) bool {
			if _, function := inner.(*ast.FunctionLiteral); function && inner != n {
				return false
			}
			if b, ok := inner.(*ast.Binding); ok && names(b.Target, argumentsName) {
				declared = true
			}
			return visit(inner)
		})
	}
	within(f, func(n ast.Node) bool {
		arrow, ok := n.(*ast.ArrowFunctionLiteral)
		if !ok {
			return true
		}
		within(arrow, func(n ast.Node) bool {
			if id, ok := n.(*ast.Identifier); ok && id.Name == argumentsName {
				use = true
			}
			return true
		})
		return false
	})
	return use && !declared
}

// splitChains has the call of what a call in an optional chain returned be a chain around one of its own, (a?.b(1))?.(2) for
// a?.b(1)?.(2). goja leaves a value too many behind when the inner one ends early, and takes it for another one later.
func splitChains(program *ast.Program, text string) {
	if !strings.Contains(text, "?.") {
		return
	}
	t := tree{before: func(n ast.Node) {
		outer, ok := n.(*ast.CallExpression)
		if !ok {
			return
		}
		callee := outer.Callee
		if optional, ok := callee.(*ast.Optional); ok {
			callee = optional.Expression
		}
		if inner, ok := callee.(*ast.CallExpression); ok && endsEarly(inner) {
			outer.Callee = &ast.Optional{Expression: &ast.OptionalChain{Expression: inner}}
		}
	}}
	t.statements(program.Body)
}

// endsEarly says that there is a `?.` in a chain.
func endsEarly(x ast.Expression) bool {
	for {
		switch n := x.(type) {
		case *ast.Optional:
			return true
		case *ast.CallExpression:
			x = n.Callee
		case *ast.DotExpression:
			x = n.Left
		case *ast.BracketExpression:
			x = n.Left
		case *ast.PrivateDotExpression:
			x = n.Left
		default:
			return false
		}
	}
}
