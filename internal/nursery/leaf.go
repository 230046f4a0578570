package nursery

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"time"
)

// A Tree is a cgroup that was delegated to the nursery; internal/cgroup has it. The daemon, which links this package, does
// without what comes with that one.
type Tree interface {
	Leaf(name string, memoryBytes, milliCPUs, pids int64) (Leaf, error)
	Close() error
}

// A Leaf is the cgroup of one worker.
type Leaf interface {
	Dir() (*os.File, error)        // for a worker that is born there
	Add(pid int) error             // one that was not, and waits at its gate
	Check(pid int) error           // that it is there, alone, and that the kernel has the limits
	Awake() error                  // full weight on the processors
	Limit(memoryBytes int64) error // lowers
	Usage() (Usage, error)
	Kill() error
	Remove() error // once all that was in it was reaped
}

// Usage is what a leaf has used.
type Usage struct {
	CPU        time.Duration
	PeakMemory int64 // bytes
	OOMKills   int64
}

// leafMemory is what a worker's cgroup allows for a memory limit, which the engine keeps: the heap of a program that is at
// it, and room for what is no program's, the code, the stacks and the garbage that is being collected.
func leafMemory(limit int64) int64 { return limit + limit/4 + leafRoom }

const leafRoom = 24 << 20

// makeLeaf makes the worker's cgroup, if there are any.
func (n *Nursery) makeLeaf(c *child, s Spec) error {
	if n.tree == nil {
		return nil
	}
	leaf, err := n.tree.Leaf(strconv.FormatInt(c.id, 10), leafMemory(s.Jail.MemoryBytes), int64(math.Round(s.CPUs*1000)), int64(s.PIDs))
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
