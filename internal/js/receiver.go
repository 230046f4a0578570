package js

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// nameReceiver says in goja's own type errors which expression it was, and what that is as far as is known: "Object
// has no member 'list'" becomes "issues.list is not a function: `issues` is an array". The expression is found in the
// tree, which is made once more for this, at the place of the error; what it is, by known.go. No code of the program
// runs.
func (e *Engine) nameReceiver(failure *Error, at thrownPlace) {
	report, ok := strings.CutPrefix(failure.Message, "TypeError: ")
	if !ok {
		return
	}
	text := e.source.compiled()
	if len(text) > maxNamed {
		return
	}
	tree, err := parseProgram(text)
	if err != nil {
		return
	}
	s := scene{e: e, tree: tree, text: text}
	walk(tree, func(n ast.Node) bool {
		s.nodes = append(s.nodes, n)
		return true
	})
	s.at = file.Idx(byteOffset(text, at.Line, at.Column-1) + tree.File.Base())
	better := ""
	switch at.depth {
	case 0:
		better = s.explain(report)
	case 1:
		if better = s.within(report); better == "" {
			better = s.spread(report)
		}
	}
	if better != "" {
		failure.Message = clipText("TypeError: "+better, maxMessage)
		if name := s.missing; name != "" && failure.Hint == "" {
			failure.Hint = e.undefinedHint(name)
		}
	}
}

// maxNamed is the size of a text that is read once more for the sake of a message.
const maxNamed = 256 << 10

// scene is the place of an error in the compiled text.
type scene struct {
	e       *Engine
	tree    *ast.Program
	nodes   []ast.Node // in the order of the text
	text    string
	at      file.Idx
	missing string // the property of globalThis that was called
}

var (
	noMember    = lazily(`^Object has no member '(.*)'$`)
	noProperty  = lazily(`^Cannot read property '(.*)' of undefined(?: or null)?$`)
	notCallable = lazily(`^(?:Value is not an object: .*|Not a function: .*)$`)
	notObject   = lazily(`^(?:Value is not object coercible|Cannot convert undefined or null to object)$`)
)

func (s *scene) explain(report string) string {
	if m := noProperty().FindStringSubmatch(report); m != nil {
		return s.unread(m[1])
	}
	switch {
	case noMember().MatchString(report):
		return s.uncalled()
	case notCallable().MatchString(report):
		if better := s.uncalled(); better != "" {
			return better
		}
		return s.unconstructed()
	case notObject().MatchString(report):
		return s.absent()
	case report == "object is not iterable":
		return s.uniterated()
	case report == "Value is not a constructor":
		return s.unconstructed()
	}
	return ""
}

// within explains what a built-in function could not do with its first argument.
func (s *scene) within(report string) (better string) {
	s.each(func(n ast.Node) {
		c, ok := n.(*ast.CallExpression)
		if !ok || c.LeftParenthesis != s.at || len(c.ArgumentList) == 0 {
			return
		}
		argument := c.ArgumentList[0]
		switch {
		case report == "Cannot convert undefined or null to object":
			better = fmt.Sprintf("%s: `%s` is undefined or null", s.name(c.Callee), s.name(argument))
		case report == "object is not iterable":
			better = s.name(c.Callee) + ": " + s.notIterable(argument)
		}
	})
	return better
}

// spread explains what an array literal could not take the items of, which a function of ours does, see rewrite.go.
func (s *scene) spread(report string) string {
	for _, n := range s.nodes {
		if x, ok := n.(*ast.SpreadElement); ok && x.Expression.Idx0() == s.at {
			return s.explain(report)
		}
	}
	return ""
}

// uncalled explains a call of what is no function.
func (s *scene) uncalled() string {
	var callee ast.Expression
	s.each(func(n ast.Node) {
		if c, ok := n.(*ast.CallExpression); ok && c.LeftParenthesis == s.at {
			callee = c.Callee
		}
	})
	if callee == nil {
		return ""
	}
	return s.name(callee) + " is not a function" + s.because(callee)
}

