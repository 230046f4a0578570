package upstream_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandboxd/sandboxd/internal/upstream"
)

// runReplay answers every call with one prepared listing, so that a benchmark measures the client and not the server.
func runReplay() {
	text, _ := json.Marshal(strings.Repeat(`{"number":117,"title":"cache leaks","user":{"login":"ada"},"body":"It fails.\n\nSteps: \"none\""},`, 2300))
	listing := fmt.Appendf(nil, `,"result":{"content":[{"type":"text","text":%s}]}}`+"\n", text)
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		_, id, _ := strings.Cut(line, `"id":`)
		id, _, _ = strings.Cut(id, ",")
		switch {
		case strings.Contains(line, `"server/discover"`):
			fmt.Printf(refuse, id)
		case strings.Contains(line, `"initialize"`):
			fmt.Printf(hello, id)
		case strings.Contains(line, `"tools/call"`):
			os.Stdout.Write(append([]byte(`{"jsonrpc":"2.0","id":`+id), listing...))
		}
	}
}

func BenchmarkCall(b *testing.B) {
	list := call("tracker", "list_issues", `{"repo":"acme/api"}`)
	replay := fake("replay")
	for _, c := range []struct {
		name   string
		server upstream.Server
	}{{"stdio/replay", replay}, {"stdio/tracker", stdioServer()}, {"http/tracker", httpServer(b)}} {
		b.Run(c.name, func(b *testing.B) {
			list.Server = c.server.Name
			u := connect(b, c.server)
			b.ReportAllocs()
			for b.Loop() {
				raw, err := u.Call(b.Context(), list)
				if err != nil || len(raw) < 225_000 {
					b.Fatal(len(raw), err)
				}
			}
		})
	}
}

// BenchmarkSDK is what Call would cost with nothing but the SDK.
func BenchmarkSDK(b *testing.B) {
	replay := exec.Command(os.Args[0])
	replay.Env = append(os.Environ(), "FAKE_SERVER=replay")
	for _, c := range []struct {
		name      string
		transport mcp.Transport
	}{
		{"stdio/replay", &mcp.CommandTransport{Command: replay}},
		{"stdio/tracker", &mcp.CommandTransport{Command: exec.Command(tracker)}},
		{"http/tracker", &mcp.StreamableClientTransport{Endpoint: httpServer(b).URL, DisableStandaloneSSE: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), c.transport, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer session.Close()
			b.ReportAllocs()
			for b.Loop() {
				result, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "list_issues", Arguments: map[string]any{"repo": "acme/api"}})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := json.Marshal(result); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
