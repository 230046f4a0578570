package js

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// defaultName holds what `export default` stands before, if that has no name of its own. It is as long as `export`,
// in whose place it is written.
const defaultName = "$$main"

var (
	exportName  = lazily(`^export\s+default\s+(?:async\s+)?(?:function\b\s*\*?|class\b)\s*([\pL_$][\pL\pN_$]*)`)
	exportValue = lazily(`^export\s+default\b`)
	exportList  = lazily(`^export\s*\{([^{}]*)\}\s*;?`)
	exportAs    = lazily(`([\pL_$][\pL\pN_$]*)\s+as\s+default\b`)
	exportThis  = lazily(`^export\s+(?:const|let|var|async|function|class|abstract|interface|type|enum|declare|namespace)\b`)
)

// unexport makes a plain statement of the `export` that the parser stumbled over, if it did over one, without moving
// anything. A program is no module: what it exports by default is its value, and other exports mean nothing.
func (s *source) unexport(offset int) bool {
	if offset < s.start || offset >= s.end || !strings.HasPrefix(s.text[offset:s.end], "export") {
		return false
	}
	at := offset - s.start
	rest := s.code[at:]
	if !strings.HasPrefix(rest, "export") { // it was here before
		return false
	}
	if m := exportName().FindStringSubmatchIndex(rest); m != nil && rest[m[2]:m[3]] != "extends" {
		s.exported = rest[m[2]:m[3]]
		s.blank(at, exportValue().FindStringIndex(rest)[1])
		return true
	}
	if m := exportValue().FindStringIndex(rest); m != nil {
		s.exported = defaultName
		s.blank(at, m[1])
		s.write(at, defaultName)
		s.write(at+m[1]-len("default"), "=")
		return true
	}
	if m := exportList().FindStringSubmatchIndex(rest); m != nil {
		if strings.HasPrefix(strings.TrimSpace(rest[m[1]:]), "from") {
			return false
		}
		if as := exportAs().FindStringSubmatch(rest[m[2]:m[3]]); as != nil {
			s.exported = as[1]
		}
		s.blank(at, m[1])
		return true
	}
	if exportThis().MatchString(rest) {
		s.blank(at, len("export"))
		return true
	}
	return false
}

// blank makes spaces of n bytes of the code, but for the ends of lines.
func (s *source) blank(at, n int) {
	s.write(at, strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return r
		}
		return ' '
	}, s.code[at:at+n]))
}

// write puts other text of the same length into the code.
func (s *source) write(at int, text string) {
	s.code = s.code[:at] + text + s.code[at+len(text):]
	s.wrapped = prefix + s.code + suffix
}

// callExported is the value of a default export: that of a call if it is a function.
func callExported(list []ast.Statement, name string) ast.Expression {
	var params *ast.ParameterList
	var at *ast.Identifier
	for i, s := range list {
		if assign, ok := expression(s).(*ast.AssignExpression); ok {
			if id, ok := assign.Left.(*ast.Identifier); ok && id.Name == defaultName && name == defaultName {
				list[i] = &ast.LexicalDeclaration{Idx: id.Idx, Token: token.CONST, List: []*ast.Binding{{Target: id, Initializer: assign.Right}}}
				at = id
				params = parametersOf(list, assign.Right)
			}
		}
	}
	if at == nil {
		at = declaredName(list, unistring.NewFromString(name))
	}
	if at == nil {
		return nil
	}
	if params == nil {
		params = parametersOf(list, at)
	}
	value := func() ast.Expression { return &ast.Identifier{Name: at.Name, Idx: at.Idx} }
	return &ast.ConditionalExpression{
		Test: &ast.BinaryExpression{
			Operator: token.STRICT_EQUAL, Comparison: true,
			Left:  &ast.UnaryExpression{Operator: token.TYPEOF, Idx: at.Idx, Operand: value()},
			Right: &ast.StringLiteral{Idx: at.Idx, Literal: `"function"`, Value: "function"},
		},
		Consequent: callOf(value(), params),
		Alternate:  value(),
	}
}

// parametersOf are those of a function, or of the one that the program declares under a name.
func parametersOf(list []ast.Statement, x ast.Expression) *ast.ParameterList {
	id, ok := x.(*ast.Identifier)
	if !ok {
		return parameters(x)
	}
	for _, s := range list {
		functions, _ := declared(s)
		for _, f := range functions {
			if f.name.Name == id.Name {
				return f.params
			}
		}
	}
	return nil
}

// declaredName is where the program declares a name.
func declaredName(list []ast.Statement, name unistring.String) *ast.Identifier {
	for _, s := range list {
		switch n := s.(type) {
		case *ast.FunctionDeclaration:
			if n.Function.Name.Name == name {
				return n.Function.Name
			}
		case *ast.ClassDeclaration:
			if n.Class.Name.Name == name {
				return n.Class.Name
			}
		case *ast.LexicalDeclaration:
			if id := bindingOf(n.List, name); id != nil {
				return id
			}
		case *ast.VariableStatement:
			if id := bindingOf(n.List, name); id != nil {
				return id
			}
		}
	}
	return nil
}

func bindingOf(list []*ast.Binding, name unistring.String) *ast.Identifier {
	for _, b := range list {
		if id, ok := b.Target.(*ast.Identifier); ok && id.Name == name {
			return id
		}
	}
	return nil
}
