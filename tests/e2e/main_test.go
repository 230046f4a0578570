// Package e2e_test runs programs through a real daemon, as a gateway does.
package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// roleVariable makes the test's binary play another program than the test.
const roleVariable = "SANDBOXD_E2E_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "launcher":
		launch()
	case "caller":
		call()
	default:
		daemon.Main(m)
	}
}

// die ends a role with a reason.
func die(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// tool answers one call with a CallToolResult.
type tool func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)

// tools are those of the one server "t" that most tests have.
type tools map[string]tool

// standard are tools that tests share.
var standard = tools{
	"echo": func(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return structured(args), nil },
	"fail": func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"type":"text","text":"no such thing"}],"isError":true}`), nil
	},
	"broken": func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return nil, errors.New("the backend is down")
	},
	"hang": func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	},
	"slow": func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		var in struct{ MS int }
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, err
		}
		select {
		case <-time.After(time.Duration(in.MS) * time.Millisecond):
			return structured(args), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	},
}

func structured(value json.RawMessage) json.RawMessage {
	return fmt.Appendf(nil, `{"content":[],"structuredContent":%s}`, value)
}

func text(s string) json.RawMessage {
	quoted, _ := json.Marshal(s) // a string always can be
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, quoted)
}

// gateway is a connected gateway that keeps what it is asked.
type gateway struct {
	*sandboxd.Client
	mu    sync.Mutex
	calls []sandboxd.ToolCall
}

// connect dials the daemon as the gateway of server "t".
func connect(t *testing.T, d *daemon.Daemon, mine tools, o sandboxd.Options) *gateway {
	t.Helper()
	g := &gateway{}
	if o.Servers == nil {
		o.Servers = []string{"t"}
	}
	o.Tools = func(ctx context.Context, call sandboxd.ToolCall) (json.RawMessage, error) {
		g.mu.Lock()
		g.calls = append(g.calls, call)
		g.mu.Unlock()
		do, ok := mine[call.Tool]
		if !ok {
			do, ok = standard[call.Tool]
		}
		if !ok {
			return nil, fmt.Errorf("no tool %q", call.Tool)
		}
		return do(ctx, call.Arguments)
	}
	g.Client = d.Dial(t, o)
	return g
}

// asked are the calls of a run that reached the gateway, in the order in which their handlers began.
func (g *gateway) asked(run string) (calls []sandboxd.ToolCall) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.calls {
		if c.Run == run {
			calls = append(calls, c)
		}
	}
	return calls
}

// run executes a program, and checks what holds for every result.
func (g *gateway) run(t *testing.T, p sandboxd.Program) *sandboxd.Result {
	t.Helper()
	return g.runWithin(t, t.Context(), p)
}

func (g *gateway) runWithin(t *testing.T, ctx context.Context, p sandboxd.Program) *sandboxd.Result {
	t.Helper()
	r, err := g.Execute(ctx, p)
	if err != nil {
		t.Fatalf("execute: %v", err)
	}
	checkResult(t, r)
	return r
}

// value runs a program that must end well, and returns its value as JSON.
func (g *gateway) value(t *testing.T, source string) string {
	t.Helper()
	r := g.run(t, sandboxd.Program{Source: source})
	if r.Outcome != sandboxd.OutcomeOK {
		t.Fatalf("%s\nended as %v", source, r.Error)
	}
	return string(r.Value)
}

// serves fails the test unless the daemon runs one more program.
func (g *gateway) serves(t *testing.T) {
	t.Helper()
	if got := g.value(t, "return 6 * 7"); got != "42" {
		t.Errorf("the next run gave %s", got)
	}
}

// checkResult holds a result against its schema and what the schema can't say.
func checkResult(t *testing.T, r *sandboxd.Result) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	checkJSON(t, text)
	if r.Error != nil && r.Error.Kind != r.Outcome {
		t.Errorf("outcome %s with an error of kind %s", r.Outcome, r.Error.Kind)
	}
	for i, c := range r.Calls {
		if c.N != i+1 {
			t.Errorf("call %d stands at place %d", c.N, i+1)
		}
		decision := map[sandboxd.CallState]string{
			sandboxd.CallDenied: "deny", sandboxd.CallSucceeded: "allow", sandboxd.CallFailed: "allow", sandboxd.CallUnknown: "allow",
			sandboxd.CallNotStarted: c.Decision, // it may have been decided on before the run ended
		}
		if c.Decision != decision[c.State] {
			t.Errorf("call %d: state %s with decision %q", c.N, c.State, c.Decision)
		}
		if failed := c.State == sandboxd.CallFailed || c.State == sandboxd.CallUnknown || c.State == sandboxd.CallDenied; failed != (c.Error != "") {
			t.Errorf("call %d: state %s with error %q", c.N, c.State, c.Error)
		}
	}
}

// checkJSON holds the text of a result against docs/protocol/result.schema.json.
func checkJSON(t *testing.T, text []byte) {
	t.Helper()
	schema, err := resultSchema()
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("the result does not fit docs/protocol/result.schema.json: %v\n%s", err, text)
	}
}

var resultSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "protocol", "result.schema.json"))
	if err != nil {
		return nil, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	return schema.Resolve(nil)
})

// root is the directory of go.mod: tests run in their own.
var root = filepath.Join("..", "..")

// wait fails the test if the channel is not closed in time.
func wait(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatalf("waited 5 s for: %s", what)
	}
}
