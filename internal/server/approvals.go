package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/traces"
)

// approve asks for an answer about a call of the run: its gateway, if that wants to be asked, and whoever looks at what waits. It
// returns the first answer, or a denial when none came in time; an error only if ctx ended first. The wall clock stands still.
func (r *run) approve(ctx context.Context, q approval.Request) (approval.Answer, error) {
	span := traces.Of(ctx).Child("approval", traces.Internal)
	defer span.End()
	answer, asked, err := r.decided(ctx, q)
	word := got(ctx, answer, asked, err)
	r.metrics.Answered(word)
	span.Text("sandboxd.approval", word)
	return answer, err
}

// decided is approve; asked says that the request was before somebody.
func (r *run) decided(ctx context.Context, q approval.Request) (answer approval.Answer, asked bool, err error) {
	q.Run, q.Caller = r.account.ID, r.caller.user()
	defer r.watcher.hold(q.Server + "." + q.Tool)()
	ctx, answered := context.WithCancelCause(ctx)
	defer answered(nil)
	var id string
	answer, err = r.desk.Ask(ctx, q, func(q approval.Request) {
		id = q.ID
		if err := r.recordRequest(ctx, q); err != nil {
			answered(err)
			return
		}
		r.log.Info("a call waits for approval", "id", q.ID, "run", q.Run, "call", q.N, "server", q.Server, "tool", q.Tool, "rule", q.Rule, "uid", r.caller.UID)
		r.calls.Go(func() {
			defer r.recover()
			if r.program.Progress {
				r.watcher.tell(ctx)
			}
			if r.answers() {
				r.askGateway(ctx, q)
			}
		})
	})
	if err != nil {
		return approval.Answer{}, id != "", context.Cause(ctx)
	}
	if id == "" { // it was answered before, or there was no room for it
		return answer, false, nil
	}
	return answer, true, r.recordAnswer(ctx, q, answer)
}

// askGateway asks the gateway whose run it is. What is no clear answer is none: others can answer still, or it expires.
func (r *run) askGateway(ctx context.Context, q approval.Request) {
	asked := shown(q)
	asked.Token = r.program.Token
	response, err := r.peer.Call(ctx, "approvals/request", asked)
	if err != nil {
		if ctx.Err() != nil {
			r.notify(context.Background(), "approvals/cancel", sandboxd.ApprovalCancel{ID: q.ID})
		}
		return
	}
	defer response.Release()
	if response.Err != nil {
		r.log.Warn("a gateway gave no answer to an approval", "id", q.ID, "uid", r.caller.UID, "error", cut(response.Err.Message, maxText))
		return
	}
	var a verdict
	if err = rpc.Decode(response.Result, &a); err == nil {
		err = r.settle(q.ID, a, r.caller, r.signature())
	}
	if err != nil && !errors.As(err, new(approval.Late)) {
		r.log.Warn("a gateway gave no answer to an approval", "id", q.ID, "uid", r.caller.UID, "error", err)
	}
}

// verdict is somebody's answer, as it is read: one that does not say whether it approves is none.
type verdict struct {
	Approve *bool  `json:"approve"`
	Scope   string `json:"scope"`
	Reason  string `json:"reason"`
}

// settle answers a request with what a peer said.
func (s *Server) settle(id string, v verdict, peer Caller, by string) error {
	switch {
	case v.Approve == nil:
		return rpc.Errorf(rpc.CodeInvalidParams, "approve: say true or false")
	case v.Scope == "":
		v.Scope = sandboxd.ScopeCall
	case v.Scope != sandboxd.ScopeCall && v.Scope != sandboxd.ScopeRun:
		return rpc.Errorf(rpc.CodeInvalidParams, "scope: %.40q is neither %q nor %q", v.Scope, sandboxd.ScopeCall, sandboxd.ScopeRun)
	}
	if len(v.Reason) > sandboxd.MaxReasonBytes {
		return rpc.Errorf(rpc.CodeInvalidParams, "reason: %d bytes, at most %d", len(v.Reason), sandboxd.MaxReasonBytes)
	}
	err := s.desk.Answer(id, approval.Answer{
		Approved: *v.Approve, Scope: approval.Scope(v.Scope), Reason: v.Reason, By: by,
		Peer: &approval.Peer{UID: peer.UID, GID: peer.Groups[0], PID: peer.PID},
	})
	if err != nil {
		return err
	}
	s.log.Info("a call was answered for", "id", id, "approve", *v.Approve, "scope", v.Scope, "by", by)
	return nil
}

