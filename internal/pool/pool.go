// Package pool keeps jailed workers ready, each for one run.
package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandboxd/sandboxd/internal/metrics"
	"github.com/sandboxd/sandboxd/internal/nursery"
)

// Spawn raises a worker; nursery.Client.Spawn is one.
type Spawn func(context.Context, nursery.Spec) (*nursery.Worker, error)

// Kind is what the workers of one profile are like, and how many are to be ready.
type Kind struct {
	Name string
	Spec nursery.Spec
	Size int
}

// Pool has one line of ready workers for each kind.
type Pool struct {
	Metrics *metrics.Metrics // set before Run; nil: nothing is counted

	spawn   Spawn
	log     *slog.Logger
	births  chan struct{} // one token for each birth that may be under way
	raising sync.WaitGroup
	shelf   map[string]*shelf

	lowers atomic.Bool // the limit of a worker that is ready can be lowered: it has a cgroup

	mu     sync.Mutex // guards the fields below
	leased int
	calm   chan struct{} // closed while nothing is leased
}

// shelf is the line of one kind. Nothing is stored in it: every ready worker is held by a filler that is
// blocked sending it, so that a receive transfers ownership and nothing can be handed out twice.
type shelf struct {
	Kind
	ready chan *nursery.Worker

	mu      sync.Mutex // guards the fields below
	waiting int        // fillers that hold a worker
	failing error      // of the last birth; nil if it went well
	since   time.Time  // that births fail
}

// New makes a pool. Nothing is born before Run.
func New(spawn Spawn, kinds []Kind, births int, log *slog.Logger) *Pool {
	p := &Pool{spawn: spawn, log: log, births: make(chan struct{}, births), shelf: make(map[string]*shelf), calm: make(chan struct{})}
	close(p.calm)
	for _, k := range kinds {
		p.shelf[k.Name] = &shelf{Kind: k, ready: make(chan *nursery.Worker)}
	}
	return p
}

// Run fills the shelves until ctx ends, and buries what is on them then.
func (p *Pool) Run(ctx context.Context) {
	var fillers sync.WaitGroup
	for _, s := range p.shelf {
		for range s.Size {
			fillers.Go(func() { p.fill(ctx, s) })
		}
	}
	fillers.Wait()
	<-ctx.Done() // without fillers, leases have raised workers of their own until now
	p.raising.Wait()
}

// A BusyError is why no worker could be had in time.
type BusyError struct {
	Reason string // "capacity", "starting" or "crashing"
	Detail string
}

func (e *BusyError) Error() string { return e.Reason + ": " + e.Detail }

// Lease gives the caller sole use of a jailed worker for one run, whose memory limit may be below its kind's.
// It blocks until one is ready or ctx ends, which is a *BusyError unless ctx was cancelled. The caller must
// Close it; Close kills it.
func (p *Pool) Lease(ctx context.Context, profile string, memory int64) (*Worker, error) {
	s, ok := p.shelf[profile]
	if !ok {
		return nil, fmt.Errorf("no profile %q in the pool", profile)
	}
	lower := memory < s.Spec.Jail.MemoryBytes
	if s.Size == 0 || lower && !p.lowers.Load() {
		return p.made(ctx, s, memory)
	}
	w, warm := s.now(), true
	if w == nil {
		w, warm = s.wait(ctx), false
	}
	if w == nil {
		return nil, s.none(ctx)
	}
	if lower {
		if err := w.Lower(ctx, memory); err != nil {
			_, buried := w.Bury()
			return nil, errors.Join(err, buried)
		}
	}
	return p.begin(w, warm), nil
}

// now receives a worker that is ready; nil if there is none.
func (s *shelf) now() *nursery.Worker {
	for {
		select {
		case w := <-s.ready:
			if !dead(w) {
				return w
			}
		default:
			return nil
		}
	}
}

// wait receives the next worker that becomes ready; nil if ctx ends first.
func (s *shelf) wait(ctx context.Context) *nursery.Worker {
	for {
		select {
		case w := <-s.ready:
			if !dead(w) {
				return w
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// made raises a worker for one run: of a kind that is not kept ready, or with less memory than its kind. What a
// worker confined itself by can't be changed any more, by anybody; its cgroup can.
func (p *Pool) made(ctx context.Context, s *shelf, memory int64) (*Worker, error) {
	spec := s.Spec
	spec.Jail.MemoryBytes = min(spec.Jail.MemoryBytes, memory)
	w, err := p.birth(ctx, s, spec)
	if err != nil {
		return nil, s.none(ctx)
	}
	return p.begin(w, false), nil
}

// dead buries a worker that died between its filler's hand and ours.
func dead(w *nursery.Worker) bool {
	if !w.Gone() {
		return false
	}
	w.Bury()
	return true
}

// none says why there is no worker: the caller gave up, or had to.
func (s *shelf) none(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing != nil {
		return &BusyError{"crashing", fmt.Sprintf("workers of profile %q can't be started since %s: %v",
			s.Name, s.since.UTC().Format(time.RFC3339), s.failing)}
	}
	return &BusyError{"starting", fmt.Sprintf("no worker of profile %q became ready in time", s.Name)}
}

// State is one line of Status.
type State struct {
	Profile string `json:"profile"`
	Size    int    `json:"size"`
	Ready   int    `json:"ready"`
	Failing string `json:"failing,omitempty"` // why the last birth failed
}

// Status says how full the shelves are, and why they are not, by name.
func (p *Pool) Status() []State {
	var all []State
	for _, s := range p.shelf {
		s.mu.Lock()
		state := State{Profile: s.Name, Size: s.Size, Ready: s.waiting}
		if s.failing != nil {
			state.Failing = s.failing.Error()
		}
		s.mu.Unlock()
		all = append(all, state)
	}
	slices.SortFunc(all, func(a, b State) int { return strings.Compare(a.Profile, b.Profile) })
	return all
}
