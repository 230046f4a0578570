package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/codemode"
	"github.com/sandboxd/sandboxd/internal/upstream"
)

// versions of MCP: the newest with sessions, and the one from which on servers ask by results.
var versions = []string{"2025-11-25", "2026-07-28"}

// fixture is a server with a client, and stands for the daemon.
type fixture struct {
	server  *codemode.Server
	client  *mcp.ClientSession
	execute func(context.Context, sandboxd.Program) (*sandboxd.Result, error)
	catalog *codemode.Catalog
	failing error // of the catalog
	ended   chan error
}

func start(t *testing.T, version string, o *mcp.ClientOptions) *fixture {
	t.Helper()
	f := &fixture{catalog: codemode.NewCatalog(nil, nil), ended: make(chan error, 1)}
	f.server = codemode.New(codemode.Options{
		Version: "1",
		Execute: func(ctx context.Context, p sandboxd.Program) (*sandboxd.Result, error) {
			if f.failing != nil {
				return nil, f.failing
			}
			return f.execute(ctx, p)
		},
		Catalog:  func(context.Context) (*codemode.Catalog, error) { return f.catalog, f.failing },
		Question: func(q sandboxd.ApprovalRequest) string { return "call " + q.Tool + "?" },
	})
	ctx, stop := context.WithCancel(t.Context())
	here, there := mcp.NewInMemoryTransports()
	go func() { f.ended <- f.server.Run(ctx, there) }()
	var err error
	f.client, err = mcp.NewClient(&mcp.Implementation{Name: "test"}, o).Connect(ctx, here, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.client.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("version %s, want %s", got, version)
	}
	t.Cleanup(func() {
		f.client.Close()
		stop()
		select {
		case <-f.ended:
		case <-time.After(20 * time.Second):
			t.Error("the server does not end")
		}
	})
	return f
}

func (f *fixture) call(t *testing.T, tool string, arguments any, meta mcp.Meta) *mcp.CallToolResult {
	t.Helper()
	r, err := f.client.CallTool(t.Context(), &mcp.CallToolParams{Meta: meta, Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return r
}

func text(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		all = append(all, c.(*mcp.TextContent).Text)
	}
	return strings.Join(all, "\n---\n")
}

type object = map[string]any

// TestDefinitions: what a model reads in each session is short.
func TestDefinitions(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.Cl100kBase)
	if err != nil {
		t.Fatal(err)
	}
	f := start(t, versions[0], nil)
	list, err := f.client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(list.Tools)
	if err != nil {
		t.Fatal(err)
	}
	tokens, _, err := codec.Encode(string(line))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tokens", len(tokens))
	if len(tokens) > 300 {
		t.Errorf("the definitions have %d tokens, at most 300 are wanted:\n%s", len(tokens), line)
	}
	hints := map[string]string{}
	for _, tool := range list.Tools {
		text, _ := json.Marshal(tool.Annotations)
		hints[tool.Name] = string(text)
	}
	want := map[string]string{
		"execute_code": `{"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"readOnlyHint":false}`,
		"search_tools": `{"idempotentHint":true,"openWorldHint":false,"readOnlyHint":true}`,
	}
	if diff := cmp.Diff(want, hints); diff != "" {
		t.Error(diff)
	}
}

