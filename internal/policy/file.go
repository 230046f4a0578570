package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sandboxd/sandboxd/internal/strictyaml"
)

// Bounds of a policy. They are far above what people write; a policy that a program wrote must not make each call slow.
const (
	maxFiles    = 64
	maxRules    = 2000
	maxPatterns = 500 // of one rule, and of deny
	maxLabels   = 16  // of one rule
	maxFlows    = 200
	maxReason   = 300 // bytes
)

// InvalidError is a file that is no policy, or no file of cases.
type InvalidError struct {
	Mistakes []string // each with the file, the line and the field
}

func (e *InvalidError) Error() string { return strings.Join(e.Mistakes, "\n") }

// file is a policy as it is written.
type file struct {
	Version int       `yaml:"version"`
	Deny    []pattern `yaml:"deny"`
	Unknown string    `yaml:"unknown"`
	Rules   []struct {
		Name   string    `yaml:"name"`
		Tools  []pattern `yaml:"tools"`
		When   string    `yaml:"when"`
		Action string    `yaml:"action"`
		Reason string    `yaml:"reason"`
		Guard  string    `yaml:"guard"`
		Labels []string  `yaml:"labels"`
		Redact []string  `yaml:"redact"`
	} `yaml:"rules"`
	Flows []struct {
		Name   string   `yaml:"name"`
		From   []string `yaml:"from"`
		To     []string `yaml:"to"`
		Action string   `yaml:"action"`
	} `yaml:"flows"`
	Limits struct {
		Calls     *int64 `yaml:"calls_per_run"`
		Mutations *int64 `yaml:"mutations_per_run"`
		Denied    *int64 `yaml:"denied_per_run"`
		PerCaller struct {
			Runs      *int64 `yaml:"runs_per_minute"`
			Mutations *int64 `yaml:"mutations_per_minute"`
		} `yaml:"per_caller"`
	} `yaml:"limits"`
	Redact []string `yaml:"redact"`
}

// Load reads a policy: a file, or a directory of *.yaml in the order of their names. Of several files all count: what one of
// them denies is denied, and the lowest limit holds. What is wrong with their text is an *InvalidError.
func Load(path string) (*Policy, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	paths := []string{path}
	if info.IsDir() {
		if err := strictyaml.Trusted(path, info); err != nil {
			return nil, err
		}
		if paths, err = filepath.Glob(filepath.Join(path, "*.yaml")); err != nil {
			return nil, err
		}
		switch paths = notCases(paths); {
		case len(paths) == 0:
			return nil, fmt.Errorf("%s: has no *.yaml: a policy of nothing would refuse all; remove the directory, or write one", path)
		case len(paths) > maxFiles:
			return nil, fmt.Errorf("%s: has %d files, at most %d", path, len(paths), maxFiles)
		}
	}
	b := newBuilder()
	for _, path := range paths {
		text, err := strictyaml.Read(path)
		if err != nil {
			return nil, err
		}
		b.add(path, text)
	}
	return b.policy()
}

// Parse is the policy in one text; the name is for errors.
func Parse(name string, text []byte) (*Policy, error) {
	b := newBuilder()
	b.add(name, text)
	return b.policy()
}

// builder makes one policy of files, and collects what is wrong with them.
type builder struct {
	Policy
	names map[string]string // of rules and flows: where each stands
	texts hash.Hash
	wrong []string
}

func newBuilder() *builder {
	return &builder{names: map[string]string{}, texts: sha256.New(), Policy: Policy{unknown: -1}}
}

func (b *builder) policy() (*Policy, error) {
	switch {
	case len(b.rules) > maxRules:
		b.wrong = append(b.wrong, fmt.Sprintf("%d rules, at most %d", len(b.rules), maxRules))
	case len(b.flows) > maxFlows:
		b.wrong = append(b.wrong, fmt.Sprintf("%d flows, at most %d", len(b.flows), maxFlows))
	}
	b.flowLabels()
	if len(b.wrong) > 0 {
		return nil, &InvalidError{b.wrong}
	}
	if b.unknown < 0 {
		b.unknown = Deny
	}
	b.hash = "sha256:" + hex.EncodeToString(b.texts.Sum(nil))
	return &b.Policy, nil
}