// because says what a callee is, or what it was looked for in.
func (s *scene) because(callee ast.Expression) string {
	if k := s.known(callee); k.kind != "" && k.kind != "undefined" {
		return ": it is " + k.kind
	}
	left, member := receiver(callee)
	if left == nil {
		return ""
	}
	if id, ok := left.(*ast.Identifier); ok && id.Name == "globalThis" {
		s.missing = member
		return ""
	}
	if k := s.known(left); k.kind != "" && !s.has(k, member) {
		return fmt.Sprintf(": `%s` is %s", s.name(left), k.kind)
	}
	return ""
}

// unread explains a property of undefined or null.
func (s *scene) unread(member string) string {
	var left ast.Expression
	s.each(func(n ast.Node) {
		x, ok := n.(ast.Expression)
		if !ok || s.at < x.Idx0() || s.at >= x.Idx1() {
			return
		}
		// Inner nodes come later: the last is the smallest that could have read this.
		if l, name := receiver(x); l != nil && (name == member || name == "") {
			left = l
		}
	})
	if left == nil {
		return ""
	}
	kind := "undefined or null"
	of := ""
	if k := s.known(left); k.kind == "undefined" || k.kind == "null" {
		kind, of = k.kind, " of "+k.kind
	}
	return fmt.Sprintf("Cannot read property '%s'%s: `%s` is %s", member, of, s.name(left), kind) + s.keysAround(left)
}

// keysAround says what there was beside a property that is missing.
func (s *scene) keysAround(x ast.Expression) string {
	left, member := receiver(x)
	if left == nil || member == "" {
		return ""
	}
	if k := s.known(left); k.kind != "" && k.kind != "undefined" && !s.has(k, member) {
		return fmt.Sprintf(", as `%s` is %s", s.name(left), k.kind)
	}
	return ""
}

// absent explains what can't be made of undefined or null.
func (s *scene) absent() (report string) {
	s.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.ForOfStatement:
			if s.covers(n.Source) {
				report = s.absentSource(n)
			}
		case *ast.SpreadElement:
			if s.covers(n.Expression) {
				report = fmt.Sprintf("`%s` is undefined or null, and not iterable", s.name(n.Expression))
			}
		case *ast.Binding:
			if _, pattern := n.Target.(ast.Pattern); pattern && n.Initializer != nil && s.covers(n.Initializer) {
				report = fmt.Sprintf("`%s`%s is undefined or null, and can't be taken apart", s.name(n.Initializer), s.orPart(n.Target, n.Initializer))
			}
		case *ast.ParameterList:
			if n.Opening <= s.at && s.at <= n.Closing {
				report = s.absentArgument(n)
			}
		case *ast.AssignExpression:
			if left, member := receiver(n.Left); left != nil && n.Left.Idx0() <= s.at && s.at < n.Left.Idx1() {
				report = fmt.Sprintf("Cannot set property '%s': `%s` is undefined or null", member, s.name(left))
			}
		}
	})
	return report
}

// absentSource explains a loop that could not go on: over nothing, or because of an item that it takes apart.
func (s *scene) absentSource(n *ast.ForOfStatement) string {
	name := s.name(n.Source)
	target := ast.Expression(nil)
	switch into := n.Into.(type) {
	case *ast.ForDeclaration:
		target = into.Target
	case *ast.ForIntoVar:
		target = into.Binding.Target
	}
	if _, pattern := target.(ast.Pattern); !pattern {
		return fmt.Sprintf("`%s` is undefined or null, and not iterable", name)
	}
	item := fmt.Sprintf("an item of `%s`%s", name, s.orPart(target, nil))
	if k := s.known(n.Source); k.kind != "an array" {
		item = fmt.Sprintf("`%s`, or %s", name, item)
	}
	return item + " is undefined or null, and can't be taken apart"
}

// absentArgument explains a call of a function that takes an argument apart.
func (s *scene) absentArgument(list *ast.ParameterList) string {
	for _, b := range list.List {
		if _, pattern := b.Target.(ast.Pattern); pattern {
			return fmt.Sprintf("what the function was given for `%s`%s is undefined or null, and can't be taken apart", s.name(b.Target), s.orPart(b.Target, nil))
		}
	}
	return ""
}

