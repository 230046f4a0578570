package protocol_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestClientsBesideADaemon: what each client promises beyond the transcripts. Go's is held to that by the root package's tests.
func TestClientsBesideADaemon(t *testing.T) {
	d := daemon.Start(t, daemon.Options{})
	for language, command := range map[string]func() *exec.Cmd{
		"typescript": func() *exec.Cmd { return node(t, "real.mjs", d.Socket) },
		"python":     func() *exec.Cmd { return python(t, "real.py", d.Socket) },
	} {
		t.Run(language, func(t *testing.T) {
			if said := output(t, command()); len(said) != 1 || string(said[0]) != `"ok"` {
				t.Errorf("it said %s", said)
			}
		})
	}
}

// TestClientsAreShort: a client that can be read in one go is one that can be trusted, and written again in another language.
func TestClientsAreShort(t *testing.T) {
	for _, files := range [][]string{{"typescript/index.js", "typescript/index.d.ts"}, {"python/sandboxd/__init__.py", "python/sandboxd/client.py", "python/sandboxd/protocol.py"}} {
		lines := 0
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(root, "clients", file))
			if err != nil {
				t.Fatal(err)
			}
			lines += strings.Count(string(text), "\n")
		}
		if lines >= 500 {
			t.Errorf("%v have %d lines", files, lines)
		}
	}
}
