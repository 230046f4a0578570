package guard

import (
	"cmp"
	"time"
)

// State is what status shows of a guard.
type State struct {
	By       string
	Breaker  string    // Closed, Open or HalfOpen
	Failures int       // in a row
	Since    time.Time // of the first of them
	NextTry  time.Time // when open
	InFlight int       // requests
	Batches  bool      // checks share requests
	Last     string    // of a request, with addresses: for operators
	LastAt   time.Time
	Counts   Counts // since New
}

// Counts add up: Checks is the sum of the five after it.
type Counts struct {
	Checks      uint64
	Allow       uint64 // judged so, like the next two
	Ask         uint64
	Block       uint64
	Unavailable uint64 // not judged
	GivenUp     uint64 // nobody waited for it any more
	Requests    uint64
	Retries     uint64 // of the requests
	Batches     uint64 // of the requests
}

// State looks at the guard without waiting for it.
func (g *Guard) State() State {
	s := State{By: g.by, InFlight: len(g.places), Batches: g.api.together() > 1}
	s.Breaker, s.Failures, s.Since, s.NextTry = g.breaker.state()
	g.mu.Lock()
	defer g.mu.Unlock()
	s.Last, s.LastAt, s.Counts = g.last, g.lastAt, g.counts
	return s
}

func (c *Counts) add(a Answer, err error) {
	c.Checks++
	switch f, _ := err.(*failure); {
	case f != nil && f.cancelled:
		c.GivenUp++
	case !a.Judged:
		c.Unavailable++
	case a.Verdict == Allow:
		c.Allow++
	case a.Verdict == Ask:
		c.Ask++
	default:
		c.Block++
	}
}

func (g *Guard) count(change func(*Counts)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.counts)
}

// note keeps what the last request failed by.
func (g *Guard) note(f *failure) {
	if f.cancelled {
		return
	}
	text := g.server.Load().redact(printable(cmp.Or(f.detail, f.why), maxReason))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last, g.lastAt = text, time.Now()
}
