// Package server serves gateways: it takes their programs, and answers with what became of them.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/broker"
	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/metrics"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/pool"
	"github.com/sandboxd/sandboxd/internal/profile"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/traces"
)

// Parts are what a server serves with.
type Parts struct {
	Config   config.Config
	Profiles map[string]profile.Profile
	Proved   map[string]*sandboxd.Isolation // of each profile's workers, what gateways are told
	Pool     *pool.Pool
	Policy   *policy.Policy   // as it was read from Config.Policy
	Guard    *guard.Guard     // nil: there is none
	Audit    *audit.Log       // nil: nothing is recorded
	Metrics  *metrics.Metrics // nil: nothing is counted
	Traces   *traces.Traces   // nil: nothing is traced
	Version  string
	Log      *slog.Logger
}

// Server is the daemon's face to gateways.
type Server struct {
	// set by New, then read-only
	config   config.Config
	allowed  config.Allowed
	profiles map[string]profile.Profile
	proved   map[string]*sandboxd.Isolation
	pool     *pool.Pool
	guard    *guard.Guard
	audit    *audit.Log
	metrics  *metrics.Metrics
	traces   *traces.Traces
	log      *slog.Logger
	memory   *semaphore.Weighted
	refusals *semaphore.Weighted
	slots    *slots
	quotas   *broker.Quotas
	kernel   *kernelLog
	desk     *approval.Desk
	ledger   *ledger
	version  string
	ending   context.Context // ends when runs must
	end      context.CancelFunc

	policy      atomic.Pointer[inForce] // that new runs get
	notReloaded atomic.Pointer[string]  // why the last reload left it in force; nil: it did not
	reloading   sync.Mutex

	describing sync.Mutex // held while schemas are read

	mu   sync.Mutex // guards the fields below
	open int        // connections
	idle time.Time  // since when there is none
}

// inForce is a policy since it is the one that new runs get.
type inForce struct {
	*policy.Policy
	since time.Time
}

// New makes a server.
func New(p Parts) (*Server, error) {
	allowed, err := p.Config.Callers.Resolve()
	if err != nil {
		return nil, err
	}
	ending, end := context.WithCancel(context.Background())
	s := &Server{
		config: p.Config, allowed: allowed, profiles: p.Profiles, proved: p.Proved, pool: p.Pool,
		guard: p.Guard, audit: p.Audit, metrics: p.Metrics, traces: p.Traces, log: p.Log, version: p.Version,
		memory:   semaphore.NewWeighted(p.Config.Gateways.Memory),
		refusals: semaphore.NewWeighted(maxRefusals),
		slots:    newSlots(p.Config.Runs),
		quotas:   broker.NewQuotas(),
		desk: approval.NewDesk(approval.Limits{
			Pending: p.Config.Approvals.Pending, PerCaller: p.Config.Approvals.PerCaller, Wait: p.Config.Approvals.Wait,
		}),
		ledger: newLedger(),
		ending: ending, end: end,
		idle: time.Now(),
	}
	if err := s.adopt(ending, p.Policy, audit.PolicyLoad{File: p.Config.Policy}); err != nil {
		end()
		return nil, err
	}
	s.kernel = openKernelLog(p.Log)
	return s, nil
}

// Reload reads the policy again, and the guard's key. On an error all stays as it was. Runs keep the policy that they began with. It
// is recorded who asked for it; nil: it came by a signal.
func (s *Server) Reload(ctx context.Context, by *audit.Peer) error {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	e := audit.PolicyLoad{File: s.config.Policy, By: by}
	read, err := settled(ctx, s.config.Policy)
	if err == nil && s.guard != nil {
		err = s.guard.Reload()
	}
	if err == nil {
		err = s.adopt(ctx, read, e)
	} else if s.audit != nil {
		e.Error = err.Error()
		err = errors.Join(err, s.audit.Append(ctx, e))
	}
	if err != nil {
		why := err.Error()
		s.notReloaded.Store(&why)
		return fmt.Errorf("policy: %w", err)
	}
	s.notReloaded.Store(nil)
	return nil
}

