package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/pins"
)

// toolsOptions are the options of all that `sandboxctl tools` does.
type toolsOptions struct {
	mcp   string
	json  bool
	shown string // what is to be accepted, by the mark that diff printed
	out   io.Writer
}

func toolsCommand() *cobra.Command {
	o := &toolsOptions{}
	c := noun("tools", "Look at tools that have changed since they were first seen, and accept them", `Look at what "sandboxctl mcp" keeps of the tools of MCP servers, and accept those that have changed.

A server says what its tools are, and a model believes it. So what each tool was said to be is kept when it is first seen: name,
description, schemas and hints. A tool that is something else later can't be found or called until a person has accepted that. It is
kept in $XDG_STATE_HOME/sandboxd/tools.json (~/.local/state if that is not set).

What is accepted is what a person has looked at: diff ends with a mark of all that it has shown, and accept takes that mark. If a server
has said something else since, the mark is another one, and nothing is accepted.

Exit codes:
  0  ok; with diff: nothing has changed
  1  it could not be done: what is kept can't be read, or there is no such tool; with diff: something has changed
  2  the command line is wrong`)
	f := c.PersistentFlags()
	f.StringVar(&o.mcp, "mcp", "", "only the servers of this `CONFIG`; else those of all that were ever used")
	f.BoolVar(&o.json, "json", false, "print one JSON object, and nothing else on standard output")
	accept := o.command("accept --shown MARK [SERVER[.TOOL]]...", "Accept what diff has shown, with the same arguments", o.accept)
	accept.Flags().StringVar(&o.shown, "shown", "", "the `MARK` that diff printed")
	c.AddCommand(
		o.command("list [SERVER[.TOOL]]...", "List the tools that have been seen", o.list),
		o.command("diff [SERVER[.TOOL]]...", "Show what has changed", o.diff),
		accept)
	return c
}

func (o *toolsOptions) command(use, short string, do func(context.Context, pins.File, []string) error) *cobra.Command {
	return verb(use, short, 0, maxTools, func(c *cobra.Command, args []string) error {
		if o.mcp != "" {
			var err error
			if o.mcp, err = filepath.Abs(o.mcp); err != nil {
				return err
			}
		}
		o.out = c.OutOrStdout()
		file, err := pins.Default()
		if err != nil {
			return err
		}
		return do(c.Context(), file, args)
	})
}

// maxTools is how many can be named at once.
const maxTools = 1000

// kept is a tool that has been seen.
type kept struct {
	Config string    `json:"config"`
	Server string    `json:"server"`
	Tool   string    `json:"tool"`
	Pin    *pins.Pin `json:"pin"`
}

func (k kept) name() string { return k.Server + "." + k.Tool }

// chosen are the tools that were asked for, or all, in the order of their names.
func (o *toolsOptions) chosen(s pins.State, names []string) ([]kept, error) {
	found := make(map[string]bool, len(names))
	all := []kept{}
	for config, servers := range s {
		if o.mcp != "" && o.mcp != config {
			continue
		}
		for server, tools := range servers {
			for tool, p := range tools {
				k := kept{config, server, tool, p}
				if len(names) == 0 || slices.Contains(names, server) || slices.Contains(names, k.name()) {
					all = append(all, k)
					found[server], found[k.name()] = true, true
				}
			}
		}
	}
	for _, name := range names {
		if !found[name] {
			return nil, hinted{fmt.Errorf("no server or tool %q has been seen", printable(name)), "sandboxctl tools list shows all: write SERVER or SERVER.TOOL"}
		}
	}
	slices.SortFunc(all, func(a, b kept) int {
		return cmp.Or(strings.Compare(a.Config, b.Config), strings.Compare(a.Server, b.Server), strings.Compare(a.Tool, b.Tool))
	})
	return all, nil
}

// seen reads them.
func (o *toolsOptions) seen(file pins.File, names []string) ([]kept, error) {
	s, err := file.Read()
	if err != nil {
		return nil, err
	}
	return o.chosen(s, names)
}

func (o *toolsOptions) list(_ context.Context, file pins.File, names []string) error {
	all, err := o.seen(file, names)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.out, map[string]any{"tools": all})
	}
	var b strings.Builder
	config := ""
	for _, k := range all {
		if k.Config != config {
			config = k.Config
			fmt.Fprintf(&b, "%s\n", printable(config))
		}
		state := "since " + k.Pin.Since.Format(time.DateOnly)
		if k.Pin.Changed != nil {
			state = "changed, and refused, since " + k.Pin.Noticed.Format(time.DateOnly)
		}
		fmt.Fprintf(&b, "  %-40s %s\n", printable(k.name()), state)
	}
	_, err = io.WriteString(o.out, b.String())
	return err
}

