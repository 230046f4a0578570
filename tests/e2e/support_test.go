package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
)

// working says whether n calls have reached the gateway since the last forget.
func (g *gateway) working(n int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.calls) < n {
		return fmt.Errorf("%d calls reached the gateway, want %d", len(g.calls), n)
	}
	return nil
}

// forget drops the calls seen so far.
func (g *gateway) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = nil
}

// contextWhen ends when there is no error any more.
func contextWhen(t *testing.T, ready func() error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil && ready() != nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	return ctx, cancel
}

func asError(err error, into **jrpc2.Error) bool { return errors.As(err, into) }

// told says whether a notification has come.
func (f *foreign) told(want string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.notified, want) {
		return fmt.Errorf("notifications %q, want %q", f.notified, want)
	}
	return nil
}
