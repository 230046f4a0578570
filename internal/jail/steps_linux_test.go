package jail_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/jail"
)

// timedEnter is Enter with a clock.
func timedEnter(s jail.Spec) (jail.Report, error) {
	steps, report := jail.Steps(s)
	var b strings.Builder
	whole, wholeCPU := time.Now(), cpuTime()
	for _, step := range steps {
		wall, cpu := time.Now(), cpuTime()
		if err := step.Do(); err != nil {
			return *report, fmt.Errorf("%s: %w", step.Name, err)
		}
		fmt.Fprintf(&b, "%s=%d=%d;", step.Name, time.Since(wall).Microseconds(), (cpuTime() - cpu).Microseconds())
	}
	fmt.Fprintf(&b, "total=%d=%d", time.Since(whole).Microseconds(), (cpuTime() - wholeCPU).Microseconds())
	report.Proved = []string{b.String()}
	return *report, nil
}

func cpuTime() time.Duration {
	var ts unix.Timespec
	syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_PROCESS_CPUTIME_ID, ptr(&ts), 0)
	return time.Duration(ts.Nano())
}

// untilStep takes the steps of Enter up to one, and no further.
func untilStep(s jail.Spec) (jail.Report, error) {
	steps, report := jail.Steps(s)
	for _, step := range steps {
		if err := step.Do(); err != nil {
			return *report, err
		}
		if step.Name == os.Getenv(envArg) {
			break
		}
	}
	return *report, nil
}

// BenchmarkEnter reports the wall clock and the CPU time of each step, in µs, by children.
func BenchmarkEnter(b *testing.B) {
	wall, cpu := map[string]int{}, map[string]int{}
	for b.Loop() {
		c := start(b, spec, "timed", "")
		for _, step := range strings.Split(c.ready(b).Proved[0], ";") {
			f := strings.Split(step, "=")
			var w, p int
			fmt.Sscan(f[1], &w)
			fmt.Sscan(f[2], &p)
			name := strings.ReplaceAll(f[0], " ", "-")
			wall[name] += w
			cpu[name] += p
		}
		c.end(b)
	}
	for name := range wall {
		b.ReportMetric(float64(wall[name])/float64(b.N), name+"-µs")
		b.ReportMetric(float64(cpu[name])/float64(b.N), name+"-cpu-µs")
	}
}
