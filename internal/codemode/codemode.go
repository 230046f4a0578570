// Package codemode is an MCP server with two tools: execute_code runs a program in sandboxd, and search_tools finds what it may call.
//
// Its callers are MCP clients, which have models behind them: what it says is meant for these, and its definitions are short, as a
// model reads them in every session whether it needs them or not.
package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/upstream"
)

// Options of New. All but Version and Log must be set.
type Options struct {
	Version string

	// Execute runs a program as sandboxd.Client does. What it tells of the run, and asks, goes to Progress and Approve.
	Execute func(context.Context, sandboxd.Program) (*sandboxd.Result, error)

	// Catalog is what programs may call now, to be searched. It may wait until that is known.
	Catalog func(context.Context) (*Catalog, error)

	// Question is what a person is asked about a call. Most of it was chosen by a program that nobody has read: it must be safe to show.
	Question func(sandboxd.ApprovalRequest) string

	Log *slog.Logger // nil: nothing is logged
}

// maxRuns bounds the programs of all clients that run at once, those that wait for an answer among them.
const maxRuns = 32

// Server is the MCP server. Its methods may be called from several goroutines.
type Server struct {
	// set by New, then read-only
	options Options
	mcp     *mcp.Server
	slots   chan struct{}

	mu      sync.Mutex // guards the fields below
	byToken map[string]*execution
	parked  map[string]*execution // by the state that its client brings back
}

// New returns a server that nobody is connected to.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{options: o, slots: make(chan struct{}, maxRuns), byToken: map[string]*execution{}, parked: map[string]*execution{}}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: upstream.OwnName, Version: o.Version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // the two never change
		Logger:       o.Log,
	})
	s.mcp.AddTool(executeTool(), s.guarded(s.execute))
	s.mcp.AddTool(searchTool(), s.guarded(s.search))
	return s
}

// Run serves one client until it hangs up, or ctx ends; then its programs have ended too.
func (s *Server) Run(ctx context.Context, t mcp.Transport) error {
	stop := context.AfterFunc(ctx, s.cancel) // the SDK waits for what is being answered
	defer stop()
	err := s.mcp.Run(ctx, t)
	s.drain()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// drain ends all programs, those that wait for a client to come back among them. It returns when they have ended, and lets none begin.
func (s *Server) drain() {
	s.cancel()
	for range maxRuns {
		s.slots <- struct{}{}
	}
}

func (s *Server) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.byToken {
		e.cancel(errGone)
	}
}

var errGone = errors.New("the MCP client is gone")

// guarded refuses calls that a program makes, and gives the model what is wrong with a call as a result that it can read.
func (s *Server) guarded(do func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if _, code := r.Params.Meta[upstream.MetaOrigin]; code {
			return failed(fmt.Errorf("%s can't be called from a program: programs call tools.<server>.<tool>, and search is for who writes them", r.Params.Name)), nil
		}
		result, err := do(ctx, r)
		if err != nil {
			return failed(fmt.Errorf("%s: %w", r.Params.Name, err)), nil
		}
		return result, nil
	}
}

func failed(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}
}

// decode reads the arguments of a call, strictly.
func decode(r *mcp.CallToolRequest, into any) error {
	text := r.Params.Arguments
	if len(text) == 0 {
		text = json.RawMessage("{}")
	}
	if err := rpc.Decode(text, into); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}

func executeTool() *mcp.Tool {
	yes := true
	return &mcp.Tool{
		Name: "execute_code",
		Description: "Run a program in a sandbox: the body of an async JavaScript or TypeScript function. " +
			"It calls tools as `await tools.<server>.<tool>({...})`, several at once by Promise.all, and returns only what the answer needs. " +
			"Find tools with search_tools. No network, files or imports.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string"},` +
			`"language":{"enum":["javascript","typescript"]}},"required":["code"],"additionalProperties":false}`),
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes},
		Meta:        mcp.Meta{upstream.MetaOwn: true},
	}
}

func searchTool() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name:        "search_tools",
		Description: "Find tools for execute_code, as TypeScript signatures. Without a query: the servers.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":50},` +
			`"cursor":{"type":"string"}},"additionalProperties":false}`),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
		Meta:        mcp.Meta{upstream.MetaOwn: true},
	}
}
