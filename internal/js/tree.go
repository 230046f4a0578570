package js

import "github.com/dop251/goja/ast"

// tree goes through the places of a program where an expression stands, those inside of it first, and may exchange what
// stands there. goja has no such function; walk, which needs no word about each kind of node, takes ten times as long.
type tree struct {
	before  func(ast.Node)        // called with statements' and expressions' nodes, and those that declare names
	replace func(*ast.Expression) // called when all below it is done; nil: nothing is replaced
	depth   int
}

func (t *tree) statements(list []ast.Statement) {
	for _, s := range list {
		t.statement(s)
	}
}

func (t *tree) statement(s ast.Statement) {
	if t.depth++; t.depth < maxWalk {
		t.inStatement(s)
	}
	t.depth--
}

func (t *tree) inStatement(s ast.Statement) {
	switch n := s.(type) {
	case *ast.BlockStatement:
		t.block(n)
	case *ast.CaseStatement:
		t.expression(&n.Test)
		t.statements(n.Consequent)
	case *ast.DoWhileStatement:
		t.statement(n.Body)
		t.expression(&n.Test)
	case *ast.ExpressionStatement:
		t.expression(&n.Expression)
	case *ast.ForInStatement:
		t.into(n.Into)
		t.expression(&n.Source)
		t.statement(n.Body)
	case *ast.ForOfStatement:
		t.into(n.Into)
		t.expression(&n.Source)
		t.statement(n.Body)
	case *ast.ForStatement:
		t.initializer(n.Initializer)
		t.expression(&n.Test)
		t.expression(&n.Update)
		t.statement(n.Body)
	case *ast.IfStatement:
		t.expression(&n.Test)
		t.statement(n.Consequent)
		t.statement(n.Alternate)
	case *ast.LabelledStatement:
		t.statement(n.Statement)
	case *ast.ReturnStatement:
		t.expression(&n.Argument)
	case *ast.SwitchStatement:
		t.expression(&n.Discriminant)
		for _, c := range n.Body {
			t.statement(c)
		}
	case *ast.ThrowStatement:
		t.expression(&n.Argument)
	case *ast.TryStatement:
		t.block(n.Body)
		if n.Catch != nil {
			t.block(n.Catch.Body)
		}
		t.block(n.Finally)
	case *ast.VariableStatement:
		t.bindings(n.List)
	case *ast.LexicalDeclaration:
		t.bindings(n.List)
	case *ast.WhileStatement:
		t.expression(&n.Test)
		t.statement(n.Body)
	case *ast.WithStatement:
		t.before(n)
		t.expression(&n.Object)
		t.statement(n.Body)
	case *ast.FunctionDeclaration:
		t.function(n.Function)
	case *ast.ClassDeclaration:
		t.class(n.Class)
	}
}

func (t *tree) block(b *ast.BlockStatement) {
	if b != nil {
		t.statements(b.List)
	}
}

func (t *tree) bindings(list []*ast.Binding) {
	for _, b := range list {
		t.before(b)
		t.expression(&b.Initializer)
	}
}

func (t *tree) into(n ast.ForInto) {
	switch n := n.(type) {
	case *ast.ForDeclaration:
		t.before(n)
	case *ast.ForIntoVar:
		t.before(n.Binding)
	}
}

func (t *tree) initializer(n ast.ForLoopInitializer) {
	switch n := n.(type) {
	case *ast.ForLoopInitializerExpression:
		t.expression(&n.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		t.bindings(n.List)
	case *ast.ForLoopInitializerLexicalDecl:
		t.bindings(n.LexicalDeclaration.List)
	}
}

func (t *tree) function(f *ast.FunctionLiteral) {
	t.parameters(f.ParameterList)
	t.block(f.Body)
}

func (t *tree) parameters(list *ast.ParameterList) {
	if list != nil {
		t.bindings(list.List)
	}
}

func (t *tree) class(c *ast.ClassLiteral) {
	t.expression(&c.SuperClass)
	for _, element := range c.Body {
		switch n := element.(type) {
		case *ast.FieldDefinition:
			t.before(n)
			t.expression(&n.Initializer)
		case *ast.MethodDefinition:
			t.function(n.Body)
		case *ast.ClassStaticBlock:
			t.block(n.Block)
		}
	}
}

func (t *tree) expressions(list []ast.Expression) {
	for i := range list {
		t.expression(&list[i])
	}
}

func (t *tree) expression(x *ast.Expression) {
	if *x == nil {
		return
	}
	if t.depth++; t.depth < maxWalk {
		t.before(*x)
		t.inExpression(*x)
		if t.replace != nil {
			t.replace(x)
		}
	}
	t.depth--
}

func (t *tree) inExpression(x ast.Expression) {
	switch n := x.(type) {
	case *ast.ArrayLiteral:
		t.expressions(n.Value)
	case *ast.ArrowFunctionLiteral:
		t.parameters(n.ParameterList)
		switch b := n.Body.(type) {
		case *ast.BlockStatement:
			t.block(b)
		case *ast.ExpressionBody:
			t.expression(&b.Expression)
		}
	case *ast.AssignExpression:
		t.expression(&n.Left)
		t.expression(&n.Right)
	case *ast.AwaitExpression:
		t.expression(&n.Argument)
	case *ast.BinaryExpression:
		t.expression(&n.Left)
		t.expression(&n.Right)
	case *ast.BracketExpression:
		t.expression(&n.Left)
		t.expression(&n.Member)
	case *ast.CallExpression:
		t.expression(&n.Callee)
		t.expressions(n.ArgumentList)
	case *ast.ClassLiteral:
		t.class(n)
	case *ast.ConditionalExpression:
		t.expression(&n.Test)
		t.expression(&n.Consequent)
		t.expression(&n.Alternate)
	case *ast.DotExpression:
		t.expression(&n.Left)
	case *ast.FunctionLiteral:
		t.function(n)
	case *ast.NewExpression:
		t.expression(&n.Callee)
		t.expressions(n.ArgumentList)
	case *ast.ObjectLiteral:
		for _, p := range n.Value {
			switch p := p.(type) {
			case *ast.PropertyKeyed:
				t.before(p)
				t.expression(&p.Value)
			case *ast.SpreadElement:
				t.expression(&p.Expression)
			}
		}
	case *ast.Optional:
		t.expression(&n.Expression)
	case *ast.OptionalChain:
		t.expression(&n.Expression)
	case *ast.PrivateDotExpression:
		t.expression(&n.Left)
	case *ast.SequenceExpression:
		t.expressions(n.Sequence)
	case *ast.SpreadElement:
		t.expression(&n.Expression)
	case *ast.TemplateLiteral:
		t.expressions(n.Expressions)
	case *ast.UnaryExpression:
		t.expression(&n.Operand)
	case *ast.YieldExpression:
		t.expression(&n.Argument)
	}
}
