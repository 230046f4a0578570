package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd/internal/policy"
)

// callFlags describe a call that is to be explained.
type callFlags struct {
	policy, server, tool, args string
	annotations                []string
	call                       policy.Call
}

func (o *policyOptions) explainCommand() *cobra.Command {
	var f callFlags
	c := o.command("explain", "Say what a policy decides on a call, and why, step by step", 0, 0, func(c *cobra.Command, _ []string) error {
		return o.explain(&f, c.InOrStdin())
	})
	c.Example = `  sandboxctl policy explain --policy policy.yaml --tool pay.refund --args '{"amount": 20}' --labels untrusted`
	s := c.Flags()
	s.StringVar(&f.policy, "policy", "", "the policy, a `FILE` or directory")
	s.StringVar(&f.tool, "tool", "", "the tool, as `SERVER.TOOL`")
	s.StringVar(&f.server, "server", "", "the server's `NAME`, if it has a dot; --tool is the tool's name alone then")
	s.StringVar(&f.args, "args", "{}", "the call's arguments, a `JSON` object; -: from standard input")
	s.StringSliceVar(&f.call.Run.Labels, "labels", nil, "`LABELS` that the run has, as read,untrusted")
	s.Int64Var(&f.call.Run.Calls, "calls", 0, "how many calls the run has made")
	s.Int64Var(&f.call.Run.Mutations, "mutations", 0, "how many of them were no reads")
	s.Int64Var(&f.call.Run.Denied, "denied", 0, "how many calls of the run were denied")
	s.StringVar(&f.call.Task, "intent", "", "the user's request: task in conditions")
	s.Uint32Var(&f.call.Caller.UID, "uid", 0, "the caller's user id")
	s.Uint32Var(&f.call.Caller.GID, "gid", 0, "the caller's group id")
	s.StringVar(&f.call.Caller.Gateway, "gateway", "", "the `NAME` that the gateway gives itself")
	s.StringArrayVar(&f.annotations, "annotation", nil, "what the server says of the tool, as `readOnlyHint=true`; can be repeated")
	return c
}

// maxArgs bounds the arguments that are read; the daemon takes far less.
const maxArgs = 16 << 20

// read makes the call of its flags.
func (f *callFlags) read(stdin io.Reader) (*policy.Call, error) {
	c, ok := &f.call, true
	switch {
	case f.policy == "":
		return nil, usageError{errors.New("explain takes --policy FILE")}
	case f.tool == "":
		return nil, usageError{errors.New("explain takes --tool SERVER.TOOL")}
	case f.server != "":
		c.Server, c.Tool = f.server, f.tool
	default:
		if c.Server, c.Tool, ok = strings.Cut(f.tool, "."); !ok || c.Server == "" || c.Tool == "" {
			return nil, usageError{fmt.Errorf("--tool %q: want SERVER.TOOL", f.tool)}
		}
	}
	if c.Run.Calls < 0 || c.Run.Mutations < 0 || c.Run.Denied < 0 {
		return nil, usageError{errors.New("--calls, --mutations and --denied can't be negative")}
	}
	c.Annotations = map[string]bool{}
	for _, a := range f.annotations {
		name, value, _ := strings.Cut(a, "=")
		is, err := strconv.ParseBool(value)
		if err != nil || name == "" {
			return nil, usageError{fmt.Errorf("--annotation %q: want NAME=true or NAME=false", a)}
		}
		c.Annotations[name] = is
	}
	text := []byte(f.args)
	if f.args == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(stdin, maxArgs+1)); err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}
		if len(text) > maxArgs {
			return nil, fmt.Errorf("the arguments have more than %d bytes", maxArgs)
		}
	}
	arguments, err := policy.ReadArguments(text)
	if err != nil {
		return nil, usageError{fmt.Errorf("--args: %w", err)}
	}
	c.Args = arguments.Value
	return c, nil
}

func (o *policyOptions) explain(f *callFlags, stdin io.Reader) error {
	call, err := f.read(stdin)
	if err != nil {
		return err
	}
	p, err := loadPolicy(f.policy)
	if err != nil {
		return err
	}
	d, steps := p.Explain(call)
	tool := call.Server + "." + call.Tool
	if o.json {
		return printJSON(o.out, struct {
			Tool string `json:"tool"`
			decisionJSON
		}{tool, asJSON(d, steps)})
	}
	fmt.Fprintf(o.out, "%s: %s\n", printable(tool), d.Action)
	printDecision(o.out, "  ", d, steps)
	return nil
}
