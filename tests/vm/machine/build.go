package machine

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// module is the import path of the repository.
const module = "github.com/sandboxd/sandboxd"

// Build builds the four binaries and the example tracker for an architecture, and returns their directory, which lasts as
// long as the test.
func Build(t testing.TB, goarch string) string {
	t.Helper()
	dir := t.TempDir()
	goBuild(t, goarch, "build", "-o", dir+"/", module+"/cmd/...", module+"/examples/tracker")
	return dir
}

// TestFiles are what a guest needs to run the tests of a package of ours: its directory, where tests find their testdata,
// below /src, with the test binary as NAME.test in it.
func TestFiles(t testing.TB, goarch, pkg string) map[string]string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "test")
	goBuild(t, goarch, "test", "-c", "-o", binary, path.Join(module, pkg))
	return map[string]string{
		path.Join("/src", pkg):                         filepath.Join(root(t), pkg),
		path.Join("/src", pkg, path.Base(pkg)+".test"): binary,
	}
}

// goBuild runs go so that what it builds is static.
func goBuild(t testing.TB, goarch string, args ...string) {
	t.Helper()
	need(t) // what is built is for a guest
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
}

// root is the repository's directory.
func root(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatalf("find the repository: %v", err)
	}
	return strings.TrimSpace(string(out))
}
