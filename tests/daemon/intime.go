package daemon

import (
	"testing"
	"time"
)

// InTime does something until it takes no more than most, five times at the most, and returns its last result: what is
// late for a reason of its own is so each time, and what a busy machine delays is not.
func InTime[T any](t testing.TB, most time.Duration, do func() T) (result T) {
	t.Helper()
	Measured(t, most, func() time.Duration {
		begun := time.Now()
		result = do()
		return time.Since(begun)
	})
	return result
}

// Measured is InTime for what takes the time itself, without what it needs before and after.
func Measured(t testing.TB, most time.Duration, do func() (took time.Duration)) {
	t.Helper()
	for try := 1; ; try++ {
		took := do()
		switch {
		case took <= most || t.Failed():
			return
		case try == 5:
			t.Errorf("it took %v, and more than %v each of %d times", took, most, try)
			return
		}
		t.Logf("try %d took %v, more than %v: once more", try, took, most)
	}
}
