package jail

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// must records that an attempt failed with one of the wanted errors, and is an error if it did not.
func (e *entry) must(what string, got error, want ...error) error {
	if !slices.ContainsFunc(want, func(w error) bool { return errors.Is(got, w) }) {
		return fmt.Errorf("%s: got %v, must be %v", what, got, want)
	}
	e.proved("%s: %s", what, unix.ErrnoName(got.(unix.Errno)))
	return nil
}

// proveLandlock tries what the ABI in force denies.
func (e *entry) proveLandlock() error {
	if nnp, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || nnp != 1 {
		return fmt.Errorf("no_new_privs is %d (%v), must be 1", nnp, err)
	}
	if err := errors.Join(
		e.must("open /", open("/", unix.O_RDONLY|unix.O_DIRECTORY), unix.EACCES),
		e.must("open /proc/self/status", open("/proc/self/status", unix.O_RDONLY), unix.EACCES),
		// A worker's root may have no /tmp, or be read-only.
		e.must("create in /tmp", open("/tmp/.sandbox-worker", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL), unix.EACCES, unix.ENOENT, unix.EROFS),
	); err != nil {
		return err
	}
	if e.report.Landlock >= abiNetwork {
		if err := e.proveNetwork(); err != nil {
			return err
		}
	}
	// With its parent outside its pid namespace a process sees 0, which would mean its own group.
	if parent := unix.Getppid(); e.report.Landlock >= abiScopes && parent > 0 {
		return e.must("signal the parent", unix.Kill(parent, 0), unix.EPERM)
	}
	return nil
}

func (e *entry) proveNetwork() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		// A unit's RestrictAddressFamilies, or a kernel without: there is nothing left to deny.
		return e.must("TCP socket", err, unix.EAFNOSUPPORT, unix.EPERM, unix.EACCES)
	}
	defer unix.Close(s)
	local := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	if err := e.must("TCP bind", unix.Bind(s, local), unix.EACCES); err != nil {
		return err
	}
	local.Port = 1
	return e.must("TCP connect", unix.Connect(s, local), unix.EACCES)
}

// proveFilter tries the canary. That all other threads have the filter as well is TSYNC's word, and Check's, from outside.
func (e *entry) proveFilter() error {
	if err := canary(); err != nil {
		return err
	}
	e.proved("getppid: EPERM")
	return nil
}

func canary() error {
	if _, _, errno := unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0); errno != unix.EPERM {
		return fmt.Errorf("getppid on thread %d: got %v, must be EPERM", unix.Gettid(), errno)
	}
	return nil
}

func open(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func dup(fd int) error {
	n, err := unix.Dup(fd)
	if err == nil {
		unix.Close(n)
	}
	return err
}
