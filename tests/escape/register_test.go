//go:build linux

package escape_test

import (
	"testing"

	"github.com/sandboxd/sandboxd/tests/escape/attack"
)

// TestRegister holds the register to what the threat model says of it.
func TestRegister(t *testing.T) {
	seen := make(map[string]bool)
	native := 0
	for _, class := range attack.Classes {
		for _, x := range class.Attacks {
			if seen[x.Name] {
				t.Errorf("%s: two attacks of that name", x.Name)
			}
			seen[x.Name] = true
			if !class.Daemon {
				native++
			}
			if x.Tries == "" || x.Do == nil {
				t.Errorf("%s: says not what it tries, or does nothing", x.Name)
			}
			if x.Ends != attack.Killed && x.Why == "" {
				t.Errorf("%s: ends as %s, and no reason says why that is right", x.Name, x.Ends)
			}
			// One wall is as good as the code it is made of. A second one must stand, or it must be said why it need not.
			if x.Effect() && (len(x.Stops) < 2) != (x.Reason != "") {
				t.Errorf("%s: %v stop it, and the reason why one is enough is %q", x.Name, x.Stops, x.Reason)
			}
		}
	}
	if native < 150 {
		t.Errorf("%d native attacks, the threat model promises 150", native)
	}
}
