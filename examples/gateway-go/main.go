// Command client is a whole gateway: it runs one program, with one tool, in the daemon at $SANDBOXD_SOCKET.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/sandboxd/sandboxd"
)

const program = `
const { now } = await tools.time.now({});
return "it is " + now;
`

func main() {
	socket := os.Getenv("SANDBOXD_SOCKET")
	if socket == "" {
		socket = sandboxd.DefaultSocket
	}
	if err := run(context.Background(), socket); err != nil {
		fmt.Fprintln(os.Stderr, "client: error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, socket string) error {
	client, err := sandboxd.Dial(ctx, socket, sandboxd.Options{Name: "example", Servers: []string{"time"}, Tools: call})
	if err != nil {
		return err
	}
	defer client.Close()
	result, err := client.Execute(ctx, sandboxd.Program{Source: program})
	if err != nil {
		return err
	}
	if result.Outcome != sandboxd.OutcomeOK {
		return result.Error
	}
	fmt.Println(string(result.Value))
	return nil
}

// call performs a tool call that the daemon let through, and returns an MCP CallToolResult.
func call(_ context.Context, c sandboxd.ToolCall) (json.RawMessage, error) {
	if c.Tool != "now" {
		return nil, fmt.Errorf("time has no tool %q; it has: now", c.Tool)
	}
	return json.Marshal(map[string]any{
		"content":           []any{},
		"structuredContent": map[string]string{"now": time.Now().UTC().Format(time.RFC3339)},
	})
}
