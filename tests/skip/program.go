package skip

import (
	"bytes"
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// WithoutNode skips the test unless node is there, in a version that the TypeScript client is for.
func WithoutNode(t testing.TB) {
	t.Helper()
	without(t, `^v(\d+)\.`, 20, "node", "--version")
}

// WithoutPython skips the test unless python3 is there, in a version that the Python client is for.
func WithoutPython(t testing.TB) {
	t.Helper()
	without(t, `^Python 3\.(\d+)`, 11, "python3", "-I", "--version")
}

func without(t testing.TB, expression string, least int, program ...string) {
	t.Helper()
	out, err := exec.Command(program[0], program[1:]...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		Because(t, "%s is not installed", program[0])
	}
	m := regexp.MustCompile(expression).FindSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("%v says %q, %v", program, out, err)
	}
	if got, _ := strconv.Atoi(string(m[1])); got < least { // digits
		Because(t, "%s is too old: %s", program[0], bytes.TrimSpace(out))
	}
}
