package codemode

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandboxd/sandboxd"
)

// Approve asks the client about a call of one of its programs, as sandboxd.Options.Approvals does. Only a clear yes approves; where the
// client can't be asked, the error says why.
func (s *Server) Approve(ctx context.Context, q sandboxd.ApprovalRequest) (sandboxd.ApprovalAnswer, error) {
	s.mu.Lock()
	e := s.byToken[q.Token]
	s.mu.Unlock()
	if e == nil {
		return sandboxd.ApprovalAnswer{}, errors.New("no program of this client waits for it")
	}
	r := e.last()
	if !canAsk(r) {
		return sandboxd.ApprovalAnswer{}, errors.New("the MCP client does not offer elicitation, by which its user could be asked")
	}
	params := &mcp.ElicitParams{Message: s.options.Question(q), RequestedSchema: formSchema}
	var answer *mcp.ElicitResult
	var err error
	if byResult(r) {
		answer, err = e.asked.ask(ctx, q, params)
	} else {
		asking, stop := context.WithCancel(r.ctx)
		defer context.AfterFunc(ctx, stop)()
		answer, err = r.Session.Elicit(asking, params)
		stop()
	}
	switch {
	case ctx.Err() != nil:
		return sandboxd.ApprovalAnswer{}, context.Cause(ctx)
	case err != nil:
		return sandboxd.ApprovalAnswer{}, errors.New(clean("the MCP client could not ask its user: "+err.Error(), maxReason))
	}
	return decision(answer), nil
}

// maxReason bounds a reason that has somebody else's words in it, in bytes.
const maxReason = 500

// canAsk says whether the client shows forms to its user.
func canAsk(r *request) bool {
	c := r.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil) // neither means forms
}

// byResult says whether questions are a part of results: from this version on a server sends no requests.
func byResult(r *request) bool { return r.ProtocolVersion() >= "2026-07-28" }

// formSchema wants a choice, so that a client that accepts whatever it is asked approves nothing.
var formSchema = json.RawMessage(`{"type":"object","properties":{"approve":{"type":"string","title":"Approve",` +
	`"description":"this call, or also each later one of the same tool with the same arguments in this run","enum":["call","run"]}},"required":["approve"]}`)

// decision reads what the client's user said.
func decision(a *mcp.ElicitResult) sandboxd.ApprovalAnswer {
	scope, _ := a.Content["approve"].(string)
	switch {
	case a.Action == "accept" && (scope == sandboxd.ScopeCall || scope == sandboxd.ScopeRun):
		return sandboxd.ApprovalAnswer{Approve: true, Scope: scope}
	case a.Action == "decline":
		return sandboxd.ApprovalAnswer{Reason: "the user of the MCP client declined"}
	case a.Action == "cancel":
		return sandboxd.ApprovalAnswer{Reason: "the user of the MCP client closed the question without an answer"}
	}
	return sandboxd.ApprovalAnswer{Reason: fmt.Sprintf("the MCP client's answer was no clear approval: %.20q, approve %.20q", a.Action, scope)}
}

// questions are those of one execution that its client is asked by a result, and answers with its next request.
type questions struct {
	signal chan struct{} // has something when there are others than before

	mu   sync.Mutex // guards the field below
	byID map[string]*question
}

func newQuestions() *questions {
	return &questions{signal: make(chan struct{}, 1), byID: map[string]*question{}}
}

type question struct {
	params  *mcp.ElicitParams
	expires time.Time
	answer  chan *mcp.ElicitResult
}

// ask waits for the answer.
func (a *questions) ask(ctx context.Context, q sandboxd.ApprovalRequest, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	one := &question{params, q.Expires, make(chan *mcp.ElicitResult, 1)}
	a.mu.Lock()
	a.byID[q.ID] = one
	a.tell()
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.byID, q.ID)
	}()
	select {
	case answer := <-one.answer:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// open are the questions that wait for an answer.
func (a *questions) open() map[string]*question {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.byID)
}

// answer hands answers to those who asked. What was not answered is asked again.
func (a *questions) answer(all mcp.InputResponseMap) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, one := range all {
		if answer, ok := one.(*mcp.ElicitResult); ok && a.byID[id] != nil {
			a.byID[id].answer <- answer // which has room for one
			delete(a.byID, id)
		}
	}
	if len(a.byID) > 0 {
		a.tell()
	}
}

// tell makes attend look. The caller holds mu.
func (a *questions) tell() {
	select {
	case a.signal <- struct{}{}:
	default: // it is about to look already
	}
}

// park answers a request with questions, and keeps the program until the client comes back with answers. A client that does not come
// back before they have expired ends it.
func (s *Server) park(e *execution, ask map[string]*question) *mcp.CallToolResult {
	result := &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{}, RequestState: rand.Text()}
	var last time.Time
	for id, q := range ask {
		result.InputRequests[id] = q.params
		if q.expires.After(last) {
			last = q.expires
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked[result.RequestState] = e
	e.expiry = time.AfterFunc(time.Until(last), func() {
		s.unpark(result.RequestState)
		e.cancel(errors.New("the MCP client did not come back with answers"))
	})
	return result
}

// unpark takes a program back; nil: there is none of that state.
func (s *Server) unpark(state string) *execution {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.parked[state]
	delete(s.parked, state)
	if e != nil {
		e.expiry.Stop()
	}
	return e
}

// resume goes on with a program whose client has brought answers.
func (s *Server) resume(ctx context.Context, r *mcp.CallToolRequest, state string) (*mcp.CallToolResult, error) {
	e := s.unpark(state)
	if e == nil {
		return nil, errors.New("no program waits for this answer: it has ended, or somebody else has answered")
	}
	e.asked.answer(r.Params.InputResponses)
	return s.attend(e, &request{ctx, r})
}
