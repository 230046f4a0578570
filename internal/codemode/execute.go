package codemode

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandboxd/sandboxd"
)

// Members of _meta that a client may send with execute_code.
const (
	metaIntent      = "sandboxd/intent" // the user's request, in the user's words: see sandboxd.Program
	metaTraceparent = "traceparent"     // as SEP-414 has it
)

// execution is one program of a client.
type execution struct {
	// set by begin, then read-only
	token  string
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the fields below it are set
	result *sandboxd.Result
	err    error

	asked   *questions
	telling atomic.Bool // a notification is on its way
	expiry  *time.Timer // ends a program whose client does not come back; Server.mu guards it

	mu      sync.Mutex // guards the field below
	request *request   // the last one
}

// request is a call of execute_code while it is being answered.
type request struct {
	ctx context.Context // the SDK finds in it where notifications and questions belong
	*mcp.CallToolRequest
}

// execute runs a program, or goes on with one that had a question for the client.
func (s *Server) execute(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if state := r.Params.RequestState; state != "" {
		return s.resume(ctx, r, state)
	}
	p, err := program(r)
	if err != nil {
		return nil, err
	}
	select {
	case s.slots <- struct{}{}:
	default:
		return nil, fmt.Errorf("%d programs run already: try again when one has ended", maxRuns)
	}
	now := &request{ctx, r}
	return s.attend(s.begin(now, p), now)
}

// program reads the arguments.
func program(r *mcp.CallToolRequest) (p sandboxd.Program, err error) {
	var args struct {
		Code     *string `json:"code"`
		Language string  `json:"language"`
	}
	if err := decode(r, &args); err != nil {
		return p, err
	}
	switch args.Language {
	case "", "javascript", "typescript": // both are read as what they are
	default:
		return p, fmt.Errorf("arguments: language %.40q: there are javascript and typescript", args.Language)
	}
	if args.Code == nil {
		return p, errors.New("arguments: code is missing: the program's text")
	}
	p.Source = *args.Code
	for name, into := range map[string]*string{metaIntent: &p.Intent, metaTraceparent: &p.Traceparent} {
		value, given := r.Params.Meta[name]
		text, ok := value.(string)
		if given && !ok {
			return p, fmt.Errorf("_meta: %s must be a string", name)
		}
		*into = text
	}
	p.Token, p.Progress = "mcp-"+rand.Text(), r.Params.GetProgressToken() != nil
	return p, nil
}

// begin starts a program, which has a slot until it has ended. It outlives its request only if its client is to come back.
func (s *Server) begin(r *request, p sandboxd.Program) *execution {
	e := &execution{token: p.Token, done: make(chan struct{}), asked: newQuestions(), request: r}
	e.ctx, e.cancel = context.WithCancelCause(context.WithoutCancel(r.ctx))
	s.mu.Lock()
	s.byToken[e.token] = e
	s.mu.Unlock()
	go func() { // drain waits for its slot
		defer func() { <-s.slots }()
		defer close(e.done)
		defer e.cancel(nil)
		e.result, e.err = s.options.Execute(e.ctx, p)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.byToken, e.token)
	}()
	return e
}

// attend answers a request with the end of its program, or with what the client must be asked first. When the client takes the request
// back, the program ends.
func (s *Server) attend(e *execution, r *request) (*mcp.CallToolResult, error) {
	e.mu.Lock()
	e.request = r
	e.mu.Unlock()
	for {
		select {
		case <-e.done:
			if e.err != nil {
				return nil, e.err
			}
			return answerOf(e.result), nil
		case <-r.ctx.Done():
			e.cancel(context.Cause(r.ctx))
			<-e.done // comes soon, and is the answer
		case <-e.asked.signal:
			if ask := e.asked.open(); len(ask) > 0 {
				return s.park(e, ask), nil
			}
		}
	}
}

// last returns the last request, which may have been answered with a question.
func (e *execution) last() *request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.request
}

// Progress tells the client how a run goes on. It does not block.
func (s *Server) Progress(p sandboxd.Progress) {
	s.mu.Lock()
	e := s.byToken[p.Token]
	s.mu.Unlock()
	if e == nil {
		return
	}
	r := e.last()
	if r.Params.GetProgressToken() == nil || r.ctx.Err() != nil || !e.telling.CompareAndSwap(false, true) {
		return
	}
	go func() { // a client that does not read misses the next ones, and holds up nobody
		defer e.telling.Store(false)
		_ = r.Session.NotifyProgress(r.ctx, &mcp.ProgressNotificationParams{
			ProgressToken: r.Params.GetProgressToken(), Progress: p.ElapsedMS / 1000,
			Message: fmt.Sprintf("%d of %d calls done, %s", p.Finished, p.Calls, clean(p.Doing, maxDoing)),
		})
	}()
}

// maxDoing bounds the names of a tool that a program chose, in bytes.
const maxDoing = 300
