package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/user"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd/internal/audit"
)

func (o *auditOptions) showCommand() *cobra.Command {
	c := o.command("show RUN", "Show all that is known of a run, as a timeline", 1, 1,
		func(ctx context.Context, args []string) error { return o.show(ctx, args[0]) })
	c.ValidArgsFunction = new(runsOptions).completions // of the daemon at the usual socket, if it answers
	return c
}

func (o *auditOptions) show(ctx context.Context, run string) error {
	r := audit.NewReader(o.log)
	defer r.Close()
	var began time.Time
	quoted := []byte(strconv.Quote(run)) // a line without it is not decoded
	seen, ended := 0, false
	err := o.records(ctx, r, func(record audit.Record) error {
		if !bytes.Contains(record.Raw, quoted) {
			return nil
		}
		if readEvent(record).Run != run {
			return nil
		}
		if seen++; seen == 1 {
			began = record.Time
			if !o.json {
				fmt.Fprintf(o.out, "run %s, from %s\n", printable(run), began.Format(time.RFC3339Nano))
			}
		}
		ended = ended || record.Kind == audit.KindRunEnd
		return o.printEvent(record, began)
	})
	switch {
	case err != nil:
		return err
	case seen == 0:
		return hinted{fmt.Errorf("no run %q in %s and the files before it", run, o.log),
			"sandboxctl audit search lists runs; --log names another log"}
	case !ended && !o.json:
		fmt.Fprintln(o.out, "it has no end here: it runs, or the daemon ended before it did")
	}
	return nil
}

func (o *auditOptions) tailCommand() *cobra.Command {
	n, follow := 20, false
	c := o.command("tail", "Show the newest events", 0, 0, func(ctx context.Context, _ []string) error {
		if n < 0 || n > maxLines {
			return usageError{fmt.Errorf("--lines: %d is not within 0 and %d", n, maxLines)}
		}
		return o.tail(ctx, n, follow)
	})
	c.Flags().IntVarP(&n, "lines", "n", n, "how many")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "and then what is added, until interrupted")
	return c
}

const (
	maxLines    = 10_000
	followPause = 200 * time.Millisecond
)

func (o *auditOptions) tail(ctx context.Context, n int, follow bool) error {
	for files := 1; ; files *= 4 {
		r := audit.NewReader(o.log)
		more, err := r.SkipOlder(files)
		if err != nil {
			return err
		}
		var last []audit.Record
		err = o.records(ctx, r, func(record audit.Record) error {
			record.Raw = bytes.Clone(record.Raw)
			if last = append(last, record); len(last) >= 2*n+64 {
				last = slices.Clone(last[len(last)-n:])
			}
			return nil
		})
		if err == nil && more && len(last) < n {
			r.Close()
			continue
		}
		defer r.Close()
		if err != nil {
			return err
		}
		for _, record := range last[max(0, len(last)-n):] {
			if err := o.printEvent(record, time.Time{}); err != nil {
				return err
			}
		}
		if !follow {
			return nil
		}
		return o.follow(ctx, r)
	}
}

func (o *auditOptions) follow(ctx context.Context, r *audit.Reader) error {
	for {
		err := o.records(ctx, r, func(record audit.Record) error { return o.printEvent(record, time.Time{}) })
		if flushed := o.out.Flush(); err == nil {
			err = flushed
		}
		if ctx.Err() != nil {
			return nil // that is how it ends
		}
		if err != nil {
			return err
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
		}
	}
}

// auditFilter is what search and export take.
type auditFilter struct {
	tool, decision, caller, since, until, run, outcome, event, payload string

	tools    *regexp.Regexp // nil: all
	events   *regexp.Regexp
	from, to time.Time
	uid      uint32
	hashes   []string
	runs     map[string]bool // of the caller, that have not ended
}

func (f *auditFilter) flags(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.tool, "tool", "", "of tools by their `GLOB`: SERVER.TOOL, where * stands for anything")
	s.StringVar(&f.decision, "decision", "", "of the policy: deny, ask or allow; --event call.denied finds what anybody refused")
	s.StringVar(&f.caller, "caller", "", "of runs of this `USER`, by name or number")
	s.StringVar(&f.since, "since", "", "from this `TIME` on: 2026-01-02, 2026-01-02T15:04:05Z, or how long ago, as 90m")
	s.StringVar(&f.until, "until", "", "before this `TIME`")
	s.StringVar(&f.run, "run", "", "of this run")
	s.StringVar(&f.outcome, "outcome", "", "of runs that ended so (ok, error, …), or calls (succeeded, failed, unknown, …)")
	s.StringVar(&f.event, "event", "", "of this kind, as call.intent; a `GLOB` too")
	s.StringVar(&f.payload, "payload", "", "with the bytes of this `FILE` as arguments, result or program; takes the right to read the log's key")
}

// prepare reads what was asked for.
func (f *auditFilter) prepare(log string, now time.Time) (err error) {
	wrong := func(flag string, err error) error { return usageError{fmt.Errorf("--%s: %w", flag, err)} }
	f.tools, f.events = glob(f.tool), glob(f.event)
	if f.from, err = moment(f.since, now); err != nil {
		return wrong("since", err)
	}
	if f.to, err = moment(f.until, now); err != nil {
		return wrong("until", err)
	}
	if f.caller != "" {
		if f.uid, err = lookUser(f.caller); err != nil {
			return wrong("caller", err)
		}
		f.runs = make(map[string]bool)
	}
	if f.payload == "" {
		return nil
	}
	raw, err := os.ReadFile(f.payload)
	if err != nil {
		return err
	}
	key, err := audit.ReadKey(log)
	if err != nil {
		return fmt.Errorf("read the log's key: %w", err)
	}
	f.hashes = []string{audit.Digest(key, raw), audit.Plain(raw).Hash}
	return nil
}

