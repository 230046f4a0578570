package npm_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/upstream"
	"github.com/sandboxd/sandboxd/tests/npm"
)

type result struct {
	Content           []content       `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
}

type content struct {
	Type, Text, Data, MimeType string
}

func (r result) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

func TestServers(t *testing.T) {
	t.Setenv("SECRET_OF_THE_TEST", "1")
	dir := t.TempDir()
	config, err := upstream.LoadConfig(npm.Config(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	u, err := upstream.Connect(t.Context(), config, upstream.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	call := func(t *testing.T, server, tool string, args any) (r result) {
		t.Helper()
		arguments, _ := json.Marshal(args)
		raw, err := u.Call(t.Context(), sandboxd.ToolCall{Server: server, Tool: tool, Arguments: arguments})
		if err == nil {
			err = json.Unmarshal(raw, &r)
		}
		if err != nil {
			t.Fatalf("%s.%s: %v", server, tool, err)
		}
		return r
	}
	t.Run("tools", func(t *testing.T) { testTools(t, u) })
	t.Run("filesystem", func(t *testing.T) { testFilesystem(t, dir, call) })
	t.Run("everything", func(t *testing.T) { testEverything(t, call) })
	t.Run("memory", func(t *testing.T) { testMemory(t, call) })
}

type caller func(t *testing.T, server, tool string, args any) result

type object map[string]any

func testTools(t *testing.T, u *upstream.Upstreams) {
	tools, err := u.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"everything.echo", "filesystem.read_text_file", "memory.read_graph"} {
		named := func(tool upstream.Tool) bool {
			return tool.Server+"."+tool.Name == want && json.Valid(tool.InputSchema) && tool.Description != ""
		}
		if !slices.ContainsFunc(tools, named) {
			t.Errorf("no described %s among %d tools", want, len(tools))
		}
	}
}

func testFilesystem(t *testing.T, dir string, call caller) {
	path := filepath.Join(dir, "note.txt")
	const note = "first\nsecond \u2028 \U0001f600 \"quoted\"\n"
	if r := call(t, "filesystem", "write_file", object{"path": path, "content": note}); r.IsError {
		t.Fatal(r.text())
	}
	if got, err := os.ReadFile(path); string(got) != note {
		t.Errorf("wrote %q, error %v, want %q", got, err, note)
	}
	if r := call(t, "filesystem", "read_text_file", object{"path": path}); r.text() != note {
		t.Errorf("read %q, want %q", r.text(), note)
	}
	if r := call(t, "filesystem", "list_directory", object{"path": dir}); !strings.Contains(r.text(), "[FILE] note.txt") {
		t.Errorf("listed %q", r.text())
	}
	if r := call(t, "filesystem", "read_text_file", object{"path": "/etc/hostname"}); !r.IsError || !strings.Contains(r.text(), "denied") {
		t.Errorf("a path outside gave %+v, want an error", r)
	}
}

func testEverything(t *testing.T, call caller) {
	if r := call(t, "everything", "echo", object{"message": "hello"}); r.text() != "Echo: hello" {
		t.Errorf("echo: %+v", r)
	}
	if r := call(t, "everything", "get-sum", object{"a": 2, "b": 40}); !strings.Contains(r.text(), "42") {
		t.Errorf("get-sum: %+v", r)
	}
	// It sends progress between, which nobody asked for.
	if r := call(t, "everything", "trigger-long-running-operation", object{"duration": 0.3, "steps": 3}); !strings.Contains(r.text(), "completed") {
		t.Errorf("trigger-long-running-operation: %+v", r)
	}
	isImage := func(c content) bool { return c.Type == "image" && c.MimeType == "image/png" && len(c.Data) > 1000 }
	if r := call(t, "everything", "get-tiny-image", object{}); !slices.ContainsFunc(r.Content, isImage) {
		t.Errorf("get-tiny-image: %+v", r)
	}
	if r := call(t, "everything", "get-structured-content", object{"location": "Chicago"}); !strings.Contains(string(r.StructuredContent), `"temperature"`) {
		t.Errorf("get-structured-content: %+v", r)
	}
	if r := call(t, "everything", "get-sum", object{"a": "two"}); !r.IsError || r.text() == "" {
		t.Errorf("get-sum of a string: %+v, want an error", r)
	}
	if r := call(t, "everything", "no-such-tool", object{}); !r.IsError || !strings.Contains(r.text(), "no-such-tool") {
		t.Errorf("no-such-tool: %+v, want an error", r)
	}
	// get-env shows what the server can see of us.
	if r := call(t, "everything", "get-env", object{}); strings.Contains(r.text(), "SECRET_OF_THE_TEST") {
		t.Error("our environment reached the server")
	}
}

func testMemory(t *testing.T, call caller) {
	ada := object{"name": "Ada", "entityType": "person", "observations": []string{"likes engines"}}
	if r := call(t, "memory", "create_entities", object{"entities": []object{ada}}); r.IsError {
		t.Fatal(r.text())
	}
	r := call(t, "memory", "read_graph", object{})
	var graph struct {
		Entities []struct{ Name string }
	}
	if err := json.Unmarshal(r.StructuredContent, &graph); err != nil || len(graph.Entities) != 1 || graph.Entities[0].Name != "Ada" {
		t.Errorf("read_graph: %+v, error %v", r, err)
	}
}
