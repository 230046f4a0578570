package server

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/rpc"
)

// ledger knows the runs that there are and the last that have ended, for administrators. It keeps nothing of what programs, arguments,
// results and errors say; the audit log has what is older.
type ledger struct {
	mu     sync.Mutex // guards the fields below
	active map[string]*run
	ended  []*endedRun // the oldest first
	bytes  int         // of those
	leases map[string]*sandboxd.LeaseStatus
	runs   map[string]int64 // that have ended, by outcome
	calls  map[string]int64 // of those, by state
}

// endedRun is what is kept of a run. Its caller's name is looked up for who reads it, not for each run.
type endedRun struct {
	sandboxd.RunReport
	uid   uint32
	bytes int
}

// What is kept: the runs that ended last, as many as both allow, and the first calls of each.
const (
	maxEnded      = 256
	maxEndedBytes = 4 << 20
	maxTimeline   = 256
)

func newLedger() *ledger {
	return &ledger{
		active: make(map[string]*run), leases: make(map[string]*sandboxd.LeaseStatus),
		runs: make(map[string]int64), calls: make(map[string]int64),
	}
}

func (l *ledger) begin(r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active[r.account.ID] = r
}

// lease counts a worker that the run got, until its end.
func (l *ledger) lease(r *run, warm bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.leases[r.profile.Name]
	if s == nil {
		s = &sandboxd.LeaseStatus{Profile: r.profile.Name}
		l.leases[r.profile.Name] = s
	}
	s.Leased++
	if warm {
		s.Warm++
	} else {
		s.Cold++
	}
	r.leased.Store(true)
}

// end keeps what became of a run, whose result is complete.
func (l *ledger) end(r *run) {
	e := &endedRun{RunReport: r.report(time.Now()), uid: r.caller.UID}
	e.Outcome, e.Doing, e.Stats = r.result.Outcome, "", r.result.Stats
	e.bytes = e.size()

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active[e.Run] == nil {
		return // it was ended before a fault ended it again
	}
	delete(l.active, e.Run)
	if r.leased.Load() {
		l.leases[e.Profile].Leased--
	}
	l.runs[string(e.Outcome)]++
	for _, c := range r.result.Calls {
		l.calls[string(c.State)]++
	}
	l.ended, l.bytes = append(l.ended, e), l.bytes+e.bytes
	for len(l.ended) > maxEnded || l.bytes > maxEndedBytes {
		l.bytes -= l.ended[0].bytes
		l.ended = slices.Delete(l.ended, 0, 1)
	}
}

// size is about what an ended run takes of memory.
func (e *endedRun) size() int {
	const fixed = 512 // of a run, and of a call with its spans
	n := fixed + len(e.Gateway) + len(e.Profile)
	for _, c := range e.Timeline {
		n += fixed + len(c.Server) + len(c.Tool) + len(c.Rule) + len(c.Reason) + len(c.Approved)
	}
	return n
}

// summary is the run as it is now. Its caller is to be filled in.
func (r *run) summary(now time.Time) sandboxd.RunSummary {
	t := r.account.Tally()
	s := sandboxd.RunSummary{
		Run: r.account.ID, Gateway: r.account.Caller.Gateway, Profile: r.profile.Name, Began: r.began.UTC(), ElapsedMS: milliseconds(now.Sub(r.began)),
		Calls: t.Calls, Out: t.Out, Failed: t.Failed, Denied: t.Denied, Doing: "waiting for a worker",
	}
	if r.leased.Load() {
		s.Doing = cut(doing(t.Approval, t.Tool), maxText)
	}
	return s
}

// report is the run as it is now, with its calls. Its caller is to be filled in.
func (r *run) report(now time.Time) sandboxd.RunReport {
	p := sandboxd.RunReport{RunSummary: r.summary(now)}
	p.Timeline, p.More = r.account.Report(r.began, now, maxTimeline)
	return p
}