func TestExecute(t *testing.T) {
	for _, version := range versions {
		f := start(t, version, nil)
		var got sandboxd.Program
		f.execute = func(_ context.Context, p sandboxd.Program) (*sandboxd.Result, error) {
			got = p
			return &sandboxd.Result{Run: "R", Outcome: sandboxd.OutcomeOK, Value: json.RawMessage(`{"a":1}`)}, nil
		}
		meta := mcp.Meta{"sandboxd/intent": "find it", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
		r := f.call(t, "execute_code", object{"code": "return 1", "language": "typescript"}, meta)
		if r.IsError || text(r) != `{"a":1}` {
			t.Errorf("%s: %s", version, text(r))
		}
		if diff := cmp.Diff(object{"run": "R", "outcome": "ok", "value": object{"a": 1.0}}, r.StructuredContent); diff != "" {
			t.Error(diff)
		}
		if got.Source != "return 1" || got.Intent != "find it" || got.Traceparent != meta["traceparent"] || got.Progress {
			t.Errorf("the program was %+v", got)
		}
		if f.call(t, "execute_code", object{"code": ""}, nil); got.Intent != "" {
			t.Error("an intent that nobody gave")
		}
	}
}

// TestAnswers: what a model reads of each kind of end.
func TestAnswers(t *testing.T) {
	f := start(t, versions[0], nil)
	for _, c := range []struct {
		name       string
		result     sandboxd.Result
		failed     bool
		text       string
		structured string
	}{
		{"a string is itself", sandboxd.Result{Outcome: sandboxd.OutcomeOK, Value: json.RawMessage(`"a\nb"`)}, false, "a\nb",
			`{"outcome":"ok","run":"R","value":"a\nb"}`},
		{"nothing is null", sandboxd.Result{Outcome: sandboxd.OutcomeOK, Value: json.RawMessage("null"), Hint: "return it"}, false, "null\nhint: return it",
			`{"hint":"return it","outcome":"ok","run":"R","value":null}`},
		{"calls that succeeded are not told", sandboxd.Result{Outcome: sandboxd.OutcomeOK, Value: json.RawMessage("1"),
			Calls: []sandboxd.Call{{N: 1, Server: "a", Tool: "b", State: sandboxd.CallSucceeded}}}, false, "1", `{"outcome":"ok","run":"R","value":1}`},
		{"one that was refused is, with the others", sandboxd.Result{Outcome: sandboxd.OutcomeOK, Value: json.RawMessage("1"),
			Calls: []sandboxd.Call{{N: 1, Server: "a", Tool: "b", State: sandboxd.CallSucceeded}, {N: 2, Server: "a", Tool: "c\u202e", State: sandboxd.CallDenied, Rule: "mail", Error: "no"}}},
			false, "1\ncalls:\n  1 a.b succeeded\n  2 a.c denied by mail: no",
			`{"calls":[{"n":1,"state":"succeeded","tool":"a.b"},{"error":"no","n":2,"rule":"mail","state":"denied","tool":"a.c` + "\u202e" + `"}],"outcome":"ok","run":"R","value":1}`},
		{"an error, and what was done before it", sandboxd.Result{Outcome: sandboxd.OutcomeError, Value: json.RawMessage("null"),
			Error:     &sandboxd.Error{Kind: sandboxd.OutcomeError, Message: "TypeError: x", Line: 3, Column: 7, Frame: "a.b()", Hint: "use c"},
			Console:   []sandboxd.ConsoleLine{{Level: "warn", Text: "w"}},
			Truncated: sandboxd.Truncated{ConsoleLines: 1, ConsoleBytes: 12},
			Calls:     []sandboxd.Call{{N: 1, Server: "a", Tool: "b", State: sandboxd.CallNotStarted}}}, true,
			"error: TypeError: x (line 3, column 7)\n    3 | a.b()\nhint: use c\ncalls:\n  1 a.b not started\nconsole:\n  [warn] w\n  12 bytes of console text are over the limit and left out",
			`{"calls":[{"n":1,"state":"not_started","tool":"a.b"}],"console":[{"level":"warn","text":"w"}],` +
				`"error":{"column":7,"frame":"a.b()","hint":"use c","kind":"error","line":3,"message":"TypeError: x"},"outcome":"error","run":"R",` +
				`"truncated":{"console_bytes":12,"console_lines":1}}`},
		{"busy", sandboxd.Result{Outcome: sandboxd.OutcomeBusy, Error: &sandboxd.Error{Kind: sandboxd.OutcomeBusy, Message: "capacity", RetryAfterMS: 50}}, true,
			"busy: capacity\ntry again in 50 ms", `{"error":{"kind":"busy","message":"capacity","retry_after_ms":50},"outcome":"busy","run":"R"}`},
	} {
		c.result.Run = "R"
		f.execute = func(context.Context, sandboxd.Program) (*sandboxd.Result, error) { return &c.result, nil }
		r := f.call(t, "execute_code", object{"code": "x"}, nil)
		if r.IsError != c.failed || text(r) != c.text {
			t.Errorf("%s: isError %v, text\n%s\nwant\n%s", c.name, r.IsError, text(r), c.text)
		}
		structured, _ := json.Marshal(r.StructuredContent)
		if diff := cmp.Diff(c.structured, string(structured)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestRefusedArguments: a mistake is told so that it can be mended, and nothing is run.
func TestRefusedArguments(t *testing.T) {
	f := start(t, versions[0], nil)
	f.execute = func(context.Context, sandboxd.Program) (*sandboxd.Result, error) {
		t.Error("it ran")
		return nil, errors.New("no")
	}
	for _, c := range []struct {
		tool      string
		arguments string
		meta      mcp.Meta
		want      string
	}{
		{"execute_code", `{}`, nil, "code is missing"},
		{"execute_code", `{"code":null}`, nil, "code is missing"},
		{"execute_code", `{"code":"x","source":"y"}`, nil, `unknown field "source"; there are: code, language`},
		{"execute_code", `{"Code":"x"}`, nil, `unknown field "Code"`},
		{"execute_code", `{"code":1}`, nil, "code"},
		{"execute_code", `{"code":"x","language":"python"}`, nil, `language "python": there are javascript and typescript`},
		{"execute_code", `{"code":"x"}`, mcp.Meta{"sandboxd/intent": 1}, "sandboxd/intent must be a string"},
		{"execute_code", `{"code":"x"}`, mcp.Meta{"sandboxd/origin": "code"}, "can't be called from a program"},
		{"search_tools", `{}`, mcp.Meta{"sandboxd/origin": "code"}, "can't be called from a program"},
		{"search_tools", `{"limit":0}`, nil, "limit must be 1 to 50"},
		{"search_tools", `{"limit":51}`, nil, "limit must be 1 to 50"},
		{"search_tools", `{"limit":1.5}`, nil, "limit"},
		{"search_tools", `{"q":"x"}`, nil, `unknown field "q"; there are: query, limit, cursor`},
		{"search_tools", `{"cursor":"1-00000000"}`, nil, "search again without it"},
		{"search_tools", `{"query":"` + strings.Repeat("x", 1025) + `"}`, nil, "at most 1024"},
	} {
		r := f.call(t, c.tool, json.RawMessage(c.arguments), c.meta)
		if !r.IsError || !strings.Contains(text(r), c.want) {
			t.Errorf("%s %s: isError %v, %s, want %q", c.tool, c.arguments, r.IsError, text(r), c.want)
		}
	}
}

// TestFailing: where it is not known what may be called, neither tool does anything.
func TestFailing(t *testing.T) {
	f := start(t, versions[0], nil)
	f.failing = errors.New("tools.json is damaged")
	f.execute = func(context.Context, sandboxd.Program) (*sandboxd.Result, error) { return nil, errors.New("it ran") }
	for _, tool := range []string{"execute_code", "search_tools"} {
		arguments := object{}
		if tool == "execute_code" {
			arguments["code"] = "x"
		}
		if r := f.call(t, tool, arguments, nil); !r.IsError || text(r) != tool+": tools.json is damaged" {
			t.Errorf("%s: %s", tool, text(r))
		}
	}
	f.failing = nil
	if r := f.call(t, "execute_code", object{"code": "x"}, nil); !r.IsError || text(r) != "execute_code: it ran" {
		t.Errorf("execute_code: %s", text(r))
	}
}

func TestCancel(t *testing.T) {
	for _, version := range versions {
		f := start(t, version, nil)
		running, ended := make(chan bool, 1), make(chan error, 1)
		f.execute = func(ctx context.Context, _ sandboxd.Program) (*sandboxd.Result, error) {
			running <- true
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return &sandboxd.Result{Outcome: sandboxd.OutcomeCancelled, Error: &sandboxd.Error{Kind: sandboxd.OutcomeCancelled}}, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-running; cancel() }()
		_, err := f.client.CallTool(ctx, &mcp.CallToolParams{Name: "execute_code", Arguments: object{"code": "x"}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", version, err)
		}
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the program goes on", version)
		}
	}
}

// TestHangUp: the programs of a client that is gone end.
func TestHangUp(t *testing.T) {
	running, ended := make(chan bool, 1), make(chan bool, 1)
	server := codemode.New(codemode.Options{
		Catalog: func(context.Context) (*codemode.Catalog, error) { return codemode.NewCatalog(nil, nil), nil },
		Execute: func(ctx context.Context, _ sandboxd.Program) (*sandboxd.Result, error) {
			running <- true
			<-ctx.Done()
			ended <- true
			return nil, ctx.Err()
		},
	})
	in, client := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- server.Run(t.Context(), &mcp.IOTransport{Reader: in, Writer: nopCloser{io.Discard}})
	}()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"x","version":"1"},"capabilities":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"x"}}}`,
	} {
		if _, err := io.WriteString(client, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	<-running
	client.Close()
	for what, done := range map[string]func() bool{"program": func() bool { return <-ended }, "server": func() bool { return <-served == nil }} {
		ok := make(chan bool, 1)
		go func() { ok <- done() }()
		select {
		case good := <-ok:
			if !good {
				t.Errorf("the %s ended with an error", what)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("the %s goes on", what)
		}
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestProgress(t *testing.T) {
	for _, version := range versions {
		said := make(chan *mcp.ProgressNotificationParams, 10)
		f := start(t, version, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { said <- r.Params }})
		f.execute = func(_ context.Context, p sandboxd.Program) (*sandboxd.Result, error) {
			if !p.Progress {
				t.Error("no progress was asked for")
			}
			f.server.Progress(sandboxd.Progress{Token: "another", ElapsedMS: 1})
			f.server.Progress(sandboxd.Progress{Token: p.Token, ElapsedMS: 1500, Calls: 3, Finished: 1, Doing: "waiting for a.b\n\x1b[31m" + strings.Repeat("x", 500)})
			got := <-said
			if got.ProgressToken != "P" || got.Progress != 1.5 || !strings.HasPrefix(got.Message, "1 of 3 calls done, waiting for a.b [31mxxx") || !strings.HasSuffix(got.Message, "x…") || len(got.Message) > 330 {
				t.Errorf("%s: %+v", version, got)
			}
			return &sandboxd.Result{Outcome: sandboxd.OutcomeOK, Value: json.RawMessage("1")}, nil
		}
		if r := f.call(t, "execute_code", object{"code": "x"}, mcp.Meta{"progressToken": "P"}); r.IsError {
			t.Error(text(r))
		}
	}
}

// TestApprove: only a clear yes approves, whichever way the client is asked.
func TestApprove(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer *mcp.ElicitResult // nil: no elicitation
		err    error
		want   sandboxd.ApprovalAnswer
		failed string
	}{
		{"this call", &mcp.ElicitResult{Action: "accept", Content: object{"approve": "call"}}, nil, sandboxd.ApprovalAnswer{Approve: true, Scope: "call"}, ""},
		{"the run", &mcp.ElicitResult{Action: "accept", Content: object{"approve": "run"}}, nil, sandboxd.ApprovalAnswer{Approve: true, Scope: "run"}, ""},
		{"decline", &mcp.ElicitResult{Action: "decline"}, nil, sandboxd.ApprovalAnswer{Reason: "the user of the MCP client declined"}, ""},
		{"decline with a form", &mcp.ElicitResult{Action: "decline", Content: object{"approve": "call"}}, nil, sandboxd.ApprovalAnswer{Reason: "the user of the MCP client declined"}, ""},
		{"cancel", &mcp.ElicitResult{Action: "cancel"}, nil, sandboxd.ApprovalAnswer{Reason: "the user of the MCP client closed the question without an answer"}, ""},
		{"accepts whatever it is", &mcp.ElicitResult{Action: "accept"}, nil, sandboxd.ApprovalAnswer{Reason: `the MCP client's answer was no clear approval: "accept", approve ""`}, ""},
		{"can't", nil, nil, sandboxd.ApprovalAnswer{}, "does not offer elicitation"},
	} {
		for _, version := range versions {
			t.Run(c.name+" "+version, func(t *testing.T) {
				var o mcp.ClientOptions
				if c.answer != nil {
					o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						if r.Params.Message != "call b?" {
							t.Errorf("it was asked %q", r.Params.Message)
						}
						return c.answer, c.err
					}
				}
				f := start(t, version, &o)
				f.execute = func(ctx context.Context, p sandboxd.Program) (*sandboxd.Result, error) {
					for n := range 2 { // one after the other
						answer, err := f.server.Approve(ctx, sandboxd.ApprovalRequest{ID: fmt.Sprint("id", n), Token: p.Token, Tool: "b", Expires: time.Now().Add(time.Minute)})
						if answer != c.want || c.failed == "" && err != nil || c.failed != "" && (err == nil || !strings.Contains(err.Error(), c.failed)) {
							t.Errorf("%+v, %v, want %+v", answer, err, c.want)
						}
					}
					return &sandboxd.Result{Outcome: sandboxd.OutcomeOK, Value: json.RawMessage(`"done"`)}, nil
				}
				if r := f.call(t, "execute_code", object{"code": "x"}, nil); text(r) != "done" {
					t.Error(text(r))
				}
			})
		}
	}
}

