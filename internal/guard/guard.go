// Package guard asks a judge outside the daemon whether a tool call should happen.
//
// The judge is an HTTP server that knows the guard's protocol, or any chat model behind an OpenAI-compatible endpoint
// (docs/guard.md). Its answer is one of three words. Whatever is not a clear verdict on the very call that was asked
// about becomes what Config.OnUnavailable says, and that can't be allow.
package guard

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandboxd/sandboxd/internal/remote"
)

// Guard is the client of one judge. It may be used by many goroutines.
type Guard struct {
	// set by New, then read-only
	config      Config
	dial        remote.Dialer
	unavailable Verdict // what holds where there is none
	by          string
	api         api
	places      chan struct{} // one for each request that may be in flight

	server  atomic.Pointer[server] // Reload replaces it
	breaker breaker
	flights sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	closed bool
	lanes  map[string]*lane // by run
	counts Counts
	last   string // error of a request, for operators
	lastAt time.Time
}

// api is a way to put checks to a judge.
type api interface {
	// together is how many checks one request can carry now.
	together() int
	// ask makes one request, or one more where the server can't do what the first asked for. It returns a ruling for
	// each check, in order, or a *failure for all of them.
	ask(ctx context.Context, r *server, checks [][]byte) ([]ruling, error)
}

// New reads the key and the CA, and connects to nothing yet. An error begins with the key of the configuration that it
// is about, such as "url: ".
func New(c Config) (*Guard, error) {
	return over(c, (&net.Dialer{Timeout: c.Timeout}).DialContext)
}

func over(c Config, dial remote.Dialer) (*Guard, error) {
	at, err := c.check()
	if err != nil {
		return nil, err
	}
	r, err := connect(c, at, dial)
	if err != nil {
		return nil, err
	}
	g := &Guard{
		config: c, dial: dial, unavailable: Ask, by: at.Name, api: &native{},
		places: make(chan struct{}, c.AtOnce), lanes: make(map[string]*lane),
	}
	if c.OnUnavailable == Block.String() {
		g.unavailable = Block
	}
	if c.API == apiChat {
		g.api, g.by = &chat{model: c.Model, most: c.ArgsBytes + maxAbout}, c.Model+" at "+at.Name
	}
	g.server.Store(r)
	return g, nil
}

// Check asks about one call. It blocks until there is a verdict, for the configured time-out at most, and returns at
// once when ctx ends. Checks of one run that are in flight together share a request.
func (g *Guard) Check(ctx context.Context, c Check) Answer {
	began := time.Now()
	var r ruling
	switch body, err := c.encode(g.config.ArgsBytes); {
	case err != nil:
		r.err = err
	case ctx.Err() != nil:
		r.err = gone(ctx)
	default:
		r = g.wait(ctx, &item{run: c.Run, traceparent: c.Traceparent, body: body, deadline: began.Add(g.config.Timeout), done: make(chan ruling, 1)})
	}
	return g.answer(r, time.Since(began))
}

func (g *Guard) wait(ctx context.Context, it *item) ruling {
	g.join(it)
	select {
	case r := <-it.done:
		return r
	case <-ctx.Done():
		g.leave(it)
		return ruling{err: gone(ctx)}
	}
}

// gone is no failure of the guard: who asked does not want the answer any more.
func gone(ctx context.Context) error {
	return &failure{why: fmt.Sprintf("the check was given up: %v", context.Cause(ctx)), cancelled: true}
}

func (g *Guard) answer(r ruling, latency time.Duration) Answer {
	a := Answer{
		Verdict: r.verdict, Judged: true, Reason: r.reason,
		By: g.by, Attempts: r.attempts, Together: r.together, Latency: latency,
	}
	if r.err != nil {
		a.Verdict, a.Judged, a.Reason = g.unavailable, false, "there is no verdict: "+printable(r.err.Error(), maxReason)
	}
	a.Reason = g.server.Load().redact(a.Reason)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts.add(a, r.err)
	return a
}

// Reload reads the key and the CA again. On an error the old ones stay. Requests in flight end with what they began; a
// breaker that is open lets the next check try what was mended.
func (g *Guard) Reload() error {
	at, err := g.config.check()
	if err != nil {
		return err
	}
	r, err := connect(g.config, at, g.dial)
	if err != nil {
		return err
	}
	g.server.Swap(r).transport.CloseIdleConnections()
	g.breaker.hurry()
	return nil
}

// Close ends what is in flight, whose checks are answered as unavailable, and waits for it. So is every later check.
func (g *Guard) Close() {
	g.mu.Lock()
	g.closed = true
	for _, l := range g.lanes {
		l.close()
	}
	g.mu.Unlock()
	g.flights.Wait()
	g.server.Load().transport.CloseIdleConnections()
}
