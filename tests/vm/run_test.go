package vm_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/vm/machine"
)

// TestRun runs a program with a private daemon, as a person would: as root, and as an ordinary user, whose user manager
// delegates a cgroup. It is also the pattern for further tests of the binaries: build, bring, run, look at what was left.
func TestRun(t *testing.T) {
	for _, release := range []machine.Release{machine.Trixie, machine.Bookworm} {
		t.Run(string(release), func(t *testing.T) {
			r := machine.Boot(t, machine.Options{
				Image: machine.Debian(t, release),
				Files: map[string]string{
					"/opt/sandboxd":   machine.Build(t, "amd64"),
					"/opt/program.js": "testdata/program.js",
				},
				Script: `
					run='/opt/sandboxd/sandboxctl run --output json -'
					$run </opt/program.js >/results/root
					as-user $run </opt/program.js >/results/user
				`,
				Within: 5 * time.Minute,
			})
			for _, who := range []string{"root", "user"} {
				t.Run(who, func(t *testing.T) {
					result := checkRun(t, r.Files[who])
					if result.Isolation.Cgroup == "off" || len(result.Isolation.Missing) != 0 {
						t.Errorf("a layer is missing: %+v", result.Isolation)
					}
				})
			}
			if t.Failed() {
				t.Logf("exit code %d; %s", r.RC, r.Log)
			}
		})
	}
}

// checkRun reads the result of testdata/program.js.
func checkRun(t *testing.T, text string) sandboxd.Result {
	t.Helper()
	var result sandboxd.Result
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		t.Fatalf("no result: %v\n%s", err, text)
	}
	var value struct {
		Words   int
		Longest string
	}
	if err := json.Unmarshal(result.Value, &value); err != nil || value.Words != 3 || value.Longest != "kernel" || result.Outcome != "ok" {
		t.Errorf("the program returned %+v (%v), want 3 words, the longest of which is kernel\n%s", value, err, text)
	}
	if i := result.Isolation; i.Seccomp == "off" || i.Landlock == 0 || !i.Verified {
		t.Errorf("it ran with %+v", i)
	}
	return result
}
