package main

import (
	"github.com/sandboxd/sandboxd/internal/cgroup"
	"github.com/sandboxd/sandboxd/internal/nursery"
)

// tree and leaf are internal/cgroup's, as the nursery wants them.
type (
	tree struct{ *cgroup.Tree }
	leaf struct{ *cgroup.Leaf }
)

func open(dir string) (nursery.Tree, error) {
	t, err := cgroup.Open(dir)
	if err != nil {
		return nil, err
	}
	return tree{t}, nil
}

func (t tree) Leaf(name string, memoryBytes, milliCPUs, pids int64) (nursery.Leaf, error) {
	l, err := t.Tree.Leaf(name, cgroup.Limits{MemoryBytes: memoryBytes, MilliCPUs: milliCPUs, PIDs: pids})
	if err != nil {
		return nil, err
	}
	return leaf{l}, nil
}

func (l leaf) Usage() (nursery.Usage, error) {
	u, err := l.Leaf.Usage()
	return nursery.Usage{CPU: u.CPU, PeakMemory: u.PeakMemory, OOMKills: u.OOMKills}, err
}
