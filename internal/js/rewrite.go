package js

import (
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// Some of what programs do takes goja a time that grows with the square of the data, and happens in its virtual machine
// and not in a built-in: `s += row` copies s, and `[...rows, row]` makes an object for each row that it copies. In the
// tree of the program these become calls of functions of ours:
//
//	s += row             s = append(s, row)
//	s = s + a + b        s = append(append(s, a), b)
//	s = `${s}${a}`       s = typeof s === "string" ? append(s, `${a}`) : `${s}${a}`
//	[...a, b, ...c]      array(mask, spread(a), b, spread(c))
//	sort((a, b) => …)    sort(order((a, b) => …, path)), see sort.go
//
// All is evaluated in the same order and as often as before. The functions are parameters of a function around the
// program, with names that no program can write: it can neither call nor replace them.
const (
	appendName unistring.String = " append"
	arrayName  unistring.String = " array"
	spreadName unistring.String = " spread"
	orderName  unistring.String = " order"
)

// functionNames are in the order of functions.
var functionNames = []unistring.String{appendName, arrayName, spreadName, orderName}

// rewriting is one of a program. What is known of names holds for the whole program, whatever they are names of: it
// only says where a call may be worth it, as numbers must not pay for one.
type rewriting struct {
	declared     map[unistring.String]bool      // variables: reading one twice is the same as once
	texts        map[unistring.String]bool      // variables and properties that begin as strings
	accumulators map[unistring.String]bool      // first parameters of callbacks of reduce that begins with a string
	chains       map[*ast.BinaryExpression]bool // that begin with what they are assigned to
	templates    map[*ast.AssignExpression]bool // the same
	changed, off bool
}

// rewrite exchanges what goja is slow at, and reports whether there was any.
func rewrite(fn *ast.FunctionLiteral, code string) bool {
	if !slices.ContainsFunc([]string{"+", "...", "${", "sort", "Sorted"}, func(sign string) bool { return strings.Contains(code, sign) }) {
		return false
	}
	r := rewriting{
		declared: map[unistring.String]bool{}, texts: map[unistring.String]bool{}, accumulators: map[unistring.String]bool{},
		chains: map[*ast.BinaryExpression]bool{}, templates: map[*ast.AssignExpression]bool{},
	}
	look := tree{before: r.learn}
	look.block(fn.Body)
	if r.off {
		return false
	}
	change := tree{before: r.mark, replace: r.replace}
	change.block(fn.Body)
	return r.changed
}

// learn takes in what a node says of names.
func (r *rewriting) learn(n ast.Node) {
	switch n := n.(type) {
	case *ast.WithStatement: // an object could have a say in what our names mean
		r.off = true
	case *ast.Binding:
		if id, ok := n.Target.(*ast.Identifier); ok {
			r.declared[id.Name] = true
			r.texts[id.Name] = r.texts[id.Name] || n.Initializer != nil && r.isText(n.Initializer)
		}
	case *ast.ForDeclaration:
		if id, ok := n.Target.(*ast.Identifier); ok {
			r.declared[id.Name] = true
		}
	case *ast.AssignExpression:
		if name, ok := target(n.Left); ok && n.Operator == token.ASSIGN && isLiteralText(n.Right) {
			r.texts[name] = true
		}
	case *ast.PropertyKeyed:
		r.property(n.Key, n.Value)
	case *ast.FieldDefinition:
		r.property(n.Key, n.Initializer)
	case *ast.CallExpression:
		r.reduction(n)
	}
}

func (r *rewriting) property(key, value ast.Expression) {
	if value == nil || !isLiteralText(value) {
		return
	}
	switch key := key.(type) {
	case *ast.StringLiteral:
		r.texts[key.Value] = true
	case *ast.PrivateIdentifier:
		r.texts[key.Name] = true
	}
}

// reduction recognizes rows.reduce((s, row) => …, "").
func (r *rewriting) reduction(c *ast.CallExpression) {
	dot, ok := c.Callee.(*ast.DotExpression)
	if !ok || dot.Identifier.Name != "reduce" && dot.Identifier.Name != "reduceRight" {
		return
	}
	if len(c.ArgumentList) != 2 || !isLiteralText(c.ArgumentList[1]) {
		return
	}
	if params := parameters(c.ArgumentList[0]); params != nil && len(params.List) > 0 {
		if id, ok := params.List[0].Target.(*ast.Identifier); ok {
			r.texts[id.Name], r.accumulators[id.Name] = true, true
		}
	}
}

// target is the name of what is assigned to: a variable or a property.
func target(x ast.Expression) (name unistring.String, ok bool) {
	switch x := x.(type) {
	case *ast.Identifier:
		return x.Name, true
	case *ast.DotExpression:
		return x.Identifier.Name, true
	case *ast.PrivateDotExpression:
		return x.Identifier.Name, true
	case *ast.BracketExpression:
		if s, ok := x.Member.(*ast.StringLiteral); ok {
			return s.Value, true
		}
	}
	return "", false
}

func isLiteralText(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.StringLiteral:
		return true
	case *ast.TemplateLiteral:
		return x.Tag == nil
	}
	return false
}