// reader reads one file; its methods note what is wrong.
type reader struct {
	*builder
	name  string
	lines strictyaml.Lines
}

// reason is one that the policy gives in words of its own.
func (r reader) reason(path, text string, of rule) string {
	switch {
	case of.action == Allow:
		r.refuse(path, "what is allowed needs none: it is for rules that ask or deny")
	case text == "" || len(text) > maxReason || strings.ContainsFunc(text, hidden):
		r.refuse(path, "want 1 to %d bytes on one line, and nothing that can't be seen", maxReason)
	}
	return text
}

// words are the reason of a rule that has none of its own.
func (r *rule) words() string {
	words := [...]string{Deny: "the policy denies it", Ask: "the policy asks about it", Allow: "the policy allows it"}[r.action]
	if r.condition != nil {
		words += " when " + r.condition.text
	}
	return words
}

func (r reader) refuse(path, format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf("%s: %s: %s", r.lines.At(r.name, path), path, fmt.Sprintf(format, args...)))
}

func (b *builder) add(name string, text []byte) {
	b.texts.Write(text)
	var f file
	lines, err := strictyaml.Decode(name, text, &f)
	if err != nil {
		b.wrong = append(b.wrong, strings.Split(err.Error(), "\n")...)
		return
	}
	r := reader{b, name, lines}
	if f.Version != 1 {
		r.refuse("version", "%d: this sandboxd reads version 1", f.Version)
		return
	}
	r.patterns("deny", f.Deny)
	b.deny = append(b.deny, f.Deny...)
	if f.Unknown != "" || lines["unknown"] > 0 {
		action := r.action("unknown", f.Unknown)
		if b.unknown < 0 || action < b.unknown {
			b.unknown, b.openAt = action, lines.At(name, "unknown")
		}
	}
	for i, in := range f.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		out := rule{name: in.Name, tools: in.Tools, labels: in.Labels, place: lines.At(name, at)}
		r.named(at, "rule", in.Name, out.place)
		if len(in.Tools) == 0 {
			r.refuse(at, "names no tools: give it tools: [SERVER.TOOL, …]")
		}
		r.patterns(at+".tools", in.Tools)
		r.labelled(at+".labels", in.Labels)
		if out.label = in.Action == "label"; out.label {
			out.action = Allow // it makes nothing stricter
			switch {
			case len(in.Labels) == 0 && len(in.Redact) == 0:
				r.refuse(at, "action is label, and there are no labels and nothing to redact")
			case slices.Contains(in.Labels, LabelRead):
				r.refuse(at+".labels", "%s must stand at the rule that allows: it says of all that the rule allows that it changes nothing", LabelRead)
			}
		} else {
			out.action = r.action(at+".action", in.Action)
		}
		switch {
		case in.Guard != "" && in.Guard != "skip":
			r.refuse(at+".guard", "%q: there is only skip", in.Guard)
		case in.Guard == "skip" && out.action == Deny:
			r.refuse(at+".guard", "the guard is not asked about what is denied")
		case in.Guard == "skip" && out.label:
			r.refuse(at+".guard", "a rule that only labels does not decide whether the guard is asked")
		}
		out.skipGuard = in.Guard == "skip"
		r.redacts(at+".redact", in.Redact, map[string]*bool{"arguments": &out.redact.Arguments, "result": &out.redact.Result})
		if len(in.Redact) > 0 && out.action == Deny {
			r.refuse(at+".redact", "a call that is denied has nothing to redact")
		}
		if in.When != "" || lines[at+".when"] > 0 {
			if out.condition, err = compile(in.When, out.action, out.label); err != nil {
				r.refuse(at+".when", "%v", err)
			}
		}
		out.says = out.words()
		if in.Reason != "" || lines[at+".reason"] > 0 {
			out.says = r.reason(at+".reason", in.Reason, out)
		}
		b.rules = append(b.rules, out)
	}
	r.redacts("redact", f.Redact, map[string]*bool{"value": &b.redact.Value, "console": &b.redact.Console, "errors": &b.redact.Errors})
	for i, in := range f.Flows {
		at := fmt.Sprintf("flows[%d]", i)
		out := flow{name: in.Name, from: in.From, to: in.To, place: lines.At(name, at)}
		if in.Name != "" {
			r.named(at, "flow", in.Name, out.place)
		} else {
			out.name = strings.Join(in.From, ", ") + " to " + strings.Join(in.To, ", ")
		}
		r.labelled(at+".from", in.From)
		r.labelled(at+".to", in.To)
		if len(in.From) == 0 || len(in.To) == 0 {
			r.refuse(at, "want labels on both sides, from: […] and to: […]")
		}
		if out.action = r.action(at+".action", in.Action); out.action == Allow {
			r.refuse(at+".action", "a flow can ask or deny: what it does not name is as the rules say")
		}
		b.flows = append(b.flows, out)
	}
	for _, l := range []struct {
		path  string
		value *int64
		limit *int64
	}{
		{"limits.calls_per_run", f.Limits.Calls, &b.limits.CallsPerRun},
		{"limits.mutations_per_run", f.Limits.Mutations, &b.limits.MutationsPerRun},
		{"limits.denied_per_run", f.Limits.Denied, &b.limits.DeniedPerRun},
		{"limits.per_caller.runs_per_minute", f.Limits.PerCaller.Runs, &b.limits.RunsPerMinute},
		{"limits.per_caller.mutations_per_minute", f.Limits.PerCaller.Mutations, &b.limits.MutationsPerMinute},
	} {
		switch {
		case l.value == nil:
		case *l.value < 1 || *l.value > 1_000_000:
			r.refuse(l.path, "%d: must be 1 to 1000000", *l.value)
		case *l.limit == 0 || *l.value < *l.limit:
			*l.limit = *l.value
		}
	}
}

