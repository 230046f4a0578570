package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
)

// maxFree bounds the size of variables with which a condition may be evaluated without counting what it does.
const maxFree = 64 << 10

// fits is the size of variables up to which a condition can't cost more than it may; 0: there is none.
func fits(env *cel.Env, condition *cel.Ast) int {
	for size := maxFree; size >= 256; size /= 4 {
		if estimate, err := env.EstimateCost(condition, sizes(size)); err == nil && estimate.Max <= maxCost {
			return size
		}
	}
	return 0
}

// sizes estimates that each variable, and each part of one, is as large as all of them together.
type sizes uint64

func (s sizes) EstimateSize(node cost.AstNode) *cost.SizeEstimate {
	if len(node.Path()) == 0 {
		return nil // it is computed
	}
	return &cost.SizeEstimate{Max: uint64(s)}
}

func (s sizes) EstimateCallCost(string, string, *cost.AstNode, []cost.AstNode) *cost.CallEstimate {
	return nil
}

// size is that of all variables together, as CEL counts it: no text is longer, and no list or map has more items. Over maxFree it
// may be anything.
func (v *variables) size() int {
	if v.measured == 0 {
		left := maxFree - len(v.Server) - len(v.Tool) - 1 - len(v.Task) - len(v.Caller.Gateway) - 2*len(v.Annotations)
		for _, l := range v.Run.Labels {
			left -= 1 + len(l)
		}
		for name := range v.Annotations {
			left -= len(name)
		}
		v.measured = maxFree - measure(v.Args, left-1)
	}
	return v.measured
}

// measure takes the size of a value off what is left, and stops when nothing is.
func measure(value any, left int) int {
	switch value := value.(type) {
	case string:
		return left - 1 - len(value)
	case []any:
		left--
		for _, item := range value {
			if left < 0 {
				return left
			}
			left = measure(item, left)
		}
		return left
	case map[string]any:
		left--
		for name, item := range value {
			if left < 0 {
				return left
			}
			left = measure(item, left-1-len(name))
		}
		return left
	}
	return left - 1
}

// constant are the functions whose work or result can be much more than in proportion to what they are given, and which of their
// arguments must therefore be constant; -1: the last.
var constant = map[string]int{"matches": -1, "replace": 1, "join": 0, "indexOf": 0, "lastIndexOf": 0}

// constants refuses what could make much of little before anybody counts: a text of a program's choice in the place of a constant, or two
// of its lists compared item by item.
func constants(condition *cel.Ast) error {
	var wrong error
	ast.PostOrderVisit(condition.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		call := e.AsCall()
		args, name := call.Args(), call.FunctionName()
		if strings.HasPrefix(name, "sets.") && !slices.ContainsFunc(args, func(a ast.Expr) bool { return a.Kind() == ast.ListKind }) {
			wrong = errors.New(name + ": one of the two lists must stand in the rule, as [\"a\", \"b\"]: two long ones would take too long")
		}
		i, must := constant[name]
		if i < 0 {
			i = len(args) - 1
		}
		if must && i < len(args) && args[i].Kind() != ast.LiteralKind {
			wrong = fmt.Errorf("%s: argument %d must be a text in the rule, as \"a\": one from the call could make it take too long", name, i+1)
		}
	}))
	return wrong
}
