package nursery

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// enclosedCgroup is where a nursery that made its own root finds its cgroup.
const enclosedCgroup = "/cg"

// enclose gives the nursery, and so each of its workers, a root directory with nothing in it but /proc, and its cgroup
// if it has one. The namespaces are there already: they are made with the process, for all of its threads. Then it
// tries what must be so.
func enclose(cgroup string) error {
	// All before the first change of what paths mean.
	proc, err := mountOf("proc", map[string]string{"subset": "pid"})
	if err != nil {
		return err
	}
	defer unix.Close(proc)
	root, err := mountOf("tmpfs", map[string]string{"mode": "0755", "size": "16k", "nr_inodes": "8"})
	if err != nil {
		return err
	}
	defer unix.Close(root)
	places := []place{{"/proc", proc}}
	if cgroup != "" {
		tree, err := unix.OpenTree(unix.AT_FDCWD, cgroup, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return fmt.Errorf("take along cgroup %s: %w", cgroup, err)
		}
		defer unix.Close(tree)
		places = append(places, place{enclosedCgroup, tree})
	}
	if err := pivot(root, places); err != nil {
		return err
	}
	return proveEnclosed(places)
}

// place is a mount, and where it goes.
type place struct {
	path  string
	mount int
}

// mountOf makes a file system that nothing can be executed from, and that is nowhere yet.
func mountOf(kind string, options map[string]string) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("make a %s: %w", kind, err)
	}
	defer unix.Close(fs)
	for key, value := range options {
		if err := unix.FsconfigSetString(fs, key, value); err != nil {
			return -1, fmt.Errorf("make a %s with %s=%s: %w", kind, key, value, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("make a %s: %w", kind, err)
	}
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		// A container that hides parts of its /proc has no right to a new one that would show them.
		return -1, fmt.Errorf("mount a %s: %w", kind, err)
	}
	return mount, nil
}

// pivot makes root the root directory, with the other mounts in it, and lets go of the old one.
func pivot(root int, places []place) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to itself: %w", err)
	}
	// Any directory will do to be covered for a moment. This one exists, or no worker could be executed.
	if err := unix.MoveMount(root, "", unix.AT_FDCWD, "/proc", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount root: %w", err)
	}
	for _, p := range places {
		name := strings.TrimPrefix(p.path, "/")
		if err := unix.Mkdirat(root, name, 0o555); err != nil {
			return fmt.Errorf("make %s: %w", p.path, err)
		}
		if err := unix.MoveMount(p.mount, "", root, name, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("mount %s: %w", p.path, err)
		}
	}
	if err := unix.Fchdir(root); err != nil {
		return fmt.Errorf("go to root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil { // pivot_root(2) has this form: the old root is on top of the new one now
		return fmt.Errorf("change root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("go to the new root: %w", err)
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make root read-only: %w", err)
	}
	return nil
}

// proveEnclosed looks whether the file system, the network and the processes are what they should be.
func proveEnclosed(places []place) error {
	want := []string{"/"}
	for _, p := range places {
		want = append(want, p.path)
	}
	mounts, err := fields("/proc/self/mountinfo", 4)
	if err != nil {
		return err
	}
	slices.Sort(want)
	if slices.Sort(mounts); !slices.Equal(mounts, want) {
		return fmt.Errorf("mounts are %v, must be %v", mounts, want)
	}
	entries, err := os.ReadDir("/")
	if err != nil {
		return fmt.Errorf("list root: %w", err)
	}
	if len(entries) != len(places) {
		return fmt.Errorf("root has %d entries, must have %d", len(entries), len(places))
	}
	if err := os.WriteFile("/x", nil, 0o600); !errors.Is(err, unix.EROFS) {
		return fmt.Errorf("write to root: got %v, must be EROFS", err)
	}
	if err := lookAtNetwork(); err != nil {
		return err
	}
	if pid := os.Getpid(); pid != 1 {
		return fmt.Errorf("pid is %d, must be 1", pid)
	}
	return nil
}

// fields returns the field of that number of each line of a file in /proc.
func fields(path string, number int) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) > number {
			all = append(all, string(f[number]))
		}
	}
	return all, nil
}

// kinds are the namespaces that workers may have of their own, by their names in /proc/PID/ns. Their users are who needs
// them: the mount namespace goes with a root of its own, the pid namespace with a /proc of its own.
var kinds = []string{"ipc", "mnt", "net", "pid", "user"}

// ownNamespaces tells the identities of this process's namespaces.
func ownNamespaces() (map[string]string, error) {
	ids := make(map[string]string)
	for _, kind := range kinds {
		id, err := os.Readlink("/proc/self/ns/" + kind)
		if err != nil {
			return nil, fmt.Errorf("tell own namespaces: %w", err)
		}
		ids[kind] = id
	}
	return ids, nil
}

// differing lists the kinds that are others here than there, outside.
func differing(outside map[string]string) ([]string, error) {
	own, err := ownNamespaces()
	if err != nil {
		return nil, err
	}
	different := []string{}
	for _, kind := range kinds {
		if outside[kind] != "" && outside[kind] != own[kind] {
			different = append(different, kind)
		}
	}
	return different, nil
}

// needed are the capabilities of a nursery that is root: to make workers another user's, and to kill them then.
const needed = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID | 1<<unix.CAP_KILL

// giveUp leaves the nursery, on each of its threads, no privilege that it does not need any more, and none to gain by
// executing something. Nobody with its uid can look into it.
func giveUp() error {
	for c := uintptr(0); ; c++ {
		set, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_READ, c, 0)
		if errno == unix.EINVAL {
			break // past the kernel's last capability
		}
		if errno != 0 {
			return fmt.Errorf("read bounding capability %d: %w", c, errno)
		}
		if set == 0 {
			continue
		}
		// EPERM is for who has no capabilities to lose.
		if err := onAllThreads(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c); err != nil && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("drop bounding capability %d: %w", c, err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held [2]unix.CapUserData // two halves of 32 bits
	if err := unix.Capget(&header, &held[0]); err != nil {
		return fmt.Errorf("capget: %w", err)
	}
	var keep uint32
	if os.Geteuid() == 0 {
		keep = needed & held[0].Permitted
	}
	left := [2]unix.CapUserData{{Effective: keep, Permitted: keep}}
	if held != left { // the unit's filter has no capset(2): there it has none to drop
		if err := onAllThreads(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&left[0]))); err != nil {
			return fmt.Errorf("drop capabilities: %w", err)
		}
	}
	if err := onAllThreads(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("clear dumpable: %w", err)
	}
	if err := unix.Capget(&header, &held[0]); err != nil || held != left {
		return fmt.Errorf("capabilities are %+v (%v), must be %+v", held, err, left)
	}
	return nil
}

//go:uintptrescapes
func onAllThreads(call, first, second uintptr) error {
	switch _, _, errno := syscall.AllThreadsSyscall(call, first, second, 0); errno {
	case 0:
		return nil
	case unix.ENOTSUP:
		return fmt.Errorf("%w: this binary was built with cgo; build it with CGO_ENABLED=0, as make build does", errno)
	default:
		return errno
	}
}