func (o *toolsOptions) diff(_ context.Context, file pins.File, names []string) error {
	all, err := o.seen(file, names)
	if err != nil {
		return err
	}
	all = changes(all)
	mark, err := markOf(all)
	if err != nil {
		return err
	}
	if o.json {
		err = printJSON(o.out, map[string]any{"tools": all, "shown": mark})
	} else {
		for _, k := range all {
			if err = o.printDiff(k.name()+" has changed", k); err != nil {
				break
			}
		}
	}
	if err == nil && len(all) > 0 && !o.json {
		_, err = fmt.Fprintf(o.out, "to accept all of this, give accept the same arguments, and: --shown %s\n", mark)
	}
	if err == nil && len(all) > 0 {
		return &programError{&sandboxd.Error{Kind: sandboxd.OutcomeInvalid, Message: "tools have changed"}, exitFailed} // as it was printed
	}
	return err
}

// changes are those of tools that have changed.
func changes(all []kept) []kept {
	return slices.DeleteFunc(all, func(k kept) bool { return k.Pin.Changed == nil })
}

// markOf is what diff prints of changes: no others have it.
func markOf(changed []kept) (string, error) {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, k := range changed {
		k.Pin = &pins.Pin{Accepted: k.Pin.Accepted, Changed: k.Pin.Changed} // whenever it was
		if err := e.Encode(k); err != nil {
			return "", fmt.Errorf("%s: %w", k.name(), err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:markBytes]), nil
}

// markBytes are enough that a server can't find two definitions of one mark.
const markBytes = 20

// printDiff shows the lines in which what a tool was and what it is differ. All of it was written by the server: none of its lines looks
// like one of ours.
func (o *toolsOptions) printDiff(title string, k kept) error {
	was, err := k.lines(k.Pin.Accepted)
	if err != nil {
		return err
	}
	is, err := k.lines(*k.Pin.Changed)
	if err != nil {
		return err
	}
	head := 0
	for head < min(len(was), len(is)) && was[head] == is[head] {
		head++
	}
	tail := 0
	for tail < min(len(was), len(is))-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", printable(title), printable(k.Config))
	show := func(mark string, lines []string) {
		for _, line := range lines {
			fmt.Fprintf(&b, "  %s %s\n", mark, printable(line))
		}
	}
	show(" ", was[max(0, head-contextLines):head])
	show("-", was[head:len(was)-tail])
	show("+", is[head:len(is)-tail])
	show(" ", was[len(was)-tail:min(len(was), len(was)-tail+contextLines)])
	_, err = io.WriteString(o.out, b.String())
	return err
}

// contextLines are shown before and after what differs.
const contextLines = 2

// lines is a definition as text that can be compared. The description has its own lines.
func (k kept) lines(d pins.Definition) ([]string, error) {
	description := d.Description
	d.Description = ""
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return nil, fmt.Errorf("%s: %w", k.name(), err)
	}
	lines := strings.Split(description, "\n")
	return append(lines, strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")...), nil
}

// accept takes what diff has shown, and nothing that has come since.
func (o *toolsOptions) accept(ctx context.Context, file pins.File, names []string) error {
	accepted := []kept{}
	var wrong error
	err := file.Update(ctx, func(s pins.State) bool {
		var all []kept
		if all, wrong = o.chosen(s, names); wrong != nil {
			return false
		}
		accepted = changes(all)
		if wrong = o.wereShown(accepted); wrong != nil {
			return false
		}
		now := time.Now()
		for i, k := range accepted {
			was := *k.Pin
			k.Pin.Accept(now)
			accepted[i].Pin = &was
		}
		return len(accepted) > 0
	})
	switch {
	case err != nil:
		return err
	case wrong != nil:
		return wrong
	case o.json:
		return printJSON(o.out, map[string]any{"accepted": accepted})
	case len(accepted) == 0:
		_, err = fmt.Fprintln(o.out, "nothing has changed: there is nothing to accept")
		return err
	}
	for _, k := range accepted {
		if err := o.printDiff("accepted "+k.name(), k); err != nil {
			return err
		}
	}
	return nil
}

// wereShown refuses changes of which diff did not print the mark.
func (o *toolsOptions) wereShown(changed []kept) error {
	if len(changed) == 0 {
		return nil
	}
	mark, err := markOf(changed)
	switch {
	case err != nil:
		return err
	case o.shown == "":
		return usageError{errors.New("accept needs --shown MARK: sandboxctl tools diff, with the same arguments, shows what has changed and prints the mark of that")}
	case o.shown != mark:
		return hinted{errors.New("what has changed is not what that mark is of: a server has said something else since, or other tools are named here"),
			"look at it again: sandboxctl tools diff, with the same arguments"}
	}
	return nil
}
