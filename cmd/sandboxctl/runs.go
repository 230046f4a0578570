package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd"
)

// runsOptions are the options of all that `sandboxctl runs` does.
type runsOptions struct {
	socket string
	json   bool
	limit  int
	out    *bufio.Writer
	tint   palette
}

func runsCommand() *cobra.Command {
	var o runsOptions
	c := o.command("runs", "Show the runs that go on and those that ended last", 0, o.list)
	c.Long = `Show the runs that go on, and those that ended last, the newest first: when each was asked for, how it ended or what it does, how long it
took, its calls, and whose it is. Times are UTC.

The daemon remembers the last 256 runs, as long as it runs. sandboxctl audit has all that were recorded.

Exit codes:
  0  ok
  1  sandboxctl could not do its work: no daemon, no such run
  2  the command line is wrong`
	f := c.PersistentFlags()
	adminSocketFlag(f.StringVar, &o.socket)
	f.BoolVar(&o.json, "json", false, "print one JSON object, and nothing else on standard output")
	c.Flags().IntVarP(&o.limit, "limit", "n", 20, fmt.Sprintf("how many at most, up to %d", sandboxd.MaxRuns))
	show := o.command("show RUN", "Show a run's calls: when each waited for what, who decided how, and why", 1, o.show)
	show.Long = `Show a run's calls as a waterfall over the time of the run, each with what became of it, who decided how, and why. A name that a program
chose is shown with \u escapes for what can't be seen; what arguments and results say is not known here.

In a bar, · waits for its turn, ░ for the guard, ▒ for an approval, and █ for the tool; × is where a call was refused.`
	show.ValidArgsFunction = o.completions
	c.AddCommand(show)
	return c
}

// command is one that takes n arguments, asks a daemon, and prints to o.out.
func (o *runsOptions) command(use, short string, n int, do func(ctx context.Context, a *admin, args []string) error) *cobra.Command {
	return asking(&o.socket, use, short, n, func(ctx context.Context, a *admin, out *bufio.Writer, args []string) error {
		o.out, o.tint = out, tints(os.Stdout)
		return do(ctx, a, args)
	})
}

func (o *runsOptions) list(ctx context.Context, a *admin, _ []string) error {
	if o.limit < 1 || o.limit > sandboxd.MaxRuns {
		return usageError{fmt.Errorf("--limit: %d is not within 1 and %d", o.limit, sandboxd.MaxRuns)}
	}
	var list sandboxd.RunList
	if err := a.ask(ctx, "runs/list", sandboxd.RunsParams{Limit: o.limit}, &list); err != nil {
		return err
	}
	if o.json {
		return printSafeJSON(o.out, list)
	}
	for _, r := range list.Runs {
		fmt.Fprintln(o.out, runLine(r, o.tint))
	}
	switch {
	case len(list.Runs) == 0:
		fmt.Fprintln(os.Stderr, "no program has run since the daemon's start")
	case list.More > 0:
		fmt.Fprintf(os.Stderr, "%d more: --limit; sandboxctl audit search --event run.start has all\n", list.More)
	}
	return nil
}

func (o *runsOptions) show(ctx context.Context, a *admin, args []string) error {
	id := strings.ToUpper(args[0])
	if _, err := ulid.ParseStrict(id); err != nil {
		return usageError{fmt.Errorf("%q is no id of a run: sandboxctl runs lists them", args[0])}
	}
	var r sandboxd.RunReport
	if err := a.ask(ctx, "runs/show", sandboxd.ShowRunParams{Run: id}, &r); err != nil {
		return hinted{err, "sandboxctl runs lists those that the daemon remembers, sandboxctl audit show " + id + " reads what was recorded"}
	}
	if o.json {
		return printSafeJSON(o.out, r)
	}
	for _, line := range reportLines(r, o.tint) {
		fmt.Fprintln(o.out, line)
	}
	return nil
}

// completions are the ids of runs that the daemon remembers.
func (o *runsOptions) completions(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completed(c, o.socket, func(ctx context.Context, a *admin) (ids []string) {
		var list sandboxd.RunList
		if a.ask(ctx, "runs/list", sandboxd.RunsParams{}, &list) != nil {
			return nil
		}
		for _, r := range list.Runs {
			ids = append(ids, cobra.CompletionWithDesc(r.Run, printable(runState(r))))
		}
		return ids
	})
}
