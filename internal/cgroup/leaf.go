package cgroup

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/containerd/cgroups/v3/cgroup2"
	"golang.org/x/sys/unix"
)

const (
	period      = 100_000 // microseconds, the kernel's default; cpu.max is a share of it
	minMilliCPU = 10      // the kernel takes no quota below a millisecond a period

	awakeWeight = 100 // the kernel's default
	birthWeight = 10  // where processors are short, a birth gets a tenth of what a running program gets

	maxName    = 64
	removeWait = 10 * time.Second // an emulated machine needs a hundred times what a real one does
)

// Limits bound all processes of a leaf together. There is no default: each must be set.
type Limits struct {
	MemoryBytes int64 // rounded down to whole pages; what the kernel holds for them counts too. Swap is never used
	MilliCPUs   int64 // 1000 is one processor's time, at least 10
	PIDs        int64 // processes and threads
}

func (l Limits) quota() int64 { return l.MilliCPUs * (period / 1000) }

// wholePages rounds down, as the kernel does with what is written to memory.max.
func wholePages(bytes int64) int64 { return bytes - bytes%int64(os.Getpagesize()) }

// Usage is what a leaf used, by the kernel's account. What its processes used before they were added is not in it.
type Usage struct {
	CPU        time.Duration
	Memory     int64 // bytes, now
	PeakMemory int64 // bytes, at most so far; 0 if the kernel can't tell (before Linux 5.19)
	OOMKills   int64 // processes killed as memory had run out; the kernel may count one twice
}

// Leaf is one worker's cgroup. Kill and Usage may be called at any time, even after Remove; the other methods are for
// one goroutine.
type Leaf struct {
	tree   *Tree
	name   string // its directory below the tree's
	limits Limits
}

// Leaf makes the cgroup of one worker, with all limits in force, and with little weight on the processors until Awake.
// The name is made of letters, digits, '-' and '_', and not taken. The caller must call Remove. All users may read the
// leaf's files. On an error nothing of it is left.
func (t *Tree) Leaf(name string, limits Limits) (*Leaf, error) {
	if !validName(name) {
		return nil, fmt.Errorf("make cgroup for %q: a name has 1 to %d letters, digits, '-' and '_'", name, maxName)
	}
	limits.MemoryBytes = wholePages(limits.MemoryBytes)
	if limits.MemoryBytes <= 0 || limits.MilliCPUs < minMilliCPU || limits.PIDs < 1 {
		return nil, fmt.Errorf("make cgroup for %s: %+v: at least a page of memory, %d thousandths of a processor and a process "+
			"are needed", name, limits, minMilliCPU)
	}
	l := &Leaf{t, prefix + name, limits}
	if err := unix.Mkdirat(t.dir.fd, l.name, 0o755); err != nil { // here, as NewManager takes what is there already
		return nil, fmt.Errorf("make cgroup %s: %w", l.path(), err)
	}
	if err := l.setUp(); err != nil {
		_ = unix.Unlinkat(t.dir.fd, l.name, unix.AT_REMOVEDIR) // nobody is in it
		return nil, fmt.Errorf("make cgroup %s: %w", l.path(), err)
	}
	return l, nil
}

// setUp opens the leaf to readers, and has its limits written.
func (l *Leaf) setUp() error {
	if err := unix.Fchmodat(l.tree.dir.fd, l.name, 0o755, 0); err != nil { // the umask took from the mode
		return fmt.Errorf("make it readable: %w", err)
	}
	// Load and not NewManager, which would turn on the controllers anew for each leaf.
	m, err := cgroup2.Load("/"+l.name, cgroup2.WithMountpoint(l.tree.dir.path))
	if err != nil {
		return err
	}
	return m.Update(l.resources())
}

func (l *Leaf) resources() *cgroup2.Resources {
	var (
		weight, swap, group = uint64(birthWeight), int64(0), true
		quota, each         = l.limits.quota(), uint64(period)
	)
	return &cgroup2.Resources{
		CPU:    &cgroup2.CPU{Weight: &weight, Max: cgroup2.NewCPUMax(&quota, &each)},
		Memory: &cgroup2.Memory{Max: &l.limits.MemoryBytes, Swap: &swap, OOMGroup: &group},
		Pids:   &cgroup2.Pids{Max: l.limits.PIDs},
	}
}

// Add places a process that waits at its gate in the leaf. What it used before stays on its old cgroup's account.
//
// It takes 10 ms where processes are seldom moved, and others can't make, kill or remove cgroups meanwhile: the kernel
// waits for all processors first (synchronize_rcu, since Linux 6.0, if cgroup2 is not mounted with favordynmods). A
// process that is born in the leaf spares that: see Dir.
func (l *Leaf) Add(pid int) error {
	if pid < 1 {
		return fmt.Errorf("add process %d to cgroup %s: no such process", pid, l.path()) // 0 would be this process
	}
	return l.write("cgroup.procs", strconv.Itoa(pid))
}

