package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd/internal/policy"
)

// policyOptions are the options of all that `sandboxctl policy` does.
type policyOptions struct {
	json bool
	out  io.Writer
}

func policyCommand() *cobra.Command {
	var o policyOptions
	c := noun("policy", "Check, explain, test, replay and reload policies: which tool calls may happen", `Check a policy, ask why it decides on a call as it does, test it against cases, and see which past decisions a
new one would change.

A policy is a file, or a directory of *.yaml of which all count. Only reload needs a daemon.

Exit codes:
  0  ok
  1  sandboxctl could not do its work: a file that can't be read, no daemon
  2  the command line is wrong
  3  a file is no valid policy, or the policy does not do what its cases want`)
	c.PersistentFlags().BoolVar(&o.json, "json", false, "print one JSON object, and nothing else on standard output")
	c.AddCommand(o.checkCommand(), o.explainCommand(), o.testCommand(), o.replayCommand(), policyReloadCommand(&o.json))
	return c
}

// command is one that takes least to most arguments, and prints to o.out.
func (o *policyOptions) command(use, short string, least, most int, do func(c *cobra.Command, args []string) error) *cobra.Command {
	return verb(use, short, least, most, func(c *cobra.Command, args []string) error {
		var text bytes.Buffer
		o.out = &text
		err := do(c, args)
		if _, failed := text.WriteTo(c.OutOrStdout()); failed != nil {
			err = fmt.Errorf("print: %w", failed)
		}
		var invalid *policy.InvalidError
		if errors.As(err, &invalid) {
			return mistakes(err)
		}
		return err
	})
}

// loadPolicy reads a policy for a command that has no use of one that can't be read.
func loadPolicy(path string) (*policy.Policy, error) {
	p, err := policy.Load(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, hinted{err, "ls -ld shows who may read a policy"}
	}
	return p, err
}

func (o *policyOptions) checkCommand() *cobra.Command {
	strict := false
	c := o.command("check FILE|DIR", "Check a policy, and warn of what it says in vain or opens", 1, 1, func(_ *cobra.Command, args []string) error {
		return o.check(args[0], strict)
	})
	c.Flags().BoolVar(&strict, "strict", false, "end with 3 if there are warnings, too")
	return c
}

func (o *policyOptions) check(path string, strict bool) error {
	p, err := loadPolicy(path)
	var invalid *policy.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		return err
	}
	checked := struct {
		Policy   string   `json:"policy"`
		Valid    bool     `json:"valid"`
		Rules    int      `json:"rules"`    // and flows
		Mistakes []string `json:"mistakes"` // each with the file, the line and the field
		Warnings []string `json:"warnings"`
	}{Policy: path, Valid: invalid == nil, Mistakes: []string{}, Warnings: []string{}}
	if invalid != nil {
		checked.Mistakes = invalid.Mistakes
	} else {
		checked.Rules, checked.Warnings = p.Rules(), append(checked.Warnings, p.Warnings()...)
	}
	switch {
	case o.json:
		err = errors.Join(err, printJSON(o.out, checked))
	case checked.Valid:
		fmt.Fprintf(o.out, "%s: ok: %d rules and flows, %d warnings\n", printable(path), checked.Rules, len(checked.Warnings))
		for _, w := range checked.Warnings {
			fmt.Fprintln(o.out, "warning:", printable(w))
		}
	}
	if err == nil && strict && len(checked.Warnings) > 0 {
		return mistakes(fmt.Errorf("%s: %d warnings", path, len(checked.Warnings)))
	}
	return err
}
