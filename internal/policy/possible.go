package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Partly is a call of which not all is known, as a log tells of it. What is not known may have been anything.
type Partly struct {
	Call

	NoArgs, NoAnnotations, NoTask, NoGateway bool

	// What the run may have had besides what Call says, at the most.
	MoreLabels                []string
	MoreMutations, MoreDenied int64
}

// unknown reports whether a variable of conditions is not known.
func (c *Partly) unknown(name string) bool {
	switch name {
	case "args":
		return c.NoArgs
	case "annotations":
		return c.NoAnnotations
	case "task":
		return c.NoTask
	case "caller.gateway":
		return c.NoGateway
	case "run.labels":
		return len(c.MoreLabels) > 0
	case "run.mutations":
		return c.MoreMutations > 0
	case "run.denied":
		return c.MoreDenied > 0
	}
	return false
}

// Possible is what a policy may say about a call of which not all is known. What Decide would say if it knew is among it.
type Possible struct {
	Actions []Action // in their order: one, or more where nobody can tell
	By      string   // the rule, flow or limit that decides, if there is one action
	Unsure  []string // why there are more

	Labels, MoreLabels []string // that the result brings, and that it may bring
	Reads, Mutates     bool     // it may be a call that changes nothing, that changes something
}

// Possible gives each decision that may be the right one, and maybe some more: it takes each thing that is not known for itself.
func (p *Policy) Possible(c *Partly) Possible {
	var s possibilities
	m := p.matching(c.Server, c.Tool)
	out := p.possibleRules(c, m.rules, &s)
	for i := range p.flows {
		p.flows[i].possibly(c, &out, &s)
	}
	if limit := p.limits.MutationsPerRun; limit > 0 && out.Mutates && c.Run.Mutations+c.MoreMutations >= limit {
		if !out.Reads && c.Run.Mutations >= limit {
			s.only(Deny, RuleMutations)
		} else {
			s.add(Deny, RuleMutations, "the run may have made as many calls that change something as it may")
		}
	}
	if limit := p.limits.CallsPerRun; limit > 0 && c.Run.Calls >= limit {
		s.only(Deny, RuleCalls)
	}
	if m.deny != nil {
		s.only(Deny, RuleDeny)
	}
	s.finish(&out)
	return out
}

// possibilities has what may be decided, strictest first.
type possibilities [Allow + 1]struct {
	may     bool
	by, why string
}

// add makes an action possible, which it is because of something that is not known, or for sure.
func (s *possibilities) add(a Action, by, why string) {
	if o := &s[a]; !o.may {
		o.may, o.by, o.why = true, by, why
	}
}

// atMost makes an action that is certain of all those that are less strict.
func (s *possibilities) atMost(a Action, by string) {
	for i := a + 1; i <= Allow; i++ {
		if s[i].may {
			s[i].may = false
			s.add(a, by, s[i].why)
		}
	}
}

func (s *possibilities) only(a Action, by string) {
	*s = possibilities{}
	s.add(a, by, "")
}

func (s *possibilities) finish(out *Possible) {
	for a := range s {
		if !s[a].may {
			continue
		}
		out.Actions, out.By = append(out.Actions, Action(a)), s[a].by
		if s[a].why != "" {
			out.Unsure = append(out.Unsure, s[a].why)
		}
	}
	if len(out.Actions) == 1 {
		out.Unsure = nil
	} else {
		out.By = ""
	}
}

// possibleRules is byRules for what is not known.
func (p *Policy) possibleRules(c *Partly, rules []int, s *possibilities) Possible {
	v := &variables{Call: &c.Call}
	var out Possible
	var sure, unsure []*rule // that decide
	for _, i := range rules {
		r := &p.rules[i]
		holds, certain := r.possibly(c, v)
		switch {
		case !certain:
			out.MoreLabels = append(out.MoreLabels, r.labels...)
		case holds:
			out.Labels = append(out.Labels, r.labels...)
		}
		switch {
		case r.label || certain && !holds:
		case certain:
			sure = append(sure, r)
		default:
			unsure = append(unsure, r)
		}
	}
	base := p.unknown
	if len(sure) > 0 {
		strictest := slices.MinFunc(sure, func(a, b *rule) int { return int(a.action - b.action) })
		base = strictest.action
		s.add(base, strictest.name, "")
	} else {
		s.add(base, RuleUnknown, "")
	}
	for _, r := range unsure {
		if len(sure) == 0 || r.action < base {
			s.add(r.action, r.name, r.unsure(c))
		}
	}
	out.Reads = !slices.ContainsFunc(sure, (*rule).mutates) &&
		(len(sure) > 0 || slices.ContainsFunc(unsure, func(r *rule) bool { return !r.mutates() }))
	out.Mutates = len(sure) == 0 || slices.ContainsFunc(slices.Concat(sure, unsure), (*rule).mutates)
	out.readLabel()
	return out
}

func distinct(labels []string) []string {
	slices.Sort(labels)
	return slices.Compact(labels)
}

func (r *rule) mutates() bool { return !slices.Contains(r.labels, LabelRead) }

// readLabel leaves the label of reads where it is certain, or possible, that the call is one.
func (out *Possible) readLabel() {
	out.Labels, out.MoreLabels = distinct(out.Labels), distinct(out.MoreLabels)
	isRead := func(l string) bool { return l == LabelRead }
	if out.Mutates {
		out.Labels = slices.DeleteFunc(out.Labels, isRead)
	}
	out.MoreLabels = slices.DeleteFunc(out.MoreLabels, isRead)
	if out.Reads && out.Mutates {
		out.MoreLabels = append(out.MoreLabels, LabelRead)
	}
}

// possibly is holds, and whether that is certain.
func (r *rule) possibly(c *Partly, v *variables) (holds, certain bool) {
	if r.condition != nil {
		for name := range r.condition.reads {
			if c.unknown(name) {
				return false, false
			}
		}
	}
	holds, _ = r.holds(v)
	return holds, true
}

// unsure says what is not known that the rule looks at.
func (r *rule) unsure(c *Partly) string {
	var names []string
	for name := range r.condition.reads {
		if c.unknown(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("rule %q looks at %s", r.name, strings.Join(names, " and "))
}

// possibly is what the flow may make of a call.
func (f *flow) possibly(c *Partly, out *Possible, s *possibilities) {
	_, had := common(f.from, c.Run.Labels)
	_, goes := common(f.to, out.Labels)
	if had && goes {
		s.atMost(f.action, f.name)
		return
	}
	from, mayHave := common(f.from, slices.Concat(c.Run.Labels, c.MoreLabels))
	to, mayGo := common(f.to, slices.Concat(out.Labels, out.MoreLabels))
	if !mayHave || !mayGo {
		return
	}
	var why []string
	if !had {
		why = append(why, "the run may have read what is "+from)
	}
	if !goes {
		why = append(why, "this call may be "+to)
	}
	for a := f.action + 1; a <= Allow; a++ {
		if s[a].may {
			s.add(f.action, f.name, fmt.Sprintf("flow %q: %s", f.name, strings.Join(why, ", and ")))
		}
	}
}
