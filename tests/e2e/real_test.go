package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/upstream"
	"github.com/sandboxd/sandboxd/tests/daemon"
	"github.com/sandboxd/sandboxd/tests/npm"
)

// tracker is the example server, over stdio.
func tracker(t *testing.T) upstream.Server {
	return upstream.Server{Name: "tracker", Command: filepath.Join(daemon.Binaries(t), "tracker")}
}

// overMCP connects a daemon to MCP servers, as sandboxctl does.
func overMCP(t *testing.T, servers ...upstream.Server) *sandboxd.Client {
	t.Helper()
	u, err := upstream.Connect(t.Context(), upstream.Config{Servers: servers}, upstream.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	})
	return daemon.Start(t, daemon.Options{}).Dial(t, sandboxd.Options{Servers: u.Servers(), Tools: u.Call})
}

func execute(t *testing.T, c *sandboxd.Client, source string) *sandboxd.Result {
	t.Helper()
	r, err := c.Execute(t.Context(), sandboxd.Program{Source: source})
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, r)
	if r.Outcome != sandboxd.OutcomeOK {
		t.Fatalf("%s: %v", r.Outcome, r.Error)
	}
	return r
}

// TestExamples runs examples/programs.
func TestExamples(t *testing.T) {
	t.Parallel()
	client := overMCP(t, tracker(t))
	for _, c := range []struct {
		program, want string
		calls         int
	}{
		{"top3.js", `[{"repo":"acme/infra","number":117,"title":"export duplicates after upgrade","comments":487},` +
			`{"repo":"acme/api","number":42,"title":"retry repeats after reload","comments":451},` +
			`{"repo":"acme/docs","number":203,"title":"retry truncates after failover","comments":398}]`, 5},
		{"failing-tool.js", `{"counts":{"acme/api":188,"acme/web":211},"failures":[{"repo":"acme/mobile",` +
			`"message":"unknown repository \"acme/mobile\": there are acme/api, acme/web, acme/cli, acme/docs, acme/infra"}]}`, 3},
		{"file-issue.js", `{"number":301,"title":"Write a regression test for #32","url":"https://tracker.example/acme/api/issues/301"}`, 3},
	} {
		t.Run(c.program, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join(root, "examples", "programs", c.program))
			if err != nil {
				t.Fatal(err)
			}
			r := execute(t, client, string(source))
			if string(r.Value) != c.want {
				t.Errorf("got %s\nwant %s", r.Value, c.want)
			}
			if len(r.Calls) != c.calls {
				t.Errorf("%d calls, want %d", len(r.Calls), c.calls)
			}
		})
	}
	programs, err := filepath.Glob(filepath.Join(root, "examples", "programs", "*"))
	if err != nil || len(programs) != 3 {
		t.Errorf("examples/programs has %v, error %v: each wants a line above", programs, err)
	}
}

// TestFourServers is one program over servers that other people wrote.
func TestFourServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config, err := upstream.LoadConfig(npm.Config(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	client := overMCP(t, append(config.Servers, tracker(t))...)
	file := filepath.Join(dir, "report.md")
	r := execute(t, client, `
		const file = `+"`"+file+"`"+`;
		const [issues, sum] = await Promise.all([
			tools.tracker.list_issues({repo: "acme/api", state: "open"}),
			tools.everything["get-sum"]({a: 2, b: 40}),
		]);
		const worst = issues.reduce((a, b) => b.comments > a.comments ? b : a);
		await tools.filesystem.write_file({path: file, content: "# " + worst.title + "\n"});
		const read = await tools.filesystem.read_text_file({path: file});
		await tools.memory.create_entities({entities: [
			{name: "#" + worst.number, entityType: "issue", observations: [worst.title]},
		]});
		const graph = await tools.memory.read_graph({});
		const refused = await tools.filesystem.read_text_file({path: "/etc/passwd"}).catch(e => e);
		return {
			worst: worst.number,
			sum: sum.match(/42/)[0],
			read: (read.content ?? read).trim(),
			graph: graph.entities.map(e => e.name + ": " + e.observations),
			refused: refused instanceof ToolError && /denied/.test(refused.message),
		};`)
	want := `{"worst":42,"sum":"42","read":"# retry repeats after reload","graph":["#42: retry repeats after reload"],"refused":true}`
	if string(r.Value) != want {
		t.Errorf("got %s\nwant %s", r.Value, want)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "# retry") {
		t.Errorf("the file has %q, error %v", text, err)
	}
	if len(r.Calls) != 7 || r.Calls[6].State != sandboxd.CallFailed {
		t.Errorf("calls %+v", r.Calls)
	}
}
