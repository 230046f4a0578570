package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A check is one thing that a layer, or the daemon, needs of the machine.
type check struct {
	Name   string `json:"name"`
	Layer  string `json:"layer,omitempty"` // that it is for; empty: for all of it
	Status status `json:"status"`
	Found  string `json:"found"`
	Needed string `json:"needed"`
	Why    string `json:"why,omitempty"` // what the finding means
	Fix    string `json:"fix,omitempty"` // commands, a line each, with what else is to be done as comments
}

// status says how a finding is to be taken.
type status string

const (
	statusOK      status = "ok"
	statusWarning status = "warning" // it will do, with less; or only under load
	statusMissing status = "missing" // what is required is not there
)

// Layers, by the names that profiles have for them.
const (
	layerSeccomp    = "seccomp"
	layerLandlock   = "landlock"
	layerRlimits    = "rlimits"
	layerCgroup     = "cgroup"
	layerNamespaces = "namespaces"
)

// checks looks at all that the machine shows, and takes it in the light of the proof, which knows better: a file says
// what should follow, a worker what does.
func (h *host) checks(p proof) []check {
	var all []check
	for _, look := range []func() []check{
		h.kernel, h.landlockLayer, h.cgroupLayer, h.namespaceLayer, h.limits, h.logs, h.installation, h.decisions,
	} {
		all = append(all, look()...)
	}
	for i := range all {
		all[i] = p.settle(all[i])
	}
	return all
}

// settle holds a finding against what was proved.
func (p proof) settle(c check) check {
	switch {
	case c.Status == statusOK || c.Layer == "":
	case p.inForce(c.Layer):
		c.Status, c.Fix = statusOK, ""
		c.Why = fmt.Sprintf("not needed here: a worker was proved to have the layer %s all the same", c.Layer)
	case c.Status == statusMissing && p.waived(c.Layer):
		c.Status = statusWarning
	}
	return c
}

func anyMissing(all []check) bool {
	return slices.ContainsFunc(all, func(c check) bool { return c.Status == statusMissing })
}

// found makes a check of what was found, which is ok until something is said against it.
func found(name, layer, needed, format string, args ...any) check {
	return check{Name: name, Layer: layer, Status: statusOK, Found: fmt.Sprintf(format, args...), Needed: needed}
}

// but says what is wrong with a finding, and what mends it.
func (c check) but(s status, why, fix string) check {
	c.Status, c.Why, c.Fix = s, why, fix
	return c
}

// commands are the lines of a fix.
func commands(lines ...string) string { return strings.Join(lines, "\n") }

var plainWord = regexp.MustCompile(`^[a-zA-Z0-9_./:@%+=,-]+$`)

// quote makes one word of a text, for sh.
func quote(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// writeLines is a command that adds lines to a file of root's.
func writeLines(file string, lines ...string) string {
	command := `printf '%s\n'`
	for _, line := range lines {
		command += " " + quote(line)
	}
	return command + " | sudo tee -a " + quote(file)
}