// isText says that an expression is a string, or probably one.
func (r *rewriting) isText(x ast.Expression) bool { return r.textWithin(x, 0) }

func (r *rewriting) textWithin(x ast.Expression, depth int) bool {
	if depth > 20 {
		return false
	}
	switch x := x.(type) {
	case *ast.BinaryExpression:
		switch x.Operator {
		case token.PLUS:
			return r.textWithin(x.Left, depth+1) || r.textWithin(x.Right, depth+1)
		case token.LOGICAL_OR, token.COALESCE:
			return r.textWithin(x.Right, depth+1)
		}
	case *ast.ConditionalExpression:
		return r.textWithin(x.Consequent, depth+1) || r.textWithin(x.Alternate, depth+1)
	case *ast.CallExpression:
		dot, ok := x.Callee.(*ast.DotExpression)
		return ok && makesText[dot.Identifier.Name]
	}
	return isLiteralText(x)
}

// makesText are methods whose value is a string.
var makesText = map[unistring.String]bool{
	"join": true, "toString": true, "toFixed": true, "stringify": true, "padStart": true, "padEnd": true, "repeat": true,
	"toUpperCase": true, "toLowerCase": true, "toISOString": true, "toLocaleString": true,
}

// mark looks at an assignment before what is below it changes.
func (r *rewriting) mark(n ast.Node) {
	a, ok := n.(*ast.AssignExpression)
	if !ok || a.Operator != token.ASSIGN {
		return
	}
	id, ok := a.Left.(*ast.Identifier)
	if !ok {
		return
	}
	switch right := a.Right.(type) {
	case *ast.BinaryExpression:
		if r.texts[id.Name] || r.isText(right) {
			r.markChain(right, id.Name)
		}
	case *ast.TemplateLiteral:
		if right.Tag == nil && right.Elements[0].Parsed == "" && len(right.Expressions) > 0 && isNamed(right.Expressions[0], id.Name) {
			r.templates[a] = !standsOnce(right)
		}
	}
}

// markChain marks s + a in s = s + a + b.
func (r *rewriting) markChain(x *ast.BinaryExpression, name unistring.String) {
	for x.Operator == token.PLUS {
		if isNamed(x.Left, name) {
			r.chains[x] = true
			return
		}
		left, ok := x.Left.(*ast.BinaryExpression)
		if !ok {
			return
		}
		x = left
	}
}

func isNamed(x ast.Expression, name unistring.String) bool {
	id, ok := x.(*ast.Identifier)
	return ok && id.Name == name
}

// standsOnce says that there is something in an expression that can't be in two places of a tree: a function, or an
// assignment that may be there twice itself, and so on.
func standsOnce(x ast.Expression) (found bool) {
	t := tree{before: func(n ast.Node) {
		switch n.(type) {
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.ClassLiteral, *ast.AssignExpression:
			found = true
		}
	}}
	t.expression(&x)
	return found
}

func (r *rewriting) replace(x *ast.Expression) {
	switch n := (*x).(type) {
	case *ast.AssignExpression:
		switch {
		case n.Operator == token.PLUS && r.growsText(n):
			n.Right = r.call(appendName, n.Left.Idx0(), n.Left, n.Right)
			n.Operator = token.ASSIGN
		case r.templates[n]:
			n.Right = r.template(n.Left.(*ast.Identifier), n.Right.(*ast.TemplateLiteral))
		}
	case *ast.BinaryExpression:
		if n.Operator == token.PLUS && (r.chains[n] || r.accumulates(n.Left)) {
			*x = r.call(appendName, n.Left.Idx0(), n.Left, n.Right)
		}
	case *ast.CallExpression:
		r.sorting(n)
	case *ast.ArrayLiteral:
		if call := r.array(n); call != nil {
			*x = call
		}
	}
}

