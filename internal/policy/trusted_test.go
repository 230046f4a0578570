package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/policy"
)

// TestDirectoryThatAnybodyMayWriteTo: who can add a file to a policy can allow what it does not name.
func TestDirectoryThatAnybodyMayWriteTo(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{0o755: "", 0o775: "", 0o777: dir + ": anybody may write to it (mode 0777): chmod o-w"} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := policy.Load(dir); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("mode %o: %v, want %q", mode, err, want)
		}
	}
}
