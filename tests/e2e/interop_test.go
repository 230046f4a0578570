package e2e_test

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// foreign is a client made of nothing but a JSON-RPC 2.0 library.
type foreign struct {
	*jrpc2.Client
	mu       sync.Mutex
	notified []string // method and params
}

func dialForeign(t *testing.T, d *daemon.Daemon, answer func(ctx context.Context, method string, params json.RawMessage) (any, error)) *foreign {
	t.Helper()
	conn, err := net.Dial("unix", d.Socket)
	if err != nil {
		t.Fatal(err)
	}
	f := &foreign{}
	f.Client = jrpc2.NewClient(channel.Line(conn, conn), &jrpc2.ClientOptions{
		OnCallback: func(ctx context.Context, r *jrpc2.Request) (any, error) {
			return answer(ctx, r.Method(), json.RawMessage(r.ParamString()))
		},
		OnNotify: func(r *jrpc2.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.notified = append(f.notified, r.Method()+" "+r.ParamString())
		},
	})
	t.Cleanup(func() { f.Close() })
	return f
}

// TestPlainJSONRPC: another implementation of JSON-RPC 2.0 can be a gateway.
func TestPlainJSONRPC(t *testing.T) {
	t.Parallel()
	d := daemon.Start(t, daemon.Options{})
	var calls []string
	f := dialForeign(t, d, func(_ context.Context, method string, params json.RawMessage) (any, error) {
		var call struct {
			Arguments json.RawMessage `json:"arguments"`
			Tool      string          `json:"tool"`
		}
		if err := json.Unmarshal(params, &call); err != nil {
			return nil, err
		}
		calls = append(calls, method+" "+call.Tool+" "+string(call.Arguments))
		if call.Tool == "missing" {
			return nil, jrpc2.Errorf(-32010, "no tool of that name")
		}
		return json.RawMessage(`{"content":[{"type":"text","text":"hello"}]}`), nil
	})
	ctx := t.Context()

	var early *jrpc2.Error
	if _, err := f.Call(ctx, "status", nil); !asError(err, &early) || early.Code != -32000 {
		t.Errorf("status before initialize: %v", err)
	}
	var welcome sandboxd.InitializeResult
	hello := map[string]any{"protocol_version": "1", "client": map[string]any{"name": "foreign"}, "servers": []string{"t"}}
	if err := f.CallResult(ctx, "initialize", hello, &welcome); err != nil || welcome.Server.Name != "sandboxd" || len(welcome.Profiles) != 3 {
		t.Fatalf("initialize: %+v, error %v", welcome, err)
	}
	for _, refused := range []struct {
		method string
		params any
		code   int
		want   string
	}{
		{"initialize", hello, -32000, "already"},
		{"nope", nil, -32601, "unknown method"},
		{"execute", map[string]any{"source": "return 1", "sauce": 1}, -32602, "sauce"},
		{"execute", map[string]any{"source": 1}, -32602, "source"},
		{"cancel", map[string]any{}, -32602, "either"},
	} {
		var e *jrpc2.Error
		if _, err := f.Call(ctx, refused.method, refused.params); !asError(err, &e) || int(e.Code) != refused.code || !strings.Contains(e.Message, refused.want) {
			t.Errorf("%s %v: %v", refused.method, refused.params, err)
		}
	}
	for _, c := range []struct {
		name    string
		program map[string]any
		outcome sandboxd.Outcome
	}{
		{"ok", map[string]any{"source": "console.log('a'); return [await tools.t.greet({a: 1}), await tools.t.missing().catch(e => e.message)]", "console": true}, "ok"},
		{"a hint", map[string]any{"source": "console.log('a')"}, "ok"},
		{"invalid", map[string]any{"source": ""}, "invalid"},
		{"error", map[string]any{"source": "const a = ;"}, "error"},
		{"uncaught", map[string]any{"source": "await tools.t.missing()"}, "error"},
		{"timeout", map[string]any{"source": "await new Promise(r => setTimeout(r, 9999))", "limits": map[string]any{"wall_ms": 100}}, "timeout"},
		{"output", map[string]any{"source": "return 'xx'", "limits": map[string]any{"output_bytes": 1}}, "output"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text json.RawMessage
			if err := f.CallResult(ctx, "execute", c.program, &text); err != nil {
				t.Fatal(err)
			}
			checkJSON(t, text)
			var r sandboxd.Result
			if err := json.Unmarshal(text, &r); err != nil || r.Outcome != c.outcome {
				t.Errorf("outcome %s, want %s: %v %v", r.Outcome, c.outcome, r.Error, err)
			}
			if want := `["hello","no tool of that name"]`; c.name == "ok" && string(r.Value) != want {
				t.Errorf("value %s, want %s", r.Value, want)
			}
		})
	}
	if want := "tools/call greet {\"a\":1}\ntools/call missing {}\ntools/call missing {}"; strings.Join(calls, "\n") != want {
		t.Errorf("calls:\n%s\nwant:\n%s", strings.Join(calls, "\n"), want)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.notified) != 1 || !strings.HasPrefix(f.notified[0], "run/console {") || !strings.Contains(f.notified[0], `"text":"a"`) {
		t.Errorf("notifications %q", f.notified)
	}
}

// TestCancelOverJSONRPC: by token and by run, and the gateway is told which calls nobody waits for.
func TestCancelOverJSONRPC(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 1)
	f := dialForeign(t, daemon.Start(t, daemon.Options{}), func(ctx context.Context, _ string, params json.RawMessage) (any, error) {
		var call sandboxd.ToolCall
		json.Unmarshal(params, &call)
		begun <- call.Run
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if _, err := f.Call(t.Context(), "initialize", map[string]any{"protocol_version": "1", "client": map[string]any{"name": "x"}, "servers": []string{"t"}}); err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{"token", "run"} {
		t.Run(by, func(t *testing.T) {
			done := make(chan json.RawMessage, 1)
			go func() {
				var r json.RawMessage
				if err := f.CallResult(t.Context(), "execute", map[string]any{"source": "await tools.t.hang()", "token": "tok"}, &r); err != nil {
					t.Error(err)
				}
				done <- r
			}()
			run := <-begun
			params := map[string]string{"run": run}
			if by == "token" {
				params = map[string]string{"token": "tok"}
			}
			var cancelled sandboxd.CancelResult
			if err := f.CallResult(t.Context(), "cancel", params, &cancelled); err != nil || cancelled.Cancelled != 1 {
				t.Errorf("cancel: %+v, error %v", cancelled, err)
			}
			text := <-done
			checkJSON(t, text)
			if !strings.Contains(string(text), `"outcome":"cancelled"`) || !strings.Contains(string(text), `"state":"unknown"`) {
				t.Errorf("result %s", text)
			}
			want := `tools/cancel {"run":"` + run + `","n":1}`
			daemon.Eventually(t, 2*time.Second, func() error { return f.told(want) })
		})
	}
}
