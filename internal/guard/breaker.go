package guard

import (
	"fmt"
	"sync"
	"time"
)

// States of the breaker.
const (
	Closed   = "closed"    // requests go out
	Open     = "open"      // none does until the next try
	HalfOpen = "half-open" // one does, and decides
)

const (
	breakAfter = 3 // failures in a row
	firstPause = time.Second
	longPause  = 30 * time.Second
)

// breaker keeps calls from waiting for a judge that is down. What counts is whether the judge can be reached and
// answers, never what it says: a program must not be able to switch the guard off by arguments that confuse it.
type breaker struct {
	mu       sync.Mutex // guards the fields below
	round    uint64     // of the state: what began in an earlier one tells nothing about this one
	open     bool
	probing  bool
	failures int // in a row
	pause    time.Duration
	since    time.Time // of the first failure in a row
	next     time.Time
	why      string
}

// pass lets one request out; its holder reports what became of it.
type pass struct {
	round uint64
	probe bool
}

// health is what a request told of the judge.
type health int

const (
	untold health = iota // given up before there was an answer
	up
	down
)

// refuses says why no request may go out now; nil: one may.
func (b *breaker) refuses(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refusal(now)
}

func (b *breaker) refusal(now time.Time) error {
	if !b.open || !b.probing && !now.Before(b.next) {
		return nil
	}
	next := "just now"
	if !b.probing {
		next = "in " + b.next.Sub(now).Round(100*time.Millisecond).String()
	}
	return &failure{why: fmt.Sprintf("the guard has been down for %v (%s), and is next tried %s",
		now.Sub(b.since).Round(time.Second), b.why, next)}
}

func (b *breaker) admit(now time.Time) (pass, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.refusal(now); err != nil {
		return pass{}, err
	}
	if b.open {
		b.probing = true
		b.round++
	}
	return pass{b.round, b.open}, nil
}

func (b *breaker) report(p pass, h health, why string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.round != b.round {
		return
	}
	b.probing = false
	switch h {
	case up:
		if b.open {
			b.round++
		}
		b.open, b.failures, b.pause = false, 0, 0
	case down:
		if b.failures == 0 {
			b.since = now
		}
		b.failures++
		b.why = why
		if b.failures < breakAfter {
			return
		}
		b.pause = min(max(firstPause, 2*b.pause), longPause)
		b.open, b.next = true, now.Add(b.pause)
		b.round++
	}
}

// hurry ends a pause.
func (b *breaker) hurry() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = time.Time{}
}

// state is one of the words above, since when the judge has been failing, and when it is tried next.
func (b *breaker) state() (word string, failures int, since, next time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failures == 0:
		return Closed, 0, time.Time{}, time.Time{}
	case !b.open:
		return Closed, b.failures, b.since, time.Time{}
	case b.probing:
		return HalfOpen, b.failures, b.since, time.Time{}
	}
	return Open, b.failures, b.since, b.next
}
