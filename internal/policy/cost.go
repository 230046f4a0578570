package policy

import (
	"errors"
	"fmt"

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

// constants refuses what could make much of little before anybody counts: a pattern, replacement or separator that a program chose, or
// two of its lists compared item by item.
func constants(condition *cel.Ast) error {
	var wrong error
	ast.PostOrderVisit(condition.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		call := e.AsCall()
		args, name := call.Args(), call.FunctionName()
		must := -1 // be constant
		switch name {
		case "matches":
			must = len(args) - 1
		case "replace":
			must = 1
		case "join":
			must = 0
		case "sets.contains", "sets.equivalent", "sets.intersects":
			if len(args) == 2 && args[0].Kind() != ast.ListKind && args[1].Kind() != ast.ListKind {
				wrong = errors.New(name + ": one of the two lists must stand in the rule, as [\"a\", \"b\"]: two long ones would take too long")
			}
		}
		if must >= 0 && must < len(args) && args[must].Kind() != ast.LiteralKind {
			wrong = fmt.Errorf("%s: argument %d must be a text in the rule, as \"a\": one from the call could make it take too long", name, must+1)
		}
	}))
	return wrong
}
