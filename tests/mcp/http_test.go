package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

const token = "0123456789abcdef0123456789abcdef"

// serve starts sandboxctl mcp over HTTP, and returns where.
func (h *home) serve(args ...string) (url, bearer string) {
	h.t.Helper()
	c := h.command(append([]string{"mcp", "--http", "127.0.0.1:0", "--token-file", h.file("token", token+"\n")}, args...)...)
	said := &daemon.Log{}
	c.Stderr = said
	if err := c.Start(); err != nil {
		h.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	h.t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // an error means that it has ended
		select {
		case err := <-ended:
			if err != nil {
				h.t.Errorf("it ended with %v: %s", err, said)
			}
		case <-time.After(30 * time.Second):
			_ = c.Process.Kill()
			h.t.Errorf("it does not end: %s", said)
		}
	})
	daemon.Eventually(h.t, 20*time.Second, func() error {
		_, rest, _ := strings.Cut(said.String(), "serving MCP at ")
		url, _, _ = strings.Cut(rest, "\n")
		return missing(url, "/mcp")
	})
	return url, token
}

// bearer is an HTTP client that bears a token.
func bearer(token string) *http.Client { return &http.Client{Transport: withHeader{"Bearer " + token}} }

type withHeader struct{ authorization string }

func (w withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", w.authorization)
	return http.DefaultTransport.RoundTrip(r)
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	url, token := h.serve("--mcp", h.config(object{"tracker": h.tracker()}))
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		c := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: object{"approve": "call"}}, nil
		}})
		cs, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: bearer(token)}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(version, err)
		}
		s := &session{ClientSession: cs, t: t, stderr: &daemon.Log{}}
		s.wants(top3, "[117,42,203]")
		if err := s.Close(); err != nil {
			t.Error(version, err)
		}
	}
}

// TestDoor: who has no token, another site's page, and who came by another name are not let in.
func TestDoor(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	url, token := h.serve("--mcp", h.config(object{"tracker": h.tracker()}))
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	_, port, _ := strings.Cut(host, ":")
	for _, c := range []struct {
		name, authorization, host, origin, path string
		status                                  int
	}{
		{"as it should be", "Bearer " + token, "", "", "/mcp", 200},
		{"by its name", "bearer " + token, "localhost:" + port, "", "/mcp", 200},
		{"from its own page", "Bearer " + token, "", "http://localhost:" + port, "/mcp", 200},
		{"no token", "", "", "", "/mcp", 401},
		{"empty token", "Bearer ", "", "", "/mcp", 401},
		{"wrong token", "Bearer " + strings.Repeat("x", 32), "", "", "/mcp", 401},
		{"half a token", "Bearer " + token[:16], "", "", "/mcp", 401},
		{"another scheme", "Basic " + token, "", "", "/mcp", 401},
		{"rebound name", "Bearer " + token, "evil.example:" + port, "", "/mcp", 403},
		{"another port", "Bearer " + token, "127.0.0.1:1", "", "/mcp", 403},
		{"no port", "Bearer " + token, "127.0.0.1", "", "/mcp", 403},
		{"another site", "Bearer " + token, "", "https://evil.example", "/mcp", 403},
		{"another local site", "Bearer " + token, "", "http://localhost:1", "/mcp", 403},
		{"a page without a site", "Bearer " + token, "", "null", "/mcp", 403},
		{"another path", "Bearer " + token, "", "", "/", 404},
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"x","version":"1"},"capabilities":{}}}`
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+host+c.path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if r.Host = c.host; c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(c.name, err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != c.status || strings.Contains(string(text), token) {
			t.Errorf("%s: status %d, want %d: %s", c.name, response.StatusCode, c.status, text)
		}
	}
}

// TestSlowBodies: who announces a body and does not send it holds no connection, with the token or without.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	url, token := h.serve("--mcp", h.config(object{"tracker": h.tracker()}))
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	for name, c := range map[string]struct{ token, want string }{
		"without the token": {"x", "HTTP/1.1 401 "}, "with the token": {token, "HTTP/1.1 408 "},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 1000\r\n\r\n{", host, c.token)
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			if text, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(text), c.want) {
				t.Errorf("got %q, error %v, want %q and the end", text, err, c.want)
			}
		})
	}
}

func TestHTTPUsage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	config, good := h.config(object{"tracker": h.tracker()}), h.file("token", token)
	open := h.file("open", token)
	if err := os.Chmod(open, 0o640); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, addr, file, want string
		code                   int
	}{
		{"every address", "0.0.0.0:0", good, "no loopback address", 1},
		{"every address, shorter", ":8321", good, "no loopback address", 1},
		{"a name", "localhost:8321", good, "no loopback address", 1},
		{"another machine", "192.0.2.1:8321", good, "no loopback address", 1},
		{"no token", "127.0.0.1:0", "", "go together", 2},
		{"no address", "", good, "go together", 2},
		{"others can read it", "127.0.0.1:0", open, "chmod 0600", 1},
		{"short", "127.0.0.1:0", h.file("short", "x\n"), "must have 32 at least", 1},
		{"two lines", "127.0.0.1:0", h.file("lines", token+"\n"+token), "is no token", 1},
	} {
		out, code := h.run("mcp", "--mcp", config, "--http", c.addr, "--token-file", c.file)
		if code != c.code || !strings.Contains(out, c.want) || strings.Contains(out, token) {
			t.Errorf("%s: %d, %s, want %d, %q", c.name, code, out, c.code, c.want)
		}
	}
}
