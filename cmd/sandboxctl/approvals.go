package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd"
)

// approvalsOptions are the options of all that `sandboxctl approvals` does.
type approvalsOptions struct {
	socket string
	json   bool
	out    *bufio.Writer
	now    time.Time
}

func approvalsCommand() *cobra.Command {
	var o approvalsOptions
	c := noun("approvals", "Answer for tool calls that wait for an approval", `Show the tool calls that wait for an approval, and answer for them. The first answer counts, whoever gives it; what nobody answers in
time is denied. Who may answer is up to the daemon's socket for administrators, and to admins in its configuration.

A call's tool and arguments were chosen by a program that nobody has read. In what is printed, characters that can't be seen, or that turn
text around, stand as \u escapes.

An ID may be shortened to its beginning, of at least 6 characters, where that is of one request only.

Exit codes:
  0  ok
  1  sandboxctl could not do its work: no daemon, no such request, or somebody answered before
  2  the command line is wrong`)
	f := c.PersistentFlags()
	adminSocketFlag(f.StringVar, &o.socket)
	f.BoolVar(&o.json, "json", false, "print JSON, and nothing else on standard output")
	c.AddCommand(o.listCommand(), o.showCommand(), o.answerCommand(true), o.answerCommand(false))
	return c
}

// command is one that takes n arguments, asks a daemon, and prints to o.out.
func (o *approvalsOptions) command(use, short string, n int, do func(ctx context.Context, a *admin, args []string) error) *cobra.Command {
	return asking(&o.socket, use, short, n, func(ctx context.Context, a *admin, out *bufio.Writer, args []string) error {
		o.out, o.now = out, time.Now()
		return do(ctx, a, args)
	})
}

func (o *approvalsOptions) listCommand() *cobra.Command {
	watch := false
	c := o.command("list", "Show what waits, the oldest first", 0, func(ctx context.Context, a *admin, _ []string) error {
		if watch {
			return o.watch(ctx, a)
		}
		var list sandboxd.ApprovalList
		if err := a.ask(ctx, "approvals/list", struct{}{}, &list); err != nil {
			return err
		}
		return o.printList(list)
	})
	c.Flags().BoolVarP(&watch, "watch", "w", false, "and then what comes, until interrupted; with --json one request a line")
	return c
}

const watchPause = 500 * time.Millisecond

// watch prints each request once, when it is first seen.
func (o *approvalsOptions) watch(ctx context.Context, a *admin) error {
	seen := map[string]bool{}
	for {
		var list sandboxd.ApprovalList
		err := a.ask(ctx, "approvals/list", struct{}{}, &list)
		if ctx.Err() != nil {
			return nil // that is how it ends
		}
		if err != nil {
			return err
		}
		now := make(map[string]bool, len(list.Approvals)) // what was answered does not come again, and need not be kept
		o.now = time.Now()
		for _, q := range list.Approvals {
			now[q.ID] = true
			if seen[q.ID] {
				continue
			}
			if err := o.printOne(q); err != nil {
				return err
			}
		}
		seen = now
		if err := o.out.Flush(); err != nil {
			return err
		}
		select {
		case <-time.After(watchPause):
		case <-ctx.Done():
		}
	}
}

func (o *approvalsOptions) showCommand() *cobra.Command {
	c := o.command("show ID", "Show one request, with all of its arguments", 1, func(ctx context.Context, a *admin, args []string) error {
		q, err := o.find(ctx, a, args[0])
		if err != nil {
			return err
		}
		return o.printOne(q)
	})
	c.ValidArgsFunction = o.completions
	return c
}

