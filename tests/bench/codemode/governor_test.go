package codemode_test

import (
	"context"
	"encoding/json"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What this test binary must have in its environment to be a governor.
const (
	governed = "GOVERNED" // command of the server behind it
	blind    = "BLIND"    // not empty: it does not look at who asked
)

// metaOrigin is what calls of programs carry in _meta (docs/mcp.md).
const metaOrigin = "sandboxd/origin"

// most tokens of a result pass a governor.
const most = 4000

// govern is an MCP gateway before one server, on stdio. It shortens results that are long lists, as a context has no room for them;
// those that go to a program, which enter no context, it leaves whole.
func govern(command string, blind bool) error {
	ctx := context.Background()
	behind, err := mcp.NewClient(&mcp.Implementation{Name: "governor", Version: "1"}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: exec.Command(command)}, nil)
	if err != nil {
		return err
	}
	defer behind.Close()
	list, err := behind.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "governor", Version: "1"}, nil)
	for _, tool := range list.Tools {
		s.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result, err := behind.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: r.Params.Arguments})
			if err == nil && (blind || r.Params.Meta[metaOrigin] != "code") {
				shorten(result)
			}
			return result, err
		})
	}
	return s.Run(ctx, &mcp.StdioTransport{})
}

// shorten keeps the first items of a list, as many as there is room for. What is left is JSON as before, and does not say that it is not
// all: that is what a program can't notice.
func shorten(r *mcp.CallToolResult) {
	for _, c := range r.Content {
		text, isText := c.(*mcp.TextContent)
		var items []json.RawMessage
		if !isText || json.Unmarshal([]byte(text.Text), &items) != nil {
			continue
		}
		room, kept := most, 0
		for ; kept < len(items); kept++ {
			if room -= tokens(string(items[kept])); room < 0 {
				break
			}
		}
		short, err := json.Marshal(items[:kept])
		if err != nil {
			panic(err) // they were just read
		}
		text.Text = string(short)
	}
}
