// Package vm_test runs tests in machines of their own: on Debian's kernels with systemd as PID 1 and cgroup v2, and on
// another CPU. See README.md.
package vm_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/tests/vm/machine"
)

func TestTrixie(t *testing.T)   { testKernel(t, machine.Trixie) }
func TestBookworm(t *testing.T) { testKernel(t, machine.Bookworm) }

// jailSkips are tests of the jail with no place here: Debian builds these kernels without CONFIG_ANON_VMA_NAME, QEMU's emulation
// gives SIGSEGV to who jumps to the vsyscall page before the kernel can look, and hundreds of children, which the host has as
// well, take minutes.
const jailSkips = "^TestSoak$|^TestRefuses$/^named_mappings$|^TestProbes$/^vsyscall"

// suites are the tests of packages, as somebody.
var suites = []struct {
	name, pkg string
	as        string // a command that runs the rest
	skip      string // tests that have no place there; no others may be skipped
}{
	{"jail-as-root", "internal/jail", "", jailSkips},
	{"jail-as-user", "internal/jail", "as-user", jailSkips},
	{"nursery-as-root", "internal/nursery", "in-cgroup root", ""},
	{"nursery-as-user", "internal/nursery", "as-user", "^TestCgroup$|^TestServiceIsLookedAt$"}, // nothing is delegated; only root can
	{"cgroup-as-root", "internal/cgroup", "in-cgroup root", "^TestNotDelegated$"},              // which root can't fail
	{"cgroup-as-nobody", "internal/cgroup", "in-cgroup nobody", ""},
}

// testKernel runs the tests of all that asks something of the kernel, in one machine.
func testKernel(t *testing.T, release machine.Release) {
	image := machine.Debian(t, release)
	files := map[string]string{
		"/built":     machine.Build(t, "amd64"),
		"/vm/bin/go": "testdata/go",
	}
	var script strings.Builder
	for _, s := range suites {
		maps.Copy(files, machine.TestFiles(t, "amd64", s.pkg))
		_, name, _ := strings.Cut(s.pkg, "/")
		fmt.Fprintf(&script, "echo 'vm: %s'\n", s.name)
		fmt.Fprintf(&script, "%s sh -c \"cd /src/%s && SANDBOXD_STRICT=1 exec ./%s.test -test.v -test.timeout 25m -test.skip '%s'\" >/results/%s 2>&1\n",
			s.as, s.pkg, name, s.skip, s.name)
	}
	r := machine.Boot(t, machine.Options{Image: image, Files: files, Script: script.String(), Within: 60 * time.Minute})
	if r.Log != "" {
		t.Log(r.Log)
	}
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) { replay(t, r.Files[s.name]) })
	}
}