// Dir opens the leaf's directory, for a process that is born in it (syscall.SysProcAttr.CgroupFD). That takes clone3(2),
// which a service manager's RestrictNamespaces= forbids: ENOSYS. The caller closes it.
func (l *Leaf) Dir() (*os.File, error) {
	fd, err := unix.Openat(l.tree.dir.fd, l.name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open cgroup %s: %w", l.path(), err)
	}
	return os.NewFile(uintptr(fd), l.path()), nil
}

// Check verifies that pid is in the leaf, alone, and that the kernel shows the limits that were asked for.
func (l *Leaf) Check(pid int) error {
	pids, err := l.tree.dir.pids(l.name + "/cgroup.procs")
	if err != nil {
		return err
	}
	if len(pids) != 1 || pids[0] != pid {
		return fmt.Errorf("check cgroup %s: processes %v are in it, must be %d alone", l.path(), pids, pid)
	}
	for _, s := range l.settings() {
		text, err := l.tree.dir.read(l.name + "/" + s.file)
		if err != nil {
			return err
		}
		if text != s.value+"\n" {
			return fmt.Errorf("check cgroup %s: %s is %q, must be %q", l.path(), s.file, text, s.value)
		}
	}
	return nil
}

// setting is a file of a leaf, and what the kernel must show in it.
type setting struct{ file, value string }

func (l *Leaf) settings() []setting {
	return []setting{
		{"memory.max", strconv.FormatInt(l.limits.MemoryBytes, 10)},
		{"memory.swap.max", "0"},
		{"memory.oom.group", "1"},
		{"cpu.max", fmt.Sprintf("%d %d", l.limits.quota(), period)},
		{"pids.max", strconv.FormatInt(l.limits.PIDs, 10)},
	}
}

// Awake gives the leaf its full weight on the processors.
func (l *Leaf) Awake() error { return l.write("cpu.weight", strconv.Itoa(awakeWeight)) }

// Limit lowers the memory limit: a run may want less than its worker was made with. A worker that uses more already is
// killed. A limit is never raised.
func (l *Leaf) Limit(memoryBytes int64) error {
	memoryBytes = wholePages(memoryBytes)
	if memoryBytes <= 0 || memoryBytes > l.limits.MemoryBytes {
		return fmt.Errorf("limit memory of cgroup %s to %d bytes: it must be a page at least, and the %d that it has at most",
			l.path(), memoryBytes, l.limits.MemoryBytes)
	}
	if err := l.write("memory.max", strconv.FormatInt(memoryBytes, 10)); err != nil {
		return err
	}
	l.limits.MemoryBytes = memoryBytes
	return nil
}

// Usage reads the kernel's accounts. They are complete when the leaf's processes are reaped, and gone after Remove.
func (l *Leaf) Usage() (Usage, error) {
	cpu, err := l.field("cpu.stat", "usage_usec")
	if err != nil {
		return Usage{}, err
	}
	u := Usage{CPU: time.Duration(cpu) * time.Microsecond}
	if u.OOMKills, err = l.field("memory.events.local", "oom_kill"); err != nil {
		return Usage{}, err
	}
	if u.Memory, err = l.number("memory.current"); err != nil {
		return Usage{}, err
	}
	if u.PeakMemory, err = l.number("memory.peak"); err != nil && !errors.Is(err, unix.ENOENT) {
		return Usage{}, err
	}
	return u, nil
}

// Kill ends all processes of the leaf, which are still to be reaped. It is no error that there are none, or no leaf.
func (l *Leaf) Kill() error { return l.tree.kill(l.name) }

// Remove removes the leaf, once its processes were reaped. It waits for the last of them to be gone, for 10 seconds at
// most.
func (l *Leaf) Remove() error { return l.tree.remove(l.name, time.Now().Add(removeWait)) }

func (l *Leaf) path() string { return l.tree.dir.join(l.name) }

func (l *Leaf) write(file, value string) error { return l.tree.dir.write(l.name+"/"+file, value) }

func (l *Leaf) number(file string) (int64, error) {
	return l.parse(file, parseNumber)
}

func (l *Leaf) field(file, key string) (int64, error) {
	return l.parse(file, func(text string) (int64, error) { return parseField(text, key) })
}

func (l *Leaf) parse(file string, number func(string) (int64, error)) (int64, error) {
	text, err := l.tree.dir.read(l.name + "/" + file)
	if err != nil {
		return 0, err
	}
	n, err := number(text)
	if err != nil {
		return 0, fmt.Errorf("read %s/%s: %w", l.path(), file, err)
	}
	return n, nil
}
