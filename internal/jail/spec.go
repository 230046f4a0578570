// Package jail confines a worker process, and proves it.
//
// A worker's main must start with //go:debug decoratemappings=0 (else newer kernels are asked for
// prctl(PR_SET_VMA), which kills), be built with CGO_ENABLED=0 (cgo's threads are out of Go's reach),
// and call, in this order:
//
//	jail.CloseOthers()     // first thing in main
//	runtime.GOMAXPROCS(1)  // before anything is warmed
//	…                      // read the Spec from fd 3, warm the engine
//	jail.Enter(spec)       // on an error: exit
//	…                      // write READY and the Report to fd 3, with syscall.Write
//
// Afterwards the process may use the system calls of Spec.String and no others: fd 3 is read and
// written with syscall.Read and syscall.Write, nothing can be opened, and no thread can be started.
package jail

import (
	"errors"
	"fmt"
	"strings"
)

// Spec is what confines a worker. It is a value: it prints, compares and marshals. Its zero value is
// refused; what is no field of it is no choice, but the same for every worker.
type Spec struct {
	LandlockABI int   `json:"landlock_abi"` // least Landlock ABI of the kernel that will do, from 1
	MemoryBytes int64 `json:"memory_bytes"` // memory limit of the run; RLIMIT_AS stands at 3 times that above the size at entry
	CPUSeconds  int64 `json:"cpu_seconds"`  // RLIMIT_CPU: the kernel's own wall behind the engine's watchdog
}

const (
	minMemory = 8 << 20 // below it Go can't start a garbage collection
	maxMemory = 1 << 40 // keeps 3 times that, and an address space, within 63 bits
	maxCPU    = 7 * 24 * 60 * 60
	asFactor  = 3 // Go reserves address space well ahead of use
)

// Validate says what is wrong with s: each thing that is, in one error.
func (s Spec) Validate() error {
	var errs []error
	if s.LandlockABI < 1 {
		errs = append(errs, fmt.Errorf("landlock_abi %d: must be at least 1, a jail needs Landlock", s.LandlockABI))
	}
	if s.MemoryBytes < minMemory || s.MemoryBytes > maxMemory {
		errs = append(errs, fmt.Errorf("memory_bytes %d: must be %d to %d", s.MemoryBytes, minMemory, maxMemory))
	}
	if s.CPUSeconds < 1 || s.CPUSeconds > maxCPU {
		errs = append(errs, fmt.Errorf("cpu_seconds %d: must be 1 to %d", s.CPUSeconds, maxCPU))
	}
	return errors.Join(errs...)
}

// String prints everything that s enforces, for people to read and for diffs.
func (s Spec) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "threads       started before; none can be started after\n")
	fmt.Fprintf(&b, "fds           0-3 and the Go runtime's own epoll and eventfd; any other is an error\n")
	fmt.Fprintf(&b, "memory        %d bytes: address space up to %d bytes above the size at entry\n", s.MemoryBytes, asFactor*s.MemoryBytes)
	fmt.Fprintf(&b, "cpu           %d s, killed at %d s\n", s.CPUSeconds, s.CPUSeconds+1)
	fmt.Fprintf(&b, "rlimits       0 for: %s\n", strings.Join(zeroLimits, ", "))
	fmt.Fprintf(&b, "capabilities  none: inheritable, permitted, effective, ambient; bounding where it can be dropped\n")
	fmt.Fprintf(&b, "process       no_new_privs on every thread; not dumpable\n")
	fmt.Fprintf(&b, "landlock      ABI %d or newer; all that the kernel's own ABI can deny is denied\n", s.LandlockABI)
	fmt.Fprintf(&b, "seccomp       kill the process, but for these; arguments are compared on all 64 bits\n")
	for _, r := range rules() {
		fmt.Fprintf(&b, "  %s\n", r)
	}
	return b.String()
}
