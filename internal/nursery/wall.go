package nursery

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// What may be in the root directory of a nursery that is a service of its own (systemd/README.md): some directories that are
// filled, and some that systemd wants to exist, or makes, and that have nothing in them.
var (
	filledDirs = []string{"bin", "cg", "dev", "proc", "run"}
	emptyDirs  = []string{"etc", "home", "root", "sys", "tmp", "usr", "var"}
)

// firstIPC is the ipc namespace that a kernel boots with: PROC_IPC_INIT_INO in linux/proc_ns.h.
const firstIPC = "ipc:[4026531839]"

// proveWall looks whether namespaces that others have made are worth something: one that only differs from the daemon's,
// which has some of its own, may be the host's. Those that are not are taken off the list.
func (l *Layers) proveWall(rootOutside string) {
	for kind, look := range map[string]func() error{
		"mnt": func() error { return lookAtRoot(rootOutside) },
		"net": lookAtNetwork,
		"ipc": lookAtIPC,
	} {
		i := slices.Index(l.Namespaces, kind)
		if i < 0 {
			continue
		}
		if err := look(); err != nil {
			l.Namespaces = slices.Delete(l.Namespaces, i, i+1)
			l.lack(LayerNamespaces, err.Error())
		}
	}
}

// lookAtRoot finds the root directory of a unit: not the daemon's, read-only, and with nothing in it.
func lookAtRoot(outside string) error {
	root, err := rootID()
	if err != nil {
		return err
	}
	if root == outside {
		return fmt.Errorf("the nursery's root directory is the daemon's: its unit must have RootDirectory=")
	}
	var fs unix.Statfs_t
	if err := unix.Statfs("/", &fs); err != nil {
		return fmt.Errorf("look at root: %w", err)
	}
	if fs.Flags&unix.ST_RDONLY == 0 {
		return fmt.Errorf("the nursery's root directory can be written to: its unit must have ProtectSystem=strict")
	}
	entries, err := os.ReadDir("/")
	if err != nil {
		return fmt.Errorf("look at root: %w", err)
	}
	for _, e := range entries {
		if slices.Contains(filledDirs, e.Name()) {
			continue
		}
		if !slices.Contains(emptyDirs, e.Name()) {
			return fmt.Errorf("the nursery's root directory has /%s: it may have %v only", e.Name(), slices.Concat(filledDirs, emptyDirs))
		}
		if inside, err := os.ReadDir("/" + e.Name()); err == nil && len(inside) > 0 { // else it may not even be read
			return fmt.Errorf("the nursery's root directory has /%s/%s: nothing may be there", e.Name(), inside[0].Name())
		}
	}
	return nil
}

// rootID tells one root directory from another.
func rootID() (string, error) {
	var root unix.Stat_t
	if err := unix.Stat("/", &root); err != nil {
		return "", fmt.Errorf("look at root: %w", err)
	}
	return fmt.Sprintf("%d:%d", root.Dev, root.Ino), nil
}

// lookAtNetwork finds no device but the loopback of a new network.
func lookAtNetwork() error {
	devices, err := fields("/proc/self/net/dev", 0)
	if err != nil {
		return err
	}
	devices = slices.DeleteFunc(devices, func(d string) bool { return !strings.HasSuffix(d, ":") }) // the heading
	if !slices.Equal(devices, []string{"lo:"}) {
		return fmt.Errorf("network devices are %v, must be lo", devices)
	}
	return nil
}

func lookAtIPC() error {
	own, err := os.Readlink("/proc/self/ns/ipc")
	if err != nil {
		return fmt.Errorf("tell own namespaces: %w", err)
	}
	if own == firstIPC {
		return fmt.Errorf("the nursery has the host's IPC: its unit must have PrivateIPC=yes")
	}
	return nil
}
