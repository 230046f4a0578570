package sandboxd_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// socket is where a daemon listens for the example.
var socket string

func TestMain(m *testing.M) {
	os.Exit(withDaemon(m))
}

// withDaemon runs the tests beside a daemon. An example has no testing.TB, so that it can't start one itself.
func withDaemon(m *testing.M) int {
	defer daemon.Clean()
	t := &mainTB{}
	defer t.end()
	socket = daemon.Start(t, daemon.Options{}).Socket
	return m.Run()
}

// mainTB is the part of a testing.TB that starting a daemon takes.
type mainTB struct {
	testing.TB
	cleanups []func()
}

func (t *mainTB) Helper()                        {}
func (t *mainTB) Failed() bool                   { return false }
func (t *mainTB) Cleanup(f func())               { t.cleanups = append(t.cleanups, f) }
func (t *mainTB) Logf(format string, a ...any)   { fmt.Fprintf(os.Stderr, format+"\n", a...) }
func (t *mainTB) Errorf(format string, a ...any) { t.Fatalf(format, a...) }
func (t *mainTB) Fatalf(format string, a ...any) { t.Fatal(fmt.Sprintf(format, a...)) }

func (t *mainTB) Fatal(a ...any) {
	fmt.Fprintln(os.Stderr, a...)
	os.Exit(1)
}

func (t *mainTB) end() {
	for len(t.cleanups) > 0 {
		last := t.cleanups[len(t.cleanups)-1]
		t.cleanups = t.cleanups[:len(t.cleanups)-1]
		last()
	}
}

