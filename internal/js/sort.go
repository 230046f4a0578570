package js

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// Programs sort what tools answered by a number, (a, b) => b.comments - a.comments, and goja calls that function a dozen times for
// each item: two thirds of all that a program does with a listing. Such a function is recognized in the tree of the program, and
// said to be one where it is given to sort. If reading the numbers can be seen by nobody, because they are properties of objects'
// own and no accessors, they are read once each, and the function is not called.

// order is a function that compares by one number.
type order struct {
	by      *goja.Object       // the function; only the last one is known
	path    []unistring.String // of the number within an item
	descend bool
}

// difference recognizes (a, b) => a.x.y - b.x.y, as an arrow function or another.
func difference(x ast.Expression) (path string, descend, ok bool) {
	params := parameters(x)
	if params == nil || len(params.List) != 2 || params.Rest != nil {
		return "", false, false
	}
	minus, ok := onlyValue(x).(*ast.BinaryExpression)
	if !ok || minus.Operator != token.MINUS {
		return "", false, false
	}
	left, of, ok := numberOf(minus.Left)
	right, than, ok2 := numberOf(minus.Right)
	if !ok || !ok2 || left != right || of == than {
		return "", false, false
	}
	names := [2]unistring.String{}
	for i, p := range params.List {
		id, ok := p.Target.(*ast.Identifier)
		if !ok || p.Initializer != nil {
			return "", false, false
		}
		names[i] = id.Name
	}
	switch [2]unistring.String{of, than} {
	case names:
		return left, false, true
	case [2]unistring.String{names[1], names[0]}:
		return left, true, true
	}
	return "", false, false
}

// onlyValue is what a function returns that does nothing else, nil for any other.
func onlyValue(x ast.Expression) ast.Expression {
	var body *ast.BlockStatement
	switch x := x.(type) {
	case *ast.ArrowFunctionLiteral:
		if x.Async {
			return nil
		}
		if e, ok := x.Body.(*ast.ExpressionBody); ok {
			return e.Expression
		}
		body, _ = x.Body.(*ast.BlockStatement)
	case *ast.FunctionLiteral:
		if x.Async || x.Generator {
			return nil
		}
		body = x.Body
	}
	if body == nil || len(body.List) != 1 {
		return nil
	}
	if r, ok := body.List[0].(*ast.ReturnStatement); ok {
		return r.Argument
	}
	return nil
}

// numberOf takes a.x.y apart. The names of the path are ASCII, with zero bytes between them.
func numberOf(x ast.Expression) (path string, of unistring.String, ok bool) {
	var names []string
	for len(names) < 8 {
		var name unistring.String
		switch n := x.(type) {
		case *ast.Identifier:
			slices.Reverse(names)
			return strings.Join(names, "\x00"), n.Name, true
		case *ast.DotExpression:
			name, x = n.Identifier.Name, n.Left
		case *ast.BracketExpression:
			s, ok := n.Member.(*ast.StringLiteral)
			if !ok {
				return "", "", false
			}
			name, x = s.Value, n.Left
		default:
			return "", "", false
		}
		if name.AsUtf16() != nil || strings.ContainsRune(string(name), 0) || name == "" {
			return "", "", false
		}
		names = append(names, string(name))
	}
	return "", "", false
}

// sorting marks the function that is given to sort, if it compares by a number.
func (r *rewriting) sorting(c *ast.CallExpression) {
	dot, ok := c.Callee.(*ast.DotExpression)
	if !ok || dot.Identifier.Name != "sort" && dot.Identifier.Name != "toSorted" || len(c.ArgumentList) != 1 {
		return
	}
	by := c.ArgumentList[0]
	path, descend, ok := difference(by)
	if !ok {
		return
	}
	at := by.Idx0()
	arguments := []ast.Expression{by, &ast.StringLiteral{Idx: at, Value: unistring.String(path)}}
	if descend {
		arguments = append(arguments, &ast.BooleanLiteral{Idx: at, Value: true})
	}
	c.ArgumentList[0] = r.call(orderName, at, arguments...)
}

