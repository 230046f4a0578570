package policy

import "cel.dev/cel-go/cel"

// Cost is what a condition costs for a call, and what it costs at the most for one of its size.
func Cost(text string, c *Call) (actual, bound uint64, err error) {
	env, _ := environments()
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return 0, 0, issues.Err()
	}
	program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostTracking(nil))
	if err != nil {
		return 0, 0, err
	}
	v := &variables{Call: c}
	_, details, _ := program.Eval(v) // an error costs, too
	estimate, err := env.EstimateCost(ast, sizes(v.size()))
	return *details.ActualCost(), estimate.Max, err
}

// Fits is the size up to which a condition is not counted.
func Fits(text string) (int, error) {
	c, err := compile(text, Deny, false)
	if err != nil {
		return 0, err
	}
	return c.fits, nil
}
