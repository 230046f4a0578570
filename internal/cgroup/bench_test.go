package cgroup_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/containerd/cgroups/v3/cgroup2"

	"github.com/sandboxd/sandboxd/internal/cgroup"
)

// arm is a way to do what a worker's cgroup is for, step by step.
type arm struct {
	name  string
	steps func(name string, pid int) []step
}

type step struct {
	name string
	do   func() error
}

// BenchmarkLeaf compares this package with github.com/containerd/cgroups/v3/cgroup2 alone: the life of a leaf with a real
// process in it, in turns. It shows the lower decile of each step in microseconds, as an emulated machine stops its guest
// for longer than a step takes; compare arms of one run, not machines.
func BenchmarkLeaf(b *testing.B) {
	arms := []arm{{"ours", ours(openTree(b))}, {"cgroup2", containerd(delegated(b))}}
	took := map[string][]time.Duration{}
	for i := 0; b.Loop(); i++ {
		for _, a := range arms {
			p := start(b, "quiet")
			p.hear(b) // it sleeps now, and disturbs nobody
			for _, s := range a.steps(fmt.Sprintf("%s-%d", a.name, i), p.pid()) {
				if s.name == "remove" {
					p.killed(b)
				}
				began := time.Now()
				if err := s.do(); err != nil {
					b.Fatalf("%s, %s: %v", a.name, s.name, err)
				}
				took[a.name+"-"+s.name] = append(took[a.name+"-"+s.name], time.Since(began))
			}
		}
	}
	report(b, took)
}

// BenchmarkBirth compares the fork of a process that is then added to a leaf with that of one that is born there.
func BenchmarkBirth(b *testing.B) {
	leaf := makeLeaf(b, openTree(b), "birth", limits)
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, a := range []struct {
			name  string
			start func() *actor
		}{
			{"nowhere", func() *actor { return start(b, "sleep") }},
			{"added", func() *actor { return place(b, leaf, "sleep") }},
			{"born", func() *actor { return bear(b, leaf, "sleep") }},
		} {
			began := time.Now()
			p := a.start()
			took[a.name] = append(took[a.name], time.Since(began))
			_ = p.command.Process.Kill()
			p.killed(b)
		}
	}
	report(b, took)
}

func report(b *testing.B, took map[string][]time.Duration) {
	b.ReportMetric(0, "ns/op")
	for name, d := range took {
		slices.Sort(d)
		b.ReportMetric(float64(d[len(d)/10].Nanoseconds())/1e3, name+"-µs")
	}
}

func ours(tree *cgroup.Tree) func(string, int) []step {
	return func(name string, pid int) []step {
		var leaf *cgroup.Leaf
		return []step{
			{"make", func() (err error) { leaf, err = tree.Leaf(name, limits); return err }},
			{"add", func() error { return leaf.Add(pid) }},
			{"check", func() error { return leaf.Check(pid) }},
			{"awake", func() error { return leaf.Awake() }},
			{"usage", func() error { _, err := leaf.Usage(); return err }},
			{"kill", func() error { return leaf.Kill() }},
			{"remove", func() error { return leaf.Remove() }},
		}
	}
}

// containerd does the same with cgroup2, which has no check.
func containerd(dir string) func(string, int) []step {
	weight, awake, swap, memory, group := uint64(10), uint64(100), int64(0), limits.MemoryBytes, true
	quota, period := limits.MilliCPUs*100, uint64(100_000)
	resources := &cgroup2.Resources{
		CPU:    &cgroup2.CPU{Weight: &weight, Max: cgroup2.NewCPUMax(&quota, &period)},
		Memory: &cgroup2.Memory{Max: &memory, Swap: &swap, OOMGroup: &group},
		Pids:   &cgroup2.Pids{Max: limits.PIDs},
	}
	return func(name string, pid int) []step {
		var m *cgroup2.Manager
		return []step{
			{"make", func() (err error) { m, err = cgroup2.NewManager(dir, "/worker-"+name, resources); return err }},
			{"add", func() error { return m.AddProc(uint64(pid)) }},
			{"awake", func() error { return m.Update(&cgroup2.Resources{CPU: &cgroup2.CPU{Weight: &awake}}) }},
			{"usage", func() error {
				_, err := m.StatFiltered(cgroup2.StatCPU | cgroup2.StatMemory | cgroup2.StatMemoryEvents)
				return err
			}},
			{"kill", func() error { return m.Kill() }},
			{"remove", func() error { return m.Delete() }},
		}
	}
}
