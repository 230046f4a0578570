package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/tests/daemon"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// TestGatewaysPage types what docs/gateways.md shows, beside a daemon.
func TestGatewaysPage(t *testing.T) {
	_, block, begins := strings.Cut(read(t, "docs/gateways.md"), "$ export SANDBOXD_SOCKET=/tmp/sandboxd.sock\n")
	block, _, ends := strings.Cut(block, "```")
	if !begins || !ends {
		t.Fatal("docs/gateways.md runs nothing")
	}
	d := daemon.Start(t, daemon.Options{})
	commands := strings.Split(block, "$ ")[1:]
	if len(commands) != 4 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range commands {
		command, want, _ := strings.Cut(c, "\n")
		_, name, _ := strings.Cut(command, "| ")
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "node") {
				skip.WithoutNode(t)
			} else if strings.Contains(name, "python3") {
				skip.WithoutPython(t)
			}
			shell := exec.Command("sh", "-c", command)
			shell.Dir = root
			shell.Env = append(os.Environ(), "SANDBOXD_SOCKET="+d.Socket, "PYTHONDONTWRITEBYTECODE=1")
			out, err := shell.CombinedOutput()
			if (err != nil) != strings.HasPrefix(want, "error") {
				t.Error(err)
			}
			if diff := cmp.Diff(want, string(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestClientReadmes runs the example of each client's page, which imports the client by its name.
func TestClientReadmes(t *testing.T) {
	d := daemon.Start(t, daemon.Options{})
	for _, c := range []struct {
		page, block, file string
		command           []string
		without           func(testing.TB)
	}{
		{"clients/typescript/README.md", "js", "main.mjs", []string{"node", "main.mjs"}, skip.WithoutNode},
		{"clients/python/README.md", "python", "main.py",
			[]string{"python3", "-I", "-B", "-c", "import runpy, sys; sys.path.insert(0, 'node_modules/sandboxd'); runpy.run_path('main.py')"}, skip.WithoutPython},
	} {
		t.Run(c.page, func(t *testing.T) {
			c.without(t)
			_, rest, begins := strings.Cut(read(t, c.page), "```"+c.block+"\n")
			code, rest, ends := strings.Cut(rest, "```")
			_, rest, says := strings.Cut(rest, "```\n")
			want, _, whole := strings.Cut(rest, "```")
			if !begins || !ends || !says || !whole {
				t.Fatal("there is no example, or not what it says")
			}
			client, err := filepath.Abs(filepath.Join(root, filepath.Dir(c.page)))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "node_modules"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(client, filepath.Join(dir, "node_modules", "sandboxd")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.Command(c.command[0], c.command[1:]...)
			command.Dir = dir
			command.Env = append(os.Environ(), "SANDBOXD_SOCKET="+d.Socket)
			out, err := command.CombinedOutput()
			if diff := cmp.Diff(want, string(out)); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}
