package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// place is where the session with one server stands, and the next one when that has ended.
type place struct {
	server Server // set by Connect, then read-only

	mu  sync.Mutex // guards the fields below
	now *session   // nil: it does not run
	why error      // then
}

// session returns the session, or nil and why there is none.
func (p *place) session() (*session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now, p.why
}

func (p *place) set(s *session, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.why = s, why
}

const (
	firstPause = time.Second
	maxPause   = time.Minute
	steady     = time.Minute // who has run for so long has not failed to start
)

// keep starts the server again whenever it has ended, until Close. Each pause is up to twice the one before it, and no two servers
// that failed together come back together.
func (u *Upstreams) keep(p *place) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		s, why := p.session()
		if s != nil {
			began := time.Now()
			why = u.ended(s)
			if u.closing.Err() != nil {
				return
			}
			if time.Since(began) > steady {
				pause = firstPause
			}
			p.set(nil, why)
			u.options.Log.Warn("MCP server ended", "error", why)
			u.options.Changed(p.server.Name)
		}
		if errors.Is(why, errOwn) {
			return // it will be tomorrow
		}
		select {
		case <-time.After(pause/2 + rand.N(pause/2)):
		case <-u.closing.Done():
			return
		}
		s, why = open(u.closing, p.server, u.options)
		p.set(s, why)
		if s != nil {
			u.options.Changed(p.server.Name)
		} else if u.closing.Err() == nil {
			u.options.Log.Warn("MCP server does not start", "error", why)
		}
	}
}

// ended waits until the session has ended by itself, or Close is called, and returns why it did.
func (u *Upstreams) ended(s *session) error {
	gone := make(chan error, 1)
	go func() { gone <- s.mcp.Wait() }() // ends at the latest when Close closes the session
	select {
	case err := <-gone:
		err = errors.Join(err, s.close())
		if s.process != nil {
			err = errors.New(s.process.fate())
		}
		return fmt.Errorf("server %q: ended: %w", s.server.Name, cmp.Or(err, errors.New("closed its connection")))
	case <-u.closing.Done():
		return context.Cause(u.closing)
	}
}
