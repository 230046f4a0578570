package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/policy"
)

func (o *policyOptions) replayCommand() *cobra.Command {
	var r replay
	path, since := "", ""
	c := o.command("replay [LOG]", "Say which past decisions a policy would change, by the audit log", 0, 1, func(c *cobra.Command, args []string) (err error) {
		if len(args) > 0 {
			if c.Flags().Changed("log") {
				return usageError{fmt.Errorf("replay takes one log: %s or --log", args[0])}
			}
			r.log = args[0]
		}
		if path == "" {
			return usageError{errors.New("replay takes --policy FILE")}
		}
		if r.limit < 0 || r.limit > maxListed {
			return usageError{fmt.Errorf("--limit: %d is not within 0 and %d", r.limit, maxListed)}
		}
		if r.since, err = moment(since, time.Now()); err != nil {
			return usageError{fmt.Errorf("--since: %w", err)}
		}
		if r.policy, err = loadPolicy(path); err != nil {
			return err
		}
		if err := r.read(c.Context()); err != nil {
			return unreadLog(err)
		}
		if r.unproved {
			fmt.Fprintln(os.Stderr, "sandboxctl: warning: the log's key can't be read, and what it stores of arguments not be held against their hashes")
		}
		return o.printReplay(&r)
	})
	c.Long = `Say which past decisions a policy would change, by the audit log.

Each call is judged as if those before it in its run had happened as they did. The log has hashes and not arguments, unless it
stores payloads: where a decision depends on what it does not have, nobody can tell, and replay says so.`
	c.Example = "  sandboxctl policy replay --policy new.yaml --since 24h\n  sandboxctl policy replay --policy new.yaml audit.log"
	s := c.Flags()
	s.StringVar(&path, "policy", "", "the new policy, a `FILE` or directory")
	s.StringVar(&r.log, "log", audit.Default().Path, "the log: the `FILE` that is written, beside which older ones stand")
	s.StringVar(&since, "since", "", "calls from this `TIME` on: 2026-01-02, 2026-01-02T15:04:05Z, or how long ago, as 90m")
	s.IntVar(&r.limit, "limit", 1000, "how many calls to list of those that change, and of those of which nobody can tell")
	return c
}

const maxListed = 1_000_000

// replay holds a log against a policy.
type replay struct {
	policy *policy.Policy
	log    string
	since  time.Time
	limit  int

	key      []byte // of the log; nil: it can't be read, and so no stored text be checked
	unproved bool   // there was such a text
	last     uint64 // number of the line before
	runs     map[string]*replayedRun
	replayed int // runs

	calls, same, refused int
	changes              map[string]int // "allow → deny"
	changed, untold      []replayedCall // the first of them
	nUntold              int
}

// replayedCall is a call about which the policy would, or may, decide otherwise.
type replayedCall struct {
	Time     time.Time `json:"time"`
	Run      string    `json:"run"`
	N        int       `json:"n"`
	Tool     string    `json:"tool"`
	Decision string    `json:"decision"` // as it was
	Rule     string    `json:"rule"`
	Possible []string  `json:"possible"` // as it would be: several, if nobody can tell which
	By       string    `json:"by"`       // what would decide
	Unsure   []string  `json:"unsure"`   // why nobody can tell
}

// read reads the log from its beginning: what a run did before counts.
func (r *replay) read(ctx context.Context) error {
	r.runs, r.changes = make(map[string]*replayedRun), make(map[string]int)
	r.key, _ = audit.ReadKey(r.log) // who may read the log may not read its key, most likely
	lines := audit.NewReader(r.log)
	defer lines.Close()
	o := auditOptions{log: r.log}
	if err := o.records(ctx, lines, r.take); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(r.runs)) { // they have no end here
		r.judge(r.runs[id])
	}
	order := func(a, b replayedCall) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Run, b.Run), cmp.Compare(a.N, b.N))
	}
	slices.SortFunc(r.changed, order)
	slices.SortFunc(r.untold, order)
	return nil
}

// take takes one line. A run is judged when all of it was seen: its calls are decided on in their order, and recorded in another.
func (r *replay) take(record audit.Record) error {
	if r.last > 0 && record.Seq != r.last+1 {
		for _, run := range r.runs {
			run.torn = true
		}
	}
	r.last = record.Seq
	switch record.Kind {
	case audit.KindRunStart:
		var e audit.RunStart
		if err := record.Decode(&e); err != nil {
			return err
		}
		run, err := r.run(e.Run)
		if err != nil {
			return err
		}
		r.start(run, e)
	case audit.KindCallIntent, audit.KindCallDenied:
		var e audit.CallDenied // it has all that an intent has, but its key
		if err := record.Decode(&e); err != nil {
			return err
		}
		run, err := r.run(e.Run)
		if err != nil {
			return err
		}
		r.call(run, record, e)
	case audit.KindRunEnd:
		var e audit.RunEnd
		if err := record.Decode(&e); err != nil {
			return err
		}
		if run := r.runs[e.Run]; run != nil {
			r.judge(run)
			delete(r.runs, e.Run)
		}
	}
	return nil
}

// run is the one of that name. One that the log does not have from its start is torn.
func (r *replay) run(id string) (*replayedRun, error) {
	run := r.runs[id]
	if run == nil {
		if len(r.runs) >= maxRuns {
			return nil, fmt.Errorf("%s: more than %d runs have no end: that is no log of a daemon", r.log, maxRuns)
		}
		run = &replayedRun{id: id, torn: true, calls: make(map[int]recorded)}
		r.runs[id] = run
	}
	return run, nil
}

// judge decides anew on the calls of a run.
func (r *replay) judge(run *replayedRun) {
	var earlier []decided
	counted := false
	for _, n := range slices.Sorted(maps.Keys(run.calls)) {
		c := run.calls[n]
		now := anything("the log does not have all of its run")
		switch {
		case !run.torn && (cut(c.server) || cut(c.tool)):
			now = anything("the log does not have all of its name")
		case !run.torn:
			partly := run.known(n, c, earlier)
			now = r.policy.Possible(&partly)
		}
		earlier = append(earlier, decided{c, n, now})
		switch {
		case c.at.Before(r.since):
		case !c.judged || !run.torn && !run.ruled:
			r.refused++
		default:
			r.count(run.id, n, c, now)
			counted = true
		}
	}
	if counted {
		r.replayed++
	}
}

// anything is what may be said of a call of which too little is known.
func anything(why string) policy.Possible {
	return policy.Possible{Actions: []policy.Action{policy.Deny, policy.Ask, policy.Allow}, Unsure: []string{why}, Reads: true, Mutates: true}
}

// count notes what the policy would say of a call.
func (r *replay) count(run string, n int, c recorded, now policy.Possible) {
	r.calls++
	var possible []string
	for _, a := range now.Actions {
		possible = append(possible, a.String())
	}
	call := replayedCall{c.at, run, n, c.server + "." + c.tool, c.was.String(), c.rule, possible, now.By, append([]string{}, now.Unsure...)}
	switch {
	case !slices.Contains(now.Actions, c.was):
		r.changes[call.Decision+" → "+strings.Join(possible, " or ")]++
		r.changed = listed(r.changed, call, r.limit)
	case len(now.Actions) > 1:
		r.nUntold++
		r.untold = listed(r.untold, call, r.limit)
	default:
		r.same++
	}
}

func listed(list []replayedCall, c replayedCall, most int) []replayedCall {
	if len(list) < most {
		list = append(list, c)
	}
	return list
}