// refused words an error of the desk for who asked.
func refused(err error) error {
	switch {
	case errors.As(err, new(approval.Late)):
		return rpc.Errorf(rpc.CodeRefused, "%s", err)
	case errors.Is(err, approval.ErrUnknown):
		return rpc.Errorf(rpc.CodeInvalidParams, "id: %s", err)
	}
	return err
}

// audience says whether somebody may see and answer what is asked about a run, and the run's token if that is for them.
type audience func(run string) (token string, may bool)

// decide is approvals/decide. What is not for the one who answers is as if it were not there.
func (s *Server) decide(params json.RawMessage, peer Caller, by string, of audience) (any, error) {
	var p struct {
		ID      string `json:"id"`
		Approve *bool  `json:"approve"`
		Scope   string `json:"scope"`
		Reason  string `json:"reason"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	run := s.desk.RunOf(p.ID)
	if _, may := of(run); run == "" || !may {
		return nil, refused(approval.ErrUnknown)
	}
	v := verdict{p.Approve, p.Scope, p.Reason}
	if err := s.settle(p.ID, v, peer, by); err != nil {
		return nil, refused(err)
	}
	r := sandboxd.DecideResult{ID: p.ID, Approve: *p.Approve, Scope: p.Scope, By: by}
	if r.Scope == "" {
		r.Scope = sandboxd.ScopeCall
	}
	return r, nil
}

// list is approvals/list.
func (s *Server) list(params json.RawMessage, of audience) (any, error) {
	if err := decode(params, &struct{}{}); err != nil {
		return nil, err
	}
	list := sandboxd.ApprovalList{Approvals: []sandboxd.ApprovalRequest{}}
	size := 0
	for _, q := range s.desk.Pending() {
		token, may := of(q.Run)
		if !may {
			continue
		}
		if size > maxList {
			list.More++
			continue
		}
		entry := outlined(q)
		entry.Token = token
		text, err := json.Marshal(entry)
		if err != nil {
			return nil, fmt.Errorf("list approvals: %w", err)
		}
		if size += len(text); size > maxList {
			list.More++
			continue
		}
		list.Approvals = append(list.Approvals, entry)
	}
	return list, nil
}

// What a list shows: a person reads it, and one line has it all.
const (
	maxList      = 1 << 20 // bytes of the whole answer
	maxArguments = 1 << 10 // of one request
	maxText      = 256     // of a reason, a piece of evidence, and so on
	maxTexts     = 8       // reasons, and pieces of evidence
)

// shown is a request as it goes out, whole.
func shown(q approval.Request) sandboxd.ApprovalRequest {
	return sandboxd.ApprovalRequest{
		ID: q.ID, Run: q.Run, N: q.N, Server: q.Server, Tool: q.Tool, Arguments: q.Arguments, Bytes: len(q.Arguments), Rule: q.Rule,
		Reasons: q.Reasons, Evidence: q.Evidence, Task: q.Task, Caller: q.Caller, Asked: q.Asked.UTC(), Expires: q.Expires.UTC(),
	}
}

// outlined is a request with what is long cut.
func outlined(q approval.Request) sandboxd.ApprovalRequest {
	a := shown(q)
	if len(q.Arguments) > maxArguments {
		a.Arguments, a.Start = nil, cut(string(q.Arguments[:maxArguments+1]), maxArguments)
	}
	a.Rule, a.Task = cut(q.Rule, maxText), cut(q.Task, maxText)
	a.Reasons, a.Evidence = cutAll(q.Reasons), cutAll(q.Evidence)
	return a
}

func cutAll(texts []string) []string {
	texts = slices.Clone(texts)
	if len(texts) > maxTexts {
		texts = append(texts[:maxTexts-1], fmt.Sprintf("… and %d more", len(texts)-maxTexts+1))
	}
	for i, t := range texts {
		texts[i] = cut(t, maxText)
	}
	return texts
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// ofMine says which runs are of this connection, by the daemon's own account. Nothing that a gateway names comes into it but the request.
func (x *session) ofMine(run string) (token string, mine bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.runs[run]
	if r == nil {
		return "", false
	}
	return r.token, true
}

// signature is under what this gateway answers.
func (x *session) signature() string { return "gateway " + x.caller.String() }

// answers says whether the gateway wants to be asked.
func (x *session) answers() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.approvals
}