// TestApproveTogether: calls that wait at the same time are all asked about.
func TestApproveTogether(t *testing.T) {
	for _, version := range versions {
		var asked atomic.Int32
		f := start(t, version, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked.Add(1)
			if r.Params.Message == "call t1?" {
				return &mcp.ElicitResult{Action: "decline"}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: object{"approve": "call"}}, nil
		}})
		f.execute = func(ctx context.Context, p sandboxd.Program) (*sandboxd.Result, error) {
			got := make(chan string)
			for n := range 4 {
				go func() {
					tool := fmt.Sprint("t", n)
					answer, err := f.server.Approve(ctx, sandboxd.ApprovalRequest{ID: tool, Token: p.Token, Tool: tool, Expires: time.Now().Add(time.Minute)})
					if answer.Approve != (n != 1) || err != nil {
						t.Errorf("%s %s: %+v, %v", version, tool, answer, err)
					}
					got <- tool
				}()
			}
			for range 4 {
				<-got
			}
			return &sandboxd.Result{Outcome: sandboxd.OutcomeOK, Value: json.RawMessage(`"done"`)}, nil
		}
		if r := f.call(t, "execute_code", object{"code": "x"}, nil); text(r) != "done" || asked.Load() != 4 {
			t.Errorf("%s: %s, asked %d times", version, text(r), asked.Load())
		}
	}
}

