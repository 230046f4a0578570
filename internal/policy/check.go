package policy

import (
	"fmt"
	"slices"
)

// Warnings are what a policy says in vain, or what it opens: nobody who wrote it meant that, most likely. A policy with warnings
// works.
func (p *Policy) Warnings() []string {
	var all []string
	warn := func(place, format string, args ...any) {
		all = append(all, fmt.Sprintf("%s: %s", place, fmt.Sprintf(format, args...)))
	}
	if p.unknown == Allow {
		warn(p.openAt, "unknown: allow lets every call through that no rule names: use ask or deny, and name what may be called")
	}
	for i := range p.rules {
		r := &p.rules[i]
		if !slices.ContainsFunc(r.tools, func(t pattern) bool { return !covered(p.deny, t) }) {
			warn(r.place, "rule %q is never reached: deny names all of its tools", r.name)
			continue
		}
		if r.condition != nil && r.condition.never {
			warn(r.place, "rule %q never matches: %s is false for every call", r.name, r.condition.text)
			continue
		}
		if r.action == Allow && !r.label && r.skipGuard && r.condition == nil && slices.Contains(r.tools, pattern{"*", "*"}) {
			warn(r.place, "rule %q allows every tool, without asking the guard", r.name)
		}
		for j := range p.rules {
			other := &p.rules[j]
			if other.condition != nil || other.label || r.label || other.action >= r.action {
				continue
			}
			if !slices.ContainsFunc(r.tools, func(t pattern) bool { return !covered(other.tools, t) }) {
				warn(r.place, "rule %q never decides: rule %q (%s) makes all of its tools %s", r.name, other.name, other.place, other.action)
				break
			}
		}
	}
	return all
}

func covered(by []pattern, t pattern) bool {
	return slices.ContainsFunc(by, func(p pattern) bool { return p.covers(t) })
}
