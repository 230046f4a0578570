package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sandboxd/sandboxd"
)

// link is the connection to the daemon. What it announced is fixed, so that other tools take another connection; the one before stays
// until its runs have ended, with the tools that they began with.
type link struct {
	// set by the caller, then read-only
	daemon daemonOptions
	box    *toolbox
	gate   sandboxd.Options // but for the tools

	alone atomic.Bool // the daemon is ours, so that nobody else can answer for calls

	mu      sync.Mutex // guards the fields below
	now     *connection
	socket  string // of the daemon that was found or started
	private *private
}

// connection is one client with what it announced.
type connection struct {
	client *sandboxd.Client
	tools  *listing
	runs   int
	old    bool // there is a newer one: it is closed when its runs have ended
}

// execute runs a program with the tools that there are now.
func (l *link) execute(ctx context.Context, p sandboxd.Program) (*sandboxd.Result, error) {
	tools, err := l.box.current(ctx)
	if err != nil {
		return nil, err
	}
	c, err := l.take(ctx, tools)
	if err != nil {
		return nil, err
	}
	defer l.give(c)
	return c.client.Execute(ctx, p)
}

// take returns the connection with these tools, for one run.
func (l *link) take(ctx context.Context, tools *listing) (*connection, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil || l.now.tools != tools || ended(l.now.client) {
		client, err := l.open(ctx, tools)
		if err != nil {
			return nil, err
		}
		l.retire()
		l.now = &connection{client: client, tools: tools}
	}
	l.now.runs++
	return l.now, nil
}

func ended(c *sandboxd.Client) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// open connects to the daemon that was found before, or to one as the options want it. The caller holds mu.
func (l *link) open(ctx context.Context, tools *listing) (*sandboxd.Client, error) {
	dial := func(ctx context.Context, socket string) (*sandboxd.Client, error) {
		o := l.gate
		o.Servers, o.Announce = l.box.servers.Servers(), tools.announce
		l.socket = socket
		return sandboxd.Dial(ctx, socket, o)
	}
	if l.socket != "" {
		if client, err := dial(ctx, l.socket); err == nil {
			return client, nil
		}
		l.stop() // it is gone
	}
	client, private, err := l.daemon.connect(ctx, dial)
	if err != nil {
		l.socket = ""
		var h hinted
		if errors.As(err, &h) {
			err = fmt.Errorf("%w (%s)", err, h.hint)
		}
		return nil, err
	}
	l.private = private
	l.alone.Store(private != nil)
	return client, nil
}

// retire leaves a connection to the runs that it has. The caller holds mu.
func (l *link) retire() {
	if l.now == nil {
		return
	}
	l.now.old = true
	l.closeIdle(l.now)
	l.now = nil
}

func (l *link) give(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.runs--
	l.closeIdle(c)
}

// closeIdle hangs up where nobody needs the connection any more. The caller holds mu.
func (l *link) closeIdle(c *connection) {
	if c.old && c.runs == 0 {
		_ = c.client.Close() // how a connection ended that nothing was to come on is of no interest
	}
}

// stop ends a private daemon. The caller holds mu.
func (l *link) stop() {
	if l.private != nil {
		l.private.stop()
	}
	l.private, l.socket = nil, ""
}

// close ends the connection, and a private daemon. No run must be under way.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retire()
	l.stop()
}