// TestNobodyComesBack: a program whose client was asked by a result, and does not answer, ends with the question.
func TestNobodyComesBack(t *testing.T) {
	f := start(t, versions[1], &mcp.ClientOptions{
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			panic("it is not asked by itself")
		},
	})
	ended := make(chan error, 1)
	f.execute = func(ctx context.Context, p sandboxd.Program) (*sandboxd.Result, error) {
		_, err := f.server.Approve(ctx, sandboxd.ApprovalRequest{ID: "id", Token: p.Token, Tool: "b", Expires: time.Now().Add(50 * time.Millisecond)})
		ended <- err
		return nil, ctx.Err()
	}
	r := f.call(t, "execute_code", object{"code": "x"}, nil)
	if !r.NeedsInput() || len(r.InputRequests) != 1 || len(r.RequestState) < 20 {
		t.Fatalf("the answer is %+v", r)
	}
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "did not come back") {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the program goes on")
	}
	for _, state := range []string{r.RequestState, "guessed"} {
		late, err := f.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_code", Arguments: object{"code": "x"}, RequestState: state,
			InputResponses: mcp.InputResponseMap{"id": &mcp.ElicitResult{Action: "accept", Content: object{"approve": "call"}}}})
		if err != nil || !late.IsError || !strings.Contains(text(late), "no program waits for this answer") {
			t.Errorf("%s: %v, %+v", state, err, late)
		}
	}
}

