package jail_test

import (
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/jail"
)

func TestCheck(t *testing.T) {
	c := start(t, spec, "sleep", "")
	report := c.ready(t)
	pid := c.Process.Pid
	if err := jail.Check(pid, report); err != nil {
		t.Error(err)
	}
	t.Logf("%+v", report)

	raised := report
	raised.Rlimits = append([]string{"fsize=1"}, report.Rlimits[1:]...)
	tests := []struct {
		name   string
		pid    int
		report jail.Report
		want   string
	}{
		{"no report", pid, jail.Report{}, "report: landlock ABI 0 of a kernel that has"},
		{"another limit", pid, raised, "reported were [fsize=1"},
		{"no process", 1 << 30, report, "no such file"},
		{"unconfined", 1, report, "its status is not"},
	}
	for _, tt := range tests {
		if err := jail.Check(tt.pid, tt.report); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestCheckSeesMissingSteps: a worker that stopped short of the last wall is found out.
func TestCheckSeesMissingSteps(t *testing.T) {
	c := start(t, spec, "step", "start threads")
	if err := jail.Check(c.Process.Pid, c.ready(t)); err == nil || !strings.Contains(err.Error(), `its status is not "Seccomp:`) {
		t.Errorf("without a filter: %v", err)
	}
	c = start(t, spec, "step", "prove rlimits")
	if err := jail.Check(c.Process.Pid, c.ready(t)); err == nil {
		t.Error("without landlock: no error")
	}
}

func BenchmarkCheck(b *testing.B) {
	c := start(b, spec, "sleep", "")
	report := c.ready(b)
	for b.Loop() {
		if err := jail.Check(c.Process.Pid, report); err != nil {
			b.Fatal(err)
		}
	}
}
