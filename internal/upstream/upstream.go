// Package upstream holds sessions with the MCP servers of an mcpServers configuration, and performs tool calls on them.
//
// It is the gateway's side of a tool call: the daemon never links it.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	connectTimeout = 30 * time.Second
	// discoverTimeout is what a server gets to answer the newest handshake before the older one is tried: servers
	// from before it are meant to refuse it at once, and some stay silent instead.
	discoverTimeout = 5 * time.Second
)

// Options of Connect. The zero value works.
type Options struct {
	Stderr     io.Writer     // gets the stdio servers' stderr, each line behind the server's name; nil: dropped
	Log        *slog.Logger  // nil: nothing is logged
	Timeout    time.Duration // for each server to start and answer; 0: 30 s; npx on a cold cache may need 60 s
	SkipFailed bool          // leave failing servers out, and log them, instead of failing

	// Changed is called when the tools of a server may be others than before: it said so, it ended, or it was started again. It must
	// not block. With it, servers that end or fail are started again for as long as it takes, and none is left out; nil: they are not.
	Changed func(server string)
}

// Upstreams are sessions with MCP servers. All methods may be called concurrently.
type Upstreams struct {
	// set by Connect, then read-only
	options Options
	places  map[string]*place
	names   []string
	closing context.Context // ends all calls, and waits for a restart, when Close is called
	close   context.CancelFunc
	keepers sync.WaitGroup
}

type session struct {
	server  Server
	mcp     *mcp.ClientSession
	process *process // nil with HTTP
	http    *http.Transport
}

// Connect starts the stdio servers, connects to the others, all at once, and returns when each has answered the
// handshake. It fails if one fails, with every failure. The caller must Close what it returns.
func Connect(ctx context.Context, config Config, options Options) (*Upstreams, error) {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Timeout <= 0 {
		options.Timeout = connectTimeout
	}
	options.Stderr = &sharedWriter{w: options.Stderr}
	u := &Upstreams{options: options, places: map[string]*place{}}
	u.closing, u.close = context.WithCancel(context.Background())
	places := make([]*place, len(config.Servers))
	failed := each(len(config.Servers), func(i int) error {
		s, err := open(ctx, config.Servers[i], options)
		places[i] = &place{server: config.Servers[i], now: s, why: err}
		return err
	})
	for _, p := range places {
		if p.now == nil && options.Changed == nil {
			continue
		}
		u.places[p.server.Name] = p
		u.names = append(u.names, p.server.Name)
	}
	slices.Sort(u.names)
	err := errors.Join(failed...)
	switch {
	case ctx.Err() != nil, err != nil && options.Changed == nil && (!options.SkipFailed || len(u.names) == 0):
		return nil, errors.Join(err, context.Cause(ctx), u.Close())
	case err != nil:
		options.Log.Warn("MCP servers do not start", "error", err)
	}
	if options.Changed != nil {
		for _, p := range u.places {
			u.keepers.Go(func() { u.keep(p) })
		}
	}
	return u, nil
}

// Servers returns the names of the connected servers, sorted.
func (u *Upstreams) Servers() []string { return slices.Clone(u.names) }

// Close ends the calls in flight, then the sessions, then the processes of stdio servers: it closes their stdin, and
// those that don't exit get SIGTERM, at last SIGKILL. It takes at most about ten seconds. No process is left.
func (u *Upstreams) Close() error {
	u.close()
	u.keepers.Wait()
	failed := each(len(u.names), func(i int) error {
		if s, _ := u.places[u.names[i]].session(); s != nil {
			return s.close()
		}
		return nil
	})
	return errors.Join(failed...)
}

func open(ctx context.Context, server Server, options Options) (*session, error) {
	connecting, cancel := context.WithTimeoutCause(ctx, options.Timeout, fmt.Errorf("no answer to the handshake within %v", options.Timeout))
	defer cancel()
	s := &session{server: server}
	var transport mcp.Transport
	if server.URL != "" {
		transport = s.overHTTP(options.Changed != nil)
	} else {
		transport = s.overStdio(options.Stderr)
	}
	with := &mcp.ClientOptions{
		Logger:       options.Log.With("server", server.Name),
		Capabilities: &mcp.ClientCapabilities{}, // no roots, sampling or elicitation: nobody is there to answer
	}
	if options.Changed != nil {
		with.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { options.Changed(server.Name) }
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "sandboxctl", Version: "1"}, with)
	client.AddSendingMiddleware(boundDiscover)
	var err error
	if s.mcp, err = client.Connect(connecting, transport, nil); err != nil {
		return nil, s.explainConnect(connecting, err)
	}
	if i := s.mcp.InitializeResult().ServerInfo; i != nil && i.Name == OwnName {
		return nil, fmt.Errorf("server %q: %w", server.Name, errors.Join(errOwn, s.close()))
	}
	return s, nil
}

func boundDiscover(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "server/discover" {
			bounded, cancel := context.WithTimeout(ctx, discoverTimeout)
			defer cancel()
			ctx = bounded
		}
		return next(ctx, method, req)
	}
}

func (s *session) close() error {
	err := s.mcp.Close()
	if s.http != nil {
		s.http.CloseIdleConnections()
	}
	if s.process != nil {
		err = s.process.end() // how the server exits after its stdin was closed is its own business
	}
	if err != nil {
		return fmt.Errorf("server %q: close: %w", s.server.Name, err)
	}
	return nil
}

// each runs do for 0 to n-1 at once, and returns their errors when all are done.
func each(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { errs[i] = do(i) })
	}
	wait.Wait()
	return errs
}
