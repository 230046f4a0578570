package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveHTTP serves Streamable HTTP until ctx ends, and says on stderr where. Anybody who reaches the port may
// create issues, so it takes loopback addresses only.
func serveHTTP(ctx context.Context, server *mcp.Server, addr string) error {
	at, err := netip.ParseAddrPort(addr)
	if err != nil || !at.Addr().IsLoopback() {
		return fmt.Errorf("--http %q: want a loopback address with a port, such as 127.0.0.1:8931", addr)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	defer context.AfterFunc(ctx, func() { web.Close() })()
	fmt.Fprintf(os.Stderr, "tracker: listening on http://%s/mcp\n", listener.Addr())
	return web.Serve(listener)
}
