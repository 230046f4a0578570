package upstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandboxd/sandboxd/internal/upstream"
)

// follow connects to servers whose changes come on a channel.
func follow(t *testing.T, servers ...upstream.Server) (*upstream.Upstreams, <-chan string) {
	t.Helper()
	changed := make(chan string, 100)
	u, err := upstream.Connect(t.Context(), upstream.Config{Servers: servers}, upstream.Options{Changed: func(server string) { changed <- server }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := u.Close(); err != nil {
			t.Error(err)
		}
		if left := children(t); left != "" {
			t.Errorf("processes are left: %s", left)
		}
	})
	return u, changed
}

func next(t *testing.T, changed <-chan string, want string) {
	t.Helper()
	select {
	case got := <-changed:
		if got != want {
			t.Errorf("%s has changed, want %s", got, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("nothing is said of %s", want)
	}
}

// TestStartedAgain: a server that ends is told, fails calls without its own words, and comes back.
func TestStartedAgain(t *testing.T) {
	u, changed := follow(t, fake("dies"), stdioServer())
	_, err := u.Call(t.Context(), call("dies", "any", "{}"))
	wantError(t, err, "the server is gone (exit status 3)")
	next(t, changed, "dies") // it has ended
	mustCall(t, u, call("tracker", "list_repositories", "{}"))
	next(t, changed, "dies") // it is back
	_, err = u.Call(t.Context(), call("dies", "any", "{}"))
	wantError(t, err, "the server is gone (exit status 3)") // another one, of course
}

// TestNeverStarts: a server that can't be started is none of the others' business, and is tried until Close.
func TestNeverStarts(t *testing.T) {
	u, _ := follow(t, fake("broken"), stdioServer())
	if got := strings.Join(u.Servers(), " "); got != "broken tracker" {
		t.Errorf("the servers are %s", got)
	}
	mustCall(t, u, call("tracker", "list_repositories", "{}"))
	_, err := u.Call(t.Context(), call("broken", "any", "{}"))
	wantError(t, err, "broken.any: the server does not run; it is started again by itself: try later")
	if strings.Contains(err.Error(), "database") {
		t.Errorf("a program is told what the server said: %v", err)
	}
	_, err = u.ToolsOf(t.Context(), "broken")
	wantError(t, err, "cannot find")
}

// overHTTP serves a server of the SDK; gets says whether it lets clients listen.
func overHTTP(t *testing.T, s *mcp.Server, gets bool) upstream.Server {
	t.Helper()
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && !gets {
			http.Error(w, "no", http.StatusMethodNotAllowed)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return upstream.Server{Name: "web", URL: web.URL}
}

func add(s *mcp.Server, tool *mcp.Tool) {
	tool.InputSchema = json.RawMessage(`{"type":"object"}`)
	s.AddTool(tool, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(r.Params.Meta[upstream.MetaOrigin])}}}, nil
	})
}

// TestListChanged: over HTTP it is listened for; a server that offers nothing to listen to works all the same.
func TestListChanged(t *testing.T) {
	for _, gets := range []bool{true, false} {
		s := mcp.NewServer(&mcp.Implementation{Name: "web"}, nil)
		add(s, &mcp.Tool{Name: "one"})
		u, changed := follow(t, overHTTP(t, s, gets))
		if tools, err := u.ToolsOf(t.Context(), "web"); err != nil || len(tools) != 1 {
			t.Errorf("%d tools, error %v", len(tools), err)
		}
		// A program's calls say that they are.
		if got := mustCall(t, u, call("web", "one", "{}")); got.Content[0].Text != "code" {
			t.Errorf("the call said %+v", got)
		}
		add(s, &mcp.Tool{Name: "two"})
		if gets {
			next(t, changed, "web")
		}
		if tools, err := u.ToolsOf(t.Context(), "web"); err != nil || len(tools) != 2 {
			t.Errorf("%d tools, error %v", len(tools), err)
		}
	}
}

// TestOwn: sandboxctl mcp is no server for programs, and its tools are none wherever they come from.
func TestOwn(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: upstream.OwnName}, nil)
	add(s, &mcp.Tool{Name: "execute_code"})
	web := overHTTP(t, s, true)
	_, err := upstream.Connect(t.Context(), upstream.Config{Servers: []upstream.Server{web}}, upstream.Options{})
	wantError(t, err, "a program can't run programs")

	s = mcp.NewServer(&mcp.Implementation{Name: "gateway"}, nil)
	add(s, &mcp.Tool{Name: "code.execute_code", Meta: mcp.Meta{upstream.MetaOwn: true}})
	add(s, &mcp.Tool{Name: "other"})
	tools, err := connect(t, overHTTP(t, s, true)).Tools(t.Context())
	if err != nil || len(tools) != 1 || tools[0].Name != "other" {
		t.Errorf("the tools are %v, error %v", tools, err)
	}
}