// TestTooMany: the programs at once are bounded, and those that have ended make room.
func TestTooMany(t *testing.T) {
	f := start(t, versions[0], nil)
	running, release := make(chan bool), make(chan bool)
	f.execute = func(context.Context, sandboxd.Program) (*sandboxd.Result, error) {
		running <- true
		<-release
		return &sandboxd.Result{Outcome: sandboxd.OutcomeOK, Value: json.RawMessage("1")}, nil
	}
	all := make(chan *mcp.CallToolResult)
	run := func() {
		r, _ := f.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_code", Arguments: object{"code": "x"}})
		all <- r
	}
	for range 32 {
		go run()
		<-running
	}
	if r := f.call(t, "execute_code", object{"code": "x"}, nil); !r.IsError || !strings.Contains(text(r), "32 programs run already") {
		t.Error(text(r))
	}
	close(release)
	for range 32 {
		if r := <-all; r == nil || r.IsError {
			t.Errorf("%+v", r)
		}
	}
	go run()
	<-running
	if r := <-all; r == nil || r.IsError {
		t.Errorf("%+v", r)
	}
}

func tool(server, name, description, schema string) upstream.Tool {
	return upstream.Tool{Server: server, Name: name, Description: description, InputSchema: json.RawMessage(schema)}
}

