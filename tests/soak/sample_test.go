package soak_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

// sample is what the daemon and its nursery have at rest, after so many runs. Memory is what is resident, in KiB.
type sample struct {
	runs int
	daemon.Levels
	daemonThreads, nurseryThreads int
	daemonMemory, nurseryMemory   int
}

func take(t testing.TB, d *daemon.Daemon, runs int) sample {
	t.Helper()
	memory := d.Memory(t)
	levels, nursery := d.Rest(t, poolSize), daemon.Nursery(t, d.PID)
	return sample{
		runs: runs, Levels: levels,
		daemonThreads: daemon.Status(t, d.PID, "Threads"), daemonMemory: memory,
		nurseryThreads: daemon.Status(t, nursery, "Threads"), nurseryMemory: daemon.Status(t, nursery, "VmRSS"),
	}
}

// judge compares the second half of the samples with the first, by their medians: what leaks is higher in the second half, and
// one sample that a garbage collection hit or missed is neither.
func judge(t testing.TB, all []sample) {
	t.Helper()
	// A Go process of this size has a MiB more or less, and grows up to its first collections, which in the nursery, that makes
	// little garbage, come after hundreds of runs. Once in a while it keeps a step of up to 3 MiB for long: the pages of a heap
	// that was in more pieces at the wrong moment. In few runs such a step can't be told from a leak.
	memory := 1 << 10
	if all[len(all)-1].runs < 2000 {
		memory = 4 << 10
	}
	for _, level := range []struct {
		name string
		of   func(sample) int
		room int // above the ten percent
	}{
		{"daemon's memory", func(s sample) int { return s.daemonMemory }, memory},
		{"nursery's memory", func(s sample) int { return s.nurseryMemory }, memory},
		// The Go runtime keeps the threads that it ever needed at once, which on a busy machine are a few more some day.
		{"daemon's threads", func(s sample) int { return s.daemonThreads }, 8},
		{"nursery's threads", func(s sample) int { return s.nurseryThreads }, 8},
	} {
		var values []int
		for _, s := range all {
			values = append(values, level.of(s))
		}
		first, second := median(values[:len(values)/2]), median(values[len(values)/2:])
		if second > first+first/10+level.room {
			t.Errorf("the %s grew from %d to %d, as medians of the first and second half of the runs", level.name, first, second)
		}
	}
}

func median(values []int) int {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// table is the samples for people.
func table(all []sample) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "runs\tdaemon fds\tthreads\tKiB\tnursery fds\tthreads\tKiB\tprocesses\tcgroups\t")
	for _, s := range all {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", s.runs, s.DaemonFDs, s.daemonThreads, s.daemonMemory,
			s.NurseryFDs, s.nurseryThreads, s.nurseryMemory, s.Processes, s.Cgroups)
	}
	w.Flush()
	return b.String()
}
