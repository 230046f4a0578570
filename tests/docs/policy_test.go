package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestPolicyPage takes the policy and the cases of docs/policy.md, and does with them what the page shows.
func TestPolicyPage(t *testing.T) {
	page := read(t, "docs/policy.md")
	daemon.Binaries(t) // are built from here
	t.Chdir(t.TempDir())
	for _, name := range []string{"policy.yaml", "policy.test.yaml"} {
		_, block, found := strings.Cut(page, "```yaml\n# "+name+"\n")
		block, _, closed := strings.Cut(block, "```")
		if !found || !closed {
			t.Fatalf("docs/policy.md has no %s", name)
		}
		if err := os.WriteFile(name, []byte("# "+name+"\n"+block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := sandboxctl(t, "", "policy", "check", "--strict", "policy.yaml"); got != "policy.yaml: ok: 4 rules and flows, 0 warnings\n" {
		t.Error(got)
	}
	if got := sandboxctl(t, "", "policy", "test", "policy.yaml"); got != "ok: 2 cases\n" {
		t.Error(got)
	}
	_, want, found := strings.Cut(page, "$ sandboxctl policy explain --policy policy.yaml")
	want, _, closed := strings.Cut(want, "```")
	command, want, shown := strings.Cut(want, "\n")
	if !found || !closed || !shown {
		t.Fatal("docs/policy.md explains nothing")
	}
	if diff := cmp.Diff(want, shell(t, "sandboxctl policy explain --policy policy.yaml"+command)); diff != "" {
		t.Error(diff)
	}
}

// shell runs a command as a reader would.
func shell(t *testing.T, command string) string {
	t.Helper()
	t.Setenv("PATH", daemon.Binaries(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, err := exec.Command("sh", "-c", command).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}