func TestSearch(t *testing.T) {
	f := start(t, versions[0], nil)
	var tools []upstream.Tool
	for i := range 25 {
		tools = append(tools, tool("many", fmt.Sprintf("get_item_%02d", i), "Gets one. And more.", `{}`))
	}
	tools = append(tools, tool("mail", "send", "Sends a\nmail to\u202e somebody. Costs money.", `{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}`),
		tool("mail", "list-drafts", "Lists what was not sent", `{}`))
	f.catalog = codemode.NewCatalog([]codemode.Provider{{Server: "many", Tools: 25}, {Server: "mail", Tools: 2, Note: "1 more is refused"}}, tools)

	r := f.call(t, "search_tools", object{}, nil)
	if want := "servers 1 to 2 of 2:\ntools.many: 25\ntools.mail: 2 (1 more is refused)\n"; text(r) != want {
		t.Errorf("without a query: %q, want %q", text(r), want)
	}
	r = f.call(t, "search_tools", object{"query": "MAIL send?"}, nil)
	want := "tools 1 to 2 of 2:\n" +
		"tools.mail.send(args: { to: string }): Promise<any> // Sends a mail to somebody.\n" +
		"tools.mail[\"list-drafts\"](args: any): Promise<any> // Lists what was not sent\n"
	if got := text(r); got != want {
		t.Errorf("MAIL send? finds\n%s\nwant\n%s", got, want)
	}
	if r = f.call(t, "search_tools", object{"query": "snd"}, nil); !strings.Contains(text(r), "there are send") || r.StructuredContent.(object)["total"] != 0.0 {
		t.Errorf("snd finds %s", text(r))
	}

	seen, cursor := map[string]bool{}, ""
	for page := 1; ; page++ {
		r := f.call(t, "search_tools", object{"query": "get item", "limit": 7, "cursor": cursor}, nil)
		got := r.StructuredContent.(object)
		if got["total"] != 25.0 {
			t.Errorf("page %d: total %v", page, got["total"])
		}
		for _, one := range got["tools"].([]any) {
			seen[one.(object)["tool"].(string)] = true
		}
		next, more := got["next_cursor"].(string)
		if more != (page < 4) || more != strings.Contains(text(r), next+`"`) {
			t.Fatalf("page %d: next_cursor %q, text %s", page, next, text(r))
		}
		if !more {
			break
		}
		if r := f.call(t, "search_tools", object{"query": "other", "cursor": next}, nil); !r.IsError {
			t.Error("another search took the cursor")
		}
		cursor = next
	}
	if len(seen) != 25 {
		t.Errorf("all pages have %d tools", len(seen))
	}
	f.catalog = codemode.NewCatalog(nil, tools[1:])
	if r := f.call(t, "search_tools", object{"query": "get item", "limit": 7, "cursor": cursor}, nil); !r.IsError || !strings.Contains(text(r), "the tools have changed") {
		t.Errorf("the cursor is good for other tools: %s", text(r))
	}
}
