// Command gateway-go is a gateway with one tool: it runs the program on its standard input in the daemon at $SANDBOXD_SOCKET.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/sandboxd/sandboxd"
)

func main() {
	log.SetFlags(0)
	source, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	pool := sandboxd.NewPool(sandboxd.PoolOptions{
		Path:    cmp.Or(os.Getenv("SANDBOXD_SOCKET"), sandboxd.DefaultSocket),
		Options: sandboxd.Options{Name: "gateway-go", Servers: []string{"time"}, Announce: tools, Tools: call},
	})
	defer pool.Close()
	result, err := pool.Execute(context.Background(), sandboxd.Program{Source: string(source)})
	if err != nil {
		log.Fatal(err) // the daemon did not take it, or is gone
	}
	if result.Error != nil {
		log.Fatalln(result.Error, result.Error.Hint) // for the model: it can mend its program
	}
	fmt.Println(string(result.Value))
}

var tools = []sandboxd.Tool{{Server: "time", Name: "now", InputSchema: json.RawMessage(`{"type": "object", "additionalProperties": false}`)}}

// call performs a tool call that the daemon let through, with whatever credentials it takes, and returns an MCP CallToolResult.
func call(ctx context.Context, c sandboxd.ToolCall) (json.RawMessage, error) {
	log.Printf("%s: %s.%s(%s)", c.IdempotencyKey, c.Server, c.Tool, c.Arguments)
	return json.Marshal(map[string]any{"content": []any{}, "structuredContent": map[string]string{"now": time.Now().UTC().Format(time.RFC3339)}})
}
