package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sandboxd/sandboxd/internal/policy"
)

// decisionJSON is a decision and how it came about.
type decisionJSON struct {
	Decision string     `json:"decision"`
	Rule     string     `json:"rule"`
	Reason   string     `json:"reason"`
	Guard    bool       `json:"guard"`
	Read     bool       `json:"read"`
	Labels   []string   `json:"labels"`
	Steps    []stepJSON `json:"steps"`
}

type stepJSON struct {
	What    string `json:"what"`
	Place   string `json:"place,omitempty"`
	Action  string `json:"action"`
	Matched bool   `json:"matched"`
	Why     string `json:"why"`
}

func asJSON(d policy.Decision, steps []policy.Step) decisionJSON {
	all := decisionJSON{d.Action.String(), d.Rule, d.Reason, d.Guard, d.Read, append([]string{}, d.Labels...), []stepJSON{}}
	for _, s := range steps {
		all.Steps = append(all.Steps, stepJSON{s.What, s.Place, s.Action.String(), s.Matched, s.Why})
	}
	return all
}

// printDecision says who decided, why, what follows from it, and what was looked at.
func printDecision(w io.Writer, indent string, d policy.Decision, steps []policy.Step) {
	fmt.Fprintf(w, "%sdecided by %s: %s\n", indent, printable(d.Rule), printable(d.Reason))
	if d.Action != policy.Deny {
		guard, labels := "not asked", "nothing"
		if d.Guard {
			guard = "asked, if there is one"
		}
		if len(d.Labels) > 0 {
			labels = strings.Join(d.Labels, ", ")
		}
		fmt.Fprintf(w, "%sguard: %s; its result brings: %s; a read: %v\n", indent, guard, labels, d.Read)
	}
	for i, s := range steps {
		matched, place := "no ", ""
		if s.Matched {
			matched = "yes"
		}
		if s.Place != "" {
			place = " (" + s.Place + ")"
		}
		fmt.Fprintf(w, "%s%3d. %s  %s%s, %s: %s\n", indent, i+1, matched, printable(s.What), printable(place), s.Action, printable(s.Why))
	}
}

func (o *policyOptions) printReplay(r *replay) error {
	nChanged := 0
	for _, n := range r.changes {
		nChanged += n
	}
	if o.json {
		return printJSON(o.out, struct {
			Runs    int            `json:"runs"`
			Calls   int            `json:"calls"`
			Same    int            `json:"same"`
			Changed int            `json:"changed"`
			Changes map[string]int `json:"changes"`
			Unsure  int            `json:"unsure"`
			Refused int            `json:"refused"` // before a policy was asked
			Change  []replayedCall `json:"change"`
			CantSay []replayedCall `json:"cant_tell"`
		}{r.replayed, r.calls, r.same, nChanged, r.changes, r.nUntold, r.refused, nonNil(r.changed), nonNil(r.untold)})
	}
	fmt.Fprintf(o.out, "%d calls of %d runs: %d same, %d change, %d can't tell\n", r.calls, r.replayed, r.same, nChanged, r.nUntold)
	if r.refused > 0 {
		fmt.Fprintf(o.out, "%d more were refused before a policy was asked\n", r.refused)
	}
	for _, change := range slices.Sorted(maps.Keys(r.changes)) {
		fmt.Fprintf(o.out, "  %s: %d\n", change, r.changes[change])
	}
	o.printReplayed("changes", r.changed, nChanged)
	o.printReplayed("can't tell", r.untold, r.nUntold)
	return nil
}

func nonNil(calls []replayedCall) []replayedCall { return append([]replayedCall{}, calls...) }

func (o *policyOptions) printReplayed(what string, calls []replayedCall, all int) {
	for _, c := range calls {
		why := "by " + c.By
		if c.By == "" {
			why = strings.Join(c.Unsure, "; ")
		}
		fmt.Fprintf(o.out, "%s  %s/%d  %s  %s: %s → %s: %s\n", c.Time.Format("2006-01-02 15:04:05.000"), printable(c.Run), c.N,
			printable(c.Tool), what, c.Decision, strings.Join(c.Possible, " or "), printable(why))
	}
	if left := all - len(calls); left > 0 {
		fmt.Fprintf(o.out, "… and %d more: %s; --limit lists them\n", left, what)
	}
}
