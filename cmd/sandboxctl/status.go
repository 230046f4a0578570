package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd"
)

func statusCommand() *cobra.Command {
	socket, json := "", false
	c := &cobra.Command{
		Use: "status", Short: "Show how the daemon does: its workers, policy, guard and audit log", DisableFlagsInUseLine: true,
		Long: `Show how the daemon does: runs, gateways, callers, workers with their leases and the layers that confine them, how runs ended and the
last of them, calls that wait for an approval, the policy in force, and whether the guard and the audit log work. It asks at the daemon's
socket for administrators.

Exit codes:
  0  the daemon answered, and all of that works
  1  it did not answer, or something fails: the lines that begin with "failing" say what
  2  the command line is wrong`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("status takes no arguments; got %q", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return showStatus(c.Context(), c.OutOrStdout(), socket, json)
		},
	}
	adminSocketFlag(c.Flags().StringVar, &socket)
	c.Flags().BoolVar(&json, "json", false, "print one JSON object, and nothing else on standard output")
	return c
}

func showStatus(ctx context.Context, out io.Writer, socket string, json bool) error {
	a, err := dialAdmin(ctx, socket)
	if err != nil {
		return err
	}
	defer a.close()
	s := sandboxd.StatusResult{}
	if err := a.ask(ctx, "status", struct{}{}, &s); err != nil {
		return err
	}
	if s.Deciding == nil {
		return errors.New("status: the daemon's answer is not one for administrators")
	}
	rows, failing := statusRows(s, time.Now())
	if json {
		err = printSafeJSON(out, s)
	} else {
		err = printRows(out, append(rows, failing...))
	}
	switch {
	case err != nil:
		return fmt.Errorf("print status: %w", err)
	case len(failing) > 0: // as it was printed
		return &programError{&sandboxd.Error{Kind: sandboxd.OutcomeInternal, Message: "something fails"}, exitFailed}
	}
	return nil
}

// row is a line of a status: what it is about, and how that does.
type row [2]string

func printRows(out io.Writer, rows []row) error {
	for _, r := range rows {
		if _, err := fmt.Fprintf(out, "%-10s %s\n", r[0], printable(r[1])); err != nil {
			return err
		}
	}
	return nil
}

// statusRows says how a daemon does, and what of it fails.
func statusRows(s sandboxd.StatusResult, now time.Time) (rows, failing []row) {
	add := func(name, format string, args ...any) { rows = append(rows, row{name, fmt.Sprintf(format, args...)}) }
	fails := func(format string, args ...any) {
		failing = append(failing, row{"failing", fmt.Sprintf(format, args...)})
	}

	add("sandboxd", "%s", s.Version)
	add("runs", "%d running, %d waiting", s.Running, s.Waiting)
	serving := s.Serving
	if serving == nil { // an older daemon
		serving = &sandboxd.Serving{}
	} else {
		add("gateways", "%d connected", serving.Gateways)
	}
	for _, c := range serving.Callers {
		add("caller", "%s: %d runs", c.Caller, c.Runs)
	}
	leases := make(map[string]sandboxd.LeaseStatus)
	for _, l := range serving.Leases {
		leases[l.Profile] = l
	}
	for _, p := range s.Pool {
		l := leases[p.Profile]
		if p.Size == 0 && p.Failing == "" && l.Warm+l.Cold == 0 {
			continue // none is kept ready, and none was asked for
		}
		text := fmt.Sprintf("%s: %d of %d ready", p.Profile, p.Ready, p.Size)
		if l.Profile != "" {
			text += fmt.Sprintf("; %d leased, since the start %d warm and %d cold", l.Leased, l.Warm, l.Cold)
		}
		add("workers", "%s", text)
		if l.Isolation != nil {
			add("layers", "%s: %s", p.Profile, describeLayers(*l.Isolation))
		}
		if p.Failing != "" {
			fails("workers of %s are not born: %s", p.Profile, p.Failing)
		}
	}
	if len(serving.Ended) > 0 {
		add("ended", "%s; calls: %s", tallied(serving.Ended), tallied(serving.Calls))
	}
	for _, r := range serving.Recent {
		add("recent", "%s", runLine(r, false))
	}
	d := s.Deciding
	add("approvals", "%d calls wait", d.Approvals)
	p := d.Policy
	add("policy", "%s: %d rules and flows, in force for %s, %s", p.File, p.Rules, now.Sub(p.Since).Round(time.Second), p.Hash)
	for why := range strings.Lines(p.Failing) {
		fails("the policy was not read again, and the old one is in force: %s", strings.TrimSpace(why))
	}
	if g := d.Guard; g == nil {
		add("guard", "none")
	} else {
		n := g.Counts
		add("guard", "%s: breaker %s; %d checks: allow %d, ask %d, block %d, unavailable %d, given up %d",
			g.By, g.Breaker, n.Checks, n.Allow, n.Ask, n.Block, n.Unavailable, n.GivenUp)
		if g.Failures > 0 {
			fails("the guard, %d times in a row within %s, last with: %s", g.Failures, now.Sub(g.Since).Round(time.Second), g.Last)
		}
	}
	if a := d.Audit; a == nil {
		add("audit", "none: nothing is recorded")
	} else {
		add("audit", "%s: %d events; refused %d, not in the journal %d", a.File, a.Events, a.Refused, a.Dropped)
		if a.Failing != "" {
			fails("the audit log, and so every call is refused: %s", a.Failing)
		}
	}
	return rows, failing
}

// tallied is counts in words, and none if there are none.
func tallied(counts []sandboxd.Tally) string {
	var parts []string
	for _, c := range counts {
		parts = append(parts, fmt.Sprintf("%s %d", strings.ReplaceAll(c.Of, "_", " "), c.N))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}
