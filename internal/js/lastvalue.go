package js

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// withResult makes a program return its value where it does not say so: what its `export default` is, or its last
// statement if that is an expression, or the one function that it declares and does not call. docs/javascript.md has
// the rules. The tree is changed, and not the text, so that positions stay what they are.
func (s *source) withResult(list []ast.Statement) []ast.Statement {
	if s.exported != "" {
		if called := callExported(list, s.exported); called != nil {
			return append(list, returned(called))
		}
	}
	if fn := loneFunction(list); fn != nil {
		return append(list, returned(fn.call()))
	}
	returnLast(list)
	return list
}

// returnLast makes the last statement a return if it is an expression. It looks into if and try, as eval does, but not
// into loops; and not into a block, which a model means as an object.
func returnLast(list []ast.Statement) {
	for i := len(list) - 1; i >= 0; i-- {
		if _, empty := list[i].(*ast.EmptyStatement); !empty {
			returnValue(&list[i])
			return
		}
	}
}

func returnValue(s *ast.Statement) {
	switch n := (*s).(type) {
	case *ast.ExpressionStatement:
		if !isEnum(n) {
			*s = returned(called(n.Expression))
		}
	case *ast.IfStatement:
		returnBranch(&n.Consequent)
		if n.Alternate != nil {
			returnBranch(&n.Alternate)
		}
	case *ast.TryStatement:
		returnLast(n.Body.List)
		if n.Catch != nil {
			returnLast(n.Catch.Body.List)
		}
	}
}

func returnBranch(s *ast.Statement) {
	if block, ok := (*s).(*ast.BlockStatement); ok {
		returnLast(block.List)
		return
	}
	returnValue(s)
}

func returned(x ast.Expression) ast.Statement {
	return &ast.ReturnStatement{Return: x.Idx0(), Argument: x}
}

// called calls a function that a program ends with, as nothing else could be meant by it.
func called(x ast.Expression) ast.Expression {
	if params := parameters(x); params != nil {
		return callOf(x, params)
	}
	return x
}

// function is one that a program declares.
type function struct {
	name   *ast.Identifier
	params *ast.ParameterList
}

func (f *function) call() ast.Expression {
	return callOf(&ast.Identifier{Name: f.name.Name, Idx: f.name.Idx}, f.params)
}

// loneFunction is the function to call in a program that declares and does nothing: the only one, or the only one
// that no other names.
func loneFunction(list []ast.Statement) *function {
	var functions []function
	for _, s := range list {
		found, ok := declared(s)
		if !ok {
			return nil
		}
		functions = append(functions, found...)
	}
	if len(functions) > 1 {
		named := map[unistring.String]int{}
		for _, s := range list {
			walk(s, func(n ast.Node) bool {
				if id, ok := n.(*ast.Identifier); ok {
					named[id.Name]++
				}
				return true
			})
		}
		var roots []function
		for _, f := range functions {
			if named[f.name.Name] == 1 {
				roots = append(roots, f)
			}
		}
		functions = roots
	}
	if len(functions) != 1 {
		return nil
	}
	return &functions[0]
}

// declared gives the functions that a statement declares. It is not ok if the statement is no declaration, or one
// that does something.
func declared(s ast.Statement) (functions []function, ok bool) {
	switch n := s.(type) {
	case *ast.FunctionDeclaration:
		if n.Function.Generator {
			return nil, true
		}
		return []function{{n.Function.Name, n.Function.ParameterList}}, true
	case *ast.LexicalDeclaration:
		return bound(n.List)
	case *ast.VariableStatement:
		return bound(n.List)
	case *ast.ExpressionStatement:
		return nil, isDirective(n) || isEnum(n)
	case *ast.EmptyStatement, *ast.ClassDeclaration:
		return nil, true
	}
	return nil, false
}

func bound(list []*ast.Binding) (functions []function, ok bool) {
	for _, b := range list {
		name, simple := b.Target.(*ast.Identifier)
		if params := parameters(b.Initializer); params != nil && simple {
			functions = append(functions, function{name, params})
		} else if b.Initializer != nil && acts(b.Initializer) {
			return nil, false
		}
	}
	return functions, true
}

// acts says that an expression may do more than make a value.
func acts(x ast.Expression) (found bool) {
	walk(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
			return false
		case *ast.CallExpression, *ast.NewExpression, *ast.AwaitExpression, *ast.AssignExpression:
			found = true
		case *ast.TemplateLiteral:
			found = found || n.Tag != nil
		}
		return !found
	})
	return found
}

// isEnum recognizes what esbuild makes of an enum: ((E2) => {…})(E || (E = {})).
func isEnum(s *ast.ExpressionStatement) bool {
	c, ok := s.Expression.(*ast.CallExpression)
	if !ok || len(c.ArgumentList) != 1 {
		return false
	}
	arrow, ok := c.Callee.(*ast.ArrowFunctionLiteral)
	if !ok || arrow.Async {
		return false
	}
	or, ok := c.ArgumentList[0].(*ast.BinaryExpression)
	if !ok || or.Operator != token.LOGICAL_OR {
		return false
	}
	assign, ok := or.Right.(*ast.AssignExpression)
	if !ok {
		return false
	}
	made, ok := assign.Right.(*ast.ObjectLiteral)
	return ok && len(made.Value) == 0
}

// parameters are those of a function expression, nil of anything else.
func parameters(x ast.Expression) *ast.ParameterList {
	switch n := x.(type) {
	case *ast.FunctionLiteral:
		if !n.Generator {
			return n.ParameterList
		}
	case *ast.ArrowFunctionLiteral:
		return n.ParameterList
	}
	return nil
}

// callOf calls a function of the program. A parameter that has the name of a global is given that, and an object that
// is taken apart has all of them.
func callOf(fn ast.Expression, params *ast.ParameterList) ast.Expression {
	at := fn.Idx0()
	c := &ast.CallExpression{Callee: fn, LeftParenthesis: at, RightParenthesis: at}
	if params == nil {
		return c
	}
	for _, p := range params.List {
		switch target := p.Target.(type) {
		case *ast.Identifier:
			c.ArgumentList = append(c.ArgumentList, argument(target.Name, at))
		case *ast.ObjectPattern:
			object := &ast.ObjectLiteral{LeftBrace: at, RightBrace: at}
			for _, name := range given {
				object.Value = append(object.Value, &ast.PropertyShort{Name: ast.Identifier{Name: name, Idx: at}})
			}
			c.ArgumentList = append(c.ArgumentList, object)
		default:
			c.ArgumentList = append(c.ArgumentList, argument("", at))
		}
	}
	return c
}

// given are the names of what a function that is called for the program can ask for.
var given = []unistring.String{"tools", "input", "console"}

func argument(name unistring.String, at file.Idx) ast.Expression {
	for _, g := range given {
		if g == name {
			return &ast.Identifier{Name: name, Idx: at}
		}
	}
	return &ast.UnaryExpression{Operator: token.VOID, Idx: at, Operand: &ast.NumberLiteral{Idx: at, Literal: "0", Value: int64(0)}}
}
