// Package cgroup holds each worker in a cgroup v2 leaf of its own, below a directory that was delegated to the nursery.
//
// A new leaf's limits are written by github.com/containerd/cgroups/v3. What must be cheap, bounded or proved is plain files
// (kernel, Documentation/admin-guide/cgroup-v2.rst), below one descriptor that workers don't inherit; docs/dependencies.md
// compares. What a worker of the same user could do with these files is not closed here but by its jail, which lets it
// open none.
package cgroup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrUnavailable says that this host, or what it delegated to this process, can't hold workers. The text around it says
// why, and what would help.
var ErrUnavailable = errors.New("cgroup v2 is unavailable")

const (
	nursery = "nursery" // the child that this process lives in, as a directory with controllers may hold none itself
	prefix  = "worker-" // of leaves: no other cgroup is ever killed, whatever directory somebody configured

	maxLeaves = 1 << 14 // that a predecessor can have left
	// An emulated machine needs a hundred times what a real one does.
	aloneWait = 5 * time.Second
	buryWait  = 10 * time.Second
)

// controllers are what a leaf needs, as subtree_control wants them.
var controllers = []string{"cpu", "memory", "pids"}

// Tree is a delegated directory. Its methods may be called concurrently, but not during or after Close.
type Tree struct{ dir directory }

// Open takes over the delegated directory dir, an absolute path: it moves this process to dir/nursery, from wherever it
// is, turns on the controllers for its children, and kills and removes the leaves that a crashed predecessor left.
// Other children of dir are left alone. It takes milliseconds, or seconds if there is much to bury.
//
// It fails with ErrUnavailable where dir is not cgroup v2, lacks a controller, cgroup.kill (Linux 5.14) or
// memory.swap.max, was not delegated to this user, or holds other processes; and with other errors where leaves can't be
// buried. This process may be in dir/nursery then.
func Open(dir string) (*Tree, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("take over cgroup %q: the path must be absolute", dir)
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("take over cgroup %s: %w: open it: %w", dir, ErrUnavailable, err)
	}
	t := &Tree{directory{filepath.Clean(dir), fd}}
	for _, step := range []func() error{t.inspect, t.enter, t.alone, t.enable, t.probe, t.bury} {
		if err := step(); err != nil {
			unix.Close(fd)
			return nil, fmt.Errorf("take over cgroup %s: %w", dir, err)
		}
	}
	return t, nil
}

// Close kills and removes the leaves that are left, and gives the directory back. This process stays in dir/nursery. An
// error tells of leaves that could not be removed.
func (t *Tree) Close() error {
	err := t.bury()
	unix.Close(t.dir.fd)
	return err
}

// inspect looks whether the directory is what it should be, before anything is changed.
func (t *Tree) inspect() error {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(t.dir.fd, &fs); err != nil || fs.Type != unix.CGROUP2_SUPER_MAGIC {
		return unavailable("it is not in a cgroup v2 file system (%v)", err)
	}
	text, err := t.dir.read("cgroup.controllers")
	if err != nil {
		return err
	}
	have := strings.Fields(text)
	for _, c := range controllers {
		if !slices.Contains(have, c) {
			return unavailable("it has no %s controller, only %q: the unit that it belongs to needs Delegate=%s, and the host "+
				"must not use that controller with cgroup v1", c, have, strings.Join(controllers, " "))
		}
	}
	return nil
}

// enter makes the nursery's own cgroup, and moves this process there with all its threads.
func (t *Tree) enter() error {
	if err := unix.Mkdirat(t.dir.fd, nursery, 0o755); err != nil && err != unix.EEXIST {
		return unavailable("make %s in it: %w: %s", nursery, err, howDelegated())
	}
	if err := t.dir.write(nursery+"/cgroup.procs", "0"); err != nil { // 0 is the process that writes
		return unavailable("move this process: %w: %s", err, howDelegated())
	}
	return nil
}

func howDelegated() string {
	return fmt.Sprintf("it must be delegated to user %d and not be read-only, and this process started in it, as by Delegate= in a unit",
		os.Geteuid())
}

// alone waits until nobody but this process is in the nursery's cgroup. Newborns of a crashed nursery die with it. A
// nursery that lives sees this one coming, or this one sees that: two never own a directory.
func (t *Tree) alone() error {
	for deadline := time.Now().Add(aloneWait); ; time.Sleep(10 * time.Millisecond) {
		pids, err := t.dir.pids(nursery + "/cgroup.procs")
		switch {
		case err != nil:
			return err
		case slices.Equal(pids, []int{os.Getpid()}):
			return nil
		case time.Now().After(deadline):
			return unavailable("processes %v live in %s, of which this one is %d: does another nursery own the directory?",
				pids, nursery, os.Getpid())
		}
	}
}

// enable turns on the controllers for the children.
func (t *Tree) enable() error {
	err := t.dir.write("cgroup.subtree_control", "+"+strings.Join(controllers, " +"))
	if errors.Is(err, unix.EBUSY) {
		pids, _ := t.dir.pids("cgroup.procs") // only to say who
		return unavailable("%w: processes %v live in the directory itself; it must be this process's alone", err, pids)
	}
	if err != nil {
		return unavailable("%w: %s", err, howDelegated())
	}
	return nil
}

// probe looks for what a leaf needs of the kernel and may not have.
func (t *Tree) probe() error {
	for _, need := range []struct{ file, of string }{
		{"cgroup.kill", "Linux 5.14"},
		{"memory.swap.max", "a kernel that has swap (CONFIG_SWAP) and accounts it (no swapaccount=0)"}, // else a worker could fill it
	} {
		if has, err := t.dir.has(nursery + "/" + need.file); err != nil || !has {
			return unavailable("there is no %s (%v): it takes %s", need.file, err, need.of)
		}
	}
	return nil
}

// bury kills all leaves, and then removes them.
func (t *Tree) bury() error {
	names, err := t.leaves()
	if err != nil {
		return err
	}
	var failed []error
	for _, name := range names {
		failed = append(failed, t.kill(name))
	}
	deadline := time.Now().Add(buryWait)
	for _, name := range names {
		failed = append(failed, t.remove(name, deadline))
	}
	return errors.Join(failed...)
}

func (t *Tree) leaves() ([]string, error) {
	fd, err := unix.Openat(t.dir.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("list leaves: %w", err)
	}
	listing := os.NewFile(uintptr(fd), t.dir.path)
	defer listing.Close()
	names, err := listing.Readdirnames(maxLeaves)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("list leaves: %w", err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) }), nil
}

// kill sends SIGKILL to all in a leaf, and to what they fork meanwhile. One that is gone has none.
func (t *Tree) kill(name string) error {
	err := t.dir.write(name+"/cgroup.kill", "1")
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

// remove waits for the last process to leave a leaf, and removes it. One that is gone is removed.
func (t *Tree) remove(name string, deadline time.Time) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 32*time.Millisecond) {
		err := unix.Unlinkat(t.dir.fd, name, unix.AT_REMOVEDIR)
		switch {
		case err == nil || err == unix.ENOENT:
			return nil
		case err != unix.EBUSY:
			return fmt.Errorf("remove cgroup %s: %w", t.dir.join(name), err)
		case time.Now().After(deadline):
			pids, _ := t.dir.pids(name + "/cgroup.procs") // only to say who
			return fmt.Errorf("remove cgroup %s: %w: processes %v do not end", t.dir.join(name), err, pids)
		}
		time.Sleep(pause)
	}
}

func unavailable(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnavailable, fmt.Errorf(format, args...))
}
