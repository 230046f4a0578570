package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what one server may announce.
const (
	maxTools   = 2000
	maxPages   = 200     // in so many answers
	maxListing = 8 << 20 // bytes of these together; the daemon takes less
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
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(tools, Tool.own), nil
}

func (s *session) tools(ctx context.Context) (tools []Tool, err error) {
	if c := s.mcp.InitializeResult().Capabilities; c == nil || c.Tools == nil {
		return nil, nil
	}
	cursor, size := "", 0
	for range maxPages {
		p, err := s.page(ctx, cursor)
		if err != nil {
			return nil, fmt.Errorf("server %q: list tools: %w", s.server.Name, err)
		}
		tools, size = append(tools, p.Tools...), size+p.size
		if len(tools) > maxTools || size > maxListing {
			break
		}
		if p.NextCursor == "" {
			return tools, s.distinct(tools)
		}
		cursor = p.NextCursor
	}
	return nil, fmt.Errorf("server %q: list tools: it has more than %d tools, more than %d pages of them, or more than %d bytes",
		s.server.Name, maxTools, maxPages, maxListing)
}

// distinct refuses two tools of one name: who remembers or shows one of them would speak of another than who calls it.
func (s *session) distinct(tools []Tool) error {
	seen := make(map[string]bool, len(tools))
	for _, t := range tools {
		if seen[t.Name] {
			return fmt.Errorf("server %q: list tools: it has two that are named %q", s.server.Name, t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// page is one answer of several.
type page struct {
	Tools      []Tool `json:"tools"`
	NextCursor string `json:"nextCursor"`

	size int // bytes
}

func (s *session) page(ctx context.Context, cursor string) (p page, err error) {
	ctx, cancel := context.WithCancel(ctx) // lets go of the tap
	defer cancel()
	taken := &tap{copy: true}
	decoded, err := s.mcp.ListTools(withTap(ctx, taken), &mcp.ListToolsParams{Cursor: cursor})
	if err != nil {
		return p, err
	}
	raw := taken.taken.Load()
	if raw == nil { // it came in a form that the tap does not know, or from the SDK's cache
		encoded, err := json.Marshal(decoded)
		if err != nil {
			return p, err
		}
		raw = (*json.RawMessage)(&encoded)
	}
	if err := json.Unmarshal(*raw, &p); err != nil {
		return p, err
	}
	for i := range p.Tools {
		p.Tools[i].Server = s.server.Name
	}
	p.size = len(*raw)
	return p, nil
}
