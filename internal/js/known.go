package js

import (
	"slices"
	"strings"
	"weak"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"
)

// known is what can be said of an expression after the program has ended, without running any of it.
type known struct {
	kind  string     // "an array", "an object with keys a, b"; empty: nothing is known
	keys  []string   // own ones
	value goja.Value // nil: only the kind is known
}

// results are what tools answered, by the place of the call. They are not kept alive for it.
type results map[file.Position]result

type result struct {
	kind   string
	object weak.Pointer[goja.Object]
}

// remember keeps what a call was answered, for messages.
func (e *Engine) remember(c *call, v goja.Value) {
	for i := range c.at {
		if c.at[i].SrcName() != fileName {
			continue
		}
		r := result{kind: kindName(v)}
		if o, ok := v.(*goja.Object); ok {
			r.object = weak.Make(o)
		}
		e.answers[place(c.at[i].Position())] = r
		return
	}
}

func place(at file.Position) file.Position { return file.Position{Line: at.Line, Column: at.Column} }

// known looks for what an expression is: a literal, what a tool answered, a property of that, or a variable that has
// such a value and gets no other.
func (s *scene) known(x ast.Expression) known { return s.look(x, 0) }

func (s *scene) look(x ast.Expression, depth int) known {
	if depth > 10 {
		return known{}
	}
	switch x := x.(type) {
	case *ast.Identifier:
		return s.variable(x.Name, depth)
	case *ast.AwaitExpression:
		return s.awaited(x.Argument, depth)
	case *ast.CallExpression:
		if s.promises(x.Callee) {
			return known{kind: "a Promise: await is missing"}
		}
	case *ast.DotExpression, *ast.BracketExpression, *ast.OptionalChain, *ast.Optional:
		left, member := receiver(x)
		if left == nil || member == "" {
			return known{}
		}
		return s.property(s.look(left, depth+1), member)
	}
	return literal(x)
}

// promises says that a call gives a Promise: of a tool, or of an async function that is the only one of its name.
func (s *scene) promises(callee ast.Expression) bool {
	if server, _ := receiver(callee); server != nil {
		left, _ := receiver(server)
		id, ok := left.(*ast.Identifier)
		return ok && id.Name == "tools"
	}
	id, ok := callee.(*ast.Identifier)
	if !ok || s.variable(id.Name, 0).kind != "a function" {
		return false
	}
	async := false
	s.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Binding:
			if names(n.Target, id.Name) {
				f, arrow := n.Initializer.(*ast.ArrowFunctionLiteral)
				async = async || arrow && f.Async
			}
		case *ast.FunctionLiteral:
			async = async || n.Name != nil && n.Name.Name == id.Name && n.Async && !n.Generator
		}
	})
	return async
}

func (s *scene) awaited(x ast.Expression, depth int) known {
	c, ok := x.(*ast.CallExpression)
	if !ok {
		return known{}
	}
	if left, member := receiver(c.Callee); left != nil && member == "all" && s.name(left) == "Promise" {
		return known{kind: "an array"}
	}
	at := place(s.tree.File.Position(int(c.LeftParenthesis) - s.tree.File.Base()))
	r, ok := s.e.answers[at]
	if !ok {
		return known{}
	}
	if o := r.object.Value(); o != nil {
		return s.e.describeKnown(o)
	}
	return known{kind: r.kind}
}

// describeKnown reads keys, but no getter, and asks no Proxy.
func (e *Engine) describeKnown(v goja.Value) known {
	k := known{kind: kindName(v), value: v}
	o, ok := v.(*goja.Object)
	if !ok || kindOf(o) != kindObject {
		return k
	}
	const most = 8
	k.keys = o.Keys()
	switch n := len(k.keys); {
	case n == 0:
		k.kind = "an object without keys"
	case n == 1:
		k.kind = "an object with the key " + clipText(k.keys[0], maxName)
	default:
		var shown []string
		for _, key := range k.keys[:min(n, most)] {
			shown = append(shown, clipText(key, maxName))
		}
		k.kind = "an object with keys " + strings.Join(shown, ", ")
		if n > most {
			k.kind += ", …"
		}
	}
	return k
}

// property is an own data property of a known value.
func (s *scene) property(k known, member string) known {
	o, ok := k.value.(*goja.Object)
	if !ok || kindOf(o) == kindProxy || kindOf(o) == kindTools {
		return known{}
	}
	v, ok := (&inspector{e: s.e}).own(o, member)
	switch {
	case ok && v != nil:
		return s.e.describeKnown(v)
	case !ok && kindOf(o) == kindObject:
		return known{kind: "undefined"}
	}
	return known{}
}