// all is what is known: runs that go on, the oldest first, and those that have ended, the newest first.
func (l *ledger) all() (active []*run, ended []*endedRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	active = slices.SortedFunc(maps.Values(l.active), func(a, b *run) int {
		return cmp.Or(a.began.Compare(b.began), strings.Compare(a.account.ID, b.account.ID))
	})
	ended = slices.Clone(l.ended)
	slices.Reverse(ended)
	return active, ended
}

// recent are the last runs that ended, the newest first.
func (l *ledger) recent(names callerNames, most int) []sandboxd.RunSummary {
	_, ended := l.all()
	list := []sandboxd.RunSummary{}
	for _, e := range ended[:min(most, len(ended))] {
		list = append(list, e.summary(names))
	}
	return list
}

// summary is an ended run, with its caller.
func (e *endedRun) summary(names callerNames) sandboxd.RunSummary {
	s := e.RunSummary
	s.Caller = names.of(e.uid)
	return s
}

// counts is what has added up: leases of each profile, and the others in the order of their names.
func (l *ledger) counts(profiles []string) (leases []sandboxd.LeaseStatus, runs, calls []sandboxd.Tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	leases = make([]sandboxd.LeaseStatus, len(profiles))
	for i, name := range profiles {
		leases[i].Profile = name
		if s := l.leases[name]; s != nil {
			leases[i] = *s
		}
	}
	return leases, counted(l.runs), counted(l.calls)
}

func counted(m map[string]int64) []sandboxd.Tally {
	all := []sandboxd.Tally{}
	for _, of := range slices.Sorted(maps.Keys(m)) {
		all = append(all, sandboxd.Tally{Of: of, N: m[of]})
	}
	return all
}

// callerNames are what users are called in one answer.
type callerNames map[uint32]string

func (n callerNames) of(uid uint32) string {
	name, known := n[uid]
	if !known {
		name = Caller{UID: uid}.user()
		n[uid] = name
	}
	return name
}

// listRuns is runs/list.
func (a *admin) listRuns(params json.RawMessage) (any, error) {
	var p sandboxd.RunsParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	if p.Limit < 0 || p.Limit > sandboxd.MaxRuns {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "limit: %d is not within 0 and %d", p.Limit, sandboxd.MaxRuns)
	}
	most := cmp.Or(p.Limit, sandboxd.MaxRuns)
	active, ended := a.ledger.all()
	now, names := time.Now(), make(callerNames)
	list := sandboxd.RunList{Runs: []sandboxd.RunSummary{}}
	for _, r := range active[:min(most, len(active))] {
		s := r.summary(now)
		s.Caller = names.of(r.caller.UID)
		list.Runs = append(list.Runs, s)
	}
	for _, e := range ended[:min(most-len(list.Runs), len(ended))] {
		list.Runs = append(list.Runs, e.summary(names))
	}
	list.More = len(active) + len(ended) - len(list.Runs)
	return list, nil
}

// showRun is runs/show.
func (a *admin) showRun(params json.RawMessage) (any, error) {
	var p sandboxd.ShowRunParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	report, uid, found := a.ledger.find(p.Run)
	if !found {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "run: %.40q neither goes on nor is among the last that ended, of which up to %d are kept: "+
			"the audit log has older ones", p.Run, maxEnded)
	}
	report.Caller = make(callerNames).of(uid)
	return report, nil
}

// find is what is known of a run, but for its caller's name.
func (l *ledger) find(id string) (report sandboxd.RunReport, uid uint32, found bool) {
	l.mu.Lock()
	active := l.active[id]
	i := slices.IndexFunc(l.ended, func(e *endedRun) bool { return e.Run == id })
	if i >= 0 {
		report, uid = l.ended[i].RunReport, l.ended[i].uid
	}
	l.mu.Unlock()
	if active != nil {
		return active.report(time.Now()), active.caller.UID, true
	}
	return report, uid, i >= 0
}
