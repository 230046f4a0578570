package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxTools bounds what one server may announce; maxPages, in how many answers.
const (
	maxTools = 2000
	maxPages = 200
)

// Tool is a tool as its server announces it. The schemas keep the server's order of properties.
type Tool struct {
	Server       string          `json:"-"`
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  Annotations     `json:"annotations"`

	Meta map[string]json.RawMessage `json:"_meta"`
}

// Annotations are the server's hints, not promises. Nil: not said.
type Annotations struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	Idempotent  *bool `json:"idempotentHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

// Tools asks all servers for their tools, and returns them by server, in the servers' order. Those that run programs are left out.
func (u *Upstreams) Tools(ctx context.Context) ([]Tool, error) {
	lists := make([][]Tool, len(u.names))
	for _, err := range each(len(u.names), func(i int) (err error) {
		lists[i], err = u.ToolsOf(ctx, u.names[i])
		return err
	}) {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(lists...), nil
}

// ToolsOf asks one server for its tools. One that does not run is an error.
func (u *Upstreams) ToolsOf(ctx context.Context, server string) ([]Tool, error) {
	ctx, cancel := u.untilClose(ctx)
	defer cancel()
	p, ok := u.places[server]
	if !ok {
		return nil, fmt.Errorf("no MCP server is named %q", server)
	}
	s, err := p.session()
	if s == nil {
		return nil, err
	}
	tools, err := s.tools(ctx)
	return slices.DeleteFunc(tools, Tool.own), err
}

func (s *session) tools(ctx context.Context) (tools []Tool, err error) {
	if c := s.mcp.InitializeResult().Capabilities; c == nil || c.Tools == nil {
		return nil, nil
	}
	cursor := ""
	for range maxPages {
		page, next, err := s.page(ctx, cursor)
		if err != nil {
			return nil, fmt.Errorf("server %q: list tools: %w", s.server.Name, err)
		}
		tools = append(tools, page...)
		if len(tools) > maxTools {
			break
		}
		if next == "" {
			return tools, nil
		}
		cursor = next
	}
	return nil, fmt.Errorf("server %q: list tools: it has more than %d tools, or more than %d pages of them", s.server.Name, maxTools, maxPages)
}

func (s *session) page(ctx context.Context, cursor string) ([]Tool, string, error) {
	ctx, cancel := context.WithCancel(ctx) // lets go of the tap
	defer cancel()
	taken := &tap{copy: true}
	decoded, err := s.mcp.ListTools(withTap(ctx, taken), &mcp.ListToolsParams{Cursor: cursor})
	if err != nil {
		return nil, "", err
	}
	raw := taken.taken.Load()
	if raw == nil { // it came in a form that the tap does not know, or from the SDK's cache
		encoded, err := json.Marshal(decoded)
		if err != nil {
			return nil, "", err
		}
		raw = (*json.RawMessage)(&encoded)
	}
	var page struct {
		Tools      []Tool `json:"tools"`
		NextCursor string `json:"nextCursor"`
	}
	if err := json.Unmarshal(*raw, &page); err != nil {
		return nil, "", err
	}
	for i := range page.Tools {
		page.Tools[i].Server = s.server.Name
	}
	return page.Tools, page.NextCursor, nil
}
