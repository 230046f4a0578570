package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// announced are tools with names that are no identifiers, that differ in little, and with schemas.
var announced = []sandboxd.Tool{
	{Server: "context7", Name: "resolve-library-id", Description: "finds a library", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"libraryName":{"type":"string"}},"required":["libraryName"]}`)},
	{Server: "my-hub", Name: "list_issues", InputSchema: json.RawMessage(`{"type":"object","properties":{
		"owner":{"type":"string"},"state":{"enum":["open","closed"]},"labels":{"type":"array","items":{"type":"string"}}},
		"required":["owner"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}`)},
	{Server: "my-hub", Name: "odd", InputSchema: json.RawMessage(`{"$ref":"file:///etc/passwd"}`)},
	{Server: "a", Name: "b_c"}, {Server: "a_b", Name: "c"},
	{Server: "a", Name: "get-x"}, {Server: "a", Name: "get_x"}, {Server: "a", Name: "Get_x"}, {Server: "a", Name: "x.y"}, {Server: "a", Name: "x-y"},
}

// hub is a gateway whose tools say what they were called by.
func hub(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{}
	o := sandboxd.Options{
		Servers: []string{"context7", "my-hub", "a", "a_b", "open"}, Announce: announced,
		Tools: func(_ context.Context, call sandboxd.ToolCall) (json.RawMessage, error) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.calls = append(g.calls, call)
			return structured(fmt.Appendf(nil, "%q", call.Server+" "+call.Tool)), nil
		},
	}
	g.Client = daemon.Start(t, daemon.Options{}).Dial(t, o)
	return g
}

// TestToolNames: every way to write a name, and never another tool than the one that is meant.
func TestToolNames(t *testing.T) {
	t.Parallel()
	g := hub(t)
	for _, c := range []struct{ source, want string }{
		{"return await tools.context7['resolve-library-id']({libraryName: 'x'})", `"context7 resolve-library-id"`},
		{"return await tools.context7.resolve_library_id({libraryName: 'x'})", `"context7 resolve-library-id"`},
		{"return await tools.context7.resolveLibraryId({libraryName: 'x'})", `"context7 resolve-library-id"`},
		{"return tools.context7.resolve_library_id === tools.context7['resolve-library-id']", `true`},
		{"return await tools.my_hub.list_issues({owner: 'x'})", `"my-hub list_issues"`},
		{"return await tools.myHub.list_issues({owner: 'x'})", `"my-hub list_issues"`},
		{"return [await tools.a.b_c(), await tools.a_b.c()]", `["a b_c","a_b c"]`},
		{"return [await tools.a['get-x'](), await tools.a.get_x(), await tools.a.Get_x(), await tools.a.getX()]", `["a get-x","a get_x","a Get_x","a get-x"]`},
		{"return [await tools.a['x.y'](), await tools.a['x-y']()]", `["a x.y","a x-y"]`},
		{"return await tools.open['any-thing']()", `"open any-thing"`},
		{"return await tools.open.any_thing()", `"open any_thing"`},
		{"const k = []; for (const s in tools) k.push(s); return [Object.keys(tools), Object.keys({...tools}), k].map(String)",
			`["context7,my-hub,a,a_b,open","context7,my-hub,a,a_b,open","context7,my-hub,a,a_b,open"]`},
		{"const k = []; for (const s in tools.my_hub) k.push(s); return [Object.keys(tools.my_hub), Object.keys({...tools.my_hub}), k].map(String)",
			`["list_issues,odd","list_issues,odd","list_issues,odd"]`},
		{"return ['a' in tools, 'nope' in tools, 'b_c' in tools.a, 'nope' in tools.a, 'nope' in tools.open, typeof tools.nope]",
			`[true,false,true,false,true,"undefined"]`},
	} {
		if got := g.value(t, c.source); got != c.want {
			t.Errorf("%s\ngave %s, want %s", c.source, got, c.want)
		}
	}
}

// TestMistakenCalls: refused before the gateway is asked, counted, and with what mends them. The program can catch each.
func TestMistakenCalls(t *testing.T) {
	t.Parallel()
	g := hub(t)
	for _, c := range []struct{ name, call, rule, message string }{
		{"misspelt tool", "tools.my_hub.list_isues({})", "tools",
			"tools[\"my-hub\"].list_isues was not called: my-hub has no tool \"list_isues\"; did you mean tools[\"my-hub\"].list_issues?"},
		{"case", "tools.context7.Resolve_Library_Id()", "tools", "did you mean tools.context7[\"resolve-library-id\"]?"},
		{"what could be two", "tools.a.x_y()", "tools", "a has no tool \"x_y\"; did you mean tools.a[\"x.y\"] or tools.a[\"x-y\"]?"},
		{"no tool like it", "tools.a_b.deploy()", "tools", "a_b has no tool \"deploy\"; it has 1: c"},
		{"enum", "tools.my_hub.list_issues({owner: 'x', state: 'opened'})", "arguments",
			"tools[\"my-hub\"].list_issues was not called: `state` must be one of open, closed; got \"opened\""},
		{"missing", "tools.my_hub.list_issues()", "arguments", "missing required field `owner`"},
		{"unknown", "tools.my_hub.list_issues({owner: 'x', labls: []})", "arguments", "unknown field `labls`; did you mean `labels`?"},
		{"by an alias", "tools.context7.resolveLibraryId({})", "arguments", "tools.context7[\"resolve-library-id\"] was not called: missing required field `libraryName`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := g.run(t, sandboxd.Program{Source: "await " + c.call})
			ending{outcome: "error", message: c.message, line: 1, frame: c.call, hint: ""}.check(t, r)
			if len(r.Calls) != 1 || r.Calls[0].State != sandboxd.CallDenied || r.Calls[0].Rule != c.rule {
				t.Errorf("calls %+v, want one that rule %q denied", r.Calls, c.rule)
			}
			if got := len(g.asked(r.Run)); got != 0 {
				t.Errorf("%d calls reached the gateway", got)
			}
			caught := g.value(t, "try { await "+c.call+" } catch (e) { return [e instanceof ToolError, e.state, e.message.includes('was not called')] }")
			if caught != `[true,"denied",true]` {
				t.Errorf("caught %s", caught)
			}
		})
	}
	r := g.run(t, sandboxd.Program{Source: "await tools.contxt7.resolve_library_id({})"})
	ending{outcome: "error", message: "tools has no server `contxt7`; there are: context7, my-hub", line: 1, frame: "contxt7", hint: "Object.keys(tools)"}.check(t, r)
	r = g.run(t, sandboxd.Program{Source: "await tools.my_hub.list_issues('x', 'y')"})
	ending{outcome: "error", message: `takes one object of named arguments, such as tools["my-hub"].list_issues({ name: value }); it was given 2 arguments`,
		line: 1, frame: "list_issues"}.check(t, r)
	// A loop that catches the mistake and makes it again is ended by the limit on calls.
	r = g.run(t, sandboxd.Program{Source: "for (;;) try { await tools.my_hub.list_isues() } catch {}"})
	ending{outcome: "calls", message: "the limit is 32", line: 1, frame: "list_isues", hint: "*"}.check(t, r)
}

// TestUncheckedTool: one odd schema loses nothing but the check, and the result says so.
func TestUncheckedTool(t *testing.T) {
	t.Parallel()
	g := hub(t)
	r := g.run(t, sandboxd.Program{Source: "return [await tools.my_hub.odd({any: 1}), await tools.my_hub.list_issues({owner: 'x'})]"})
	if want := `["my-hub odd","my-hub list_issues"]`; string(r.Value) != want {
		t.Errorf("value %s, want %s: %v", r.Value, want, r.Error)
	}
	if len(r.Calls) != 2 || !strings.Contains(r.Calls[0].Unchecked, "the tool's schema can't be used") || r.Calls[1].Unchecked != "" {
		t.Errorf("calls %+v", r.Calls)
	}
}

// TestAnnouncementsRefused: initialize names what is wrong.
func TestAnnouncementsRefused(t *testing.T) {
	t.Parallel()
	d := daemon.Start(t, daemon.Options{})
	for _, c := range []struct {
		tools []sandboxd.Tool
		want  string
	}{
		{[]sandboxd.Tool{{Server: "t", Name: "x"}, {Server: "t", Name: "x"}}, `tools[1]: "x" of "t" stands there twice`},
		{[]sandboxd.Tool{{Server: "u", Name: "x"}}, "tools[0].server: \"u\" is none of `servers`"},
		{[]sandboxd.Tool{{Server: "t", Name: "x\u200b"}}, "which can't be seen"},
	} {
		_, err := sandboxd.Dial(t.Context(), d.Socket, sandboxd.Options{Name: "x", Servers: []string{"t"}, Announce: c.tools})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	f := dialForeign(t, d, nil)
	_, err := f.Call(t.Context(), "initialize", map[string]any{"protocol_version": "1", "client": map[string]any{"name": "x"}, "servers": []string{"t"},
		"tools": []any{map[string]any{"server": "t", "name": "x", "inputSchema": map[string]any{}}}})
	if err == nil || !strings.Contains(err.Error(), `unknown field "inputSchema"`) {
		t.Errorf("a field that there is not: %v", err)
	}
}

// TestOneFails: what fails in a try is no reason for the rest to fail.
func TestOneFails(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	r := g.run(t, sandboxd.Program{Source: `const out = [];
for (const tool of ["echo", "fail", "broken", "echo"]) {
  try { out.push((await tools.t[tool]({tool})).tool) } catch (e) { out.push(e.message) }
}
return out`})
	if want := `["echo","no such thing","the backend is down","echo"]`; string(r.Value) != want {
		t.Errorf("value %s, want %s: %v", r.Value, want, r.Error)
	}
}

// TestNotAwaited: what the program did not wait for is no success.
func TestNotAwaited(t *testing.T) {
	t.Parallel()
	late := make(chan struct{})
	fails := func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		select {
		case <-late:
		case <-ctx.Done():
		}
		return nil, errors.New("the disk is full")
	}
	g := connect(t, daemon.Start(t, daemon.Options{}), tools{"fails": fails}, sandboxd.Options{})
	close(late)
	for _, c := range []struct {
		name, source string
		want         ending
	}{
		{"a failing call that nothing awaits", "tools.t.fails({}); await new Promise(r => setTimeout(r, 200)); return 'done'",
			ending{outcome: "error", message: "a promise that nothing awaited was rejected: ToolError: the disk is full", line: 1, frame: "fails", hint: "await it"}},
		{"in forEach", "[1].forEach(async () => { await tools.t.fails({}) }); await new Promise(r => setTimeout(r, 200)); return 'done'",
			ending{outcome: "error", message: "the disk is full", line: 1, frame: "fails", hint: "await it"}},
		{"a call inside the returned object", "return { rows: tools.t.echo({}) }",
			ending{outcome: "error", message: "await is missing at result.rows", line: 1, frame: "tools.t.echo", hint: "await"}},
		{"in an array", "return [1, 2].map(n => tools.t.echo({ n }))",
			ending{outcome: "error", message: "await is missing at result[0]", line: 1, frame: "tools.t.echo", hint: "Promise.all"}},
		{"as an argument", "await tools.t.echo(tools.t.echo({}))", ending{outcome: "error", message: "it was given a Promise: await is missing", line: 1, frame: "echo"}},
		{"a call that is still open", "tools.t.hang({}); await tools.t.echo({}); return 'done'",
			ending{outcome: "error", message: "the program returned while the call tools.t.hang (line 1) was not awaited; its outcome is unknown", line: 1, frame: "hang", hint: "*"}},
		{"a write after the end", "setTimeout(() => tools.t.echo({ write: true }), 50); return 'done'", ending{outcome: "ok"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := g.run(t, sandboxd.Program{Source: c.source})
			c.want.check(t, r)
			if c.name != "a write after the end" {
				return
			}
			time.Sleep(100 * time.Millisecond)
			if got := len(g.asked(r.Run)); got != 0 || len(r.Calls) != 0 {
				t.Errorf("%d calls reached the gateway after the end, %d are listed", got, len(r.Calls))
			}
		})
	}
}

// TestAtOnceOverALoweredLimit: 23 at once where 16 are allowed are none, and not the first 16.
func TestAtOnceOverALoweredLimit(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	r := g.run(t, sandboxd.Program{
		Source: "return await Promise.all(Array.from({length: 23}, (_, i) => tools.t.echo({i})))", Limits: &sandboxd.Limits{Calls: 16},
	})
	ending{outcome: "calls", message: "call 17 of this run; the limit is 16", line: 1, frame: "tools.t.echo", hint: "*"}.check(t, r)
	if got := len(g.asked(r.Run)); got != 0 {
		t.Errorf("%d calls reached the gateway", got)
	}
}

// TestLoopPastItsLimit: the result has every finished call and the console so far.
func TestLoopPastItsLimit(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	r := g.run(t, sandboxd.Program{
		Source: "for (let i = 0; i < 1900; i++) { console.log(i); await tools.t.slow({MS: 50, i}) }", Limits: &sandboxd.Limits{WallMS: 1500},
	})
	ending{outcome: "timeout", message: "", line: -1, hint: "*"}.check(t, r)
	if len(r.Calls) < 2 || len(r.Console) != len(r.Calls) {
		t.Fatalf("%d calls and %d lines", len(r.Calls), len(r.Console))
	}
	var states []sandboxd.CallState
	for _, c := range r.Calls[:len(r.Calls)-1] {
		states = append(states, c.State)
	}
	for i, s := range states {
		if s != sandboxd.CallSucceeded {
			t.Errorf("call %d: %s", i+1, s)
		}
	}
	if diff := cmp.Diff(fmt.Sprint(len(r.Calls)-1), r.Console[len(r.Console)-1].Text); diff != "" {
		t.Errorf("the last line: %s", diff)
	}
}