// variable is the value of a name that is bound once in the whole program, and never assigned to.
func (s *scene) variable(name unistring.String, depth int) known {
	var found []known
	s.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Binding:
			found = append(found, s.bound(n.Target, n.Initializer, name, depth)...)
		case *ast.AssignExpression:
			if names(n.Left, name) {
				found = append(found, known{}, known{})
			}
		case *ast.UnaryExpression:
			if names(n.Operand, name) && (n.Postfix || n.Operator.String() == "++" || n.Operator.String() == "--") {
				found = append(found, known{}, known{})
			}
		case *ast.ParameterList:
			if n.Rest != nil && names(n.Rest, name) {
				found = append(found, known{}, known{})
			}
		case *ast.ForDeclaration:
			if names(n.Target, name) {
				found = append(found, known{}, known{})
			}
		case *ast.CatchStatement:
			if n.Parameter != nil && names(n.Parameter, name) {
				found = append(found, known{}, known{})
			}
		case *ast.FunctionLiteral:
			if n.Name != nil && n.Name.Name == name {
				found = append(found, known{kind: "a function"})
			}
		}
	})
	if len(found) == 0 && name == "input" {
		if v, ok := (&inspector{e: s.e}).own(s.e.vm.GlobalObject(), "input"); ok && v != nil {
			return s.e.describeKnown(v)
		}
	}
	if len(found) != 1 {
		return known{}
	}
	return found[0]
}

// bound is what a declaration gives a name: the value, or a property of it that is taken apart.
func (s *scene) bound(target ast.Expression, value ast.Expression, name unistring.String, depth int) []known {
	switch target := target.(type) {
	case *ast.Identifier:
		if target.Name != name {
			return nil
		}
		if value == nil { // a parameter, or a variable that is assigned to later
			return []known{{}}
		}
		return []known{s.look(value, depth+1)}
	case *ast.ObjectPattern:
		for _, p := range target.Properties {
			if short, ok := p.(*ast.PropertyShort); ok && short.Name.Name == name {
				if value == nil || short.Initializer != nil {
					return []known{{}}
				}
				return []known{s.property(s.look(value, depth+1), name.String())}
			}
		}
	}
	if names(target, name) {
		return []known{{}}
	}
	return nil
}

// names says that a name stands in a pattern, or is it.
func names(x ast.Expression, name unistring.String) (found bool) {
	switch x.(type) {
	case *ast.DotExpression, *ast.BracketExpression:
		return false // a property is assigned to, and not the variable
	}
	walk(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Identifier); ok && id.Name == name {
			found = true
		}
		if short, ok := n.(*ast.PropertyShort); ok && short.Name.Name == name {
			found = true
		}
		return !found
	})
	return found
}

// literal is what an expression makes, whatever values it is made of.
func literal(x ast.Expression) known {
	switch x := x.(type) {
	case *ast.ArrayLiteral:
		return known{kind: "an array"}
	case *ast.StringLiteral:
		return known{kind: "a string"}
	case *ast.TemplateLiteral:
		if x.Tag == nil {
			return known{kind: "a string"}
		}
	case *ast.NumberLiteral:
		return known{kind: "a number"}
	case *ast.BooleanLiteral:
		return known{kind: "a boolean"}
	case *ast.NullLiteral:
		return known{kind: "null"}
	case *ast.RegExpLiteral:
		return known{kind: "a RegExp"}
	case *ast.ArrowFunctionLiteral, *ast.FunctionLiteral:
		return known{kind: "a function"}
	case *ast.NewExpression:
		if id, ok := x.Callee.(*ast.Identifier); ok {
			switch id.Name {
			case "Map", "Set", "Date":
				return known{kind: "a " + string(id.Name)}
			}
		}
	case *ast.CallExpression:
		if left, member := receiver(x.Callee); left != nil {
			if id, ok := left.(*ast.Identifier); ok && id.Name == "Object" && (member == "keys" || member == "values" || member == "entries") ||
				member == "split" {
				return known{kind: "an array"}
			}
			if member == "map" || member == "filter" || member == "flatMap" {
				if _, isCall := left.(*ast.CallExpression); !isCall { // of an iterator, or so
					return known{kind: "an array"}
				}
			}
		}
	}
	return known{}
}

// declared are the names that the program declares.
func (s *source) declared() (list []string) {
	text := s.compiled()
	if len(text) > maxNamed {
		return nil
	}
	tree, err := parseProgram(text)
	if err != nil {
		return nil
	}
	add := func(x ast.Expression) {
		walk(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Identifier:
				list = append(list, n.Name.String())
			case *ast.PropertyShort:
				list = append(list, n.Name.Name.String())
			}
			return true
		})
	}
	walk(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Binding:
			add(n.Target)
		case *ast.ForDeclaration:
			add(n.Target)
		case *ast.FunctionLiteral:
			if n.Name != nil {
				list = append(list, n.Name.Name.String())
			}
		case *ast.ClassLiteral:
			if n.Name != nil {
				list = append(list, n.Name.Name.String())
			}
		}
		return true
	})
	slices.Sort(list)
	return slices.Compact(list)
}
