package packaging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/sandboxd/sandboxd/tests/skip"
)

// TestExposure: systemd-analyze(1) counts what the units leave open. It counts directives, not effects, which tests/vm looks at. What keeps
// them from less is in systemd/README.md.
func TestExposure(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		skip.Because(t, "there is no systemd-analyze: apt-get install systemd")
	}
	for _, c := range []struct {
		unit, dropIn string
		most         float64
	}{
		{"sandboxd.service", "", 1.2},
		{"sandboxd.service", "guard-on-loopback.conf", 1.1},
		{"sandboxd.service", "no-network.conf", 0.4},
		{"sandbox-nursery.service", "", 0.5},
	} {
		t.Run(c.unit+" "+c.dropIn, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, "systemd", c.unit))
			if err != nil {
				t.Fatal(err)
			}
			if c.dropIn != "" { // it is read after the unit
				more, err := os.ReadFile(filepath.Join(root, "systemd", "drop-ins", c.dropIn))
				if err != nil {
					t.Fatal(err)
				}
				text = append(text, more...)
			}
			unit := filepath.Join(t.TempDir(), c.unit)
			if err := os.WriteFile(unit, text, 0o644); err != nil {
				t.Fatal(err)
			}
			command := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=100", unit)
			command.Env = append(os.Environ(), "LC_ALL=C")
			out, err := command.CombinedOutput()
			m := overall.FindSubmatch(out)
			if m == nil {
				skip.Because(t, "this systemd-analyze can't look at a file (252 can): %v: %s", err, out)
			}
			if exposure, err := strconv.ParseFloat(string(m[1]), 64); err != nil || exposure > c.most {
				t.Errorf("exposure is %s, at most %.1f is meant:\n%s", m[1], c.most, out)
			}
		})
	}
}

var overall = regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`)
