package jail

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dropCapabilities leaves no thread any capability. Threads share nothing here (capabilities(7)), but
// all were cloned from one that had what this one has: where it has none, there is none to drop.
func (e *entry) dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held, none [2]unix.CapUserData // two halves of 32 bits
	if err := unix.Capget(&header, &held[0]); err != nil {
		return fmt.Errorf("capget: %w", err)
	}
	if held == none {
		return nil
	}
	if held[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		if err := dropBounding(); err != nil {
			return err
		}
	}
	// Clears the ambient set as well: it can hold nothing that is not permitted and inheritable.
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	if errno != 0 {
		return fmt.Errorf("capset on all threads (ENOTSUP: built with cgo): %w", errno)
	}
	if err := unix.Capget(&header, &held[0]); err != nil || held != none {
		return fmt.Errorf("capget after capset: %v, %+v are left", err, held)
	}
	return nil
}

// dropBounding empties the bounding set of all threads. No thread can exec anyway, and no_new_privs
// is on: this is the third wall, and costs milliseconds where the set was full. Who starts workers
// as root had better empty its own first; then this finds nothing to do.
func dropBounding() error {
	for c := uintptr(0); ; c++ {
		set, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_READ, c, 0)
		if errno == unix.EINVAL {
			return nil // past the kernel's last capability
		}
		if errno != 0 {
			return fmt.Errorf("read bounding capability %d: %w", c, errno)
		}
		if set == 0 {
			continue
		}
		if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0); errno != 0 {
			return fmt.Errorf("drop bounding capability %d on all threads (ENOTSUP: built with cgo): %w", c, errno)
		}
	}
}

// clearDumpable: no core, no ptrace by the same uid, and /proc/PID belongs to root (proc(5)).
func (e *entry) clearDumpable() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_DUMPABLE): %w", err)
	}
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		return fmt.Errorf("dumpable is %d (%v), must be 0", dumpable, err)
	}
	return nil
}
