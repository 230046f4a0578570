// Package broker decides on every tool call of a program, and carries out the allowed ones.
package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/catalog"
	"github.com/sandboxd/sandboxd/internal/near"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// Reply hands the answer to a call to the program. The body is not the caller's afterwards.
type Reply func(wire.Result, []byte)

// Do takes one admitted call from the worker's wish to the answer for the program: the only path on
// which a call reaches a gateway. It replies once, or not at all if the run ended first.
func Do(ctx context.Context, run *Run, call wire.Call, reply Reply) {
	n := call.ID
	defer run.leave(n)
	pass := sync.OnceFunc(func() { run.pass(n, len(call.Args)) })
	defer pass()
	// Hard denies: nothing below may overrule these.
	if bad := catalog.Unprintable(call.Server + call.Tool); bad >= 0 {
		blocked(run, n, "names", fmt.Sprintf("a name with the character %U, which can't be seen", bad), reply)
		return
	}
	server := run.Catalog.Server(call.Server)
	if server == nil {
		blocked(run, n, "servers", unknownServer(call.Server, run.Catalog.ServerNames()), reply)
		return
	}
	// What could be no call of a tool that there is. Aliases are the worker's: only a tool's own name is one here, and
	// what policy decides on is what the gateway is asked for.
	if tool := server.Tool(call.Tool); tool != nil {
		wrong, unchecked := tool.Check(call.Args)
		if wrong != "" {
			invalid(run, n, "arguments", wrong, reply)
			return
		}
		run.uncheck(n, unchecked)
	} else if len(server.Tools) > 0 {
		invalid(run, n, "tools", server.UnknownTool(call.Tool), reply)
		return
	}
	// Limits: the number of calls was checked by Admit, sizes where they were read.
	if err := run.turn(ctx, n); err != nil {
		return
	}

	// The gateway.
	if !run.dispatch(n) {
		return
	}
	response, err := ask(ctx, run, call, pass)
	run.back(n)
	switch {
	case err == nil:
	case ctx.Err() != nil, errors.Is(err, rpc.ErrClosed):
		return // the state stays unknown: nobody can tell
	default:
		failed(run, n, fmt.Sprintf("the call could not be sent: %v", err), reply)
		return
	}

	// The outcome. What the program gets can lie in the response's memory.
	outcome(run, n, response, reply)
	response.Release()
}

// ask sends the call, lets the next one pass, and waits for the answer.
func ask(ctx context.Context, run *Run, call wire.Call, pass func()) (rpc.Response, error) {
	pending, err := run.Gateway.Begin(ctx, "tools/call", sandboxd.ToolCall{
		Run: run.ID, Token: run.Token, N: call.ID, IdempotencyKey: fmt.Sprintf("%s/%d", run.ID, call.ID),
		Server: call.Server, Tool: call.Tool, Arguments: call.Args,
		Origin: "code", Trigger: "user_request", Traceparent: run.Traceparent,
	})
	pass()
	if err != nil {
		return rpc.Response{}, err
	}
	return pending.Wait(ctx)
}

func outcome(run *Run, n int, response rpc.Response, reply Reply) {
	switch e := response.Err; {
	case e == nil:
	case response.Unread:
		failed(run, n, "the call was carried out, but its answer could not be read: "+e.Message, reply)
		return
	default:
		failed(run, n, e.Message, reply)
		return
	}
	answer, err := read(response.Result)
	switch {
	case err != nil:
		failed(run, n, fmt.Sprintf("the gateway's answer is no CallToolResult: %v", err), reply)
	case answer.form == wire.FormFailed:
		failed(run, n, string(answer.body), reply)
	case int64(len(answer.body)) > run.Limits.ResultBytes:
		failed(run, n, fmt.Sprintf("the call was carried out, but its result of %d bytes is over the limit of %d: ask for less, in pages or with a filter",
			len(answer.body), run.Limits.ResultBytes), reply)
	default:
		run.settle(n, sandboxd.CallSucceeded, len(answer.body), "")
		reply(wire.Result{ID: n, Form: answer.form}, answer.body)
	}
}

// maxMessage bounds the text of a failure that reaches the program.
const maxMessage = 8 << 10

func failed(run *Run, n int, message string, reply Reply) {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + " … (cut)"
	}
	if message == "" {
		message = "the tool failed without saying why"
	}
	run.settle(n, sandboxd.CallFailed, 0, message)
	reply(wire.Result{ID: n, Form: wire.FormFailed}, []byte(message))
}

func blocked(run *Run, n int, rule, reason string, reply Reply) {
	run.deny(n, rule, reason)
	reply(wire.Result{ID: n, Form: wire.FormBlocked, Rule: rule}, []byte(reason))
}

// invalid refuses a call for a mistake, which the program can mend.
func invalid(run *Run, n int, rule, wrong string, reply Reply) {
	run.deny(n, rule, wrong)
	reply(wire.Result{ID: n, Form: wire.FormInvalid}, []byte(wrong))
}

func unknownServer(name string, known []string) string {
	if len(known) == 0 {
		return fmt.Sprintf("there is no server %q: this run was given none", name)
	}
	return fmt.Sprintf("there is no server %q; there are: %s", name, near.List(near.First(name, known)))
}
