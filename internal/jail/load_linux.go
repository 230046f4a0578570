package jail

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filters is how many filters Enter loads.
const filters = 1

// tsyncESRCH makes a failed TSYNC an error. Without it the call returns the id of the thread that
// could not be synchronized, which looks like success (seccomp(2); Linux 5.7).
const tsyncESRCH = 1 << 4

// loadFilter puts the filter on all threads at once, or on none.
func (e *entry) loadFilter() error {
	prog, err := fill(program, e.own)
	if err != nil {
		return err
	}
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	// Raw, so that the runtime does not look for another thread meanwhile.
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC|tsyncESRCH, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return fmt.Errorf("seccomp(SECCOMP_SET_MODE_FILTER): %w", errno)
	}
	e.report.Seccomp = fmt.Sprintf("kill, %d filter, %d system calls", filters, reachable())
	return nil
}

func reachable() int {
	return len(slices.DeleteFunc(rules(), func(r rule) bool { return r.Fails != "" }))
}

// fill puts the numbers of this process into the holes of a program.
func fill(program []unix.SockFilter, own descriptors) ([]unix.SockFilter, error) {
	if len(program) == 0 {
		return nil, fmt.Errorf("no filter for %s", runtime.GOARCH)
	}
	if own.epoll <= fdSocket || own.event <= fdSocket || own.epoll == own.event || own.pid < 1 {
		return nil, fmt.Errorf("not the fds and pid of a worker: %+v", own)
	}
	filled := slices.Clone(program)
	seen := map[uint32]bool{}
	for i := range filled {
		in := &filled[i]
		if in.Code != unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K {
			continue
		}
		hole := in.K
		switch hole {
		case holeEpoll:
			in.K = uint32(own.epoll)
		case holeEvent:
			in.K = uint32(own.event)
		case holePID:
			in.K = uint32(own.pid)
		default:
			continue
		}
		seen[hole] = true
	}
	if len(seen) != 3 {
		return nil, errors.New("the filter lacks a hole")
	}
	return filled, nil
}
