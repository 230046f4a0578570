package codemode_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkCodeMode does each task by calls, one a turn and all in one, and by a program, in turn. With -update it writes the table.
func BenchmarkCodeMode(b *testing.B) {
	all, text := tasks(b), head
	for _, t := range all {
		b.Run(t.name, func(b *testing.B) {
			took := measure(b, t)
			if *update {
				text += row(t, count(b, t)) + took
			}
		})
	}
	if !*update || b.Failed() {
		return
	}
	if strings.Count(text, "\n") != strings.Count(head, "\n")+len(all) {
		b.Fatal("the table takes all tasks, and -bench names only some")
	}
	before, _, after := table(b)
	if err := os.WriteFile(page, []byte(before+begin+text+end+after), 0o644); err != nil {
		b.Fatal(err)
	}
}

// measure is the last cells of a task's row.
func measure(b *testing.B, t task) string {
	calls, program := direct(b, t.server, false), through(b, t.server, false)
	arms := []struct {
		name string
		do   func() string
		took []time.Duration
	}{
		{name: "sequential", do: func() string { return t.plainly(calls, false) }},
		{name: "parallel", do: func() string { return t.plainly(calls, true) }},
		{name: "code", do: func() string { return t.byProgram(program, false) }},
	}
	arms[2].do() // starts the daemon
	for b.Loop() {
		for i := range arms {
			for range 5 {
				time.Sleep(100 * time.Millisecond) // a model takes longer than a worker's birth
				began := time.Now()
				arms[i].do()
				arms[i].took = append(arms[i].took, time.Since(began))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	var p50 [3]float64
	for i, a := range arms {
		slices.Sort(a.took)
		p50[i] = float64(a.took[len(a.took)/2].Microseconds()) / 1000
		b.ReportMetric(p50[i], a.name+"-p50-ms")
	}
	b.ReportMetric(p50[2]/p50[0], "code-sequential-ratio")
	return fmt.Sprintf(" %.1f / %.1f | %.1f |\n", p50[0], p50[1], p50[2])
}
