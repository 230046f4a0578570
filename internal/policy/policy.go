// Package policy decides on tool calls, by rules that people write.
//
// All rules whose tools and condition match a call have a say, and the strictest counts: deny beats ask, ask beats allow. Their order
// only says whose name is told. What no rule matches is unknown, and unknown is denied unless the policy says otherwise. A condition
// that can't be evaluated makes no call more allowed: the rule does not allow, but it asks or denies as if it held.
package policy

import (
	"fmt"
	"slices"
	"sync"
	"unicode"
)

// Action is what happens to a call. The zero value denies; a smaller one is stricter.
type Action int

const (
	Deny Action = iota
	Ask
	Allow
)

func (a Action) String() string {
	switch a {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	}
	return "deny"
}

// Names of what decides that is no rule of a file.
const (
	RuleDeny      = "deny"
	RuleUnknown   = "unknown"
	RuleCalls     = "limits.calls_per_run"
	RuleMutations = "limits.mutations_per_run"
)

var reserved = []string{RuleDeny, RuleUnknown, RuleCalls, RuleMutations}

// LabelRead is the label of calls that change nothing. It counts only if all rules that match a call have it.
const LabelRead = "read"

// Policy is a policy that was read. It does not change, and may be used by many at once.
type Policy struct {
	deny    []pattern
	unknown Action
	rules   []rule
	flows   []flow
	limits  Limits
	redact  AnswerRedaction

	byTool sync.Map // of [2]string, server and tool: []int, the rules whose tools match
	known  counter
}

// Limits are those of the policy; 0: it has none.
type Limits struct {
	CallsPerRun, MutationsPerRun, DeniedPerRun int64
	RunsPerMinute, MutationsPerMinute          int64 // of one caller
}

// Limits returns what the policy limits. Counting is for its user.
func (p *Policy) Limits() Limits { return p.limits }

// Redaction says where secrets are taken out of a call.
type Redaction struct{ Arguments, Result bool }

// AnswerRedaction says where secrets are taken out of the answer to a run.
type AnswerRedaction struct{ Value, Console, Errors bool }

// Redact returns what secrets are taken out of before it leaves the run for the caller.
func (p *Policy) Redact() AnswerRedaction { return p.redact }

// rule says what happens to calls of some tools.
type rule struct {
	name      string
	tools     []pattern
	condition *condition // nil: always
	action    Action
	label     bool // it brings labels, and decides nothing
	skipGuard bool
	labels    []string
	redact    Redaction
	place     string // file:line
}

// flow says what happens to calls with one of the labels to, in a run that has one of the labels from.
type flow struct {
	name     string
	from, to []string
	action   Action
	place    string
}

// Call is what is known of a call before it is made. Arguments are as JSON: maps, slices, strings, int64, float64, bool and nil.
type Call struct {
	Server, Tool string
	Args         map[string]any
	Annotations  map[string]bool // what the server says of the tool, such as readOnlyHint
	Run          Run
	Caller       Caller
	Task         string // the user's request
}

// Run is what the run has done before this call.
type Run struct {
	Calls, Mutations, Denied int64
	Labels                   []string
}

// Caller is who runs the program, by the kernel's account but for the gateway's name.
type Caller struct {
	UID, GID uint32
	Gateway  string
}

// Decision is what the policy says about a call.
type Decision struct {
	Action Action
	Rule   string   // the name of the rule, flow or limit that decided
	Reason string   // for the program, and for people
	Guard  bool     // whether a guard is to be asked, if there is one
	Read   bool     // the call changes nothing, by all rules that match it
	Labels []string // what its result brings into the run
	Redact Redaction
}

// Decide says what happens to a call: the same for the same call, whatever was decided before.
func (p *Policy) Decide(c *Call) Decision { return p.decide(c, nil) }

// decide decides, and tells each step if somebody wants to know.
func (p *Policy) decide(c *Call, tell *[]Step) Decision {
	for _, d := range p.deny {
		if d.matches(c.Server, c.Tool) {
			if tell != nil {
				*tell = append(*tell, Step{What: RuleDeny, Matched: true, Why: fmt.Sprintf("%s is denied, and no rule overrides that", d)})
			}
			return Decision{Rule: RuleDeny, Reason: fmt.Sprintf("%s.%s may never be called (deny: %s)", c.Server, c.Tool, d)}
		}
	}
	if limit := p.limits.CallsPerRun; limit > 0 && c.Run.Calls >= limit {
		return Decision{Rule: RuleCalls, Reason: fmt.Sprintf("the run has made its %d calls", limit)}
	}
	d := p.byRules(c, tell)
	if d.Action == Deny {
		return d
	}
	if limit := p.limits.MutationsPerRun; limit > 0 && !d.Read && c.Run.Mutations >= limit {
		return Decision{Rule: RuleMutations, Reason: fmt.Sprintf("the run has made its %d calls that change something", limit)}
	}
	return p.byFlows(c, d, tell)
}

