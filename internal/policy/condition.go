package policy

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
)

// maxCost bounds what a condition may do, in CEL's units: some milliseconds, whatever the arguments are. One that would do more
// counts as one that can't be evaluated. A single function is not stopped on its way: see constants.
const maxCost = 100_000

// maxCondition bounds the text of a condition.
const maxCondition = 8 << 10

// condition is a CEL expression over a call.
type condition struct {
	text    string
	never   bool            // it is false whatever the call is
	reads   map[string]bool // the variables that it names
	program cel.Program     // that stops over maxCost
	fits    int             // the size of variables up to which it can't get there; 0: there is none
	free    cel.Program     // the same, which does not count: several times faster
}

// environments are those of conditions, and of conditions of rules that allow: what a server says of its own tools must not allow a call,
// so that these don't see it.
var environments = sync.OnceValues(func() (all, allowing *cel.Env) {
	allowing, err := cel.NewEnv(
		cel.Variable("args", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("server", cel.StringType),
		cel.Variable("tool", cel.StringType),
		cel.Variable("task", cel.StringType),
		cel.Variable("run.calls", cel.IntType),
		cel.Variable("run.mutations", cel.IntType),
		cel.Variable("run.denied", cel.IntType),
		cel.Variable("run.labels", cel.ListType(cel.StringType)),
		cel.Variable("caller.uid", cel.IntType),
		cel.Variable("caller.gid", cel.IntType),
		cel.Variable("caller.gateway", cel.StringType),
		ext.Strings(ext.StringsVersion(5)), // 4 counts nothing of its work
		ext.Sets(), ext.Math(), ext.Network(),
		cel.ParserExpressionSizeLimit(maxCondition), cel.ParserRecursionLimit(50),
	)
	if err != nil {
		panic(err) // it depends on nothing but this text
	}
	all, err = allowing.Extend(cel.Variable("annotations", cel.MapType(cel.StringType, cel.BoolType)))
	if err != nil {
		panic(err)
	}
	return all, allowing
})

func compile(text string, action Action, label bool) (_ *condition, err error) {
	env, allowing := environments()
	if action == Allow && !label {
		env = allowing
	}
	ast, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		if env == allowing && strings.Contains(err.Error(), "'annotations'") {
			return nil, errors.New("annotations are what a server says of its own tools: they can ask or deny, and not allow; name the tools")
		}
		return nil, errors.New(plain(issues))
	}
	if kind := ast.OutputType(); kind != cel.BoolType && kind != cel.DynType {
		return nil, fmt.Errorf("it gives %s: want true or false", kind)
	}
	if err := constants(ast); err != nil {
		return nil, err
	}
	c := &condition{text: text, reads: reads(ast)}
	if c.program, err = env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost)); err != nil {
		return nil, err
	}
	if c.fits = fits(env, ast); c.fits > 0 {
		if c.free, err = env.Program(ast, cel.EvalOptions(cel.OptOptimize)); err != nil {
			return nil, err
		}
	}
	// Of a call of which nothing is known, only what does not depend on the call has a value.
	value, _, err := c.program.Eval(cel.NoVars())
	c.never = err == nil && value == types.False
	return c, nil
}

// reads are the variables that a condition names.
func reads(ast *cel.Ast) map[string]bool {
	names := make(map[string]bool)
	for _, r := range ast.NativeRep().ReferenceMap() {
		if r.Name != "" && r.Value == nil {
			names[r.Name] = true
		}
	}
	return names
}

// plain is what the compiler found, on one line: where in the condition, and what.
func plain(issues *cel.Issues) string {
	var all []string
	for _, e := range issues.Errors() {
		all = append(all, fmt.Sprintf("column %d: %s", e.Location.Column()+1, strings.ReplaceAll(e.Message, "\n", " ")))
	}
	return strings.Join(all, "; ")
}

// holds evaluates the condition. What is not there, or of another type than the condition takes it for, is an error.
func (c *condition) holds(v *variables) (bool, error) {
	program := c.program
	if c.fits > 0 && v.size() <= c.fits {
		program = c.free
	}
	value, _, err := program.Eval(v)
	if err != nil {
		return false, err
	}
	held, ok := value.Value().(bool)
	if !ok {
		return false, fmt.Errorf("it gave %s", value.Type())
	}
	return held, nil
}

// variables are what conditions look at in one call.
type variables struct {
	*Call
	measured int // 0: it was not, yet
}

// ResolveName gives a condition its variables.
func (v *variables) ResolveName(name string) (any, bool) {
	switch name {
	case "args":
		return v.Args, true
	case "server":
		return v.Server, true
	case "tool":
		return v.Server + "." + v.Tool, true
	case "task":
		return v.Task, true
	case "annotations":
		return v.Annotations, true
	case "run.calls":
		return v.Run.Calls, true
	case "run.mutations":
		return v.Run.Mutations, true
	case "run.denied":
		return v.Run.Denied, true
	case "run.labels":
		return v.Run.Labels, true
	case "caller.uid":
		return int64(v.Caller.UID), true
	case "caller.gid":
		return int64(v.Caller.GID), true
	case "caller.gateway":
		return v.Caller.Gateway, true
	}
	return nil, false
}

// Parent has no more variables.
func (v *variables) Parent() cel.Activation { return nil }
