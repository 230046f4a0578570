// Package broker decides on every tool call of a program, and carries out the allowed ones.
package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/near"
	"github.com/sandboxd/sandboxd/internal/redact"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/traces"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// Reply hands the answer to a call to the program. The body is not the caller's afterwards.
type Reply func(wire.Result, []byte)

// Do takes one judged call to the answer for the program: the only path on which a call reaches a gateway. It replies once, or not at
// all if the run ended first. An error ends the run.
func Do(ctx context.Context, run *Run, j Judged, reply Reply) error {
	defer run.leave(j.n)
	defer j.traced(run)
	pass := sync.OnceFunc(func() { run.pass(j.n) })
	defer pass()

	// The guard, and people.
	if j.refusal == nil {
		j.refusal = weigh(traces.With(ctx, j.span), run, &j, pass)
	}
	if ctx.Err() != nil {
		return nil
	}
	// The record: a call that can't be recorded is none.
	if j.refusal == nil {
		if j.refusal = intend(ctx, run, &j); ctx.Err() != nil {
			conclude(ctx, run, &j, nil) // it may be in the log
			return nil
		}
	}
	if j.refusal != nil {
		return refuse(ctx, run, &j, reply)
	}
	// Limits: the number of calls was checked by Admit, sizes where they were read.
	if run.turn(ctx, j.n) != nil || !run.dispatch(j.n) {
		conclude(ctx, run, &j, nil)
		return nil
	}

	// The gateway.
	response, err := ask(ctx, run, &j, pass)
	run.back(j.n)
	switch {
	case err == nil:
		// What the program gets can lie in the response's memory.
		outcome(ctx, run, &j, response, reply)
		response.Release()
	case ctx.Err() != nil, errors.Is(err, rpc.ErrClosed):
		conclude(ctx, run, &j, nil) // the state stays unknown: nobody can tell
	default:
		failed(ctx, run, &j, fmt.Sprintf("the call could not be sent: %v", err), byUs, reply)
	}
	return nil
}

// ask sends the call, lets the next one pass, and waits for the answer.
func ask(ctx context.Context, run *Run, j *Judged, pass func()) (rpc.Response, error) {
	span := j.span.Child("tools/call", traces.Client)
	defer span.End()
	pending, err := run.Gateway.Begin(ctx, "tools/call", sandboxd.ToolCall{
		Run: run.ID, Token: run.Token, N: j.n, IdempotencyKey: run.key(j.n),
		Server: j.server, Tool: j.tool, Arguments: j.args.JSON,
		Origin: "code", Trigger: j.trigger, Traceparent: cmp.Or(span.Traceparent(), run.Traceparent),
	})
	pass()
	if err != nil {
		return rpc.Response{}, err
	}
	return pending.Wait(ctx)
}

func outcome(ctx context.Context, run *Run, j *Judged, response rpc.Response, reply Reply) {
	switch e := response.Err; {
	case e == nil:
	case response.Unread:
		failed(ctx, run, j, "the call was carried out, but its answer could not be read: "+e.Message, byUs, reply)
		return
	default:
		failed(ctx, run, j, e.Message, byTool, reply)
		return
	}
	answer, err := read(response.Result)
	switch {
	case err != nil:
		failed(ctx, run, j, fmt.Sprintf("the gateway's answer is no CallToolResult: %v", err), byUs, reply)
		return
	case answer.form == wire.FormFailed:
		failed(ctx, run, j, string(answer.body), byTool, reply)
		return
	case int64(len(answer.body)) > run.Limits.ResultBytes:
		failed(ctx, run, j, tooLong(run, answer.body), byUs, reply)
		return
	}
	body := run.clean(j, answer.body)
	if int64(len(body)) > run.Limits.ResultBytes { // a mark can be longer than what it stands for
		failed(ctx, run, j, tooLong(run, body), byUs, reply)
		return
	}
	run.settle(j, sandboxd.CallSucceeded, len(body), "", "")
	read := run.trail.begin(j.n)
	reply(wire.Result{ID: j.n, Form: answer.form}, body)
	read(body)
	conclude(ctx, run, j, body)
}

func tooLong(run *Run, result []byte) string {
	return fmt.Sprintf("the call was carried out, but its result of %d bytes is over the limit of %d: ask for less, in pages or with a filter",
		len(result), run.Limits.ResultBytes)
}

// clean takes secrets out of what a tool gave, if policy wants that. Text can be JSON as well.
func (r *Run) clean(j *Judged, result []byte) []byte {
	if !j.decision.Redact.Result {
		return result
	}
	clean, found := redact.Default().JSON(result)
	r.redacted(j.n, found)
	return clean
}

// maxMessage bounds the text of a failure that reaches the program.
const maxMessage = 8 << 10

// Whose words a failure is told in.
const (
	byUs   = false
	byTool = true
)

// failed ends a call that was sent, or could not be. What the tool said is its result. Secrets are taken out of all of it before it is
// cut: half of one would not be found.
func failed(ctx context.Context, run *Run, j *Judged, message string, said bool, reply Reply) {
	clean := run.clean(j, []byte(message))
	if message = string(clean); len(clean) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + " … (cut)"
	}
	if message == "" {
		message = "the tool failed without saying why"
	}
	var result []byte
	class := classGateway
	if said {
		result, class = clean, classTool
	}
	run.settle(j, sandboxd.CallFailed, 0, message, class)
	read := run.trail.begin(j.n)
	reply(wire.Result{ID: j.n, Form: wire.FormFailed}, []byte(message))
	read(result)
	conclude(ctx, run, j, result)
}

// refuse tells the program that its call is not made, as a mistake that it can mend or as a decision. Too many of the latter end the run.
func refuse(ctx context.Context, run *Run, j *Judged, reply Reply) error {
	over := run.deny(j)
	refused(ctx, run, j)
	if over {
		return &DeniedError{run.Policy.Limits().DeniedPerRun}
	}
	result := wire.Result{ID: j.n, Form: wire.FormBlocked, Rule: j.refusal.rule}
	if j.refusal.by == byCheck {
		result = wire.Result{ID: j.n, Form: wire.FormInvalid}
	}
	reply(result, []byte(j.refusal.reason))
	return nil
}

func unknownServer(name string, known []string) string {
	if len(known) == 0 {
		return fmt.Sprintf("there is no server %q: this run was given none", name)
	}
	return fmt.Sprintf("there is no server %q; there are: %s", name, near.List(near.First(name, known)))
}
