package nursery

import (
	"fmt"
	"math"
	"strconv"

	"github.com/sandboxd/sandboxd/internal/cgroup"
)

// leafMemory is what a worker's cgroup allows for a memory limit, which the engine keeps: the heap of a program that is at
// it, and room for what is no program's, the code, the stacks and the garbage that is being collected.
func leafMemory(limit int64) int64 { return limit + limit/4 + leafRoom }

const leafRoom = 24 << 20

// makeLeaf makes the worker's cgroup, if there are any.
func (n *Nursery) makeLeaf(c *child, s Spec) error {
	if n.leaves == nil {
		return nil
	}
	leaf, err := n.leaves.Leaf(strconv.FormatInt(c.id, 10), cgroup.Limits{
		MemoryBytes: leafMemory(s.Jail.MemoryBytes), MilliCPUs: int64(math.Round(s.CPUs * 1000)), PIDs: int64(s.PIDs),
	})
	if err != nil {
		return fmt.Errorf("make the worker's cgroup: %w", err)
	}
	c.leaf = leaf
	return nil
}

// removeLeaf takes the account of a dead worker, and removes its cgroup with all that might be left in it.
func (c *child) removeLeaf() error {
	if c.leaf == nil {
		return nil
	}
	if usage, err := c.leaf.Usage(); err == nil { // a worker that is gone has at least what wait4 told
		c.exit.CPUMicros = max(c.exit.CPUMicros, usage.CPU.Microseconds())
		c.exit.PeakMemory = max(c.exit.PeakMemory, usage.PeakMemory)
		c.exit.OOM = usage.OOMKills > 0
	}
	if err := c.leaf.Kill(); err != nil {
		return err
	}
	return c.leaf.Remove()
}
