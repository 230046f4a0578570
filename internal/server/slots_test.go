package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/pool"
)

func busyReason(t *testing.T, err error) string {
	t.Helper()
	var busy *pool.BusyError
	if !errors.As(err, &busy) {
		t.Fatalf("error is %v, want busy", err)
	}
	return busy.Reason
}

func TestSlots(t *testing.T) {
	ctx := context.Background()
	s := newSlots(config.Runs{AtOnce: 2, PerCaller: 2, Queue: 1, QueueWait: time.Minute})
	for _, uid := range []uint32{1, 1} {
		if err := s.enter(ctx, uid); err != nil {
			t.Fatal(err)
		}
	}
	if got := busyReason(t, s.enter(ctx, 1)); got != "capacity" {
		t.Errorf("a caller over its quota: %s", got)
	}
	waited := make(chan error, 1)
	go func() { waited <- s.enter(ctx, 2) }()
	for _, waiting := s.counts(); waiting == 0; _, waiting = s.counts() {
		time.Sleep(time.Millisecond)
	}
	if got := busyReason(t, s.enter(ctx, 3)); got != "capacity" {
		t.Errorf("over the queue: %s", got)
	}
	s.leave(1)
	if err := <-waited; err != nil {
		t.Errorf("the one that waited: %v", err)
	}
	s.owe(2)
	s.close()
	if got := busyReason(t, s.enter(ctx, 3)); got != "stopping" {
		t.Errorf("after close: %s", got)
	}
	select {
	case <-s.idle():
		t.Error("idle with two answers to give")
	default:
	}
	s.leave(1)
	s.leave(2)
	s.owe(-1)
	s.owe(-1)
	<-s.idle()
	if len(s.callers) != 0 {
		t.Errorf("callers are left: %v", s.callers)
	}
}

func TestSlotsWaitEnds(t *testing.T) {
	s := newSlots(config.Runs{AtOnce: 1, PerCaller: 9, Queue: 9, QueueWait: 20 * time.Millisecond})
	if err := s.enter(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	if got := busyReason(t, s.enter(context.Background(), 1)); got != "capacity" {
		t.Errorf("after the wait: %s", got)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errCancelled)
	if err := s.enter(ctx, 1); !errors.Is(err, errCancelled) {
		t.Errorf("a cancelled wait: %v", err)
	}
	s.leave(1)
	if running, waiting := s.counts(); running != 0 || waiting != 0 {
		t.Errorf("%d running, %d waiting", running, waiting)
	}
}

// TestSlotsHoldTheBound lets many callers come and go, with waits that end at any moment.
func TestSlotsHoldTheBound(t *testing.T) {
	const most = 3
	s := newSlots(config.Runs{AtOnce: most, PerCaller: 5, Queue: 10, QueueWait: 2 * time.Millisecond})
	var running, peak atomic.Int64
	var all sync.WaitGroup
	for i := range 300 {
		all.Go(func() {
			uid := uint32(i % 7)
			if s.enter(context.Background(), uid) != nil {
				return
			}
			if n := running.Add(1); n > peak.Load() {
				peak.Store(n)
			}
			time.Sleep(time.Millisecond)
			running.Add(-1)
			s.leave(uid)
		})
	}
	all.Wait()
	if peak.Load() > most || peak.Load() == 0 {
		t.Errorf("%d ran at once, at most %d may", peak.Load(), most)
	}
	if running, waiting := s.counts(); running != 0 || waiting != 0 || len(s.callers) != 0 {
		t.Errorf("%d running, %d waiting, callers %v are left", running, waiting, s.callers)
	}
}
