package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/near"
)

// codeRejected marks errors that the SDK makes itself, when a message could not be sent.
const codeRejected = -32005

var _ sandboxd.ToolHandler = new(Upstreams).Call

// Call performs one tool call and returns the server's CallToolResult as it sent it. When ctx ends, the server is told
// that the call is cancelled. An error is for the program too: it holds nothing that the server said elsewhere.
func (u *Upstreams) Call(ctx context.Context, call sandboxd.ToolCall) (json.RawMessage, error) {
	p, ok := u.places[call.Server]
	if !ok {
		return nil, fmt.Errorf("no MCP server is named %q: there are %s", call.Server, strings.Join(u.names, ", "))
	}
	s, _ := p.session() // why there is none may quote the server
	if s == nil {
		return nil, fmt.Errorf("%s.%s: the server does not run; it is started again by itself: try later", call.Server, call.Tool)
	}
	ctx, cancel := u.untilClose(ctx)
	defer cancel()
	taken := &tap{}
	result, err := s.mcp.CallTool(withTap(ctx, taken), params(call))
	if err != nil {
		return nil, s.explainCall(ctx, call, err)
	}
	if raw := taken.taken.Load(); raw != nil {
		return *raw, nil
	}
	return json.Marshal(result)
}

// untilClose returns ctx, ended by Close too: the SDK waits for calls in flight before it closes a session.
func (u *Upstreams) untilClose(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(u.closing, func() { cancel(errors.New("the session with the server is closed")) })
	return ctx, func() { stop(); cancel(nil) }
}

func params(call sandboxd.ToolCall) *mcp.CallToolParams {
	p := &mcp.CallToolParams{Name: call.Tool, Meta: mcp.Meta{MetaOrigin: "code"}}
	if len(call.Arguments) > 0 {
		p.Arguments = call.Arguments
	}
	if call.Traceparent != "" {
		p.Meta["traceparent"] = call.Traceparent // as SEP-414 has it
	}
	return p
}

func (s *session) explainCall(ctx context.Context, call sandboxd.ToolCall, err error) error {
	name := call.Server + "." + call.Tool
	var answer *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", name, context.Cause(ctx))
	case errors.As(err, &answer) && answer.Code != codeRejected:
		if missing := s.missingTool(ctx, call.Tool); missing != nil {
			return missing
		}
		return fmt.Errorf("%s: %w", name, answer)
	case s.process != nil && (errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF)):
		return fmt.Errorf("%s: the server is gone (%s)", name, s.process.fate())
	}
	return fmt.Errorf("%s: %w", name, err)
}

// missingTool says which tools there are, if the server has none of that name: its own error rarely does.
func (s *session) missingTool(ctx context.Context, tool string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	tools, err := s.tools(ctx)
	if err != nil || slices.ContainsFunc(tools, func(t Tool) bool { return t.Name == tool }) {
		return nil
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return fmt.Errorf("server %q has no tool %q: it has %s", s.server.Name, tool, near.List(near.First(tool, names)))
}

// explainConnect is for the person who wrote the configuration, so it quotes the server.
func (s *session) explainConnect(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if s.http != nil {
		s.http.CloseIdleConnections()
	}
	if s.process == nil {
		return fmt.Errorf("server %q: %w", s.server.Name, err)
	}
	s.process.end()
	if ctx.Err() == nil {
		err = fmt.Errorf("%w (%s)", err, s.process.fate())
	}
	if said := s.process.stderr.tail(); said != "" {
		return fmt.Errorf("server %q: %w; its last words:%s", s.server.Name, err, said)
	}
	return fmt.Errorf("server %q: %w", s.server.Name, err)
}