// Half of a policy can be one as well, which lacks what stood at its end. So one that is read again is taken when it has not changed for a
// moment, and somebody who never stops writing it is told so.
const (
	settleWait  = 50 * time.Millisecond
	settleTries = 20
)

// settled reads a policy that somebody may be writing just now.
func settled(ctx context.Context, path string) (*policy.Policy, error) {
	last, err := policy.Load(path)
	for range settleTries {
		if err != nil {
			return nil, err
		}
		select {
		case <-time.After(settleWait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		before := last.Hash()
		if last, err = policy.Load(path); err == nil && last.Hash() == before {
			return last, nil
		}
	}
	return nil, fmt.Errorf("%s changes all the time: write it anew under another name, and rename that", path)
}

// adopt gives new runs a policy, once that is recorded.
func (s *Server) adopt(ctx context.Context, read *policy.Policy, e audit.PolicyLoad) error {
	if s.audit != nil {
		e.Policy, e.Rules = read.Hash(), read.Rules()
		if err := s.audit.Append(ctx, e); err != nil {
			return err
		}
	}
	s.policy.Store(&inForce{read, time.Now()})
	for _, w := range read.Warnings() {
		s.log.Warn("policy", "warning", w)
	}
	s.log.Info("policy", "file", e.File, "rules", read.Rules(), "hash", read.Hash())
	return nil
}

// Serve accepts gateways until ctx ends. Then it takes no more programs, lets those that run go on for as
// long as the configuration says, ends what is left, and returns when all sessions have.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	connected, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	var sessions sync.WaitGroup
	err := s.accept(ctx, listener, &sessions, func(conn *net.UnixConn) { s.session(connected, conn) })
	s.slots.close()
	s.drain()
	hangUp()
	sessions.Wait()
	s.kernel.close()
	return err
}

// accept serves each connection on a goroutine of its own, which sessions counts, until ctx ends.
func (s *Server) accept(ctx context.Context, listener net.Listener, sessions *sync.WaitGroup, session func(*net.UnixConn)) error {
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	for {
		conn, err := listener.Accept()
		if err != nil {
			if isTemporary(err) { // out of descriptors, most likely: sessions that end will free some
				s.log.Error("accept failed", "error", err)
				time.Sleep(acceptPause)
				continue
			}
			if ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		sessions.Go(func() { session(conn.(*net.UnixConn)) })
	}
}

const acceptPause = 100 * time.Millisecond

func isTemporary(err error) bool {
	var e interface{ Temporary() bool }
	return errors.As(err, &e) && e.Temporary()
}

// errShutdown is the cause with which runs end that outlast the drain.
var errShutdown = errors.New("the daemon is shutting down")

// drain waits for the runs, then ends them, and lets their gateways know.
func (s *Server) drain() {
	select {
	case <-s.slots.idle():
		return
	case <-time.After(s.config.Drain):
	}
	s.log.Warn("runs outlasted the drain and are ended", "drain", s.config.Drain)
	s.end()
	select {
	case <-s.slots.idle():
	case <-time.After(lastWords):
	}
}

// lastWords is how long the runs that a shutdown ended have to tell their gateways so.
const lastWords = 2 * time.Second

const (
	maxRefusals = 64          // connections at once that are told why they are not served, and given time to read it
	refusalWait = time.Second // that time
)

// refuse tells a peer why it is not served.
func (s *Server) refuse(p *rpc.Peer, err error) {
	wait := time.Duration(0)
	if s.refusals.TryAcquire(1) {
		defer s.refusals.Release(1)
		wait = refusalWait
	}
	p.Refuse(rpc.Errorf(rpc.CodeRefused, "%s", err), wait)
}

// connected counts connections in and out; false means that there are too many.
func (s *Server) connected(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 && s.open >= s.config.Gateways.Connections {
		return false
	}
	s.open += n
	s.idle = time.Now()
	return true
}

// gateways is how many are connected.
func (s *Server) gateways() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Idle is how long no gateway has been connected.
func (s *Server) Idle() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open > 0 {
		return 0
	}
	return time.Since(s.idle)
}
