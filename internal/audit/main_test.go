package audit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/audit"
)

// roleVariable makes the test binary a process of its own.
const roleVariable = "SANDBOXD_AUDIT_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		roles[role](os.Args[len(os.Args)-1])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var roles = map[string]func(dir string){"hammer": hammer, "full": fillDisk, "limited": hitLimit, "open": openOnce}

// child is this binary in a role.
func child(t testing.TB, role, dir string) *exec.Cmd {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, dir)
	c.Env = append(os.Environ(), roleVariable+"="+role)
	return c
}

// config is one for a log of a test.
func config(dir string) audit.Config {
	c := audit.Default()
	c.Path = filepath.Join(dir, "audit.log")
	return c
}

// place is a directory that only this user writes to.
func place(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t testing.TB, c audit.Config) *audit.Log {
	t.Helper()
	l, err := audit.Open(c, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) // an error means that the test has
	return l
}

func add(t testing.TB, l *audit.Log, events ...audit.Event) {
	t.Helper()
	for _, e := range events {
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

func closeLog(t testing.TB, l *audit.Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// intent is one of a call that changes something, or that only reads.
func intent(run string, n int, labels ...string) audit.CallIntent {
	return audit.CallIntent{
		Call:      audit.Call{Run: run, N: n, Server: "pay", Tool: "refund"},
		Judgement: audit.Judgement{Arguments: audit.Plain([]byte(`{"amount":7}`)), Decision: "allow", Rule: "small refunds", Labels: labels},
	}
}

func outcome(run string, n int) audit.CallOutcome {
	return audit.CallOutcome{Run: run, N: n, State: "succeeded"}
}

// verify reads the whole log.
func verify(c audit.Config) (audit.Report, error) {
	r := audit.NewReader(c.Path)
	defer r.Close()
	return audit.Verify(context.Background(), r, nil, 0)
}

func verified(t testing.TB, c audit.Config) audit.Report {
	t.Helper()
	report, err := verify(c)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// events are all events of a log as "kind {fields of interest}".
func events(t testing.TB, c audit.Config) []string {
	t.Helper()
	r := audit.NewReader(c.Path)
	defer r.Close()
	var all []string
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Run, State, Reason string
			N                  int
		}
		if err := record.Decode(&e); err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", record.Kind, e.Run, e.N, e.State)))
	}
}

func kinds(t testing.TB, c audit.Config) (all []string) {
	for _, e := range events(t, c) {
		kind, _, _ := strings.Cut(e, " ")
		all = append(all, kind)
	}
	return all
}

// last is the last line of a kind.
func last(t testing.TB, c audit.Config, kind string) map[string]any {
	t.Helper()
	r := audit.NewReader(c.Path)
	defer r.Close()
	var found map[string]any
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if record.Kind == kind {
			found = nil
			if err := json.Unmarshal(record.Raw, &found); err != nil {
				t.Fatal(err)
			}
		}
	}
}
