package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/policy"
)

func (o *policyOptions) testCommand() *cobra.Command {
	return o.command("test FILE|DIR", "Test a policy against the cases beside it: policy.test.yaml of policy.yaml", 1, 1,
		func(_ *cobra.Command, args []string) error { return o.test(args[0]) })
}

// failedCase is a case for which the policy says something else.
type failedCase struct {
	Place string `json:"place"`
	Name  string `json:"name"`
	Tool  string `json:"tool"`
	Want  string `json:"want"`
	By    string `json:"by,omitempty"` // the rule that should decide
	decisionJSON
}

func (o *policyOptions) test(path string) error {
	p, err := loadPolicy(path)
	if err != nil {
		return err
	}
	cases, err := policy.LoadCases(path)
	if errors.Is(err, fs.ErrNotExist) {
		return hinted{err, "cases stand beside the policy: policy.test.yaml beside policy.yaml"}
	}
	if err != nil {
		return err
	}
	failures := p.Test(cases)
	var failed error
	if len(failures) > 0 {
		failed = &programError{&sandboxd.Error{Message: fmt.Sprintf("%d cases failed", len(failures))}, exitProgram}
	}
	if o.json {
		tested := struct {
			Cases  int          `json:"cases"`
			Failed []failedCase `json:"failed"`
		}{len(cases), []failedCase{}}
		for _, f := range failures {
			tested.Failed = append(tested.Failed, failedCase{
				f.Place, f.Name, f.Call.Server + "." + f.Call.Tool, f.Want.String(), f.Rule, asJSON(f.Got, f.Steps),
			})
		}
		if err := printJSON(o.out, tested); err != nil {
			return err
		}
		return failed
	}
	for _, f := range failures {
		want := f.Want.String()
		if f.Rule != "" {
			want += " by " + f.Rule
		}
		fmt.Fprintf(o.out, "%s: %s: %s.%s: %s, want %s\n", printable(f.Place), printable(f.Name), printable(f.Call.Server), printable(f.Call.Tool),
			f.Got.Action, printable(want))
		printDecision(o.out, "    ", f.Got, f.Steps)
	}
	if failed == nil {
		fmt.Fprintf(o.out, "ok: %d cases\n", len(cases))
	} else {
		fmt.Fprintf(o.out, "%d of %d cases failed\n", len(failures), len(cases))
	}
	return failed
}
