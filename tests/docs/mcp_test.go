package docs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

var block = regexp.MustCompile("(?ms)^```(json|console|yaml)\n(.*?)^```$")

// TestMCPSnippets starts what docs/mcp.md has clients start, with another file in the place of the one that it names.
func TestMCPSnippets(t *testing.T) {
	const written = "/home/me/.config/sandboxd/mcp.json"
	bin := daemon.Binaries(t)
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("SANDBOXD_SOCKET", filepath.Join(t.TempDir(), "none"))
	var servers string // the first snippet
	started := 0
	for _, m := range block.FindAllStringSubmatch(read(t, "docs/mcp.md"), -1) {
		if m[1] != "json" {
			continue
		}
		if servers == "" {
			servers = filepath.Join(t.TempDir(), "mcp.json")
			if err := os.WriteFile(servers, []byte(m[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		type entry struct {
			Command, Type, URL string
			Args               []string
		}
		var config struct {
			Servers    map[string]entry `json:"servers"`
			MCPServers map[string]entry `json:"mcpServers"`
		}
		if err := json.Unmarshal([]byte(m[2]), &config); err != nil {
			t.Errorf("%v in %s", err, m[2])
			continue
		}
		code, ok := config.MCPServers["code"]
		if !ok {
			code, ok = config.Servers["code"]
		}
		from := slices.Index(append([]string{code.Command}, code.Args...), "sandboxctl")
		switch {
		case !ok:
			t.Errorf("no server in %s", m[2])
			continue
		case code.Type == "http":
			continue
		case from < 0:
			t.Errorf("it does not start sandboxctl: %s", m[2])
			continue
		}
		args := append([]string{code.Command}, code.Args...)[from+1:] // of what wsl.exe and ssh start, too
		for i, arg := range args {
			args[i] = strings.Replace(arg, written, servers, 1)
		}
		client, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: exec.Command("sandboxctl", args...)}, nil)
		if err != nil {
			t.Errorf("%v: %s", err, m[2])
			continue
		}
		r, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "search_tools", Arguments: map[string]any{"query": "list issues"}})
		if err != nil || r.IsError {
			t.Errorf("%v, %+v: %s", err, r, m[2])
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		started++
	}
	if started != 4 {
		t.Errorf("%d snippets start it, want 4", started)
	}
}

// TestMCPPolicy checks the policy on the page.
func TestMCPPolicy(t *testing.T) {
	for _, m := range block.FindAllStringSubmatch(read(t, "docs/mcp.md"), -1) {
		if m[1] != "yaml" {
			continue
		}
		path := filepath.Join(t.TempDir(), "policy.yaml")
		if err := os.WriteFile(path, []byte(m[2]), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := sandboxctl(t, "", "policy", "check", path); got == "" {
			t.Error("policy check says nothing")
		}
	}
}

// TestMCPCommands asks sandboxctl whether it knows the commands on the page, and their options.
func TestMCPCommands(t *testing.T) {
	all := 0
	for _, m := range block.FindAllStringSubmatch(read(t, "docs/mcp.md"), -1) {
		if m[1] != "console" {
			continue
		}
		for line := range strings.Lines(m[2]) {
			_, command, found := strings.Cut(strings.TrimSpace(line), "sandboxctl ")
			if !found {
				continue
			}
			sandboxctl(t, "", append(strings.Fields(command), "--help")...)
			all++
		}
	}
	if all != 4 {
		t.Errorf("%d commands, want 4", all)
	}
}
