package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/upstream"
)

// web answers like a small server of a version before 2026-07-28; respond writes the answer to a tool call.
func web(t *testing.T, respond func(w http.ResponseWriter, r *http.Request, id string)) upstream.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, id, _ := strings.Cut(string(body), `"id":`)
		id, _, _ = strings.Cut(id, ",")
		switch {
		case strings.Contains(string(body), `"initialize"`):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, hello, id)
		case strings.Contains(string(body), `"server/discover"`):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, refuse, id)
		case strings.Contains(string(body), `"tools/call"`):
			respond(w, r, id)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(server.Close)
	return upstream.Server{Name: "web", URL: server.URL, Headers: map[string]string{"X-Key": "s3cret"}}
}

func TestHTTPResultComesAsItWasSent(t *testing.T) {
	const want = `{"content":[{"type":"text","text":"done"}],"x-new":{"z":1,"a":2}}`
	message := fmt.Sprintf(strings.TrimSpace(answer), "%s")
	tests := []struct{ name, kind, body string }{
		{"JSON", "application/json", message},
		{"event", "text/event-stream; charset=utf-8", "event: message\ndata: " + message + "\n\n"},
		{"event without a space, CRLF", "text/event-stream", "data:" + message + "\r\n\r\n"},
		{"event after a notification", "text/event-stream", `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}` +
			"\n\n: comment\n\nid: 7\ndata: " + message + "\n\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := connect(t, web(t, func(w http.ResponseWriter, r *http.Request, id string) {
				if r.Header.Get("X-Key") != "s3cret" || r.Header.Get("Mcp-Protocol-Version") == "" {
					t.Errorf("headers are %v", r.Header)
				}
				w.Header().Set("Content-Type", test.kind)
				fmt.Fprintf(w, test.body, id)
			}))
			raw, err := u.Call(t.Context(), call("web", "any", "{}"))
			if err != nil || string(raw) != want {
				t.Errorf("got %s, error %v", raw, err)
			}
		})
	}
}

func TestEventOverSeveralLinesIsDecoded(t *testing.T) {
	u := connect(t, web(t, func(w http.ResponseWriter, _ *http.Request, id string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\ndata: \"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n\n", id)
	}))
	if r := mustCall(t, u, call("web", "any", "{}")); len(r.Content) != 1 || r.Content[0].Text != "done" {
		t.Errorf("got %+v", r)
	}
}

func TestHeadersDoNotFollowARedirect(t *testing.T) {
	leaked := make(chan string, 1)
	other := web(t, func(w http.ResponseWriter, r *http.Request, id string) {
		leaked <- r.Header.Get("X-Key")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, answer, id)
	})
	u := connect(t, web(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	mustCall(t, u, call("web", "any", "{}"))
	if got := <-leaked; got != "" {
		t.Errorf("the other host got the header: %q", got)
	}
}

func TestHTTPCallIsCancelled(t *testing.T) {
	gone := make(chan struct{})
	u := connect(t, web(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := u.Call(ctx, call("web", "any", "{}")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline", err)
	}
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the request goes on")
	}
}

func TestHTTPErrorsNameTheCall(t *testing.T) {
	u := connect(t, web(t, func(w http.ResponseWriter, _ *http.Request, id string) { w.WriteHeader(http.StatusBadGateway) }))
	_, err := u.Call(t.Context(), call("web", "any", "{}"))
	wantError(t, err, "web.any: ")
	wantError(t, err, "Bad Gateway")
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	served := httpServer(t)
	served.Name = "http"
	before := runtime.NumGoroutine()
	for range 3 {
		u := connect(t, served, stdioServer(), fake("slow"))
		mustCall(t, u, call("http", "list_issues", `{"repo":"acme/api"}`))
		mustCall(t, u, call("tracker", "list_issues", `{"repo":"acme/api"}`))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		u.Call(ctx, call("slow", "any", "{}"))
		cancel()
		u.Close()
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	stacks := make([]byte, 64<<10)
	t.Errorf("%d goroutines, before %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}