// ordering takes note of a function that compares, and returns it.
func (e *Engine) ordering(fc goja.FunctionCall) goja.Value {
	e.order = order{by: fc.Argument(0).(*goja.Object), descend: fc.Argument(2).ToBoolean()}
	if path := fc.Argument(1).String(); path != "" {
		for name := range strings.SplitSeq(path, "\x00") {
			e.order.path = append(e.order.path, unistring.NewFromString(name))
		}
	}
	return e.order.by
}

// arraySorts exchanges what sorts arrays.
func (e *Engine) arraySorts() {
	for name, into := range map[string]func(array goja.Value, sorted []goja.Value) goja.Value{
		"sort": func(array goja.Value, sorted []goja.Value) goja.Value {
			a, _ := arrayOf(array)
			copy(*a.values, sorted)
			return array
		},
		"toSorted": func(_ goja.Value, sorted []goja.Value) goja.Value { return e.newArray(sorted) },
	} {
		original := method(e.real.arrayPrototype, name)
		hide(e.real.arrayPrototype, name, e.native(name, 1, func(fc goja.FunctionCall) goja.Value {
			if by, ok := fc.Argument(0).(*goja.Object); ok && by == e.order.by {
				if a, ok := arrayOf(fc.This); ok && a.plain() {
					if sorted, ok := e.order.sorted(*a.values); ok {
						return into(fc.This, sorted)
					}
				}
			}
			return must(original(fc.This, fc.Arguments...))
		}))
	}
}

// sorted is a sorted copy of values, unless one of them has no number that can be read unseen.
func (o *order) sorted(values []goja.Value) ([]goja.Value, bool) {
	type item struct {
		key   float64
		value goja.Value
	}
	items := make([]item, len(values))
	for i, v := range values {
		key, ok := o.key(v)
		if !ok {
			return nil, false
		}
		if o.descend {
			key = -key
		}
		items[i] = item{key, v}
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	sorted := make([]goja.Value, len(items))
	for i, it := range items {
		sorted[i] = it.value
	}
	return sorted, true
}

// key is the number in an item.
func (o *order) key(v goja.Value) (float64, bool) {
	for _, name := range o.path {
		object, ok := v.(*goja.Object)
		if !ok {
			return 0, false
		}
		if v, ok = unseen(object, name); !ok {
			return 0, false
		}
	}
	switch numbers := numberTypes(); reflect.TypeOf(v) {
	case numbers[0]:
		return float64(v.ToInteger()), true
	case numbers[1]:
		f := v.ToFloat()
		return f, !math.IsNaN(f)
	}
	return 0, false
}

// numberTypes are those of goja's integers and other numbers.
var numberTypes = sync.OnceValue(func() [2]reflect.Type {
	vm := goja.New()
	return [2]reflect.Type{reflect.TypeOf(vm.ToValue(1)), reflect.TypeOf(vm.ToValue(1.5))}
})

// unseen reads an object's own property if that can run nothing of the program. The value may still be what goja keeps for a property
// with attributes or an accessor, which is no object and no number.
func unseen(o *goja.Object, name unistring.String) (goja.Value, bool) {
	f := fieldsOfObject()
	self := keptOf(o)
	if self.Type() == f.class {
		v := (*at[map[unistring.String]goja.Value](self.Elem(), f.values))[name]
		return v, v != nil
	}
	if l := lazyOf(o); l != nil && !l.settled() {
		if column := l.records.shape.column(name.String()); column >= 0 {
			return l.value(column), true
		}
	}
	return nil, false
}

// objectFields are the places of what goja keeps of an ordinary object.
type objectFields struct {
	class  reflect.Type
	values []int
}

var fieldsOfObject = sync.OnceValue(func() (f objectFields) {
	f.class = keptOf(goja.New().NewObject()).Type()
	f.values = fieldIndex(f.class.Elem(), "values")
	return f
})
