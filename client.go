package sandboxd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandboxd/sandboxd/internal/rpc"
)

// Options are what a gateway brings to a connection. Name must be set.
type Options struct {
	Name    string // of the gateway, for the daemon's log
	Version string

	Servers  []string    // names below `tools` in a program
	Announce []Tool      // what their tools are, as far as the gateway knows
	Tools    ToolHandler // performs allowed calls; nil: every call fails

	// Approvals answers for calls of this connection's programs that the policy or the guard wants somebody to approve; nil: the gateway
	// is not asked, and administrators answer. It may take as long as the request has: meanwhile the program waits, and so does its
	// limit on wall clock. ctx ends when somebody else has answered, nobody has in time, or the run has ended. An error is no
	// answer: it leaves the request to others.
	Approvals func(ctx context.Context, request ApprovalRequest) (ApprovalAnswer, error)

	Progress func(Progress) // of runs that ask for it; must not block
	Console  func(Console)  // of runs that ask for it; must not block
}

// Client is a connection to a daemon. Its methods may be called from several goroutines, and several
// programs may run at once. It does not reconnect: when Done is closed, dial again, or use a [Pool], which does.
type Client struct {
	options Options
	peer    *rpc.Peer
	welcome InitializeResult
	tokens  atomic.Int64
	done    chan struct{}
	err     error // valid when done is closed

	mu    sync.Mutex // guards the fields below
	calls map[callKey]context.CancelFunc
	early []callKey // cancelled before their handler began
}

// callKey names what a handler works on: a call of a run, or a request for approval, which has no number.
type callKey struct {
	id string
	n  int
}

// Bounds that a client keeps.
const (
	maxLine     = 8 << 20          // a message, of either end
	maxCalls    = 1024             // tool calls at once, of all runs of the connection
	writeWait   = 30 * time.Second // the longest that the daemon may stop reading
	lastWords   = 2 * time.Second  // after a cancel, for the result
	cancelAgain = 5 * time.Millisecond
	initialWait = 60 * time.Second // for the daemon's welcome; one that is being restarted may drain for 30 s first
	maxEarly    = 64               // cancels of calls that are not known yet
)

// Dial connects to the daemon whose socket is at path, and introduces the gateway.
func Dial(ctx context.Context, path string, o Options) (*Client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("connect to sandboxd: %w", err)
	}
	c := &Client{options: o, done: make(chan struct{}), calls: make(map[callKey]context.CancelFunc)}
	c.peer = rpc.New(conn, rpc.Options{
		Handle: c.handle, Notified: c.notified, MaxLine: maxLine, MaxSent: maxLine, MaxRequests: maxCalls, WriteWait: writeWait,
	})
	go func() {
		defer close(c.done)
		c.err = c.peer.Run(context.Background())
	}()
	if err := c.initialize(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Client) initialize(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, initialWait)
	defer cancel()
	err := c.ask(ctx, "initialize", InitializeParams{
		ProtocolVersion: ProtocolVersion,
		Client:          Peer{Name: c.options.Name, Version: c.options.Version},
		Servers:         c.options.Servers,
		Tools:           c.options.Announce,
		Approvals:       c.options.Approvals != nil,
	}, &c.welcome)
	if err == nil && c.welcome.ProtocolVersion != ProtocolVersion {
		err = fmt.Errorf("sandboxd: initialize: the daemon speaks protocol version %.40s, this client %s", c.welcome.ProtocolVersion, ProtocolVersion)
	}
	return err
}

// Welcome is what the daemon said of itself: its version and its profiles.
func (c *Client) Welcome() InitializeResult { return c.welcome }

