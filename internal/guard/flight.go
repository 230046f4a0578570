package guard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// window is how long a check waits for others of its run, if one of theirs is in flight.
const window = 2 * time.Millisecond

const (
	firstBackoff = 25 * time.Millisecond
	longBackoff  = 400 * time.Millisecond
)

// item is one check that waits for its ruling.
type item struct {
	run         string
	traceparent string
	body        []byte
	deadline    time.Time
	done        chan ruling // takes exactly one, without blocking

	lane   *lane   // guarded by Guard.mu, like the next
	flight *flight // nil: it waits in the lane
	left   bool    // nobody waits for it
}

// lane is what one run asks. Checks of two runs never share a request: what two users want must not be weighed together,
// nor one run's checks be late or lost with another's.
type lane struct { // guarded by Guard.mu
	run     string
	flying  []*flight
	waiting []*item
	bytes   int // of waiting
	timer   *time.Timer
}

// flight is one request, with its tries.
type flight struct {
	// set by launch, then read-only
	lane     *lane
	items    []*item
	ctx      context.Context
	cancel   context.CancelFunc
	deadline time.Time

	wanted int // items whose asker still waits; guarded by Guard.mu
}

// join puts a check on its way: at once if its run has nothing in flight, else with those that come within the window.
func (g *Guard) join(it *item) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		it.done <- ruling{err: errClosed}
		return
	}
	if err := g.breaker.refuses(time.Now()); err != nil {
		it.done <- ruling{err: err}
		return
	}
	l := g.lanes[it.run]
	if l == nil {
		l = &lane{run: it.run}
		g.lanes[it.run] = l
	}
	it.lane = l
	most := g.api.together()
	if it.run == "" || most == 1 || len(l.flying) == 0 {
		g.launch(l, it)
		return
	}
	if len(l.waiting) == most || l.bytes+len(it.body) > maxBatchBytes {
		g.flush(l)
	}
	l.waiting = append(l.waiting, it)
	l.bytes += len(it.body)
	if len(l.waiting) == 1 {
		l.timer = time.AfterFunc(window, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.flush(l)
		})
	}
}

var errClosed = &failure{why: "the daemon is ending", cancelled: true}

// leave takes away a check that nobody waits for; what is left of its flight goes on.
func (g *Guard) leave(it *item) {
	g.mu.Lock()
	defer g.mu.Unlock()
	it.left = true
	if f := it.flight; f != nil {
		if f.wanted--; f.wanted == 0 {
			f.cancel()
		}
		return
	}
	if l := it.lane; l != nil && slices.Contains(l.waiting, it) {
		l.waiting = slices.DeleteFunc(l.waiting, func(other *item) bool { return other == it })
		l.bytes -= len(it.body)
	}
}

// flush sends what waits. It is no error if nothing does: the window can end when it has been sent already.
func (g *Guard) flush(l *lane) {
	if l.timer != nil {
		l.timer.Stop()
	}
	if items := l.waiting; len(items) > 0 {
		l.waiting, l.bytes = nil, 0
		g.launch(l, items...)
	}
}

func (g *Guard) launch(l *lane, items ...*item) {
	f := &flight{lane: l, items: items, deadline: items[0].deadline, wanted: len(items)} // the first came first
	f.ctx, f.cancel = context.WithDeadline(context.Background(), f.deadline)
	for _, it := range items {
		it.flight = f
	}
	l.flying = append(l.flying, f)
	g.flights.Go(func() { g.fly(f) })
}

// fly makes a flight's request, and answers each of its checks.
func (g *Guard) fly(f *flight) {
	defer f.cancel()
	rulings, attempts, err := g.judge(f)
	g.mu.Lock()
	defer g.mu.Unlock()
	if errors.Is(err, errNoBatch) && !g.closed {
		for _, it := range f.items {
			if !it.left {
				g.launch(f.lane, it)
			}
		}
	} else {
		for i, it := range f.items {
			r := ruling{err: err}
			if err == nil {
				r = rulings[i]
			}
			r.attempts, r.together = attempts, len(f.items)
			it.done <- r
		}
	}
	l := f.lane
	l.flying = slices.DeleteFunc(l.flying, func(other *flight) bool { return other == f })
	if len(l.flying) == 0 {
		g.flush(l) // nothing to wait for
	}
	if len(l.flying) == 0 {
		delete(g.lanes, l.run)
	}
}

// close answers what waits, and ends what flies.
func (l *lane) close() {
	for _, it := range l.waiting {
		it.done <- ruling{err: errClosed}
	}
	l.waiting, l.bytes = nil, 0
	if l.timer != nil {
		l.timer.Stop()
	}
	for _, f := range l.flying {
		f.cancel()
	}
}

// judge asks, as soon as there is a place and unless the judge is down, and keeps account of it.
func (g *Guard) judge(f *flight) (rulings []ruling, attempts int, err error) {
	select {
	case g.places <- struct{}{}:
		defer func() { <-g.places }()
	case <-f.ctx.Done():
		if !errors.Is(f.ctx.Err(), context.DeadlineExceeded) {
			return nil, 0, errClosed
		}
		return nil, 0, &failure{why: fmt.Sprintf("%d requests to the guard, all that may be in flight (at_once), took %v",
			cap(g.places), g.config.Timeout)}
	}
	p, err := g.breaker.admit(time.Now())
	if err != nil {
		return nil, 0, err
	}
	rulings, attempts, err = g.try(f, p.probe)
	h, why := up, ""
	if e := (*failure)(nil); errors.As(err, &e) {
		h, why = e.health, e.why
		g.note(e)
	}
	g.breaker.report(p, h, why, time.Now())
	return rulings, attempts, err
}

// try asks until there is an answer, or no time for another try. A probe is one try: somebody waits for it.
func (g *Guard) try(f *flight, once bool) ([]ruling, int, error) {
	bodies := make([][]byte, 0, len(f.items))
	for _, it := range f.items {
		bodies = append(bodies, it.body)
	}
	var last *failure
	for n := 1; ; n++ {
		g.count(func(c *Counts) {
			c.Requests++
			c.Retries += uint64(min(n-1, 1))
			c.Batches += uint64(min(len(bodies)-1, 1))
		})
		// A request has one trace context: that of who began it.
		rulings, err := g.api.ask(f.ctx, g.server.Load().under(f.items[0].traceparent), bodies)
		e := (*failure)(nil)
		if !errors.As(err, &e) {
			return rulings, n, err
		}
		if f.ctx.Err() != nil {
			return nil, n, g.late(f, last)
		}
		last = e
		pause := max(backoff(n), e.after)
		if !e.retry || once || time.Until(f.deadline) <= pause {
			return nil, n, e
		}
		select {
		case <-time.After(pause):
		case <-f.ctx.Done():
			return nil, n, g.late(f, last)
		}
	}
}

// late is a request that was ended from here: by its time, or because nobody waits for it.
func (g *Guard) late(f *flight, last *failure) *failure {
	if !errors.Is(f.ctx.Err(), context.DeadlineExceeded) {
		return errClosed
	}
	e := &failure{why: fmt.Sprintf("the guard did not answer within %v", g.config.Timeout), health: down}
	if last != nil {
		e.why += "; before that: " + last.why
	}
	return e
}

// backoff is the pause after the n-th try: twice as long each time, and half of it by chance, so that those who failed
// together don't come back together.
func backoff(n int) time.Duration {
	d := min(firstBackoff<<min(n-1, 10), longBackoff)
	return d/2 + rand.N(d/2)
}
