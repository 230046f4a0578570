package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/audit"
)

// auditOptions are the options of all that `sandboxctl audit` does.
type auditOptions struct {
	log  string
	json bool
	out  *bufio.Writer
	tint palette
}

func auditCommand() *cobra.Command {
	var o auditOptions
	c := noun("audit", "Read and check the daemon's record of what programs did", `Read and check the daemon's audit log: which program of whom called which tool, why it might, and what came of it.

All of it reads the files, and needs no daemon; who may read them is up to whoever runs it (audit.group in the
configuration). Times are UTC.

Exit codes:
  0  ok
  1  sandboxctl could not do its work: a file that can't be read, no such run
  2  the command line is wrong
  3  verify: the log was changed, or is not whole`)
	f := c.PersistentFlags()
	f.StringVar(&o.log, "log", audit.Default().Path, "the log: the `FILE` that is written, beside which older ones stand")
	f.BoolVar(&o.json, "json", false, "print JSON, and nothing else on standard output: of events, one a line, as the log has it")
	c.AddCommand(o.verifyCommand(), o.showCommand(), o.tailCommand(), o.searchCommand(), o.exportCommand())
	return c
}

// command is one that takes least to most arguments, and prints to o.out.
func (o *auditOptions) command(use, short string, least, most int, do func(ctx context.Context, args []string) error) *cobra.Command {
	return verb(use, short, least, most, func(c *cobra.Command, args []string) error {
		o.out = bufio.NewWriter(c.OutOrStdout())
		o.tint = tints(os.Stdout)
		err := do(c.Context(), args)
		if failed := o.out.Flush(); failed != nil && err == nil {
			err = fmt.Errorf("print the audit log: %w", failed)
		}
		return unreadLog(err)
	})
}

// unreadLog says who may read the log, where that is what is wrong.
func unreadLog(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return hinted{err, "the log is the daemon's; audit.group in its configuration says who else may read it"}
	}
	return err
}

func (o *auditOptions) verifyCommand() *cobra.Command {
	head := ""
	c := o.command("verify [FILE]", "Check that nothing in the log was changed, dropped, inserted or moved", 0, 1,
		func(ctx context.Context, args []string) error { return o.verify(ctx, args, head) })
	c.Long = `Check that nothing in the log was changed, dropped, inserted or moved: all of its files, or FILE alone.

Lines that were cut off at the end do not show in what is left. With --head they do: give it the hash of a line that was
kept elsewhere, as the journal has it (SANDBOXD_HASH), and it must be there.`
	c.Flags().StringVar(&head, "head", "", "the `HASH` of a line that must be there")
	return c
}

// tornWait is how long a line at the end may be being written by the daemon.
const tornWait = time.Second

func (o *auditOptions) verify(ctx context.Context, args []string, head string) error {
	var wanted *audit.Hash
	if head != "" {
		h, err := audit.ParseHash(head)
		if err != nil {
			return usageError{fmt.Errorf("--head: %w", err)}
		}
		wanted = &h
	}
	r := audit.NewReader(o.log)
	if len(args) > 0 {
		var err error
		if r, err = audit.NewFileReader(args[0]); err != nil {
			return err
		}
	}
	defer r.Close()
	report, err := audit.Verify(ctx, r, wanted, tornWait)
	var broken *audit.BrokenError
	if err != nil && !errors.As(err, &broken) {
		return err
	}
	if err := o.printReport(report, broken); err != nil {
		return err
	}
	if broken != nil {
		fmt.Fprintln(os.Stderr, "sandboxctl: error:", printable(broken.Error()))
		return &programError{&sandboxd.Error{Message: broken.Error()}, exitProgram}
	}
	return nil
}

func (o *auditOptions) printReport(r audit.Report, broken *audit.BrokenError) error {
	if o.json {
		type place struct {
			File   string `json:"file"`
			Line   int    `json:"line"`
			Offset int64  `json:"offset"`
			Why    string `json:"why"`
		}
		answer := struct {
			OK     bool         `json:"ok"`
			Report audit.Report `json:"report"` // up to where it is broken
			Broken *place       `json:"broken"`
		}{broken == nil, r, (*place)(broken)}
		e := json.NewEncoder(o.out)
		e.SetEscapeHTML(false)
		return e.Encode(answer)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(o.out, "note: line %d, %s: %s\n", n.Seq, n.Time.Format(time.RFC3339), printable(n.Text))
	}
	if broken != nil {
		fmt.Fprintf(o.out, "%d lines are right, up to number %d\n", r.Lines, r.Last)
		return nil
	}
	fmt.Fprintf(o.out, "ok: %d lines in %d files, numbers %d to %d, %s to %s\nhead: %s\n", r.Lines, r.Files, r.First, r.Last,
		r.From.Format(time.RFC3339), r.To.Format(time.RFC3339), r.Head)
	return nil
}

// records reads events until there are no more, and gives those that parse to each. A break in the chain is told once: what
// is asked for may be elsewhere.
func (o *auditOptions) records(ctx context.Context, r *audit.Reader, each func(audit.Record) error) error {
	warned := false
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		record, err := r.Next()
		var broken *audit.BrokenError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &broken):
			if !warned {
				fmt.Fprintln(os.Stderr, "sandboxctl: warning:", printable(broken.Error())+": see sandboxctl audit verify")
			}
			warned = true
		case err != nil:
			return err
		}
		if record.Kind == "" {
			continue
		}
		if err := each(record); err != nil {
			return err
		}
	}
}