// Execute runs a program and returns what became of it. A program that fails is a Result whose Outcome is
// not ok, and no error; an error means that the daemon did not take the request (*RefusedError), or is gone (*ClosedError). When ctx
// ends, the run is cancelled, and the result still says what became of each call.
func (c *Client) Execute(ctx context.Context, p Program) (*Result, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("sandboxd: execute: %w", context.Cause(ctx))
	}
	if p.Token == "" {
		p.Token = "run-" + strconv.FormatInt(c.tokens.Add(1), 10) // by which to cancel it
	}
	patient, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	stop := context.AfterFunc(ctx, func() {
		patient, stop := context.WithTimeoutCause(patient, lastWords, context.Cause(ctx))
		defer stop()
		c.giveUp(patient, p.Token)
		<-patient.Done()
		giveUp(context.Cause(ctx))
	})
	defer stop()
	var r Result
	if err := c.ask(patient, "execute", p, &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// giveUp asks the daemon to end the run of a token, until it has: the request to run it may not have arrived yet.
func (c *Client) giveUp(ctx context.Context, token string) {
	for ctx.Err() == nil {
		if r, err := c.Cancel(ctx, CancelParams{Token: token}); err != nil || r.Cancelled > 0 {
			return
		}
		select {
		case <-time.After(cancelAgain):
		case <-ctx.Done():
		}
	}
}

// Cancel ends runs of this connection. Their Execute gets a Result of OutcomeCancelled.
func (c *Client) Cancel(ctx context.Context, p CancelParams) (CancelResult, error) {
	var r CancelResult
	return r, c.ask(ctx, "cancel", p, &r)
}

// Status asks for the daemon's state.
func (c *Client) Status(ctx context.Context) (StatusResult, error) {
	var s StatusResult
	return s, c.ask(ctx, "status", struct{}{}, &s)
}

// Describe asks for the announced tools as TypeScript.
func (c *Client) Describe(ctx context.Context, p DescribeParams) (DescribeResult, error) {
	var d DescribeResult
	return d, c.ask(ctx, "tools/describe", p, &d)
}

// Approvals are the calls of this connection's programs that wait for an approval.
func (c *Client) Approvals(ctx context.Context) (ApprovalList, error) {
	var l ApprovalList
	return l, c.ask(ctx, "approvals/list", struct{}{}, &l)
}

// Decide answers for a call of this connection's programs that waits for an approval. If somebody did already, the error says who and
// what.
func (c *Client) Decide(ctx context.Context, p DecideParams) (DecideResult, error) {
	var d DecideResult
	return d, c.ask(ctx, "approvals/decide", p, &d)
}

// Close hangs up: the daemon ends all runs of the connection. It returns when every handler has.
func (c *Client) Close() error {
	c.peer.Close()
	<-c.done
	return c.err
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// ask calls a method of the daemon.
func (c *Client) ask(ctx context.Context, method string, params, result any) error {
	var response rpc.Response
	pending, err := c.peer.Begin(ctx, method, params)
	sent := err == nil // a line that could not be written to its end is no request
	if sent {
		response, err = pending.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("sandboxd: %s: %w", method, c.reason(err, sent))
	}
	defer response.Release()
	if response.Err != nil {
		return fmt.Errorf("sandboxd: %s: %w", method, response.Err)
	}
	if err := json.Unmarshal(response.Result, result); err != nil {
		return fmt.Errorf("sandboxd: %s: read result: %w", method, err)
	}
	return nil
}

// reason prefers why the daemon hung up, if it said so, to that it did.
func (c *Client) reason(err error, sent bool) error {
	if lost := errors.Is(err, rpc.ErrClosed) || errors.As(err, new(*net.OpError)); !lost {
		return err
	}
	select {
	case <-c.done:
	case <-time.After(lastWords):
	}
	return &ClosedError{Sent: sent, Refusal: c.peer.Refusal()}
}

// handle answers the daemon's requests.
func (c *Client) handle(ctx context.Context, r *rpc.Request) (any, error) {
	switch {
	case r.Method == "tools/call" && c.options.Tools == nil:
		return nil, rpc.Errorf(rpc.CodeUnknownMethod, "this gateway has no tools")
	case r.Method == "tools/call":
		return perform(ctx, c, r, func(call ToolCall) callKey { return callKey{call.Run, call.N} }, c.options.Tools)
	case r.Method == "approvals/request" && c.options.Approvals != nil:
		return perform(ctx, c, r, func(q ApprovalRequest) callKey { return callKey{id: q.ID} }, c.options.Approvals)
	}
	return nil, rpc.Errorf(rpc.CodeUnknownMethod, "unknown method %q", r.Method)
}

// perform hands a request to its handler, whose context ends when the daemon takes the request back.
func perform[P, R any](ctx context.Context, c *Client, r *rpc.Request, key func(P) callKey, do func(context.Context, P) (R, error)) (any, error) {
	var p P
	if err := json.Unmarshal(r.Params, &p); err != nil {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "params: %v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	leave, err := c.enroll(key(p), cancel)
	if err != nil {
		return nil, err
	}
	defer leave()
	result, err := do(ctx, p)
	if err != nil {
		return nil, err
	}
	return result, nil
}

// enroll makes a request known to tools/cancel and approvals/cancel until the returned function is called.
func (c *Client) enroll(k callKey, cancel context.CancelFunc) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, twice := c.calls[k]; twice {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "%s, call %d, is under way", k.id, k.n)
	}
	c.calls[k] = cancel
	if i := slices.Index(c.early, k); i >= 0 {
		c.early = slices.Delete(c.early, i, i+1)
		cancel()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, k)
	}, nil
}

// notified takes the daemon's notifications. One that can't be read is none of ours.
func (c *Client) notified(method string, params json.RawMessage) {
	switch method {
	case "run/progress":
		notice(params, c.options.Progress)
	case "run/console":
		notice(params, c.options.Console)
	case "tools/cancel":
		notice(params, func(t ToolCancel) { c.cancelCall(callKey{t.Run, t.N}) })
	case "approvals/cancel":
		notice(params, func(a ApprovalCancel) { c.cancelCall(callKey{id: a.ID}) })
	}
}

// cancelCall ends the handler's context, now or, if the handler's goroutine has not come so far, when it does.
func (c *Client) cancelCall(k callKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel, ok := c.calls[k]; ok {
		cancel()
		return
	}
	if len(c.early) == maxEarly {
		c.early = c.early[1:]
	}
	c.early = append(c.early, k)
}

func notice[T any](params json.RawMessage, take func(T)) {
	var t T
	if take != nil && json.Unmarshal(params, &t) == nil {
		take(t)
	}
}
