package cgroup_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/cgroup"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// limits are wide enough for a test binary, and narrower than any machine.
var limits = cgroup.Limits{MemoryBytes: 128 << 20, MilliCPUs: 1000, PIDs: 200}

// patience guards against a test that hangs, on an emulated machine.
const patience = time.Minute

func delegated(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("SANDBOXD_TEST_CGROUP")
	if dir == "" {
		skip.Because(t, "SANDBOXD_TEST_CGROUP names no delegated cgroup that this process is in: make vm runs it")
	}
	return dir
}

func openTree(t testing.TB) *cgroup.Tree {
	t.Helper()
	tree, err := cgroup.Open(delegated(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	return tree
}

func makeLeaf(t testing.TB, tree *cgroup.Tree, name string, l cgroup.Limits) *cgroup.Leaf {
	t.Helper()
	leaf, err := tree.Leaf(name, l)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

// place starts a process, and adds it to the leaf while it waits at its gate.
func place(t testing.TB, leaf *cgroup.Leaf, role string) *actor {
	t.Helper()
	a := start(t, role)
	if err := leaf.Add(a.pid()); err != nil {
		t.Fatal(err)
	}
	return a
}

func usage(t testing.TB, leaf *cgroup.Leaf) cgroup.Usage {
	t.Helper()
	u, err := leaf.Usage()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// text reads a file of a leaf, by its path: not with the code that is tested.
func text(t testing.TB, leaf, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(delegated(t), "worker-"+leaf, file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// count reads the number of a key.
func count(t testing.TB, leaf, file, key string) int {
	t.Helper()
	for line := range strings.Lines(text(t, leaf, file)) {
		if value, ok := strings.CutPrefix(line, key+" "); ok {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("%s has no %s", file, key)
	return 0
}

func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func TestLeafHasItsLimits(t *testing.T) {
	before := syscall.Umask(0o077) // as the unit has it
	defer syscall.Umask(before)
	tree := openTree(t)
	leaf := makeLeaf(t, tree, "limits", cgroup.Limits{MemoryBytes: 64<<20 + 5, MilliCPUs: 250, PIDs: 20})
	a := place(t, leaf, "hold")
	for file, want := range map[string]string{
		"memory.max": "67108864", "memory.swap.max": "0", "memory.oom.group": "1", "cpu.max": "25000 100000", "pids.max": "20",
		"cpu.weight": "10", "cgroup.procs": strconv.Itoa(a.pid()),
	} {
		if got := text(t, "limits", file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	info, err := os.Stat(filepath.Join(delegated(t), "worker-limits"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v: another user must be able to read the accounts", info.Mode(), err)
	}
	if err := leaf.Check(a.pid()); err != nil {
		t.Error(err)
	}
	if err := leaf.Awake(); err != nil {
		t.Error(err)
	}
	if got := text(t, "limits", "cpu.weight"); got != "100" {
		t.Errorf("awake, its weight is %s", got)
	}
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	tree := openTree(t)
	leaf := makeLeaf(t, tree, "check", limits)
	a := start(t, "hold")
	if err := leaf.Check(a.pid()); err == nil {
		t.Error("a process that was not added passes")
	}
	if err := leaf.Add(a.pid()); err != nil {
		t.Fatal(err)
	}
	if err := leaf.Check(a.pid()); err != nil {
		t.Fatal(err)
	}
	if err := leaf.Check(os.Getpid()); err == nil {
		t.Error("another process passes")
	}
	for file, wrong := range map[string]string{
		"memory.max": "max", "memory.swap.max": "4096", "memory.oom.group": "0", "cpu.max": "max 100000", "pids.max": "201",
	} {
		path := filepath.Join(delegated(t), "worker-check", file)
		right := text(t, "check", file)
		if err := os.WriteFile(path, []byte(wrong), 0); err != nil {
			t.Fatal(err)
		}
		if err := leaf.Check(a.pid()); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s of %q passes: %v", file, wrong, err)
		}
		if err := os.WriteFile(path, []byte(right), 0); err != nil {
			t.Fatal(err)
		}
	}
	place(t, leaf, "hold")
	if err := leaf.Check(a.pid()); err == nil {
		t.Error("company passes")
	}
}

func TestBornInALeaf(t *testing.T) {
	leaf := makeLeaf(t, openTree(t), "born", limits)
	a := bear(t, leaf, "hold")
	if err := leaf.Check(a.pid()); err != nil {
		t.Error(err)
	}
	if err := leaf.Kill(); err != nil {
		t.Error(err)
	}
	a.killed(t)
	if err := leaf.Remove(); err != nil {
		t.Error(err)
	}
	if dir, err := leaf.Dir(); err == nil {
		t.Errorf("%s is still there", dir.Name())
	}
}

// bear starts a process in the leaf.
func bear(t testing.TB, leaf *cgroup.Leaf, role string) *actor {
	t.Helper()
	dir, err := leaf.Dir()
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	return startAs(t, role, &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())})
}

func TestMemoryFlood(t *testing.T) {
	leaf := makeLeaf(t, openTree(t), "flood", limits)
	a := place(t, leaf, "flood")
	a.tell(t)
	if !a.killed(t) {
		t.Fatalf("it ended otherwise: %v", a.command.ProcessState)
	}
	until(t, "its child is dead too", func() bool { return count(t, "flood", "cgroup.events", "populated") == 0 })
	u := usage(t, leaf)
	if u.OOMKills < 1 {
		t.Errorf("the kill is not counted: %+v", u)
	}
	if u.PeakMemory < limits.MemoryBytes*9/10 || u.PeakMemory > limits.MemoryBytes*11/10 {
		t.Errorf("peak %d bytes with a limit of %d", u.PeakMemory, limits.MemoryBytes)
	}
	t.Logf("%+v; memory.events.local: %q", u, text(t, "flood", "memory.events.local"))
	if err := leaf.Remove(); err != nil {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	leaf := makeLeaf(t, openTree(t), "usage", limits)
	a := place(t, leaf, "hold")
	before := usage(t, leaf)
	a.tell(t)
	a.hear(t)
	held := usage(t, leaf)
	if held.Memory < 32<<20 || held.PeakMemory < held.Memory || held.CPU <= before.CPU || held.OOMKills != 0 {
		t.Errorf("before: %+v; with 32 MiB: %+v", before, held)
	}
	a.tell(t)
	a.killed(t)
	after := usage(t, leaf)
	if after.Memory > 16<<20 || after.PeakMemory < 32<<20 || after.CPU < held.CPU {
		t.Errorf("with 32 MiB: %+v; when it has ended: %+v", held, after)
	}
	if err := leaf.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Usage(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("usage of no leaf: %v", err)
	}
}

func TestLimitIsLowered(t *testing.T) {
	tree := openTree(t)
	leaf := makeLeaf(t, tree, "lower", limits)
	for _, wrong := range []int64{0, -1, 4095, limits.MemoryBytes + 4096} {
		if leaf.Limit(wrong) == nil {
			t.Errorf("%d bytes: no error", wrong)
		}
	}
	a := place(t, leaf, "flood")
	if err := leaf.Limit(48<<20 + 1); err != nil {
		t.Fatal(err)
	}
	if err := leaf.Check(a.pid()); err != nil {
		t.Error(err)
	}
	if leaf.Limit(64<<20) == nil {
		t.Error("a limit was raised again")
	}
	a.tell(t)
	if !a.killed(t) {
		t.Fatalf("it ended otherwise: %v", a.command.ProcessState)
	}
	if u := usage(t, leaf); u.OOMKills < 1 || u.PeakMemory > 52<<20 {
		t.Errorf("with a limit of 48 MiB: %+v", u)
	}

	used := makeLeaf(t, tree, "used", limits)
	b := place(t, used, "hold")
	b.tell(t)
	b.hear(t)
	if err := used.Limit(8 << 20); err != nil {
		t.Fatal(err)
	}
	if !b.killed(t) || usage(t, used).OOMKills < 1 {
		t.Errorf("with more memory than its new limit it lives: %v, %+v", b.command.ProcessState, usage(t, used))
	}
}

func TestForksEnd(t *testing.T) {
	leaf := makeLeaf(t, openTree(t), "forks", cgroup.Limits{MemoryBytes: 512 << 20, MilliCPUs: 2000, PIDs: 40})
	a := place(t, leaf, "fork")
	a.tell(t)
	until(t, "a fork was refused", func() bool { return count(t, "forks", "pids.events", "max") > 0 })
	if n, err := strconv.Atoi(text(t, "forks", "pids.current")); err != nil || n < 2 || n > 40 {
		t.Errorf("%d processes and threads, %v", n, err)
	}
	if err := leaf.Kill(); err != nil {
		t.Error(err)
	}
	a.killed(t)
	if err := leaf.Remove(); err != nil {
		t.Error(err)
	}
}

func TestSpinIsThrottled(t *testing.T) {
	leaf := makeLeaf(t, openTree(t), "spin", cgroup.Limits{MemoryBytes: 128 << 20, MilliCPUs: 100, PIDs: 100})
	place(t, leaf, "spin").tell(t)
	until(t, "it was throttled", func() bool { return count(t, "spin", "cpu.stat", "nr_throttled") > 2 })
}

func TestKillEndsAFamily(t *testing.T) {
	leaf := makeLeaf(t, openTree(t), "family", limits)
	a := place(t, leaf, "family")
	a.tell(t)
	until(t, "four processes are in it", func() bool { return len(strings.Fields(text(t, "family", "cgroup.procs"))) == 4 })
	if err := leaf.Kill(); err != nil {
		t.Fatal(err)
	}
	if !a.killed(t) {
		t.Errorf("it ended otherwise: %v", a.command.ProcessState)
	}
	if err := leaf.Remove(); err != nil { // which it can't with the others alive
		t.Error(err)
	}
	for _, err := range []error{leaf.Kill(), leaf.Remove()} {
		if err != nil {
			t.Errorf("a second time: %v", err)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	leaf := makeLeaf(t, openTree(t), "add", limits)
	for _, pid := range []int{0, -1, 1 << 22} {
		if leaf.Add(pid) == nil {
			t.Errorf("process %d: no error", pid)
		}
	}
	if got := text(t, "add", "cgroup.procs"); got != "" {
		t.Errorf("processes %q are in it", got)
	}
}

func TestLeafRefuses(t *testing.T) {
	tree := openTree(t)
	makeLeaf(t, tree, "taken", limits)
	for name, l := range map[string]cgroup.Limits{
		"taken": limits, "": limits, "a/b": limits, "..": limits, "a.b": limits, strings.Repeat("x", 65): limits,
		"zero": {}, "memory": {MemoryBytes: 4095, MilliCPUs: 1000, PIDs: 1}, "cpu": {MemoryBytes: 1 << 20, MilliCPUs: 9, PIDs: 1},
		"pids": {MemoryBytes: 1 << 20, MilliCPUs: 10}, "minus": {MemoryBytes: -1, MilliCPUs: 10, PIDs: 1},
		"kernel": {MemoryBytes: 1 << 20, MilliCPUs: 10, PIDs: 1 << 40}, // refused by the kernel
	} {
		if _, err := tree.Leaf(name, l); err == nil {
			t.Errorf("%q with %+v: no error", name, l)
		}
	}
	if got := leaves(t); !slices.Equal(got, []string{"worker-taken"}) {
		t.Errorf("leaves %q are left", got)
	}
}

func leaves(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(delegated(t), "worker-*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths
}

func TestOpenBuriesWhatWasLeft(t *testing.T) {
	dir := delegated(t)
	crashed, err := cgroup.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := place(t, makeLeaf(t, crashed, "one", limits), "family")
	a.tell(t)
	until(t, "four processes are in it", func() bool { return len(strings.Fields(text(t, "one", "cgroup.procs"))) == 4 })
	makeLeaf(t, crashed, "two", limits)
	crashed.Crash()

	other := filepath.Join(dir, "other") // such as the .control that systemd makes
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	b := start(t, "hold")
	if err := os.WriteFile(filepath.Join(other, "cgroup.procs"), []byte(strconv.Itoa(b.pid())), 0); err != nil {
		t.Fatal(err)
	}

	openTree(t)
	if !a.killed(t) {
		t.Errorf("the leaf's process ended otherwise: %v", a.command.ProcessState)
	}
	if got := leaves(t); len(got) != 0 {
		t.Errorf("leaves %q are left", got)
	}
	b.tell(t)
	b.hear(t) // it lives
	b.tell(t)
	b.killed(t)
	if err := os.Remove(other); err != nil {
		t.Error(err)
	}
}

func TestCloseBuries(t *testing.T) {
	tree, err := cgroup.Open(delegated(t))
	if err != nil {
		t.Fatal(err)
	}
	a := place(t, makeLeaf(t, tree, "close", limits), "hold")
	if err := tree.Close(); err != nil {
		t.Error(err)
	}
	if !a.killed(t) {
		t.Errorf("its process ended otherwise: %v", a.command.ProcessState)
	}
	if got := leaves(t); len(got) != 0 {
		t.Errorf("leaves %q are left", got)
	}
}

func TestOneNurseryOnly(t *testing.T) {
	openTree(t)
	start(t, "hold") // a process of another nursery, for all that Open can see
	_, err := cgroup.Open(delegated(t))
	if !errors.Is(err, cgroup.ErrUnavailable) || !strings.Contains(err.Error(), "another nursery") {
		t.Errorf("a second nursery: %v", err)
	}
}

// inner makes a directory below the delegated one, as if it had been delegated in turn.
func inner(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(delegated(t), "inner")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		openTree(t) // takes this process back
		for _, dir := range []string{filepath.Join(dir, "nursery"), dir} {
			if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
		}
	})
	return dir
}

func TestDirectoryWithOthers(t *testing.T) {
	openTree(t)
	dir := inner(t)
	a := start(t, "hold")
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(a.pid())), 0); err != nil {
		t.Fatal(err)
	}
	_, err := cgroup.Open(dir)
	if !errors.Is(err, cgroup.ErrUnavailable) || !errors.Is(err, unix.EBUSY) || !strings.Contains(err.Error(), strconv.Itoa(a.pid())) {
		t.Errorf("with process %d in it: %v", a.pid(), err)
	}
	_ = a.command.Process.Kill()
	a.killed(t)
	tree, err := cgroup.Open(dir)
	if err != nil {
		t.Fatalf("when it has gone: %v", err)
	}
	if err := tree.Close(); err != nil {
		t.Error(err)
	}
}

func TestMissingControllers(t *testing.T) {
	openTree(t)
	dir := filepath.Join(delegated(t), "nursery", "bare") // the nursery's own cgroup enables none for its children
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir)
	_, err := cgroup.Open(dir)
	if !errors.Is(err, cgroup.ErrUnavailable) || !strings.Contains(err.Error(), "no cpu controller") ||
		!strings.Contains(err.Error(), "Delegate=cpu memory pids") {
		t.Errorf("without controllers: %v", err)
	}
}

func TestNotDelegated(t *testing.T) {
	if os.Geteuid() == 0 {
		skip.Because(t, "root may do everything: make vm runs it as another user")
	}
	_, err := cgroup.Open(filepath.Dir(delegated(t)))
	if !errors.Is(err, cgroup.ErrUnavailable) || !errors.Is(err, unix.EACCES) || !strings.Contains(err.Error(), "delegated") {
		t.Errorf("the directory above: %v", err)
	}
}

// TestDescriptorsAreNotInherited looks at the descriptors below the directory: the tree's own, none of the leaf's, and
// that of cpu.max, which Go's runtime keeps open.
func TestDescriptorsAreNotInherited(t *testing.T) {
	makeLeaf(t, openTree(t), "fds", limits)
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil || !strings.HasPrefix(target, delegated(t)) {
			continue
		}
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("fd %d, %s: flags %#x, %v", fd, target, flags, err)
		}
		if filepath.Base(target) != "cpu.max" {
			open = append(open, target)
		}
	}
	if !slices.Equal(open, []string{delegated(t)}) {
		t.Errorf("%q are open, want the directory alone", open)
	}
}