// glob matches whole texts; * stands for anything, a dot too, and ? for one character. Of no pattern it is nil.
func glob(pattern string) *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	return regexp.MustCompile("(?s)^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern)) + "$")
}

func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no date, no time as 2026-01-02T15:04:05Z, and no duration as 90m", text)
}

func lookUser(name string) (uint32, error) {
	if id, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(id), nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseUint(u.Uid, 10, 32)
	return uint32(id), err
}

func (f *auditFilter) match(e auditEvent) bool {
	if f.runs != nil && !f.ofCaller(e) {
		return false
	}
	switch {
	case f.tools != nil && !f.tools.MatchString(e.tool()),
		f.decision != "" && e.Decision != f.decision,
		!f.from.IsZero() && e.Time.Before(f.from),
		!f.to.IsZero() && !e.Time.Before(f.to),
		f.run != "" && e.Run != f.run,
		f.outcome != "" && e.Outcome != f.outcome && e.State != f.outcome,
		f.events != nil && !f.events.MatchString(e.Kind):
		return false
	}
	return f.hashes == nil || slices.ContainsFunc([]*audit.Payload{e.Arguments, e.Result, e.Program}, func(p *audit.Payload) bool {
		return p != nil && slices.Contains(f.hashes, p.Hash)
	})
}

// ofCaller remembers a run from its start to its end: only its start names the caller.
func (f *auditFilter) ofCaller(e auditEvent) bool {
	switch e.Kind {
	case audit.KindRunStart:
		if e.Caller == nil || e.Caller.UID != f.uid {
			return false
		}
		if len(f.runs) < maxRuns {
			f.runs[e.Run] = true
		}
		return true
	case audit.KindRunEnd:
		defer delete(f.runs, e.Run)
	}
	return f.runs[e.Run]
}

// maxRuns is more than a daemon has at once; those that a crash left without an end add up.
const maxRuns = 1 << 20

// find gives each event that matches.
func (o *auditOptions) find(ctx context.Context, f *auditFilter, each func(auditEvent) error) error {
	if err := f.prepare(o.log, time.Now()); err != nil {
		return err
	}
	r := audit.NewReader(o.log)
	defer r.Close()
	if !f.from.IsZero() && f.runs == nil { // a caller's runs may have started before
		if err := r.SkipTo(f.from); err != nil {
			return err
		}
	}
	quoted := []byte(strconv.Quote(f.run)) // a line without it is not decoded
	return o.records(ctx, r, func(record audit.Record) error {
		if f.run != "" && !bytes.Contains(record.Raw, quoted) {
			return nil
		}
		if e := readEvent(record); f.match(e) {
			return each(e)
		}
		return nil
	})
}

func (o *auditOptions) searchCommand() *cobra.Command {
	var f auditFilter
	c := o.command("search", "Show the events that match all that is asked for", 0, 0, func(ctx context.Context, _ []string) error {
		return o.find(ctx, &f, func(e auditEvent) error { return o.printEvent(e.Record, time.Time{}) })
	})
	c.Example = "  sandboxctl audit search --tool 'db.*' --decision deny --since 24h"
	f.flags(c)
	return c
}

func (o *auditOptions) exportCommand() *cobra.Command {
	var f auditFilter
	format := "jsonl"
	c := o.command("export", "Write events as JSON lines or CSV", 0, 0, func(ctx context.Context, _ []string) error {
		switch {
		case format == "jsonl":
			return o.find(ctx, &f, func(e auditEvent) error {
				o.out.Write(e.Raw)
				return o.out.WriteByte('\n')
			})
		case format != "csv":
			return usageError{fmt.Errorf("--format: %q is none of jsonl, csv", format)}
		case o.json:
			return usageError{errors.New("--json and --format csv: one of the two")}
		}
		return o.exportCSV(ctx, &f)
	})
	c.Flags().StringVar(&format, "format", format, "jsonl: as the log has them; csv: their main fields")
	f.flags(c)
	return c
}

func (o *auditOptions) exportCSV(ctx context.Context, f *auditFilter) error {
	w := csv.NewWriter(o.out)
	if err := w.Write([]string{"seq", "time", "event", "run", "n", "tool", "decision", "rule", "state", "outcome", "caller_uid",
		"arguments_bytes", "result_bytes", "reason", "hash"}); err != nil {
		return err
	}
	err := o.find(ctx, f, func(e auditEvent) error {
		e.clean()
		row := []string{strconv.FormatUint(e.Seq, 10), e.Time.Format(time.RFC3339Nano), e.Kind, e.Run, "", e.tool(), e.Decision, e.Rule,
			e.State, e.Outcome, "", payloadBytes(e.Arguments), payloadBytes(e.Result), e.Reason, e.Hash.String()}
		if e.N > 0 {
			row[4] = strconv.Itoa(e.N)
		}
		if e.Caller != nil {
			row[10] = strconv.FormatUint(uint64(e.Caller.UID), 10)
		}
		for i, cell := range row {
			if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "+") || strings.HasPrefix(cell, "-") || strings.HasPrefix(cell, "@") {
				row[i] = "'" + cell // a spreadsheet would compute it
			}
		}
		return w.Write(row)
	})
	w.Flush()
	return errors.Join(err, w.Error())
}

func payloadBytes(p *audit.Payload) string {
	if p == nil {
		return ""
	}
	return strconv.FormatInt(p.Bytes, 10)
}
