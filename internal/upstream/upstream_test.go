package upstream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/upstream"
)

var tracker string // path of the built examples/tracker; set by TestMain, then read-only

func TestMain(m *testing.M) {
	if fake := os.Getenv("FAKE_SERVER"); fake != "" {
		runFake(fake)
		return
	}
	dir, err := os.MkdirTemp("", "upstream")
	if err == nil {
		tracker = filepath.Join(dir, "tracker")
		build := exec.Command("go", "build", "-o", tracker, "../../examples/tracker")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	code := 1
	if err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func stdioServer() upstream.Server { return upstream.Server{Name: "tracker", Command: tracker} }

// httpServer starts the tracker on a port of its own.
func httpServer(t testing.TB) upstream.Server {
	t.Helper()
	command := exec.Command(tracker, "--http", "127.0.0.1:0")
	stderr, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill(); command.Wait() })
	line, _ := bufio.NewReader(stderr).ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), "listening on ")
	if !found {
		t.Fatalf("tracker said %q", line)
	}
	return upstream.Server{Name: "tracker", URL: url}
}

func connect(t testing.TB, servers ...upstream.Server) *upstream.Upstreams {
	t.Helper()
	u, err := upstream.Connect(t.Context(), upstream.Config{Servers: servers}, upstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	return u
}

func call(server, tool, args string) sandboxd.ToolCall {
	return sandboxd.ToolCall{Server: server, Tool: tool, Arguments: json.RawMessage(args)}
}

type result struct {
	Content []struct {
		Type, Text string
	} `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
}

func mustCall(t testing.TB, u *upstream.Upstreams, c sandboxd.ToolCall) (r result) {
	t.Helper()
	raw, err := u.Call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return r
}

// Both transports, one behaviour.
func eachTransport(t *testing.T, test func(t *testing.T, u *upstream.Upstreams)) {
	t.Run("stdio", func(t *testing.T) { test(t, connect(t, stdioServer())) })
	t.Run("http", func(t *testing.T) { test(t, connect(t, httpServer(t))) })
}

func TestCalls(t *testing.T) {
	eachTransport(t, func(t *testing.T, u *upstream.Upstreams) {
		listing := mustCall(t, u, call("tracker", "list_issues", `{"repo":"acme/api"}`))
		if n := strings.Count(listing.Content[0].Text, `"number":`); n != 300 {
			t.Errorf("the listing has %d issues, want 300", n)
		}
		one := mustCall(t, u, call("tracker", "get_issue", `{"repo":"acme/api","number":42}`))
		if !strings.Contains(string(one.StructuredContent), `"comments":451`) {
			t.Errorf("structuredContent is %s", one.StructuredContent)
		}
		failed := mustCall(t, u, call("tracker", "list_issues", `{"repo":"nope"}`))
		if !failed.IsError || !strings.Contains(failed.Content[0].Text, "unknown repository") {
			t.Errorf("got %+v, want an error of the tool", failed)
		}
		if mustCall(t, u, call("tracker", "list_repositories", "")).IsError {
			t.Error("a call without arguments failed")
		}
	})
}

func TestCallErrorsSayWhatThereIs(t *testing.T) {
	eachTransport(t, func(t *testing.T, u *upstream.Upstreams) {
		_, err := u.Call(t.Context(), call("trackr", "list_issues", "{}"))
		wantError(t, err, `no MCP server is named "trackr": there are tracker`)
		_, err = u.Call(t.Context(), call("tracker", "list", "{}"))
		wantError(t, err, `server "tracker" has no tool "list": it has create_issue, get_issue, list_issues, list_repositories`)
	})
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}

func TestConcurrentCallsGetTheirOwnResults(t *testing.T) {
	eachTransport(t, func(t *testing.T, u *upstream.Upstreams) {
		var wait sync.WaitGroup
		for n := 1; n <= 40; n++ {
			wait.Go(func() {
				raw, err := u.Call(t.Context(), call("tracker", "get_issue", fmt.Sprintf(`{"repo":"acme/cli","number":%d}`, n)))
				if want := fmt.Sprintf(`"number":%d,`, n); err != nil || !strings.Contains(string(raw), want) {
					t.Errorf("issue %d: got %.80s, error %v", n, raw, err)
				}
			})
		}
		wait.Wait()
	})
}

func TestTools(t *testing.T) {
	eachTransport(t, func(t *testing.T, u *upstream.Upstreams) {
		tools, err := u.Tools(t.Context())
		if err != nil || len(tools) != 4 {
			t.Fatalf("got %d tools, error %v", len(tools), err)
		}
		create := tools[0]
		if create.Server != "tracker" || create.Name != "create_issue" || create.Annotations.Destructive == nil || *create.Annotations.Destructive {
			t.Errorf("got %+v", create)
		}
		order := []string{`"repo"`, `"title"`, `"body"`, `"labels"`}
		for i, at := 0, -1; i < len(order); i++ {
			next := strings.Index(string(create.InputSchema), order[i])
			if next <= at {
				t.Errorf("the schema lost the server's order: %s", create.InputSchema)
			}
			at = next
		}
	})
}

func TestCloseEndsCallsAndProcesses(t *testing.T) {
	u := connect(t, fake("slow"), stdioServer())
	failed := make(chan error)
	go func() {
		_, err := u.Call(context.Background(), call("slow", "wait", "{}"))
		failed <- err
	}()
	time.Sleep(50 * time.Millisecond)
	if err := u.Close(); err != nil {
		t.Error(err)
	}
	wantError(t, <-failed, "session with the server is closed")
	if left := children(t); left != "" {
		t.Errorf("processes are left: %s", left)
	}
	if err := u.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// children returns the pids of this process's children, zombies included.
func children(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		pids, _ := os.ReadFile(list)
		all.Write(pids)
	}
	return all.String()
}