// A gateway runs a program that calls its tool.
func Example() {
	ctx := context.Background()
	client, err := sandboxd.Dial(ctx, socket, sandboxd.Options{
		Name:    "my-gateway",
		Servers: []string{"tracker"},
		// It performs the calls that the daemon allowed, with whatever credentials they take.
		Tools: func(ctx context.Context, call sandboxd.ToolCall) (json.RawMessage, error) {
			if call.Server != "tracker" || call.Tool != "list_issues" {
				return nil, fmt.Errorf("there is no tool %s.%s", call.Server, call.Tool)
			}
			return json.RawMessage(`{"content": [], "structuredContent": [
				{"number": 1, "title": "crash on start", "comments": 12},
				{"number": 2, "title": "typo", "comments": 1}
			]}`), nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	result, err := client.Execute(ctx, sandboxd.Program{Source: `
		const issues = await tools.tracker.list_issues({repo: "acme/api"});
		console.log("got", issues.length);
		return issues.filter(issue => issue.comments > 10).map(issue => issue.title);
	`})
	if err != nil {
		fmt.Println(err) // the daemon did not take the request, or is gone
		return
	}
	if result.Outcome != sandboxd.OutcomeOK {
		fmt.Println(result.Error) // for the model: it can mend its program
		return
	}
	fmt.Println(string(result.Value))
	fmt.Println(result.Console[0].Text)
	fmt.Println(result.Calls[0].Server, result.Calls[0].Tool, result.Calls[0].State)
	// Output:
	// ["crash on start"]
	// got 2
	// tracker list_issues succeeded
}

// dial connects a gateway of server "t" to the shared daemon.
func dial(t *testing.T, at string, tools sandboxd.ToolHandler) *sandboxd.Client {
	t.Helper()
	c, err := sandboxd.Dial(t.Context(), at, sandboxd.Options{Name: "test", Servers: []string{"t"}, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// hang is a tool that takes until nobody waits for it; begun is closed when it is called.
func hang(begun chan struct{}) sandboxd.ToolHandler {
	var once sync.Once
	return func(ctx context.Context, _ sandboxd.ToolCall) (json.RawMessage, error) {
		once.Do(func() { close(begun) })
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

func TestClientWelcome(t *testing.T) {
	w := dial(t, socket, nil).Welcome()
	if w.Server.Name != "sandboxd" || w.ProtocolVersion != sandboxd.ProtocolVersion || len(w.Profiles) != 3 {
		t.Fatalf("%+v", w)
	}
	p := w.Profiles[0]
	if p.Name != "default" || p.Description == "" || p.Limits.Calls != 32 || p.Isolation == nil || !p.Isolation.Verified {
		t.Errorf("%+v", p)
	}
}

func TestClientConcurrentExecute(t *testing.T) {
	c := dial(t, socket, func(_ context.Context, call sandboxd.ToolCall) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[],"structuredContent":` + string(call.Arguments) + `}`), nil
	})
	var runs sync.WaitGroup
	for i := range 10 {
		runs.Go(func() {
			r, err := c.Execute(t.Context(), sandboxd.Program{Source: "return (await tools.t.echo({input})).input", Input: fmt.Append(nil, i)})
			if err != nil || string(r.Value) != fmt.Sprint(i) {
				t.Errorf("run %d: %+v, error %v", i, r, err)
			}
		})
	}
	runs.Wait()
}

func TestClientContextCancels(t *testing.T) {
	begun := make(chan struct{})
	c := dial(t, socket, hang(begun))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	r, err := c.Execute(ctx, sandboxd.Program{Source: "await tools.t.hang({})"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != sandboxd.OutcomeCancelled || len(r.Calls) != 1 || r.Calls[0].State != sandboxd.CallUnknown {
		t.Errorf("%s, calls %+v", r.Outcome, r.Calls)
	}
}

// TestClientEndedContext: a ctx that has ended before still gives a result, or says that it ended.
func TestClientEndedContext(t *testing.T) {
	c := dial(t, socket, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := c.Execute(ctx, sandboxd.Program{Source: "await new Promise(r => setTimeout(r, 20000))"})
	if err == nil && r.Outcome != sandboxd.OutcomeCancelled || err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, error %v", r, err)
	}
	// No run is left behind.
	daemon.Eventually(t, 2*time.Second, func() error {
		if s, err := c.Status(t.Context()); err != nil || s.Running != 0 {
			return fmt.Errorf("%d runs, error %v", s.Running, err)
		}
		return nil
	})
}

func TestClientDaemonGone(t *testing.T) {
	d := daemon.Start(t, daemon.Options{})
	begun := make(chan struct{})
	ended := make(chan struct{})
	wait := hang(begun)
	c := dial(t, d.Socket, func(ctx context.Context, call sandboxd.ToolCall) (json.RawMessage, error) {
		defer close(ended)
		return wait(ctx, call)
	})
	go func() { <-begun; d.Signal(t, syscall.SIGKILL) }()
	r, err := c.Execute(t.Context(), sandboxd.Program{Source: "await tools.t.hang({})"})
	if err == nil || !strings.Contains(err.Error(), "sandboxd: execute: the connection is closed") {
		t.Errorf("%+v, error %v", r, err)
	}
	for what, closed := range map[string]<-chan struct{}{"Done": c.Done(), "the handler": ended} {
		select {
		case <-closed:
		case <-time.After(2 * time.Second):
			t.Errorf("%s does not end with the daemon", what)
		}
	}
	if _, err := c.Execute(t.Context(), sandboxd.Program{Source: "return 1"}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("the next Execute: %v", err)
	}
}

func TestClientHandlerError(t *testing.T) {
	for name, c := range map[string]struct {
		tools sandboxd.ToolHandler
		want  string
	}{
		"error": {func(context.Context, sandboxd.ToolCall) (json.RawMessage, error) {
			return nil, errors.New(`the backend said "no"`)
		}, `"the backend said \"no\""`},
		"no tools":    {nil, `"this gateway has no tools"`},
		"broken JSON": {func(context.Context, sandboxd.ToolCall) (json.RawMessage, error) { return json.RawMessage(`{"a`), nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := dial(t, socket, c.tools).Execute(t.Context(), sandboxd.Program{Source: "try { await tools.t.x({}) } catch (e) { return e.message }"})
			if err != nil || r.Outcome != sandboxd.OutcomeOK || c.want != "" && string(r.Value) != c.want {
				t.Errorf("%+v, error %v", r, err)
			}
		})
	}
}

func TestDialErrors(t *testing.T) {
	dir := daemon.Dir(t)
	refuse := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\ncallers: {uids: ['4294967294']}\n"})
	full := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\ngateways: {connections: 1}\n"})
	dial(t, full.Socket, nil)
	for name, c := range map[string]struct{ path, want string }{
		"no daemon":     {filepath.Join(dir, "none"), "connect to sandboxd: "},
		"not allowed":   {refuse.Socket, fmt.Sprintf("user %d is not an allowed caller", os.Geteuid())},
		"too many":      {full.Socket, "1 gateways are connected"},
		"another world": {silent(t, filepath.Join(dir, "http"), "HTTP/1.1 400 Bad Request\r\n\r\n"), "sandboxd: initialize: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sandboxd.Dial(t.Context(), c.path, sandboxd.Options{Name: "test"})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
	t.Run("ctx", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := sandboxd.Dial(ctx, silent(t, filepath.Join(dir, "silent"), ""), sandboxd.Options{Name: "test"})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// silent listens at path, says one thing to whoever connects, and nothing more.
func silent(t *testing.T, path, text string) string {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte(text)) // an error means that it went away, which is its business
			if text != "" {
				conn.Close()
			}
		}
	}()
	return path
}

// TestClientClose ends the runs of the connection, and waits for its handlers.
func TestClientClose(t *testing.T) {
	begun := make(chan struct{})
	c := dial(t, socket, hang(begun))
	failed := make(chan error, 1)
	go func() {
		_, err := c.Execute(t.Context(), sandboxd.Program{Source: "await tools.t.hang({})"})
		failed <- err
	}()
	<-begun
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	select {
	case err := <-failed:
		if err == nil {
			t.Error("a result came over a closed connection")
		}
	case <-time.After(2 * time.Second):
		t.Error("Execute does not end with Close")
	}
}
