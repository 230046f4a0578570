package mcp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/tests/daemon"
	"github.com/sandboxd/sandboxd/tests/npm"
)

// everything is a configuration with server-everything, server-filesystem, server-memory and the tracker, at the same time.
func (h *home) everything() string {
	h.t.Helper()
	text, err := os.ReadFile(npm.Config(h.t, h.dir))
	if err != nil {
		h.t.Fatal(err)
	}
	var config struct {
		Servers object `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		h.t.Fatal(err)
	}
	config.Servers["tracker"] = h.tracker()
	return h.config(config.Servers)
}

// output runs a program of node's in this person's place.
func (h *home) output(args ...string) []byte {
	h.t.Helper()
	c := exec.CommandContext(h.t.Context(), "node", args...)
	c.Env = h.env
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		h.t.Fatalf("%v\n%s\n%s", err, out, &stderr)
	}
	return out
}

// TestAllServers: one program uses four servers, of which three were written by others.
func TestAllServers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.connect(nil, "--mcp", h.everything(), "--policy", h.open())
	note := h.file("note.txt", "hello")
	s.wants(`const [sum, text, issue] = await Promise.all([
  tools.everything["get-sum"]({a: 40, b: 2}), tools.filesystem.read_text_file({path: `+"`"+note+"`"+`}), tools.tracker.get_issue({repo: "acme/infra", number: 117})])
await tools.memory.create_entities({entities: [{name: issue.title, entityType: "issue", observations: [text.content ?? text]}]})
return [sum, (await tools.memory.read_graph({})).entities[0].observations[0], issue.comments].join("|")`, "42", "|hello|487")
	text, _ := s.call("search_tools", object{})
	for _, want := range []string{"tools.everything: ", "tools.filesystem: ", "tools.memory: 9", "tools.tracker: 4\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the servers are %s, want %q", text, want)
		}
	}
}

// TestTypeScriptSDK uses its clients: versions 1 and 2, which speak different versions of MCP.
func TestTypeScriptSDK(t *testing.T) {
	t.Parallel()
	for version, protocol := range map[string]string{"v1": "sessions", "v2": "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			out := h.output("testdata/client.mjs", version, npm.Modules(t), filepath.Join(daemon.Binaries(t), "sandboxctl"), "mcp", "--mcp", h.everything())
			type answer struct {
				Content           []struct{ Text string }
				StructuredContent struct {
					Outcome string
					Value   json.RawMessage
				}
				IsError bool
			}
			var got struct {
				Protocol, Cancelled    string
				Tools                  []string
				Servers, Found         struct{ Total int }
				Answer, Refused, After answer
				Asked, Progress        int
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if diff := cmp.Diff([]string{"execute_code", "search_tools"}, got.Tools); diff != "" {
				t.Error(diff)
			}
			if got.Protocol != protocol || got.Servers.Total != 4 || got.Found.Total != 2 || got.Asked != 3 || got.Progress == 0 || !strings.HasPrefix(got.Cancelled, "yes") {
				t.Errorf("%s", out)
			}
			if a := got.Answer; a.IsError || a.StructuredContent.Outcome != "ok" || !strings.Contains(string(a.StructuredContent.Value), `"most":117`) || !strings.Contains(a.Content[0].Text, "42") {
				t.Errorf("the answer is %+v", a)
			}
			if r := got.Refused; !r.IsError || r.StructuredContent.Outcome != "denied" || !strings.Contains(r.Content[0].Text, "1 tracker.create_issue denied by unknown") {
				t.Errorf("the refused one is %+v", r)
			}
			if got.After.StructuredContent.Outcome != "ok" {
				t.Errorf("after the cancelled one: %+v", got.After)
			}
		})
	}
}

// inspector is its command line. The package wants to lie in that of the whole Inspector, 90 MB of web pages, and so gets such a place.
func inspector(t *testing.T) string {
	t.Helper()
	modules, dir := npm.Modules(t), t.TempDir()
	from := filepath.Join(modules, "@modelcontextprotocol", "inspector-cli")
	if err := os.CopyFS(filepath.Join(dir, "cli", "build"), os.DirFS(filepath.Join(from, "build"))); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(from, "package.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "package.json"), manifest, 0o600)
	}
	if err == nil {
		err = os.Symlink(modules, filepath.Join(dir, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "cli", "build", "index.js")
}

// TestInspector uses the command line mode of MCP Inspector, over both transports.
func TestInspector(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	cli := inspector(t)
	config := h.everything()
	url, token := h.serve("--mcp", config, "--policy", h.open())
	for name, target := range map[string][]string{
		"stdio": {filepath.Join(daemon.Binaries(t), "sandboxctl"), "mcp", "--mcp", config, "--policy", h.open()},
		"http":  {url, "--transport", "http", "--header", "Authorization: Bearer " + token},
	} {
		inspect := func(args ...string) string {
			return string(h.output(append(append([]string{cli}, target...), args...)...))
		}
		if out := inspect("--method", "tools/list"); !strings.Contains(out, `"execute_code"`) || !strings.Contains(out, `"search_tools"`) {
			t.Errorf("%s: tools/list: %s", name, out)
		}
		out := inspect("--method", "tools/call", "--tool-name", "execute_code", "--tool-arg", "code=return (await tools.tracker.get_issue({repo: 'acme/api', number: 42})).comments")
		if !strings.Contains(out, `"value": 451`) || !strings.Contains(out, `"text": "451"`) {
			t.Errorf("%s: execute_code: %s", name, out)
		}
		if out := inspect("--method", "tools/call", "--tool-name", "search_tools", "--tool-arg", "query=graph"); !strings.Contains(out, "tools.memory.read_graph(") {
			t.Errorf("%s: search_tools: %s", name, out)
		}
	}
}
