package js

import (
	"maps"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// In sloppy code a function that is declared in a block is a variable of the function around it too (ECMAScript, Annex
// B.3.3):
//
//	if (verbose) { function log(x) { lines.push(x) } }
//	log("seen from here")
//
// To goja it is a name of its block, and no more. Where such a name is used outside of its block, the declaration becomes
// the assignment of a variable, at the top of the block. A name that is used in its block alone stays what it is: there
// goja is right, and each turn of a loop has a function of its own.
func hoist(tree *ast.Program, text string) {
	if !declaresInside(text) {
		return
	}
	strict := startsStrict(tree.Body)
	if !strict {
		hoistFrom(tree, nil, tree.Body, &tree.DeclarationList)
	}
	hoistBelow(tree, strict)
}

// declaresInside says that a function may be declared elsewhere than at the beginning of a line. It spares most programs
// the search.
func declaresInside(text string) bool {
	const word = "function"
	for rest := text; ; {
		i := strings.Index(rest, word)
		if i < 0 {
			return false
		}
		before := strings.TrimRight(rest[:i], " \t")
		indented := len(before) < i
		if before == "" && indented || before != "" && strings.IndexByte("{};)\r\n", before[len(before)-1]) >= 0 &&
			(indented || before[len(before)-1] != '\n') {
			return true
		}
		rest = rest[i+len(word):]
	}
}

// hoistBelow goes on to the functions inside of a node. All that is in a class is strict.
func hoistBelow(n ast.Node, strict bool) {
	walk(n, func(inner ast.Node) bool {
		switch f := inner.(type) {
		case *ast.ClassLiteral:
			return false
		case *ast.FunctionLiteral:
			if inner != n {
				hoistFunction(f, f.ParameterList, f.Body, &f.DeclarationList, strict)
				return false
			}
		case *ast.ArrowFunctionLiteral:
			if body, ok := f.Body.(*ast.BlockStatement); ok && inner != n {
				hoistFunction(f, f.ParameterList, body, &f.DeclarationList, strict)
				return false
			}
		}
		return true
	})
}

func hoistFunction(f ast.Node, params *ast.ParameterList, body *ast.BlockStatement, variables *[]*ast.VariableDeclaration, strict bool) {
	strict = strict || startsStrict(body.List)
	if !strict {
		hoistFrom(f, params, body.List, variables)
	}
	hoistBelow(f, strict)
}

func startsStrict(list []ast.Statement) bool {
	for _, s := range list {
		if !isDirective(s) {
			return false
		}
		if expression(s).(*ast.StringLiteral).Value == "use strict" {
			return true
		}
	}
	return false
}

type nameCounts map[unistring.String]int

// namesIn counts the names below a node, those of properties too.
func namesIn(n ast.Node) nameCounts {
	found := nameCounts{}
	walk(n, func(inner ast.Node) bool {
		if id, ok := inner.(*ast.Identifier); ok {
			found[id.Name]++
		}
		return true
	})
	return found
}

// hoister is one function, or the program.
type hoister struct {
	function  ast.Node
	all       nameCounts // that stand in it; nil: not counted yet
	variables *[]*ast.VariableDeclaration
}

func hoistFrom(f ast.Node, params *ast.ParameterList, list []ast.Statement, variables *[]*ast.VariableDeclaration) {
	h := hoister{function: f, variables: variables}
	taken := lexicalNames(list)
	taken["arguments"]++
	if params != nil {
		maps.Copy(taken, namesIn(params))
	}
	h.statements(list, taken)
}

// lexicalNames are those that let, const and class declare in a list: no variable can have one of them.
func lexicalNames(list []ast.Statement) nameCounts {
	found := nameCounts{}
	for _, s := range list {
		switch n := s.(type) {
		case *ast.LexicalDeclaration:
			for _, b := range n.List {
				maps.Copy(found, namesIn(b.Target))
			}
		case *ast.ClassDeclaration:
			found[n.Class.Name.Name]++
		}
	}
	return found
}

func (h *hoister) statements(list []ast.Statement, taken nameCounts) {
	for _, s := range list {
		h.statement(s, taken)
	}
}

// statement looks for blocks in a statement, but not in the functions that are inside of it. Names that are taken are those
// of blocks around it.
func (h *hoister) statement(s ast.Statement, taken nameCounts) {
	switch n := s.(type) {
	case *ast.BlockStatement:
		h.block(n, taken)
	case *ast.IfStatement:
		h.statement(n.Consequent, taken)
		h.statement(n.Alternate, taken)
	case *ast.LabelledStatement:
		h.statement(n.Statement, taken)
	case *ast.TryStatement:
		h.block(n.Body, taken)
		if n.Catch != nil {
			h.block(n.Catch.Body, h.also(taken, n.Catch.Parameter))
		}
		h.block(n.Finally, taken)
	case *ast.SwitchStatement:
		inside := maps.Clone(taken)
		for _, c := range n.Body {
			maps.Copy(inside, lexicalNames(c.Consequent))
		}
		for _, c := range n.Body {
			h.statements(c.Consequent, inside)
		}
	case *ast.ForStatement:
		if let, ok := n.Initializer.(*ast.ForLoopInitializerLexicalDecl); ok {
			taken = maps.Clone(taken)
			maps.Copy(taken, lexicalNames([]ast.Statement{&let.LexicalDeclaration}))
		}
		h.statement(n.Body, taken)
	case *ast.ForInStatement:
		h.statement(n.Body, h.into(taken, n.Into))
	case *ast.ForOfStatement:
		h.statement(n.Body, h.into(taken, n.Into))
	case *ast.WhileStatement:
		h.statement(n.Body, taken)
	case *ast.DoWhileStatement:
		h.statement(n.Body, taken)
	}
}

func (h *hoister) also(taken nameCounts, target ast.Node) nameCounts {
	if target == nil {
		return taken
	}
	taken = maps.Clone(taken)
	maps.Copy(taken, namesIn(target))
	return taken
}

func (h *hoister) into(taken nameCounts, n ast.ForInto) nameCounts {
	if let, ok := n.(*ast.ForDeclaration); ok {
		return h.also(taken, let.Target)
	}
	return taken
}

func (h *hoister) count() nameCounts {
	if h.all == nil {
		h.all = namesIn(h.function)
	}
	return h.all
}

// block exchanges the declarations of a block, and goes on to the blocks in it.
func (h *hoister) block(b *ast.BlockStatement, taken nameCounts) {
	if b == nil {
		return
	}
	inside := maps.Clone(taken)
	maps.Copy(inside, lexicalNames(b.List))
	var here nameCounts
	var assigned, rest []ast.Statement
	for _, s := range b.List {
		d, ok := s.(*ast.FunctionDeclaration)
		if !ok || d.Function.Async || d.Function.Generator {
			rest = append(rest, s)
			continue
		}
		if here == nil {
			here = namesIn(b)
		}
		name := d.Function.Name
		if inside[name.Name] > 0 || h.count()[name.Name] == here[name.Name] {
			rest = append(rest, s)
			continue
		}
		d.Function.Name = nil // the assignment gives it one
		*h.variables = append(*h.variables, &ast.VariableDeclaration{Var: name.Idx, List: []*ast.Binding{{Target: name}}})
		assigned = append(assigned, &ast.ExpressionStatement{
			Expression: &ast.AssignExpression{Operator: token.ASSIGN, Left: name, Right: d.Function},
		})
	}
	b.List = append(assigned, rest...)
	for _, s := range rest {
		if d, ok := s.(*ast.FunctionDeclaration); ok {
			inside[d.Function.Name.Name]++
		}
	}
	h.statements(rest, inside)
}
