package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/profile"
)

// status is the daemon's state, as gateways get it.
func (s *Server) status(params json.RawMessage) (any, error) {
	if err := decode(params, &struct{}{}); err != nil {
		return nil, err
	}
	return s.state(), nil
}

// status is as for gateways, with what decides on calls: its addresses and files are for administrators.
func (a *admin) status(params json.RawMessage) (any, error) {
	if err := decode(params, &struct{}{}); err != nil {
		return nil, err
	}
	r := a.state()
	r.Deciding, r.Serving = a.deciding(), a.serving()
	return r, nil
}

func (s *Server) state() sandboxd.StatusResult {
	running, waiting := s.slots.counts()
	r := sandboxd.StatusResult{Version: s.version, Running: running, Waiting: waiting}
	for _, p := range s.pool.Status() {
		r.Pool = append(r.Pool, sandboxd.PoolStatus(p))
	}
	return r
}

// maxRecent is how many runs that have ended a status has.
const maxRecent = 5

func (s *Server) serving() *sandboxd.Serving {
	names := make(callerNames)
	v := &sandboxd.Serving{Gateways: s.gateways(), Callers: []sandboxd.CallerStatus{}, Recent: s.ledger.recent(names, maxRecent)}
	for uid, runs := range s.slots.perCaller() {
		v.Callers = append(v.Callers, sandboxd.CallerStatus{Caller: names.of(uid), Runs: runs})
	}
	slices.SortFunc(v.Callers, func(a, b sandboxd.CallerStatus) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), strings.Compare(a.Caller, b.Caller))
	})
	v.Leases, v.Ended, v.Calls = s.ledger.counts(profile.Names(s.profiles))
	for i := range v.Leases {
		v.Leases[i].Isolation = s.proved[v.Leases[i].Profile]
	}
	return v
}

func (s *Server) deciding() *sandboxd.Deciding {
	p := s.policy.Load()
	d := &sandboxd.Deciding{
		Approvals: s.desk.Waiting(),
		Policy:    sandboxd.PolicyStatus{File: s.config.Policy, Hash: p.Hash(), Rules: p.Rules(), Since: p.since.UTC()},
	}
	if why := s.notReloaded.Load(); why != nil {
		d.Policy.Failing = *why
	}
	if s.guard != nil {
		g := s.guard.State()
		d.Guard = &sandboxd.GuardStatus{
			By: g.By, Breaker: g.Breaker, Failures: g.Failures, Since: g.Since.UTC(), NextTry: g.NextTry.UTC(),
			InFlight: g.InFlight, Batches: g.Batches, Last: g.Last, LastAt: g.LastAt.UTC(), Counts: sandboxd.GuardCounts(g.Counts),
		}
	}
	if s.audit != nil {
		counts := s.audit.Stats()
		d.Audit = &sandboxd.AuditStatus{
			File: s.config.Audit.Path, Events: counts.Events, Refused: counts.Refused, Dropped: counts.Dropped,
		}
		if err := s.audit.Failure(); err != nil {
			d.Audit.Failing = err.Error()
		}
	}
	return d
}

// Line is the daemon's state in a line, for the service manager: what fails is in it.
func (s *Server) Line() string {
	r := s.state()
	line := fmt.Sprintf("%d runs, %d waiting; ready workers:", r.Running, r.Waiting)
	for _, p := range r.Pool {
		line += fmt.Sprintf(" %s %d/%d", p.Profile, p.Ready, p.Size)
		if p.Failing != "" {
			line += " (failing: " + p.Failing + ")"
		}
	}
	d := s.deciding()
	if d.Approvals > 0 {
		line += fmt.Sprintf("; %d calls wait for an approval", d.Approvals)
	}
	if d.Policy.Failing != "" {
		line += "; the policy was not read again: " + d.Policy.Failing
	}
	if g := d.Guard; g != nil && g.Failures > 0 {
		line += "; the guard fails: " + g.Last
	}
	if d.Audit != nil && d.Audit.Failing != "" {
		line += "; every call is refused, as nothing can be recorded: " + d.Audit.Failing
	}
	return strings.ReplaceAll(line, "\n", "; ")
}
