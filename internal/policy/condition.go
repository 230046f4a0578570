package policy

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
)

// maxCost bounds what a condition may do, in CEL's units: some milliseconds, whatever the arguments are. One that would do more
// counts as one that can't be evaluated.
const maxCost = 100_000

// maxCondition bounds the text of a condition.
const maxCondition = 8 << 10

// condition is a CEL expression over a call.
type condition struct {
	text    string
	never   bool            // it is false whatever the call is
	reads   map[string]bool // the variables that it names
	program cel.Program
}

// environments of conditions. What a server says of its own tools must not allow a call, so that rules that allow don't see it.
var environment, allowing = func() (*cel.Env, *cel.Env) {
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
		ext.Strings(ext.StringsVersion(4)), ext.Sets(), ext.Math(), ext.Network(),
		cel.ParserExpressionSizeLimit(maxCondition), cel.ParserRecursionLimit(50),
	)
	if err != nil {
		panic(err) // it depends on nothing but this text
	}
	all, err := allowing.Extend(cel.Variable("annotations", cel.MapType(cel.StringType, cel.BoolType)))
	if err != nil {
		panic(err)
	}
	return all, allowing
}()

func compile(text string, action Action, label bool) (*condition, error) {
	env := environment
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
	program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost))
	if err != nil {
		return nil, err
	}
	// Of a call of which nothing is known, only what does not depend on the call has a value.
	value, _, err := program.Eval(cel.NoVars())
	return &condition{text, err == nil && value == types.False, reads(ast), program}, nil
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
func (c *condition) holds(call *Call) (bool, error) {
	value, _, err := c.program.Eval(call)
	if err != nil {
		return false, err
	}
	held, ok := value.Value().(bool)
	if !ok {
		return false, fmt.Errorf("it gave %s", value.Type())
	}
	return held, nil
}

// ResolveName gives a condition its variables.
func (c *Call) ResolveName(name string) (any, bool) {
	switch name {
	case "args":
		return c.Args, true
	case "server":
		return c.Server, true
	case "tool":
		return c.Server + "." + c.Tool, true
	case "task":
		return c.Task, true
	case "annotations":
		return c.Annotations, true
	case "run.calls":
		return c.Run.Calls, true
	case "run.mutations":
		return c.Run.Mutations, true
	case "run.denied":
		return c.Run.Denied, true
	case "run.labels":
		return c.Run.Labels, true
	case "caller.uid":
		return int64(c.Caller.UID), true
	case "caller.gid":
		return int64(c.Caller.GID), true
	case "caller.gateway":
		return c.Caller.Gateway, true
	}
	return nil, false
}

// Parent has no more variables.
func (c *Call) Parent() cel.Activation { return nil }
