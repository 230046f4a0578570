package jail_test

import (
	"fmt"
	"io"
	"os"
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

func TestCheckStatus(t *testing.T) {
	c := start(t, spec, "sleep", "")
	report := c.ready(t)
	pid := c.Process.Pid
	of := func(pid int) *os.File {
		f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	if err := jail.CheckStatus(pid, of(pid), report); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		name   string
		pid    int
		status io.ReaderAt
		report jail.Report
		want   string
	}{
		{"no report", pid, of(pid), jail.Report{}, "report: landlock ABI 0"},
		{"another process", pid, of(os.Getpid()), report, "another process's"},
		{"unconfined", os.Getpid(), of(os.Getpid()), report, "its status is not"},
		{"nothing", pid, strings.NewReader(""), report, "another process's"},
		{"cut short", pid, strings.NewReader(fmt.Sprintf("\nPid:\t%d\nThreads:\t3\n", pid)), report, "its status is not"},
		{"many threads", pid, strings.NewReader(fmt.Sprintf("\nPid:\t%d\nThreads:\t33\n", pid)), report, "33 threads"},
	} {
		if err := jail.CheckStatus(tt.pid, tt.status, tt.report); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	dead := of(pid)
	c.Process.Kill()
	c.Process.Wait()
	if err := jail.CheckStatus(pid, dead, report); err == nil {
		t.Error("a dead process passes")
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
