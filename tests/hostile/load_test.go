package hostile_test

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/sandboxd/sandboxd"
)

// TestStarvedMachine runs honest programs, several at once, on processors that others want more of. Threads are
// preempted anywhere then: a worker must need none that it does not have, and no limit may be met by waiting. It must
// not run beside other tests, whose deadlines it would break: tests/run keeps it for the end.
func TestStarvedMachine(t *testing.T) {
	s := newStage(t, "", "-")
	for range 8 {
		spinner := exec.Command("sh", "-c", "while :; do :; done")
		if err := spinner.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			spinner.Process.Kill()
			spinner.Wait()
		}()
	}
	c := s.Dial(t, honestGateway)
	const gateways, runs = 6, 60
	var all sync.WaitGroup
	for range gateways {
		all.Go(func() {
			for range runs {
				r, err := c.Execute(context.Background(), sandboxd.Program{Source: s.honest})
				switch {
				case err != nil:
					t.Error(err)
					return
				case r.Outcome == sandboxd.OutcomeBusy: // slow births are no fault
				case r.Outcome != sandboxd.OutcomeOK:
					t.Errorf("an honest run ended as %s", sprint(r))
				}
			}
		})
	}
	all.Wait()
	for _, wrong := range []string{"birth of a worker failed", "idle worker died", "worker died"} {
		if n := strings.Count(s.Log(), wrong); n > 0 {
			t.Errorf("%d times: %s", n, wrong)
		}
	}
}
