package profile_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files, and the script that runs docs/profiles.md, anew")

// compare holds a text against a file.
func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v\nwrite it with: go test ./internal/profile -update", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s\n"+
			"If the change is meant, run go test ./internal/profile -update, and say why in the commit.", path, diff)
	}
}

// TestJail keeps all that is enforced on the workers of each built-in profile a reviewable diff. A spec's text is the
// same on every architecture, as its system calls have names; here each has the number that the filter compares.
func TestJail(t *testing.T) {
	for name, p := range builtin(t) {
		for goarch, info := range map[string]*arch.Info{"amd64": arch.X86_64, "arm64": arch.AARCH64} {
			t.Run(name+"/"+goarch, func(t *testing.T) {
				compare(t, filepath.Join("testdata", name+"."+goarch+".golden"), numbered(t, p.Spec().String(), info))
			})
		}
	}
}

// numbered puts its number before each system call of a spec's text: the indented lines below seccomp.
func numbered(t *testing.T, text string, info *arch.Info) string {
	t.Helper()
	var b strings.Builder
	calls := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "  ") {
			b.WriteString(line)
			continue
		}
		call := strings.Fields(line)[0]
		number, known := info.SyscallNames[call]
		if !known {
			t.Fatalf("%s has no system call %s", info.Name, call)
		}
		fmt.Fprintf(&b, "  %3d %s", number, line[2:])
		calls++
	}
	if calls == 0 {
		t.Fatal("this test can't read the spec's text any more")
	}
	return b.String()
}

// TestYAML is how a profile is shown.
func TestYAML(t *testing.T) {
	compare(t, filepath.Join("testdata", "default.yaml.golden"), builtin(t)["default"].YAML())
}
