// Command tracker is a small MCP server with made-up issues, for examples, tests and measurements: five
// repositories of 300 issues each, the same on every start. It serves stdio, or Streamable HTTP with --http.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	addr := flag.String("http", "", "serve Streamable HTTP on this loopback `address` instead of stdio; port 0 picks one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr); err != nil && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "tracker: error: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr string) error {
	server := newServer(newStore())
	if addr != "" {
		return serveHTTP(ctx, server, addr)
	}
	return server.Run(ctx, &mcp.StdioTransport{})
}
