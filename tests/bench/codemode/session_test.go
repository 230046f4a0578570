package codemode_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

// version of MCP that the sessions have: the one that clients speak today. A later one says more in each line.
const version = "2025-11-25"

// codec is made once.
var codec = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.Cl100kBase) })

// tokens counts as cl100k does.
func tokens(text string) int {
	c, err := codec()
	if err != nil {
		panic(err) // the vocabulary is in the binary
	}
	n, err := c.Count(text)
	if err != nil {
		panic(err)
	}
	return n
}

// session is an MCP client, and what has gone over its connection.
type session struct {
	*mcp.ClientSession
	tb    testing.TB
	lines *meter // nil: they are not kept
	turns int
}

type call struct {
	tool      string
	arguments any
}

// connect starts a server and connects to it. With metered, the lines of the connection are kept, which takes time.
func connect(tb testing.TB, c *exec.Cmd, metered bool) *session {
	tb.Helper()
	s := &session{tb: tb}
	stderr := &daemon.Log{}
	c.Stderr = stderr
	transport := mcp.Transport(&mcp.CommandTransport{Command: c, TerminateDuration: 20 * time.Second})
	if metered {
		s.lines = &meter{Transport: transport}
		transport = s.lines
	}
	var err error
	s.ClientSession, err = mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).
		Connect(tb.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		tb.Fatalf("%v: %s", err, stderr)
	}
	tb.Cleanup(func() {
		started := daemon.Descendants(c.Process.Pid)
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v\n%s", err, stderr)
		}
		daemon.Gone(tb, started)
	})
	return s
}

// server is a command as it stands in a configuration of MCP servers.
type server struct {
	Command string            `json:"command"`
	Env     map[string]string `json:"env,omitempty"`
}

// tracker is the server of all tasks.
func tracker(tb testing.TB) server {
	return server{Command: filepath.Join(daemon.Binaries(tb), "tracker")}
}

// direct connects to a server itself.
func direct(tb testing.TB, v server, metered bool) *session {
	tb.Helper()
	c := exec.Command(v.Command)
	for name, value := range v.Env {
		c.Env = append(c.Env, name+"="+value)
	}
	return connect(tb, c, metered)
}

// through connects to `sandboxctl mcp` with that server, which programs know as the tracker. It starts a daemon of its own.
func through(tb testing.TB, v server, metered bool) *session {
	tb.Helper()
	dir := daemon.Dir(tb)
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]server{"tracker": v}})
	if err != nil {
		tb.Fatal(err)
	}
	file := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		tb.Fatal(err)
	}
	c := exec.Command(filepath.Join(daemon.Binaries(tb), "sandboxctl"), "mcp", "--mcp", file, "--policy", daemon.Policy(tb, "unknown: allow\n"))
	c.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "SANDBOXD_SOCKET="+filepath.Join(dir, "none"))
	return connect(tb, c, metered)
}

// turn is one of a model's: the calls that it makes at once, and their results.
func (s *session) turn(calls ...call) []*mcp.CallToolResult {
	s.tb.Helper()
	s.turns++
	ctx, cancel := context.WithTimeout(s.tb.Context(), time.Minute)
	defer cancel()
	results, errs := make([]*mcp.CallToolResult, len(calls)), make([]error, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		all.Go(func() {
			results[i], errs[i] = s.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments})
		})
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			s.tb.Fatalf("%s: %v", calls[i].tool, err)
		}
	}
	return results
}

// definitions is what the tools take of a model's context, before it has used one.
func (s *session) definitions() int {
	s.tb.Helper()
	list, err := s.ListTools(s.tb.Context(), nil)
	if err != nil {
		s.tb.Fatal(err)
	}
	text, err := json.Marshal(list.Tools)
	if err != nil {
		s.tb.Fatal(err)
	}
	return tokens(string(text))
}

// meter keeps the JSON-RPC lines of a connection, both ways.
type meter struct {
	mcp.Transport

	mu   sync.Mutex // guards text
	text []string
}

func (m *meter) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := m.Transport.Connect(ctx)
	return metered{c, m}, err
}

type metered struct {
	mcp.Connection
	meter *meter
}

func (c metered) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		return m, err
	}
	return m, c.meter.keep(m)
}

func (c metered) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := c.meter.keep(m); err != nil {
		return err
	}
	return c.Connection.Write(ctx, m)
}

func (m *meter) keep(message jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(message)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = append(m.text, string(line))
	return err
}

// ulid is the one thing in the lines that differs from run to run, and with it the count of its tokens.
var ulid = regexp.MustCompile(`"run":"[0-9A-Z]{26}"`)

// take counts the tokens of the lines since it was last called.
func (m *meter) take() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range m.text {
		n += tokens(ulid.ReplaceAllLiteralString(line, `"run":"01KB4T7M3W9XQZ5E8RD2NHVYCG"`) + "\n")
	}
	m.text = nil
	return n
}
