package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/pool"
)

// slots bound how many runs there are, in all and for each caller, and how many wait.
type slots struct {
	limits config.Runs

	mu      sync.Mutex // guards the fields below
	running int
	callers map[uint32]int  // runs and waits of each
	queue   []chan struct{} // those that wait, in order
	owed    int             // requests that were not answered yet
	closed  bool
	empty   chan struct{} // closed when closed and nothing is owed
}

func newSlots(limits config.Runs) *slots {
	return &slots{limits: limits, callers: make(map[uint32]int), empty: make(chan struct{})}
}

// enter takes a slot for a caller, after waiting for one if it must. The caller must leave.
func (s *slots) enter(ctx context.Context, uid uint32) error {
	turn, err := s.take(uid)
	if err != nil || turn == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.limits.QueueWait)
	defer cancel()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		return s.giveUp(ctx, uid, turn)
	}
}

// take returns nil if there was a slot, else the channel that is closed when there is one.
func (s *slots) take(uid uint32) (chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, &pool.BusyError{Reason: "stopping", Detail: errShutdown.Error()}
	case s.callers[uid] >= s.limits.PerCaller:
		return nil, &pool.BusyError{Reason: "capacity", Detail: fmt.Sprintf("user %d has %d runs already, the most that a caller may have", uid, s.callers[uid])}
	case s.running < s.limits.AtOnce:
		s.running++
		s.callers[uid]++
		return nil, nil
	case len(s.queue) >= s.limits.Queue:
		return nil, s.full()
	}
	s.callers[uid]++
	turn := make(chan struct{})
	s.queue = append(s.queue, turn)
	return turn, nil
}

func (s *slots) full() error {
	return &pool.BusyError{Reason: "capacity", Detail: fmt.Sprintf("%d runs at once, and %d that wait", s.running, len(s.queue))}
}

// giveUp leaves the queue, unless the turn came at the same moment.
func (s *slots) giveUp(ctx context.Context, uid uint32, turn chan struct{}) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.queue {
		if t == turn {
			err := s.full()
			s.queue = append(s.queue[:i], s.queue[i+1:]...)
			s.forget(uid)
			if errors.Is(ctx.Err(), context.Canceled) {
				return context.Cause(ctx)
			}
			return err
		}
	}
	return nil
}

// leave gives the slot to who waits longest.
func (s *slots) leave(uid uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(uid)
	if len(s.queue) > 0 {
		close(s.queue[0])
		s.queue = s.queue[1:]
		return
	}
	s.running--
}

// owe counts requests that are to be answered, before they enter and until their answer was sent.
func (s *slots) owe(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed += n
	s.settle()
}

func (s *slots) forget(uid uint32) {
	s.callers[uid]--
	if s.callers[uid] == 0 {
		delete(s.callers, uid)
	}
}

// close lets nobody in any more.
func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.settle()
}

func (s *slots) settle() {
	if s.closed && s.owed == 0 {
		select {
		case <-s.empty:
		default:
			close(s.empty)
		}
	}
}

// idle is closed when nothing runs, nothing will, and all was answered.
func (s *slots) idle() <-chan struct{} { return s.empty }

// perCaller is how many runs and waits each caller has.
func (s *slots) perCaller() map[uint32]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.callers)
}

func (s *slots) counts() (running, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running, len(s.queue)
}
