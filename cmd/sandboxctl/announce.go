package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/catalog"
	"github.com/sandboxd/sandboxd/internal/upstream"
)

// listWait is how long all servers together get to list their tools.
const listWait = 10 * time.Second

// announce is what the daemon is told of the servers' tools, so that a mistake in a call is told before it is made, and
// its policy sees the hints of a tool.
// A program runs without that, too: a server whose tools can't be announced is warned about, and left out.
func announce(ctx context.Context, servers *upstream.Upstreams) []sandboxd.Tool {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	listed, err := servers.Tools(ctx)
	if err != nil {
		unannounced(err)
		return nil
	}
	return announceable(servers.Servers(), listed)
}

// announceable are the tools that the daemon takes, of servers in their order.
func announceable(servers []string, listed []upstream.Tool) (tools []sandboxd.Tool) {
	of := make(map[string][]sandboxd.Tool)
	for _, t := range listed {
		of[t.Server] = append(of[t.Server], sandboxd.Tool{
			Server: t.Server, Name: t.Name, InputSchema: t.InputSchema, Annotations: &sandboxd.ToolAnnotations{
				ReadOnly: t.Annotations.ReadOnly, Destructive: t.Annotations.Destructive,
				Idempotent: t.Annotations.Idempotent, OpenWorld: t.Annotations.OpenWorld,
			},
		})
	}
	for _, name := range servers {
		more := append(tools[:len(tools):len(tools)], of[name]...)
		if _, err := catalog.New(servers, more); err != nil {
			unannounced(fmt.Errorf("server %q: %w", name, err))
			continue
		}
		tools = more
	}
	return tools
}

func unannounced(err error) { warn(fmt.Errorf("calls are not checked before they are made: %w", err)) }

// warn tells the person what goes on without.
func warn(err error) { fmt.Fprintln(os.Stderr, "sandboxctl: warning:", visible(err.Error())) }
