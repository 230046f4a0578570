package cgroup_test

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/cgroup"
)

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]int64{"0\n": 0, "4096\n": 4096, "7": 7, "9223372036854775807\n": 1<<63 - 1} {
		if got, err := cgroup.ParseNumber(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "\n", "max\n", "-1\n", "9223372036854775808\n", "1 2\n", " 1\n", "1\n\n", "0x10\n"} {
		if got, err := cgroup.ParseNumber(text); err == nil {
			t.Errorf("%q: %d and no error", text, got)
		}
	}
}

const cpuStat = "usage_usec 81532\nuser_usec 40766\nsystem_usec 40766\nnr_periods 3\nnr_throttled 2\nthrottled_usec 100\n"

func TestParseField(t *testing.T) {
	for key, want := range map[string]int64{"usage_usec": 81532, "nr_throttled": 2, "throttled_usec": 100} {
		if got, err := cgroup.ParseField(cpuStat, key); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", key, got, err, want)
		}
	}
	for _, text := range []string{"", cpuStat, "oom_kills 1\n", "oom_kill\n", "oom_kill max\n", "oom_kill  1\n", "xoom_kill 1\n"} {
		if got, err := cgroup.ParseField(text, "oom_kill"); err == nil {
			t.Errorf("%q: %d and no error", text, got)
		}
	}
}

func TestParsePIDs(t *testing.T) {
	for text, want := range map[string][]int{"": nil, "12\n": {12}, "1\n0\n4194304\n": {1, 0, 4194304}} {
		if got, err := cgroup.ParsePIDs(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"\n", "x\n", "-1\n", "1\n\n2\n", "1 2\n", "99999999999999999999\n"} {
		if got, err := cgroup.ParsePIDs(text); err == nil {
			t.Errorf("%q: %v and no error", text, got)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"17": true, "a-B_9": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, ".": false, "..": false, "a.b": false, "a/b": false, "a b": false,
		"a\n": false, "a\x00": false, "ä": false, "a\xff": false,
	} {
		if got := cgroup.ValidName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for dir, says := range map[string]string{
		"relative":                  "absolute",
		"":                          "absolute",
		t.TempDir() + "/missing":    "no such file",
		t.TempDir():                 "not in a cgroup v2 file system",
		"/proc/self/cgroup":         "not a directory",
		"/sys/fs/cgroup/cgroup.kil": "no such file",
	} {
		_, err := cgroup.Open(dir)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v; want an error about %q", dir, err, says)
		}
		if path.IsAbs(dir) && !errors.Is(err, cgroup.ErrUnavailable) {
			t.Errorf("%q: %v is not ErrUnavailable", dir, err)
		}
	}
}

// TestProbe shows what Open says of kernels that are not at hand.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "nursery"), 0o755); err != nil {
		t.Fatal(err)
	}
	says := func(want string) {
		t.Helper()
		if err := cgroup.Probe(dir); !errors.Is(err, cgroup.ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error about %q", err, want)
		}
	}
	add := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "nursery", name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	says("Linux 5.14")
	add("cgroup.kill")
	says("accounts it")
	add("memory.swap.max")
	if err := cgroup.Probe(dir); err != nil {
		t.Errorf("nothing is missing: %v", err)
	}
}

func FuzzParsers(f *testing.F) {
	f.Add(cpuStat, "usage_usec")
	f.Add("12\n0\n", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		if n, err := cgroup.ParseNumber(a); err == nil && n < 0 {
			t.Errorf("number %d of %q", n, a)
		}
		if n, err := cgroup.ParseField(a, b); err == nil && n < 0 {
			t.Errorf("%d for %q of %q", n, b, a)
		}
		if pids, err := cgroup.ParsePIDs(a); err == nil && slices.ContainsFunc(pids, func(pid int) bool { return pid < 0 }) {
			t.Errorf("processes %v of %q", pids, a)
		}
		if cgroup.ValidName(a) && (a == "" || strings.ContainsAny(a, "/.\x00\n") || path.Base(a) != a) {
			t.Errorf("the name %q is valid", a)
		}
	})
}