func (r reader) patterns(path string, all []pattern) {
	if len(all) > maxPatterns {
		r.refuse(path, "%d patterns, at most %d", len(all), maxPatterns)
	}
}

// named checks the name of a rule or flow: reports and logs tell rules by it.
func (r reader) named(path, what, name, place string) {
	first, taken := r.names[what+" "+name]
	switch {
	case name == "":
		r.refuse(path, "has no name: reports and logs tell rules by their names")
	case len(name) > 100 || strings.ContainsFunc(name, hidden):
		r.refuse(path, "its name must have at most 100 bytes, and nothing that can't be seen")
	case slices.Contains(reserved, name):
		r.refuse(path, "%q is a name of sandboxd's own", name)
	case taken:
		r.refuse(path, "the name %q is taken, at %s", name, first)
	}
	r.names[what+" "+name] = place
}

var label = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

func (r reader) labelled(path string, labels []string) {
	if len(labels) > maxLabels {
		r.refuse(path, "%d labels, at most %d", len(labels), maxLabels)
	}
	for i, l := range labels {
		if !label.MatchString(l) {
			r.refuse(fmt.Sprintf("%s[%d]", path, i), "%q is no label: want lower-case letters, digits, - and _", l)
		}
	}
}

// redacts sets the places that a list names.
func (r reader) redacts(path string, names []string, places map[string]*bool) {
	if len(names) == 0 && r.lines[path] > 0 {
		r.refuse(path, "names nothing: want some of %s, or leave it out", strings.Join(slices.Sorted(maps.Keys(places)), ", "))
	}
	for i, name := range names {
		if place, ok := places[name]; ok {
			*place = true
		} else {
			r.refuse(fmt.Sprintf("%s[%d]", path, i), "%q: want some of %s", name, strings.Join(slices.Sorted(maps.Keys(places)), ", "))
		}
	}
}

func (r reader) action(path, name string) Action {
	for _, a := range []Action{Deny, Ask, Allow} {
		if name == a.String() {
			return a
		}
	}
	if name == "" {
		r.refuse(path, "is missing: want allow, ask or deny")
	} else {
		r.refuse(path, "%q: want allow, ask or deny", name)
	}
	return Deny
}

// flowLabels refuses flows that can never be: a label that no rule brings is most likely misspelt.
func (b *builder) flowLabels() {
	brought := map[string]bool{}
	for _, r := range b.rules {
		for _, l := range r.labels {
			brought[l] = true
		}
	}
	for _, f := range b.flows {
		for _, l := range slices.Concat(f.from, f.to) {
			if !brought[l] {
				b.wrong = append(b.wrong, fmt.Sprintf("%s: flow %q: no rule has the label %q", f.place, f.name, l))
			}
		}
	}
}
