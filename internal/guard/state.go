package guard

import (
	"cmp"
	"time"
)

// State is what status and metrics show of a guard.
type State struct {
	By       string    `json:"by"`
	Breaker  string    `json:"breaker"`              // Closed, Open or HalfOpen
	Failures int       `json:"failures"`             // in a row
	Since    time.Time `json:"since,omitzero"`       // of the first of them
	NextTry  time.Time `json:"next_try,omitzero"`    // when open
	InFlight int       `json:"in_flight"`            // requests
	Batches  bool      `json:"batches"`              // checks share requests
	Last     string    `json:"last_error,omitempty"` // of a request, with addresses: for operators
	LastAt   time.Time `json:"last_error_at,omitzero"`
	Counts   Counts    `json:"counts"` // since New
}

// Counts add up: Checks is the sum of the five after it.
type Counts struct {
	Checks      uint64 `json:"checks"`
	Allow       uint64 `json:"allow"` // judged so, like the next two
	Ask         uint64 `json:"ask"`
	Block       uint64 `json:"block"`
	Unavailable uint64 `json:"unavailable"` // not judged
	GivenUp     uint64 `json:"given_up"`    // nobody waited for it any more
	Requests    uint64 `json:"requests"`
	Retries     uint64 `json:"retries"` // of the requests
	Batches     uint64 `json:"batches"` // of the requests
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
	text := g.remote.Load().redact(printable(cmp.Or(f.detail, f.why), maxReason))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last, g.lastAt = text, time.Now()
}
