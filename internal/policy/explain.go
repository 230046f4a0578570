package policy

import "strings"

// Step is one thing that was looked at for a decision.
type Step struct {
	What    string // deny, a rule, a flow, a limit, or unknown
	Place   string // file:line, where there is one
	Action  Action // what it would make of the call
	Matched bool
	Why     string
}

// Explain decides, and tells each rule that was looked at. Rules for other tools are not among them.
func (p *Policy) Explain(c *Call) (Decision, []Step) {
	var steps []Step
	d := p.decide(c, &steps)
	return d, steps
}

func (r *rule) step(holds bool, err error) Step {
	s := Step{What: "rule " + r.name, Place: r.place, Action: r.action, Matched: holds, Why: "its tools match"}
	switch {
	case err != nil && holds:
		s.Why = "its condition can't be evaluated (" + err.Error() + "), which never makes a call more allowed"
	case err != nil:
		s.Why = "its condition can't be evaluated (" + err.Error() + "), so it does not allow"
	case r.condition != nil && holds:
		s.Why = "when " + r.condition.text
	case r.condition != nil:
		s.Why = "not when " + r.condition.text
	}
	return s
}

func (f *flow) step(from, to string) Step {
	s := Step{What: "flow " + f.name, Place: f.place, Action: f.action}
	switch {
	case from == "":
		s.Why = "the run has read nothing that is " + strings.Join(f.from, " or ")
	case to == "":
		s.Why = "this call is not " + strings.Join(f.to, " or ")
	default:
		s.Matched, s.Why = true, f.reason(from, to)
	}
	return s
}
