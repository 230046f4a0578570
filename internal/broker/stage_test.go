package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// stage is a run whose gateway a test plays.
type stage struct {
	*Run

	mu       sync.Mutex // guards the fields below
	seen     []sandboxd.ToolCall
	answered map[int]answered
}

// answered is what the program got for a call; the zero value: nothing.
type answered struct{ form, rule, text string }

// newStage has a gateway that performs calls as tool says; nil: it answers {}.
func newStage(t testing.TB, text string, tool func(sandboxd.ToolCall) string) *stage {
	t.Helper()
	s := &stage{Run: account(1000, 4), answered: make(map[int]answered)}
	s.Policy, s.Catalog, s.Limits.ResultBytes = rules(text), servers("s", "db", "mail"), 1<<20
	ours, theirs := net.Pipe()
	s.Gateway = rpc.New(theirs, rpc.Options{
		Handle:  func(context.Context, *rpc.Request) (any, error) { return nil, nil },
		MaxLine: 8 << 20, MaxRequests: 64, WriteWait: time.Minute,
	})
	var both sync.WaitGroup
	both.Go(func() { s.gateway(ours, tool) })
	both.Go(func() { s.Gateway.Run(context.Background()) })
	t.Cleanup(func() { ours.Close(); both.Wait() })
	return s
}

// gateway reads requests in their order, and answers each on a goroutine of its own.
func (s *stage) gateway(conn net.Conn, tool func(sandboxd.ToolCall) string) {
	var writing sync.Mutex
	var answers sync.WaitGroup
	defer answers.Wait()
	lines := json.NewDecoder(conn)
	for {
		var r struct {
			ID     int64
			Params sandboxd.ToolCall
		}
		if lines.Decode(&r) != nil {
			return
		}
		s.mu.Lock()
		s.seen = append(s.seen, r.Params)
		s.mu.Unlock()
		answers.Go(func() {
			result := `{"structuredContent":{}}`
			if tool != nil {
				result = tool(r.Params)
			}
			writing.Lock()
			defer writing.Unlock()
			fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%d,"result":%s}`+"\n", r.ID, result)
		})
	}
}

func (s *stage) reply(r wire.Result, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered[r.ID] = answered{r.Form, r.Rule, string(body)}
}

// call has the program make calls at once, and waits until all have ended. It returns what Do did for each.
func (s *stage) call(t testing.TB, made ...wire.Call) (errs []error) {
	t.Helper()
	next := len(s.Calls())
	for i := range made {
		made[i].ID = next + i + 1
	}
	if err := s.Admit(made); err != nil {
		t.Fatal(err)
	}
	errs = make([]error, len(made))
	var all sync.WaitGroup
	for i, judged := range Judge(t.Context(), s.Run, made) {
		all.Go(func() { errs[i] = Do(t.Context(), s.Run, judged, s.reply) })
	}
	all.Wait()
	return errs
}

// got is what the program got for call n.
func (s *stage) got(n int) answered {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered[n]
}

// sent are the calls that reached the gateway, in order, as server.tool of their numbers.
func (s *stage) sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := ""
	for _, c := range s.seen {
		text += fmt.Sprintf("%d %s.%s;", c.N, c.Server, c.Tool)
	}
	return text
}

func toolCall(server, tool, args string) wire.Call {
	return wire.Call{Server: server, Tool: tool, Args: []byte(args)}
}