// growsText says that a += may append to a string, and that what it assigns to can be written twice.
func (r *rewriting) growsText(a *ast.AssignExpression) bool {
	name, ok := target(a.Left)
	if !ok || !r.texts[name] && !r.isText(a.Right) {
		return false
	}
	switch left := a.Left.(type) {
	case *ast.DotExpression:
		return r.repeatable(left.Left)
	case *ast.BracketExpression:
		return r.repeatable(left.Left)
	case *ast.PrivateDotExpression:
		return r.repeatable(left.Left)
	}
	return true
}

func (r *rewriting) repeatable(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.ThisExpression:
		return true
	case *ast.Identifier:
		return r.declared[x.Name]
	}
	return false
}

// accumulates says that an expression is a string that reduce builds, or that with something appended.
func (r *rewriting) accumulates(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.Identifier:
		return r.accumulators[x.Name]
	case *ast.CallExpression:
		return isNamed(x.Callee, appendName)
	}
	return false
}

func (r *rewriting) template(s *ast.Identifier, t *ast.TemplateLiteral) ast.Expression {
	rest := &ast.TemplateLiteral{OpenQuote: t.OpenQuote, CloseQuote: t.CloseQuote, Elements: t.Elements[1:], Expressions: t.Expressions[1:]}
	return &ast.ConditionalExpression{
		Test: &ast.BinaryExpression{
			Operator:   token.STRICT_EQUAL,
			Left:       &ast.UnaryExpression{Operator: token.TYPEOF, Idx: s.Idx, Operand: s},
			Right:      &ast.StringLiteral{Idx: s.Idx, Value: "string"},
			Comparison: true,
		},
		Consequent: r.call(appendName, t.Idx0(), s, rest),
		Alternate:  t,
	}
}

// array is the call for an array with spread elements, nil for any other.
func (r *rewriting) array(a *ast.ArrayLiteral) ast.Expression {
	mask := int64(0)
	for i, x := range a.Value {
		if x == nil || i > 30 {
			return nil
		}
		if _, ok := x.(*ast.SpreadElement); ok {
			mask |= 1 << i
		}
	}
	if mask == 0 {
		return nil
	}
	arguments := []ast.Expression{&ast.NumberLiteral{Idx: a.LeftBracket, Value: mask}}
	for _, x := range a.Value {
		if s, ok := x.(*ast.SpreadElement); ok {
			x = r.call(spreadName, s.Expression.Idx0(), s.Expression)
		}
		arguments = append(arguments, x)
	}
	return r.call(arrayName, a.LeftBracket, arguments...)
}

func (r *rewriting) call(name unistring.String, at file.Idx, arguments ...ast.Expression) ast.Expression {
	r.changed = true
	return &ast.CallExpression{
		Callee:           &ast.Identifier{Name: name, Idx: at},
		LeftParenthesis:  at,
		ArgumentList:     arguments,
		RightParenthesis: at,
	}
}

// withFunctions puts the program into the function that it has our functions from.
func withFunctions(tree *ast.Program) {
	statement := tree.Body[len(tree.Body)-1].(*ast.ExpressionStatement)
	at := statement.Expression.Idx0()
	params := &ast.ParameterList{Opening: at, Closing: at}
	for _, name := range functionNames {
		params.List = append(params.List, &ast.Binding{Target: &ast.Identifier{Name: name, Idx: at}})
	}
	statement.Expression = &ast.ArrowFunctionLiteral{
		Start: at, ParameterList: params, Body: &ast.ExpressionBody{Expression: statement.Expression},
	}
}

// launch runs the program, and gives it our functions if it asks for them.
func (e *Engine) launch(program *goja.Program) (goja.Value, error) {
	v, err := e.vm.RunProgram(program)
	if err != nil {
		return nil, err
	}
	main, ok := goja.AssertFunction(v)
	if !ok {
		return v, nil
	}
	return main(nil, e.functions()...)
}

// functions are ours, in the order of their names.
func (e *Engine) functions() []goja.Value {
	values := e.real.arrayPrototype.GetSymbol(goja.SymIterator)
	begin, _ := goja.AssertFunction(values)
	e.real.arrayValues, e.real.arrayIterator = values, must(begin(e.vm.NewArray())).(*goja.Object).Prototype()
	e.real.arrayNext = e.real.arrayIterator.Get("next")
	return []goja.Value{e.native("append", 2, e.append), e.native("array", 1, e.arrayLiteral), e.native("spread", 1, e.spread), e.native("order", 2, e.ordering)}
}
