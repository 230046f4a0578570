// Package npm gives tests real MCP servers and clients, the TypeScript compiler and Pyright from npm, at pinned versions.
package npm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/tests/skip"
)

// Config returns the path of an mcpServers file with the servers "filesystem", which may use dir and nothing else,
// "everything", and "memory", which keeps its graph in dir/memory.jsonl. It installs them first if need be, and skips
// the test where it can't.
func Config(t testing.TB, dir string) string {
	t.Helper()
	modules := Modules(t)
	server := func(name string, args ...string) map[string]any {
		script := filepath.Join(modules, "@modelcontextprotocol", "server-"+name, "dist", "index.js")
		return map[string]any{"command": "node", "args": append([]string{script}, args...)}
	}
	memory := server("memory")
	memory["env"] = map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.jsonl")}
	config, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{
		"filesystem": server("filesystem", dir), "everything": server("everything"), "memory": memory,
	}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Modules returns node_modules, as package-lock.json has it, and skips the test where it can't. Tests of several packages may call
// it at once.
func Modules(t testing.TB) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			skip.Because(t, "%s is not installed", program)
		}
	}
	dir, err := home()
	if err != nil {
		t.Fatal(err)
	}
	lock, err := os.Open(dir) // flock takes a directory: no lock file is left behind
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatalf("lock %s: %v", dir, err)
	}
	pinned, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(dir, "node_modules")
	// The stamp comes last, so a broken installation has none.
	stamp, want := filepath.Join(modules, ".installed"), fmt.Appendf(nil, "%x\n", sha256.Sum256(pinned))
	if have, _ := os.ReadFile(stamp); bytes.Equal(have, want) {
		return modules
	}
	npmCI(t, dir)
	if err := os.WriteFile(stamp, want, 0o644); err != nil {
		t.Fatal(err)
	}
	return modules
}

// unreachable matches what npm and node say when there is no network, no name service, no trust, or no room to write.
var unreachable = regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET|CERT|EACCES|EROFS`)

func npmCI(t testing.TB, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	command.Dir = dir
	output, err := command.CombinedOutput()
	if err == nil {
		return
	}
	if why := unreachable.Find(output); why != nil || ctx.Err() != nil {
		skip.Because(t, "npm ci can't reach the registry or write to tests/npm: %s %v", why, err)
	}
	t.Fatalf("npm ci in tests/npm: %v\n%s", err, output)
}

// home finds this directory from any package of the module: with -trimpath the binary does not know it.
func home() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "tests", "npm"), nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working directory")
		}
	}
	return "", err
}
