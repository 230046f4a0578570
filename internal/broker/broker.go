// Package broker decides on every tool call of a program, and carries out the allowed ones.
package broker

import (
	"context"
	"fmt"
	"strings"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// Do takes one admitted call from the worker's wish to the answer for the program: the only path on
// which a call reaches a gateway. It reports false if the run ended first, and there is nobody to answer.
func Do(ctx context.Context, run *Run, call wire.Call) (wire.Result, []byte, bool) {
	n := call.ID
	// Hard denies: nothing below may overrule these.
	if !run.knows(call.Server) {
		return blocked(run, n, "servers", unknownServer(call.Server, run.Servers))
	}
	// Limits: the number of calls was checked by Admit, sizes where they were read.
	if err := run.place(ctx, n); err != nil {
		return wire.Result{}, nil, false
	}
	defer run.leave()

	// The gateway.
	if !run.dispatch(n) {
		return wire.Result{}, nil, false
	}
	response, err := run.Gateway.Call(ctx, "tools/call", sandboxd.ToolCall{
		Run: run.ID, Token: run.Token, N: n, IdempotencyKey: fmt.Sprintf("%s/%d", run.ID, n),
		Server: call.Server, Tool: call.Tool, Arguments: call.Args,
		Origin: "code", Trigger: "user_request", Traceparent: run.Traceparent,
	})
	run.back(n)
	if err != nil {
		return wire.Result{}, nil, false // the state stays unknown: nobody can tell
	}
	defer response.Release()

	// The outcome.
	return outcome(run, n, response)
}

func outcome(run *Run, n int, response rpc.Response) (wire.Result, []byte, bool) {
	if response.Err != nil {
		return failed(run, n, response.Err.Message)
	}
	answer, err := read(response.Result)
	switch {
	case err != nil:
		return failed(run, n, fmt.Sprintf("the gateway's answer is no CallToolResult: %v", err))
	case answer.form == wire.FormFailed:
		return failed(run, n, string(answer.body))
	case int64(len(answer.body)) > run.Limits.ResultBytes:
		return failed(run, n, fmt.Sprintf("the call was carried out, but its result of %d bytes is over the limit of %d: ask for less, in pages or with a filter",
			len(answer.body), run.Limits.ResultBytes))
	}
	run.settle(n, sandboxd.CallSucceeded, len(answer.body), "")
	return wire.Result{ID: n, Form: answer.form}, answer.body, true
}

// maxMessage bounds the text of a failure that reaches the program.
const maxMessage = 8 << 10

func failed(run *Run, n int, message string) (wire.Result, []byte, bool) {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + " … (cut)"
	}
	if message == "" {
		message = "the tool failed without saying why"
	}
	run.settle(n, sandboxd.CallFailed, 0, message)
	return wire.Result{ID: n, Form: wire.FormFailed}, []byte(message), true
}

func blocked(run *Run, n int, rule, reason string) (wire.Result, []byte, bool) {
	run.deny(n, rule, reason)
	return wire.Result{ID: n, Form: wire.FormBlocked, Rule: rule}, []byte(reason), true
}

func unknownServer(name string, known []string) string {
	if len(known) == 0 {
		return fmt.Sprintf("there is no server %q: this run was given none", name)
	}
	return fmt.Sprintf("there is no server %q; there are: %s", name, strings.Join(known, ", "))
}