// orPart says that it may not be the value itself that could not be taken apart, but a part of it for which the pattern has a
// pattern.
func (s *scene) orPart(target, value ast.Expression) string {
	var parts []string
	if p, ok := target.(*ast.ObjectPattern); ok {
		for _, property := range p.Properties {
			keyed, ok := property.(*ast.PropertyKeyed)
			if !ok {
				continue
			}
			if _, pattern := keyed.Value.(ast.Pattern); pattern {
				parts = append(parts, "`"+s.name(keyed.Key)+"`")
			}
		}
	}
	switch {
	case len(parts) == 0:
		return ""
	case value != nil && s.known(value).kind != "" && s.known(value).kind != "undefined" && s.known(value).kind != "null":
		return "'s " + strings.Join(parts, " or ")
	}
	return ", or its " + strings.Join(parts, " or ") + ","
}

func (s *scene) uniterated() (report string) {
	s.each(func(n ast.Node) {
		var x ast.Expression
		switch n := n.(type) {
		case *ast.ForOfStatement:
			x = n.Source
		case *ast.SpreadElement:
			x = n.Expression
		case *ast.Binding:
			if _, pattern := n.Target.(*ast.ArrayPattern); pattern {
				x = n.Initializer
			}
		case *ast.NewExpression:
			if len(n.ArgumentList) > 0 && n.New == s.at {
				report = s.notIterable(n.ArgumentList[0])
			}
		}
		if x != nil && s.covers(x) {
			report = s.notIterable(x)
		}
	})
	return report
}

func (s *scene) notIterable(x ast.Expression) string {
	report := s.name(x) + " is not iterable"
	if k := s.known(x); k.kind != "" && k.kind != "an array" && k.kind != "a string" {
		report += ": it is " + k.kind
	}
	return report
}

func (s *scene) unconstructed() (report string) {
	s.each(func(n ast.Node) {
		if c, ok := n.(*ast.NewExpression); ok && c.New == s.at {
			report = s.name(c.Callee) + " is not a constructor"
		}
	})
	return report
}

// receiver splits access to a property. The member is empty if only running the program could tell it.
func receiver(x ast.Expression) (left ast.Expression, member string) {
	switch x := x.(type) {
	case *ast.DotExpression:
		return x.Left, string(x.Identifier.Name)
	case *ast.BracketExpression:
		switch m := x.Member.(type) {
		case *ast.StringLiteral:
			return x.Left, m.Value.String()
		case *ast.NumberLiteral:
			return x.Left, m.Literal
		}
		return x.Left, ""
	case *ast.Optional:
		return receiver(x.Expression)
	case *ast.OptionalChain:
		return receiver(x.Expression)
	}
	return nil, ""
}

func (s *scene) covers(x ast.Expression) bool { return x.Idx0() <= s.at && s.at < x.Idx1() }

func (s *scene) each(visit func(ast.Node)) {
	for _, n := range s.nodes {
		visit(n)
	}
}

// maxName is how much of an expression a message shows, in characters.
const maxName = 60

// name is the text of an expression, on one line.
func (s *scene) name(x ast.Expression) string {
	from, to := int(x.Idx0())-s.tree.File.Base(), int(x.Idx1())-s.tree.File.Base()
	if from < 0 || to > len(s.text) || from >= to {
		return "it"
	}
	words := strings.Join(strings.Fields(s.text[from:to]), " ")
	if n := strings.Count(words, ")") - strings.Count(words, "("); n > 0 { // those that it begins with are not in the tree
		words = strings.Repeat("(", n) + words
	}
	text := []rune(words)
	if len(text) > maxName {
		return string(text[:maxName]) + "…"
	}
	return string(text)
}

// has says that a value has a member, as its kind has or its own keys say: then it is not what the error is about.
func (s *scene) has(k known, member string) bool {
	if member == "" || slices.Contains(k.keys, member) {
		return true
	}
	class, ok := map[string]string{"an array": "Array", "a string": "String", "a number": "Number", "a Map": "Map", "a Set": "Set", "a Date": "Date"}[k.kind]
	if !ok {
		return false
	}
	proto, ok := s.e.global(class).Get("prototype").(*goja.Object)
	if !ok {
		return true
	}
	_, has := (&inspector{e: s.e}).own(proto, member)
	return has
}
