package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// write tells a person: a table, with what mends it below each line, and what was proved.
func (d diagnosis) write(w io.Writer, h *host) error {
	p := &printer{w: w}
	p.line("%s", h.title())
	p.line("")
	p.table(d.Checks)
	p.line("")
	count := make(map[status]int)
	for _, c := range d.Checks {
		count[c.Status]++
	}
	p.line("%d checks: ok %d, warning %d, missing %d", len(d.Checks), count[statusOK], count[statusWarning], count[statusMissing])
	for _, one := range d.Proof.Profiles {
		p.line("")
		p.proof(d.Proof.Daemon, one)
	}
	if d.Proof.ok() && !d.OK {
		p.line("")
		p.line("what is missing above is no part of the jail, and needed all the same")
	}
	return p.err
}

// title says what was looked at.
func (h *host) title() string {
	system := h.system("PRETTY_NAME")
	if system == "" {
		system = "Linux"
	}
	if kind := h.container(); kind != "" {
		system += ", in a container (" + kind + ")"
	}
	who := fmt.Sprintf("uid %d", h.uid)
	if h.user != "" {
		who = h.user + " (" + who + ")"
	}
	return fmt.Sprintf("sandboxctl %s on %s (%s), as %s", version, system, h.arch, who)
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
	fix string // the last one
}

func (p *printer) line(format string, args ...any) {
	text := visible(fmt.Sprintf(format, args...))
	if _, err := fmt.Fprintln(p.w, strings.TrimRight(text, " ")); err != nil && p.err == nil {
		p.err = err
	}
}

func (p *printer) table(all []check) {
	rows := [][]string{{"", "CHECK", "FOUND", "NEEDED"}}
	for _, c := range all {
		rows = append(rows, []string{string(c.Status), c.Name, c.Found, c.Needed})
	}
	widths := make([]int, 4)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, row := range rows {
		text := ""
		for column, cell := range row {
			text += cell + strings.Repeat(" ", widths[column]-utf8.RuneCountInString(cell)+2)
		}
		p.line("%s", text)
		if i > 0 {
			p.remarks(all[i-1], strings.Repeat(" ", widths[0]+2))
		}
	}
}

// remarks are below the line of a check.
func (p *printer) remarks(c check, indent string) {
	for line := range strings.Lines(c.Why) {
		p.line("%s%s", indent, strings.TrimSpace(line))
	}
	fix := c.Fix
	if fix != "" && fix == p.fix {
		fix = "# as above"
	}
	if c.Fix != "" {
		p.fix = c.Fix
	}
	for line := range strings.Lines(fix) {
		p.line("%s  %s", indent, strings.TrimRight(line, "\n"))
	}
}

func (p *printer) proof(daemon string, one profileProof) {
	by := "the daemon at " + daemon
	if daemon == privateDaemon {
		by = "a private daemon, as sandboxctl run starts one"
	}
	p.line("profile %s, with %s:", one.Profile, by)
	for _, l := range one.Missing {
		text := "missing"
		if l.Waived {
			text = "warning"
		}
		p.line("  %s  no %s: %s", text, l.Layer, l.Why)
	}
	switch {
	case one.OK:
		p.line("  a worker was started and its jail proved: %s", describeLayers(*one.Isolation))
	case one.Isolation != nil:
		p.line("  no worker could be jailed with all that is required; with what there is: %s", describeLayers(*one.Isolation))
	default:
		p.line("  no worker could be jailed: %s", one.Error)
	}
}
