package pool

import (
	"context"
	"errors"
	"time"

	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// fill raises workers one after the other, and never gives up.
func (p *Pool) fill(ctx context.Context, s *shelf) {
	for ctx.Err() == nil {
		p.giveWay(ctx, s)
		w, err := p.persist(ctx, s)
		if err != nil {
			return
		}
		s.hold(1)
		died := false
		select {
		case s.ready <- w:
			s.hold(-1)
			continue
		case <-w.Dead:
			died = true
		case <-ctx.Done():
		}
		s.hold(-1)
		exit, err := w.Bury()
		if died {
			p.log.Warn("idle worker died", "profile", s.Name, "pid", w.PID, "exit", exit, "error", err)
		}
	}
}

// giveWay lets programs that run have the processors, so that a lease does not wait for its successor's birth:
// until none runs, but not when workers run short, and not for long, as a program may wait for a slow tool.
func (p *Pool) giveWay(ctx context.Context, s *shelf) {
	s.mu.Lock()
	short := s.waiting <= s.Size/2
	s.mu.Unlock()
	if short {
		return
	}
	p.mu.Lock()
	calm := p.calm
	p.mu.Unlock()
	select {
	case <-calm:
	case <-time.After(giveWayMost):
	case <-ctx.Done():
	}
}

const giveWayMost = 10 * time.Millisecond

// begin counts a lease in.
func (p *Pool) begin(w *nursery.Worker, warm bool) *Worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leased == 0 {
		p.calm = make(chan struct{})
	}
	p.leased++
	return &Worker{Warm: warm, process: w, conn: wire.NewConn(w.Socket), pool: p}
}

// end counts it out.
func (p *Pool) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leased--; p.leased == 0 {
		close(p.calm)
	}
}

// Births that fail are tried again after a pause that doubles between these.
const (
	minPause = 50 * time.Millisecond
	maxPause = 10 * time.Second
)

// persist tries until a worker is born or ctx ends.
func (p *Pool) persist(ctx context.Context, s *shelf) (*nursery.Worker, error) {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		w, err := p.birth(ctx, s, s.Spec)
		if err == nil || ctx.Err() != nil {
			return w, err
		}
		p.log.Error("birth of a worker failed", "profile", s.Name, "error", err, "again_in", pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// birth raises one worker, when it is its turn. A birth that has begun goes on when ctx ends, since the nursery
// does not stop: it keeps its turn until then, and what was born is buried.
func (p *Pool) birth(ctx context.Context, s *shelf, spec nursery.Spec) (*nursery.Worker, error) {
	ordered := time.Now()
	select {
	case p.births <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	born := make(chan *nursery.Worker)
	failed := make(chan error, 1)
	p.raising.Go(func() {
		w, err := p.spawn(context.WithoutCancel(ctx), spec)
		<-p.births
		s.note(err)
		p.count(time.Since(ordered), err)
		if err != nil {
			failed <- err
			return
		}
		p.lowers.Store(w.Layers.Cgroup)
		select {
		case born <- w:
		case <-ctx.Done():
			w.Bury()
		}
	})
	select {
	case w := <-born:
		return w, nil
	case err := <-failed:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// count counts a birth.
func (p *Pool) count(took time.Duration, err error) {
	switch {
	case err == nil:
		p.Metrics.Born(took)
	case errors.As(err, new(nursery.RefusedError)):
		p.Metrics.Stillborn("worker")
	default:
		p.Metrics.Stillborn("nursery")
	}
}

func (s *shelf) hold(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting += n
}

func (s *shelf) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.failing == nil {
		s.since = time.Now()
	}
	s.failing = err
}
