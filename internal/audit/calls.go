package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// unanswered are the calls that were to be sent, and have no outcome yet.
type unanswered struct {
	open map[string]uint64 // RUN/N, to the order in which they were
	last uint64
	over int // more than fit
}

const maxUnanswered = 1 << 17 // a thousand runs at once, with all the calls at once that a profile may allow, have half of it

func (u *unanswered) add(id string) {
	if len(u.open) >= maxUnanswered {
		u.over++
		return
	}
	if u.open == nil {
		u.open = make(map[string]uint64)
	}
	u.last++
	u.open[id] = u.last
}

func callID(run string, n int) string { return name(run) + "/" + strconv.Itoa(n) }

// note takes an event that was written.
func (u *unanswered) note(e Event) {
	switch e := e.(type) {
	case CallIntent:
		u.add(callID(e.Run, e.N))
	case CallOutcome:
		delete(u.open, callID(e.Run, e.N))
	}
}

// take takes a line that an earlier daemon wrote.
func (u *unanswered) take(r Record) {
	switch r.Kind {
	case KindCallIntent, KindCallOutcome:
		run, n, ok := r.call()
		if !ok { // a name that is escaped: the slow way
			var e CallOutcome
			if r.Decode(&e) != nil {
				return
			}
			run, n = e.Run, e.N
		}
		if r.Kind == KindCallOutcome {
			delete(u.open, callID(run, n))
			return
		}
		u.add(callID(run, n))
	case KindOpen: // all that are open, those of the file before among them
		var e open
		if r.Decode(&e) != nil {
			return
		}
		for _, id := range e.Calls {
			if _, known := u.open[id]; !known {
				u.add(id)
			}
		}
	}
}

// ids are the calls in their order.
func (u *unanswered) ids() []string {
	ids := make([]string, 0, len(u.open))
	for id := range u.open {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(u.open[a], u.open[b]) })
	return ids
}

// unknown are the outcomes that a crash kept from being written.
func (u *unanswered) unknown() []Event {
	var all []Event
	for _, id := range u.ids() {
		run, n, _ := cutLast(id, "/")
		number, err := strconv.Atoi(n)
		if err != nil { // of a line that no daemon wrote
			continue
		}
		all = append(all, CallOutcome{
			Run: run, N: number, State: "unknown", Reason: "the daemon ended before it had an answer: the call may have been carried out",
		})
	}
	if u.over > 0 {
		all = append(all, repaired{Reason: fmt.Sprintf("%d more calls have no outcome than can be listed", u.over)})
		u.over = 0
	}
	return all
}

// carried are those calls as a file begins with them, a part at a time: a start need not look further back than that.
func (u *unanswered) carried() []Event {
	var all []Event
	for part := range slices.Chunk(u.ids(), maxCarried) {
		all = append(all, open{Calls: part})
	}
	return all
}

const maxCarried = 200 // in a line

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
