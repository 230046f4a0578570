package js_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/js"
)

// Programs that mean harm, and the kinds that they may end with: a table, one a line.
//
//go:embed testdata/abuse.txt
var abuses string

const (
	abuseMemory = 64 << 20
	collecting  = 8 << 20 // what a program can allocate while the collector finds out how much of it is live
)

// TestAbuseTable runs each in a process of its own, under the conditions of a worker: it ends with one of its kinds, in
// time, and with a peak of memory that is at most 30 % over the limit, beyond what an idle worker holds. Of those with a
// mark, one piece of native code takes more at once than the watchdog can see coming: here the limit on the address space
// ends them, and in a worker its cgroup, whose limit is that of the program.
func TestAbuseTable(t *testing.T) {
	idle := runChild(t, abuse("return 1", "ok")).peak
	t.Logf("idle: %d MiB", idle>>20)
	parallel := make(chan struct{}, 2)
	n := 0
	for line := range strings.Lines(abuses) {
		kinds, program, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		n++
		most := idle + abuseMemory*13/10 + collecting
		if kinds, ok = strings.CutSuffix(kinds, "!"); ok {
			most = idle + abuseMemory*23/10
		}
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			parallel <- struct{}{}
			defer func() { <-parallel }()
			end := runChild(t, abuse(program, kinds))
			for range 5 { // a busy machine lets the watchdog wait
				if end.peak > most {
					end.peak = min(end.peak, runChild(t, abuse(program, kinds)).peak)
				}
			}
			if !slices.Contains(strings.Split(kinds, ","), end.kind) {
				t.Errorf("%s %s, want %s", end.how, end.text, kinds)
			}
			if end.peak > most {
				t.Errorf("%s %s with a peak of %d MiB", end.how, end.kind, end.peak>>20)
			}
			if end.took > 20*time.Second { // a guard against what hangs, on any machine
				t.Errorf("%s %s after %v", end.how, end.kind, end.took)
			}
			t.Logf("%s %s after %v, %d MiB", end.how, end.kind, end.took, end.peak>>20)
		})
	}
	if n < 228 {
		t.Errorf("%d programs", n)
	}
}

// abuse gives a program time to come to its end, unless it has none.
func abuse(program, kinds string) js.Program {
	cpu := 3 * time.Second
	if strings.Contains(kinds, js.KindCPU) {
		cpu = 100 * time.Millisecond
	}
	return js.Program{
		Source: program, Servers: []string{"a"},
		Limits: js.Limits{CPU: cpu, MemoryBytes: abuseMemory, Calls: 50},
	}
}
