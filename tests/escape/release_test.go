//go:build linux

package escape_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleaseHasNoSwitch builds the released binaries twice, the second time with an order to leave a layer out as the
// builds of this suite get it. They must be the same, byte for byte: there is nothing in them that could obey.
func TestReleaseHasNoSwitch(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sandbox-worker", "sandbox-nursery"} {
		t.Run(name, func(t *testing.T) {
			plain := release(t, name, "")
			ordered := release(t, name, "-X "+module+"/internal/jail.off=seccomp")
			if !bytes.Equal(plain, ordered) {
				t.Error("a linker flag changes it: a released binary has a switch for layers of the jail")
			}
			// The same test must see the switch where there is one.
			if tagged := release(t, name, "-X "+module+"/internal/jail.off=seccomp", "-tags", "sandboxd_layers"); bytes.Equal(
				tagged, release(t, name, "", "-tags", "sandboxd_layers")) {
				t.Error("the linker flag changes nothing in a tagged build either: this test can't tell")
			}
		})
	}
}

// release builds a binary without what differs from build to build: paths, the state of the repository, the build's id.
func release(t *testing.T, name, flags string, more ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags", strings.TrimSpace("-s -w -buildid= " + flags)}, more...)
	command := exec.Command("go", append(args, "-o", path, module+"/cmd/"+name)...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return binary
}
