package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/upstream"
	"github.com/sandboxd/sandboxd/internal/wire"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// An arm runs a program once, and fails the benchmark if it does not end well.
type arm struct {
	name string
	run  func(testing.TB, task)
}

// task is a program and what it must return.
type task struct {
	source string
	want   string
}

// The two tasks that figures are quoted for.
var returnOne = task{"return 1", "1"}

func top3(tb testing.TB) task {
	source, err := os.ReadFile("../../examples/programs/top3.js")
	if err != nil {
		tb.Fatal(err)
	}
	return task{string(source), `[{"repo":"acme/infra","number":117,"title":"export duplicates after upgrade","comments":487},` +
		`{"repo":"acme/api","number":42,"title":"retry repeats after reload","comments":451},` +
		`{"repo":"acme/docs","number":203,"title":"retry truncates after failover","comments":398}]`}
}

// listings are the results of the example tracker's list_issues by repository, taken from the real server once
// and replayed, so that its own time does not count.
func listings(tb testing.TB) map[string]json.RawMessage {
	ctx := context.Background()
	config := upstream.Config{Servers: []upstream.Server{{Name: "tracker", Command: filepath.Join(daemon.Binaries(tb), "tracker")}}}
	servers, err := upstream.Connect(ctx, config, upstream.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer servers.Close()
	all := make(map[string]json.RawMessage)
	for _, repo := range []string{"acme/api", "acme/web", "acme/cli", "acme/docs", "acme/infra"} {
		arguments := json.RawMessage(fmt.Sprintf(`{"repo":%q}`, repo))
		all[repo], err = servers.Call(ctx, sandboxd.ToolCall{Server: "tracker", Tool: "list_issues", Arguments: arguments})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return all
}

// replay is a gateway's handler that answers at once.
func replay(all map[string]json.RawMessage) sandboxd.ToolHandler {
	return func(_ context.Context, call sandboxd.ToolCall) (json.RawMessage, error) {
		var arguments struct{ Repo string }
		if err := json.Unmarshal(call.Arguments, &arguments); err != nil {
			return nil, err
		}
		return all[arguments.Repo], nil
	}
}

// pool is the size of the warm pool of every arm that has one.
const pool = 16

// jailedArm is sandboxd as it is.
func jailedArm(tb testing.TB, tools sandboxd.ToolHandler) arm {
	d := daemon.Start(tb, daemon.Options{Config: fmt.Sprintf("pool: {default: %d}\n", pool)})
	return daemonArm("sandboxd", d.Dial(tb, sandboxd.Options{Servers: []string{"tracker"}, Tools: tools}))
}

// unjailedArm is the same daemon, with a warm pool of the same worker built without a jail.
func unjailedArm(tb testing.TB, tools sandboxd.ToolHandler) arm {
	d := daemon.Start(tb, daemon.Options{
		Bin:    daemon.Binaries(tb, "sandboxd_unjailed"),
		Config: fmt.Sprintf("pool: {default: %d}\nisolation: {allow_missing: [seccomp, landlock, rlimits, cgroup, namespaces]}\n", pool),
	})
	return daemonArm("unjailed", d.Dial(tb, sandboxd.Options{Servers: []string{"tracker"}, Tools: tools}))
}

func daemonArm(name string, c *sandboxd.Client) arm {
	return arm{name, func(tb testing.TB, t task) {
		r, err := c.Execute(context.Background(), sandboxd.Program{Source: t.source})
		if err != nil {
			tb.Fatal(err)
		}
		if r.Outcome != sandboxd.OutcomeOK || string(r.Value) != t.want {
			tb.Fatalf("%s: outcome %s, value %s, error %v", name, r.Outcome, r.Value, r.Error)
		}
	}}
}

// processArm starts an unjailed worker for each run and speaks to it directly: no daemon, no pool.
func processArm(tb testing.TB, tools sandboxd.ToolHandler) arm {
	binary := filepath.Join(daemon.Binaries(tb, "sandboxd_unjailed"), "sandbox-worker")
	return arm{"process", func(tb testing.TB, t task) {
		value, err := runProcess(binary, t.source, tools)
		if err != nil || string(value) != t.want {
			tb.Fatalf("process: value %s, error %v", value, err)
		}
	}}
}

func runProcess(binary, source string, tools sandboxd.ToolHandler) ([]byte, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	command := exec.Command(binary)
	command.Env = []string{}
	command.ExtraFiles = []*os.File{theirs}
	err = command.Start()
	theirs.Close()
	if err != nil {
		return nil, err
	}
	defer command.Wait()
	defer command.Process.Kill()
	conn := wire.NewConn(ours)
	if err := conn.Write(wire.Gate{Type: wire.TypeGate, Jail: []byte(`{"landlock_abi":1,"memory_bytes":268435456,"cpu_seconds":6}`)}); err != nil {
		return nil, err
	}
	if _, _, err := conn.Header(); err != nil {
		return nil, err
	}
	start := wire.Start{Type: wire.TypeStart, Source: len(source), Servers: []string{"tracker"},
		Limits: wire.Limits{Calls: 32, OutputBytes: 64 << 10, ConsoleBytes: 4 << 10, ArgumentBytes: 256 << 10, CPUMS: 5000, MemoryBytes: 256 << 20}}
	if err := conn.Write(start, []byte(source)); err != nil {
		return nil, err
	}
	return answer(conn, tools)
}

// answer does the daemon's part with as little as possible: the text of each result is known to be one item.
func answer(conn *wire.Conn, tools sandboxd.ToolHandler) ([]byte, error) {
	for {
		kind, line, err := conn.Header()
		if err != nil {
			return nil, err
		}
		switch kind {
		case wire.TypeCalls:
			var m wire.Calls
			if err := wire.Decode(line, &m); err != nil {
				return nil, err
			}
			for _, c := range m.Calls {
				arguments, err := conn.Body(c.Size, 1<<20)
				if err != nil {
					return nil, err
				}
				raw, err := tools(context.Background(), sandboxd.ToolCall{Arguments: arguments})
				if err != nil {
					return nil, err
				}
				body, err := text(raw)
				if err != nil {
					return nil, err
				}
				if err := conn.Write(wire.Result{Type: wire.TypeResult, ID: c.ID, Form: wire.FormAuto, Size: len(body)}, body); err != nil {
					return nil, err
				}
			}
		case wire.TypeDone:
			var m wire.Done
			if err := wire.Decode(line, &m); err != nil {
				return nil, err
			}
			return conn.Body(m.Size, 1<<20)
		default:
			return nil, fmt.Errorf("unexpected %q", kind)
		}
	}
}

// text is that of a result with one item.
func text(raw json.RawMessage) ([]byte, error) {
	var result struct {
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, err
	}
	return []byte(result.Content[0].Text), nil
}

// settle waits until the pools are full again.
func settle() { time.Sleep(300 * time.Millisecond) }
