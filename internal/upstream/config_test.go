package upstream_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sandboxd/sandboxd/internal/upstream"
)

func TestParseConfig(t *testing.T) {
	t.Setenv("TOKEN", "s3cret")
	t.Setenv("EMPTY", "")
	tests := []struct {
		name, in string
		want     upstream.Config
	}{
		{"both kinds, by name", `{"mcpServers": {
			"web": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
			"files": {"command": "npx", "args": ["-y", "server", "${UNSET:-/data}"], "env": {"T": "${TOKEN}"}, "cwd": "/srv"}}}`,
			upstream.Config{Servers: []upstream.Server{
				{Name: "files", Command: "npx", Args: []string{"-y", "server", "/data"}, Env: map[string]string{"T": "s3cret"}, Dir: "/srv"},
				{Name: "web", URL: "https://example.com/mcp", Headers: map[string]string{"Authorization": "Bearer s3cret"}},
			}}},
		{"names that other clients use", `{"mcpServers": {"a": {"type": "streamable-http", "serverUrl": "http://localhost:1/mcp"}}}`,
			upstream.Config{Servers: []upstream.Server{{Name: "a", URL: "http://localhost:1/mcp"}}}},
		{"keys that other clients know", `{"theme": "dark", "mcpServers": {"a": {"command": "x", "autoApprove": ["y"], "timeout": 5}}}`,
			upstream.Config{Servers: []upstream.Server{{Name: "a", Command: "x"}},
				Warnings: []string{`top level: ignored "theme"`, `server "a": ignored "autoApprove"`, `server "a": ignored "timeout"`}}},
		{"disabled, not even looked at", `{"mcpServers": {"a": {"command": "${NOPE}", "disabled": true}}}`,
			upstream.Config{Warnings: []string{`server "a": disabled`}}},
		{"what stays as it is", `{"mcpServers": {"a": {"command": "x", "args": ["$HOME", "${EMPTY:-no}", "${EMPTY}", "${UNSET:-}", "${UNSET:-a:-b}"]}}}`,
			upstream.Config{Servers: []upstream.Server{{Name: "a", Command: "x", Args: []string{"$HOME", "", "", "", "a:-b"}}}}},
		{"names are any text", `{"mcpServers": {"my server (é)": {"command": "x"}}}`,
			upstream.Config{Servers: []upstream.Server{{Name: "my server (é)", Command: "x"}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := upstream.ParseConfig([]byte(test.in))
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("error %v, (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestParseConfigErrors(t *testing.T) {
	server := func(entry string) string { return `{"mcpServers": {"a": ` + entry + `}}` }
	tests := []struct{ name, in, want string }{
		{"not JSON", "{\n  \"mcpServers\": }", "(line 2, column 17)"},
		{"empty", "", "unexpected end of JSON input"},
		{"not an object", "[]", "want a JSON object"},
		{"no servers", `{"servers": {"a": {"command": "x"}}}`, `want {"mcpServers": {"name"`},
		{"list of servers", `{"mcpServers": []}`, "mcpServers: want a JSON object"},
		{"two of a name", `{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}`, `key "a" stands twice`},
		{"empty name", `{"mcpServers": {"": {"command": "x"}}}`, "name is empty"},
		{"long name", `{"mcpServers": {"` + strings.Repeat("n", 65) + `": {"command": "x"}}}`, "65 bytes, at most 64"},
		{"name with a control character", `{"mcpServers": {"a\u001b": {"command": "x"}}}`, "control characters"},
		{"nothing to start", server(`{"args": ["x"]}`), `server "a": neither "command" nor "url"`},
		{"two things to start", server(`{"command": "x", "url": "http://b"}`), `server "a": both "command" and "url"`},
		{"two URLs", server(`{"serverUrl": "http://a", "url": "http://b"}`), `both "url" and "serverUrl"`},
		{"empty command", server(`{"command": " "}`), `server "a": command: is empty`},
		{"empty URL", server(`{"url": ""}`), `server "a": url: is empty`},
		{"wrong type of command", server(`{"command": ["x"]}`), `server "a": command: json: cannot unmarshal array`},
		{"wrong type of argument", server(`{"command": "x", "args": [1]}`), `server "a": args: json: cannot unmarshal number`},
		{"wrong type of variable", server(`{"command": "x", "env": {"A": 1}}`), `server "a": env: json: cannot unmarshal number`},
		{"bad variable", server(`{"command": "x", "env": {"A=B": "1"}}`), `env: "A=B" can't be`},
		{"bad URL", server(`{"url": "example.com/mcp"}`), `server "a": url: want http://`},
		{"bad header", server(`{"url": "http://a", "headers": {"A": "b\r\nc: d"}}`), `server "a": headers: "A"`},
		{"SSE", server(`{"type": "sse", "url": "http://a/sse"}`), `"sse" is not supported: use the server's Streamable HTTP endpoint`},
		{"unknown kind", server(`{"type": "ws", "url": "http://a"}`), `type: "ws" is not supported`},
		{"kind without its key", server(`{"type": "http", "command": "x"}`), `type: "http" needs "url"`},
		{"unset variable", server(`{"command": "x", "env": {"A": "${NO_SUCH}"}}`), `server "a": env.A: environment variable NO_SUCH is not set`},
		{"another client's variable", server(`{"command": "x", "args": ["a", "${input:key}"]}`), `args[1]: ${input:key} is not supported`},
		{"open variable", server(`{"command": "${HOME"}`), "has no }"},
		{"too large", strings.Repeat(" ", 1<<20+1), "more than 1048576 bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := upstream.ParseConfig([]byte(test.in))
			wantError(t, err, test.want)
		})
	}
}

func TestEveryBrokenServerIsNamed(t *testing.T) {
	_, err := upstream.ParseConfig([]byte(`{"mcpServers": {"a": {}, "b": {"command": "x"}, "c": {"command": "${NO_SUCH}"}}}`))
	wantError(t, err, `server "a"`)
	wantError(t, err, `server "c"`)
}

func TestCountOfServersIsBounded(t *testing.T) {
	var entries []string
	for n := range 65 {
		entries = append(entries, fmt.Sprintf(`"s%d": {"command": "x"}`, n))
	}
	_, err := upstream.ParseConfig([]byte(`{"mcpServers": {` + strings.Join(entries, ",") + `}}`))
	wantError(t, err, "65 servers, at most 64")
}

func TestLoadConfig(t *testing.T) {
	config, err := upstream.LoadConfig("../../examples/mcp.json")
	want := upstream.Config{Servers: []upstream.Server{{Name: "tracker", Command: "bin/tracker"}}}
	if diff := cmp.Diff(want, config, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
	_, err = upstream.LoadConfig("none.json")
	wantError(t, err, "none.json: no such file")
	broken := filepath.Join(t.TempDir(), "mcp.json")
	os.WriteFile(broken, []byte(`{"mcpServers": {"a": {}}}`), 0o600)
	_, err = upstream.LoadConfig(broken)
	wantError(t, err, broken+`: server "a"`)
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a": {"command": "x", "args": ["${HOME:-y}"], "env": {"A": "b"}, "cwd": "/"}}}`))
	f.Add([]byte(`{"mcpServers": {"b": {"type": "http", "url": "http://a/b", "headers": {"A": "b"}, "disabled": false}}, "x": 1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := upstream.ParseConfig(data)
		if err != nil {
			return
		}
		for _, s := range config.Servers {
			if s.Name == "" || len(s.Name) > 64 || (s.Command == "") == (s.URL == "") {
				t.Errorf("%q gave %+v", data, s)
			}
		}
	})
}
