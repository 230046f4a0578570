// Package skip leaves a test out where a feature is missing.
package skip

import (
	"fmt"
	"os"
	"testing"
)

// Because skips the test, and names what is missing. Under make check-strict, where nothing may be, it fails instead.
func Because(t testing.TB, format string, args ...any) {
	t.Helper()
	missing := fmt.Sprintf(format, args...)
	if os.Getenv("SANDBOXD_STRICT") == "1" {
		t.Fatal("would skip: " + missing)
	}
	t.Skip(missing)
}
