package jail

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ForbidExec takes from the whole process, for good, that it can execute anything: no program of this machine, and none that is
// put into its memory. It is for the daemon, which starts nothing where the nursery is a service of its own; what else a
// process may do there, its unit says.
func ForbidExec() error {
	audit, known := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !known {
		return fmt.Errorf("forbid exec: no filter for %s", runtime.GOARCH)
	}
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS // a word of struct seccomp_data
		equals = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K

		numberAt, archAt = 0, 4
		otherABI         = 0x40000000 // x32 numbers begin there; arm64 has none so high
	)
	program := []unix.SockFilter{
		{Code: load, K: archAt},
		{Code: equals, K: audit, Jf: 5},
		{Code: load, K: numberAt},
		{Code: least, K: otherABI, Jt: 3},
		{Code: equals, K: unix.SYS_EXECVE, Jt: 2},
		{Code: equals, K: unix.SYS_EXECVEAT, Jt: 1},
		{Code: answer, K: unix.SECCOMP_RET_ALLOW},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid exec: set no_new_privs: %w", err)
	}
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC|tsyncESRCH, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return fmt.Errorf("forbid exec: seccomp(SECCOMP_SET_MODE_FILTER): %w", errno)
	}
	return proveNoExec()
}

// proveNoExec tries in a way that could not succeed anyway, but would fail with another error.
func proveNoExec() error {
	name := [1]byte{}
	path := uintptr(unsafe.Pointer(&name))
	if _, _, errno := unix.RawSyscall(unix.SYS_EXECVE, path, 0, 0); errno != unix.EPERM {
		return fmt.Errorf("forbid exec: execve got %w, must be EPERM", errno)
	}
	if _, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, math.MaxUint32, path, 0, 0, 0, 0); errno != unix.EPERM {
		return fmt.Errorf("forbid exec: execveat got %w, must be EPERM", errno)
	}
	return nil
}
