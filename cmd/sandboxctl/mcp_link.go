package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sandboxd/sandboxd"
)

// link is the way to the daemon, which may be restarted at any time: the one that was found first is waited for, and no other takes its
// place, which would decide by another policy. A private one that has ended is started again.
type link struct {
	// set by the caller, then read-only
	daemon daemonOptions
	box    *toolbox
	gate   sandboxd.Options // but for the tools

	alone atomic.Bool // the daemon is ours, so that nobody else can answer for calls

	mu      sync.Mutex       // guards the fields below
	pool    *sandboxd.Pool   // nil: no daemon was found yet
	first   *sandboxd.Client // runs nothing, and keeps a private daemon from ending while the pool has no connection
	private *private         // nil: the daemon is another's
	tools   *listing         // that the pool announces
}

// execute runs a program with the tools that there are now.
func (l *link) execute(ctx context.Context, p sandboxd.Program) (*sandboxd.Result, error) {
	tools, err := l.box.current(ctx)
	if err != nil {
		return nil, err
	}
	pool, err := l.with(ctx, tools)
	if err != nil {
		return nil, err
	}
	r, err := pool.Execute(ctx, p)
	if lost := (*sandboxd.ClosedError)(nil); errors.As(err, &lost) && lost.Sent {
		return nil, fmt.Errorf("the daemon ended while the program ran: nobody knows which of its calls were made; look at what they left before it runs again (%w)", err)
	}
	return r, err
}

// with returns connections that announce these tools.
func (l *link) with(ctx context.Context, tools *listing) (*sandboxd.Pool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.private != nil && l.private.ended() {
		l.hangUp()
	}
	if l.pool == nil {
		if err := l.find(ctx); err != nil {
			return nil, err
		}
	}
	if l.tools != tools {
		l.pool.Announce(l.box.servers.Servers(), tools.announce)
		l.tools = tools
	}
	return l.pool, nil
}

// find finds a daemon as the options want it. The caller holds mu.
func (l *link) find(ctx context.Context) error {
	var at string
	client, private, err := l.daemon.connect(ctx, func(ctx context.Context, socket string) (*sandboxd.Client, error) {
		at = socket
		return sandboxd.Dial(ctx, socket, sandboxd.Options{Name: l.gate.Name, Version: l.gate.Version})
	})
	if err != nil {
		var h hinted
		if errors.As(err, &h) {
			err = fmt.Errorf("%w (%s)", err, h.hint)
		}
		return err
	}
	l.first, l.private = client, private
	l.pool = sandboxd.NewPool(sandboxd.PoolOptions{Path: at, Options: l.gate})
	l.alone.Store(private != nil)
	return nil
}

// hangUp ends the connections, and a private daemon. The caller holds mu.
func (l *link) hangUp() {
	if l.pool == nil {
		return
	}
	_, _ = l.pool.Close(), l.first.Close() // how connections ended that nothing was to come on is of no interest
	if l.private != nil {
		l.private.stop()
	}
	l.pool, l.first, l.private, l.tools = nil, nil, nil, nil
}

// close ends the connections, and a private daemon. No run must be under way.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hangUp()
}
