package bench_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// nothing is the arm of a Go program that does nothing.
type nothing struct {
	path string
	wall []time.Duration
	cpu  time.Duration
}

func newNothing(b *testing.B) *nothing {
	n := &nothing{path: filepath.Join(b.TempDir(), "nothing")}
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", n.path, "./nothing").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return n
}

func (n *nothing) run(b *testing.B) {
	program := exec.Command(n.path)
	began := time.Now()
	if err := program.Run(); err != nil {
		b.Fatal(err)
	}
	n.wall = append(n.wall, time.Since(began))
	n.cpu += program.ProcessState.UserTime() + program.ProcessState.SystemTime()
}

func (n *nothing) p50() time.Duration { return quantile(n.wall, 0.5) }
