// Package server serves gateways: it takes their programs, and answers with what became of them.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/pool"
	"github.com/sandboxd/sandboxd/internal/profile"
)

// Server is the daemon's face to gateways.
type Server struct {
	// set by New, then read-only
	config   config.Config
	allowed  config.Allowed
	profiles map[string]profile.Profile
	proved   map[string]*sandboxd.Isolation
	pool     *pool.Pool
	log      *slog.Logger
	memory   *semaphore.Weighted
	slots    *slots
	kernel   *kernelLog
	desk     *approval.Desk
	version  string
	ending   context.Context // ends when runs must
	end      context.CancelFunc

	describing sync.Mutex // held while schemas are read

	mu   sync.Mutex // guards the fields below
	open int        // connections
	idle time.Time  // since when there is none
}

// New makes a server. Gateways are told the version, and what was proved of each profile's workers.
func New(c config.Config, profiles map[string]profile.Profile, proved map[string]*sandboxd.Isolation,
	p *pool.Pool, version string, log *slog.Logger) (*Server, error) {
	allowed, err := c.Callers.Resolve()
	if err != nil {
		return nil, err
	}
	ending, end := context.WithCancel(context.Background())
	return &Server{
		ending: ending, end: end,
		config: c, allowed: allowed, profiles: profiles, proved: proved, pool: p, log: log, version: version,
		memory: semaphore.NewWeighted(c.Gateways.Memory),
		slots:  newSlots(c.Runs),
		kernel: openKernelLog(log),
		desk: approval.NewDesk(approval.Limits{
			Pending: c.Approvals.Pending, PerCaller: c.Approvals.PerCaller, Wait: c.Approvals.Wait,
		}),
		idle: time.Now(),
	}, nil
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

// Idle is how long no gateway has been connected.
func (s *Server) Idle() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open > 0 {
		return 0
	}
	return time.Since(s.idle)
}

// Running is the number of runs, and of those that wait for a slot.
func (s *Server) Running() (running, waiting int) { return s.slots.counts() }