func (o *approvalsOptions) answerCommand(approve bool) *cobra.Command {
	word, short := "deny", "Deny a call"
	if approve {
		word, short = "approve", "Approve a call"
	}
	var p sandboxd.DecideParams
	c := o.command(word+" ID", short, 1, func(ctx context.Context, a *admin, args []string) error {
		if p.Scope != sandboxd.ScopeCall && p.Scope != sandboxd.ScopeRun {
			return usageError{fmt.Errorf("--scope %q: there are %s and %s", p.Scope, sandboxd.ScopeCall, sandboxd.ScopeRun)}
		}
		if len(p.Reason) > sandboxd.MaxReasonBytes {
			return usageError{fmt.Errorf("--reason: %d bytes, at most %d", len(p.Reason), sandboxd.MaxReasonBytes)}
		}
		q, err := o.find(ctx, a, args[0])
		if err != nil {
			return err
		}
		p.ID, p.Approve = q.ID, approve
		var d sandboxd.DecideResult
		if err := a.ask(ctx, "approvals/decide", p, &d); err != nil {
			return err
		}
		return o.printDecision(d, q)
	})
	c.ValidArgsFunction = o.completions
	c.Flags().StringVar(&p.Scope, "scope", sandboxd.ScopeCall, "what it is for: this call, or run: also each later one of the same tool with the same arguments, in this run")
	c.Flags().StringVar(&p.Reason, "reason", "", "for the program, and for the audit log: `TEXT`")
	return c
}

const (
	wholeID = 26 // characters
	leastID = 6  // of a shortened one
)

// find returns a request that waits, by its id or the beginning of that.
func (o *approvalsOptions) find(ctx context.Context, a *admin, id string) (q sandboxd.ApprovalRequest, err error) {
	id = strings.ToUpper(id)
	switch {
	case len(id) < leastID || len(id) > wholeID:
		return q, usageError{fmt.Errorf("%q is no id: give at least %d characters of one that sandboxctl approvals list shows", id, leastID)}
	case len(id) < wholeID:
		if id, err = o.complete(ctx, a, id); err != nil {
			return q, err
		}
	}
	return q, a.ask(ctx, "approvals/show", sandboxd.ShowParams{ID: id}, &q)
}

// complete finds the one request that waits whose id begins so.
func (o *approvalsOptions) complete(ctx context.Context, a *admin, beginning string) (string, error) {
	var list sandboxd.ApprovalList
	if err := a.ask(ctx, "approvals/list", struct{}{}, &list); err != nil {
		return "", err
	}
	var found []string
	for _, q := range list.Approvals {
		if strings.HasPrefix(q.ID, beginning) {
			found = append(found, q.ID)
		}
	}
	switch {
	case list.More > 0:
		return "", fmt.Errorf("%d requests wait besides those that a list shows, and one of them may begin with %s too: give the whole id", list.More, printable(beginning))
	case len(found) == 0:
		return "", hinted{fmt.Errorf("no call waits for approval under an id that begins with %s", printable(beginning)), "sandboxctl approvals list shows those that do"}
	case len(found) > 1:
		return "", fmt.Errorf("%d requests begin with %s: %s", len(found), printable(beginning), printable(strings.Join(found, ", ")))
	}
	return found[0], nil
}

func (o *approvalsOptions) printDecision(d sandboxd.DecideResult, q sandboxd.ApprovalRequest) error {
	if o.json {
		return o.printJSON(d)
	}
	word, scope := "denied", "this call"
	if d.Approve {
		word = "approved"
	}
	if d.Scope == sandboxd.ScopeRun {
		scope = "this call, and the same one for the rest of the run"
	}
	_, err := fmt.Fprintf(o.out, "%s, for %s: call %d of run %s, %s\n", word, scope, q.N, printable(q.Run), printable(q.Server+"."+q.Tool))
	return err
}

func (o *approvalsOptions) printList(list sandboxd.ApprovalList) error {
	if o.json {
		return o.printJSON(list)
	}
	for _, q := range list.Approvals {
		if err := o.printOne(q); err != nil {
			return err
		}
	}
	switch {
	case list.More > 0:
		fmt.Fprintf(os.Stderr, "sandboxctl: warning: %d more wait than a list has room for\n", list.More)
	case len(list.Approvals) == 0:
		fmt.Fprintln(os.Stderr, "nothing waits for an approval")
	}
	return nil
}