// byRules is what the rules say, or unknown.
func (p *Policy) byRules(c *Call, tell *[]Step) Decision {
	d := Decision{Action: Allow, Read: true}
	var by *rule // that decides
	var why error
	for _, i := range p.matching(c.Server, c.Tool) {
		r := &p.rules[i]
		holds, err := r.holds(c)
		if tell != nil {
			*tell = append(*tell, r.step(holds, err))
		}
		if !holds {
			continue
		}
		d.Labels = append(d.Labels, r.labels...)
		d.Redact.Arguments = d.Redact.Arguments || r.redact.Arguments
		d.Redact.Result = d.Redact.Result || r.redact.Result
		if r.label {
			continue
		}
		if by == nil || r.action < by.action {
			by, why = r, err
		}
		d.Guard = d.Guard || !r.skipGuard
		d.Read = d.Read && slices.Contains(r.labels, LabelRead)
		if r.action == Deny {
			return Decision{Rule: r.name, Reason: r.reason(err)}
		}
	}
	if by != nil {
		d.Action, d.Rule, d.Reason = by.action, by.name, by.reason(why)
	} else {
		d.Action, d.Rule, d.Guard, d.Read = p.unknown, RuleUnknown, true, false
		d.Reason = fmt.Sprintf("no rule matches this call of %s.%s", c.Server, c.Tool)
		if tell != nil {
			*tell = append(*tell, Step{What: RuleUnknown, Action: p.unknown, Matched: true, Why: d.Reason})
		}
	}
	d.Labels = slices.DeleteFunc(distinct(d.Labels), func(l string) bool { return l == LabelRead && !d.Read })
	return d
}

// holds reports whether the rule has a say about a call of one of its tools. An error never makes a call more allowed.
func (r *rule) holds(c *Call) (bool, error) {
	if r.condition == nil {
		return true, nil
	}
	held, err := r.condition.holds(c)
	if err != nil {
		return r.action != Allow || r.label, err
	}
	return held, nil
}

func (r *rule) reason(err error) string {
	switch {
	case err != nil:
		return fmt.Sprintf("the condition of rule %q can't be evaluated for this call: %v", r.name, err)
	case r.condition != nil:
		return fmt.Sprintf("rule %q: %s when %s", r.name, r.action, r.condition.text)
	}
	return fmt.Sprintf("rule %q: %s", r.name, r.action)
}

// byFlows makes a decision stricter if the call would send on what the run has read.
func (p *Policy) byFlows(c *Call, d Decision, tell *[]Step) Decision {
	for i := range p.flows {
		f := &p.flows[i]
		from, has := common(f.from, c.Run.Labels)
		to, goes := common(f.to, d.Labels)
		if tell != nil {
			*tell = append(*tell, f.step(from, to))
		}
		if has && goes && f.action < d.Action {
			d.Action, d.Rule, d.Reason = f.action, f.name, f.reason(from, to)
		}
	}
	return d
}

func (f *flow) reason(from, to string) string {
	return fmt.Sprintf("the run has read what is %s, and this call is %s", from, to)
}

// maxKnown bounds how many tools' rules are remembered; a gateway names its tools.
const maxKnown = 10_000

// matching are the rules for a tool, in their order.
func (p *Policy) matching(server, tool string) []int {
	key := [2]string{server, tool}
	if found, ok := p.byTool.Load(key); ok {
		return found.([]int)
	}
	var found []int
	for i, r := range p.rules {
		if slices.ContainsFunc(r.tools, func(t pattern) bool { return t.matches(server, tool) }) {
			found = append(found, i)
		}
	}
	if p.known.next(maxKnown) {
		p.byTool.Store(key, found)
	}
	return found
}

// common is the first label that is in both.
func common(a, b []string) (string, bool) {
	for _, l := range a {
		if slices.Contains(b, l) {
			return l, true
		}
	}
	return "", false
}

func distinct(labels []string) []string {
	var once []string
	for _, l := range labels {
		if !slices.Contains(once, l) {
			once = append(once, l)
		}
	}
	return once
}

// hidden are characters that a name should not have: they can't be seen, or make it look like another one.
func hidden(r rune) bool { return !unicode.IsPrint(r) }
