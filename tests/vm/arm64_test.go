package vm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/tests/vm/machine"
)

// TestARM64Filter runs all tests of the jail on an arm64 kernel: the filter is held against its reference there, and enforced.
func TestARM64Filter(t *testing.T) {
	files := machine.TestFiles(t, "arm64", "internal/jail")
	files["/etc/passwd"] = "/etc/passwd" // a test opens it
	r := machine.BootARM64(t, machine.ARM64{
		Files: files,
		Command: machine.Command{
			Args: []string{"/src/internal/jail/jail.test", "-test.v", "-test.timeout", "25m", "-test.skip", jailSkips},
			Dir:  "/src/internal/jail",
			Env:  []string{"SANDBOXD_STRICT=1"},
		},
		Within: 30 * time.Minute,
	})
	replay(t, r.Log)
}

// TestARM64Run runs a program with the real binaries: the filter lets the engine live on that CPU, too.
func TestARM64Run(t *testing.T) {
	r := machine.BootARM64(t, machine.ARM64{
		Files: map[string]string{"/bin": machine.Build(t, "arm64"), "/program.js": "testdata/program.js"},
		Command: machine.Command{
			Args: []string{"/bin/sandboxctl", "run", "--output", "json", "/program.js"},
			Env:  []string{"HOME=/tmp"},
			UID:  65534,
		},
		Within: 5 * time.Minute,
	})
	_, result, _ := strings.Cut(r.Log, "\n") // the first line tells of the private daemon
	checkRun(t, result)
	if r.RC != 0 {
		t.Errorf("exit code %d", r.RC)
	}
}
