//go:build linux

// Package attack is the register of what native code in a worker can try against its jail, its neighbours and the
// machine: each attack with what it tries, how it must end, and the code that does it.
package attack

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Attack is one thing to try. Its end in the whole jail is exact; its effect, if it has one that can be seen, is tried
// with layers switched off as well.
type Attack struct {
	Name  string
	Tries string              // in words
	Ends  string              // in the whole jail: Killed, OK, or the name of an errno; through a daemon: the outcome of the run
	Why   string              // that end is right, if it is not Killed
	Do    func(*Target) error // in the worker; nil: it succeeded
	Only  string              // the one architecture that has it; "": all

	// With an effect only.
	Stops  []Layer // each of them stops it alone; all others together do not
	ABI    int     // of Landlock, from which on that layer does; 0: the oldest
	Needs  string  // of the kernel, and may be missing
	Reason string  // why a single layer is enough
}

// Effect reports whether the attack has an effect that can be seen.
func (a Attack) Effect() bool { return len(a.Stops) > 0 }

// Class is a kind of attack.
type Class struct {
	Name    string
	About   string
	Daemon  bool // they end runs of a real daemon; all others are tried in a worker without one
	Attacks []Attack
}

// How an attack ends that neither an errno nor a run's outcome says.
const (
	Killed = "SIGSYS" // by seccomp
	OK     = "ok"     // allowed on purpose
)

// Done is what a process says on fd 3 when it could do what it tried: a message of internal/wire, and its value.
const Done = `{"type":"done","kind":"ok","size":4}` + "\n" + `"ok"`

// Layer is a part of what confines a worker. The first five are in the worker itself.
type Layer string

const (
	Seccomp      Layer = "seccomp"
	Landlock     Layer = "landlock"
	Rlimits      Layer = "rlimits"
	Dumpable     Layer = "dumpable"     // not dumpable, of this worker and of its neighbours
	Capabilities Layer = "capabilities" // none
	Namespaces   Layer = "namespaces"   // mount, network, ipc and pid, around the nursery
	UID          Layer = "uid"          // workers have another one than the daemon
)

// Inside are the layers of the jail that a worker puts on by itself.
var Inside = []Layer{Seccomp, Landlock, Rlimits, Dumpable, Capabilities}

// Target is what the test has put up to be attacked.
type Target struct {
	Secret   string `json:"secret"`   // what is to be stolen; at most 32 bytes
	Dir      string `json:"dir"`      // a directory in which everybody may do everything
	File     string `json:"file"`     // in it, with the secret, for everybody to read and write
	Program  string `json:"program"`  // in it, to be executed with "ran"
	TCP      int    `json:"tcp"`      // a port of 127.0.0.1 that tells the secret
	UDP      int    `json:"udp"`      // one that waits for it
	Free     int    `json:"free"`     // one that is nobody's
	Unix     string `json:"unix"`     // a socket that tells the secret
	Abstract string `json:"abstract"` // one without a path
	Shared   int    `json:"shared"`   // key of System V shared memory with the secret
	Messages int    `json:"messages"` // key of a System V queue with the secret
	Queue    string `json:"queue"`    // a POSIX queue
	Daemon   int    `json:"daemon"`   // a process with the daemon's uid
	Worker   int    `json:"worker"`   // another worker; by its number in the namespace that it shares with this one
}

// Classes are all of them, in the order in which people are told.
var Classes = []Class{
	files, sockets, processes, execution, memory, kernel, itself, descriptors, queues, numbers, resources, lifetime,
}

// Find finds an attack by its name.
func Find(name string) (Attack, bool) {
	for _, c := range Classes {
		if i := slices.IndexFunc(c.Attacks, func(a Attack) bool { return a.Name == name }); i >= 0 {
			return c.Attacks[i], true
		}
	}
	return Attack{}, false
}

// End is how an attack ended that did not kill its process: by OK, or the name of an errno.
func End(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return OK
	case errors.As(err, &errno):
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

// killed is an attack by one system call, which must be the process's last.
func killed(name, tries string, nr uintptr, args ...uintptr) Attack {
	return Attack{Name: name, Tries: tries, Ends: Killed, Do: call(nr, args...)}
}

// allowed is one system call that the filter lets pass.
func allowed(name, tries, ends, why string, nr uintptr, args ...uintptr) Attack {
	return Attack{Name: name, Tries: tries, Ends: ends, Why: why, Do: call(nr, args...)}
}

// effect is an attack that is judged by what comes of it.
func effect(name, tries string, do func(*Target) error, stops ...Layer) Attack {
	return Attack{Name: name, Tries: tries, Ends: Killed, Do: do, Stops: stops}
}

func (a Attack) fromABI(abi int) Attack       { a.ABI = abi; return a }
func (a Attack) needs(feature string) Attack  { a.Needs = feature; return a }
func (a Attack) because(reason string) Attack { a.Reason = reason; return a }

// here marks attacks that this architecture alone has.
func here(attacks ...Attack) []Attack {
	for i := range attacks {
		attacks[i].Only = runtime.GOARCH
	}
	return attacks
}

// call makes one system call, as machine code would.
func call(nr uintptr, args ...uintptr) func(*Target) error {
	return func(*Target) error {
		if errno := raw(nr, args...); errno != 0 {
			return errno
		}
		return nil
	}
}

func raw(nr uintptr, args ...uintptr) syscall.Errno {
	_, errno := rawValue(nr, args...)
	return errno
}

func rawValue(nr uintptr, args ...uintptr) (uintptr, syscall.Errno) {
	var six [6]uintptr
	copy(six[:], args)
	value, _, errno := syscall.RawSyscall6(nr, six[0], six[1], six[2], six[3], six[4], six[5])
	return value, errno
}

// What arguments point at. Static, as a uintptr keeps nothing alive.
var (
	buffer  [4096]byte
	root    = [...]byte{'/', 0}
	shell   = [...]byte{'/', 'b', 'i', 'n', '/', 's', 'h', 0}
	argv    = [2]uintptr{at(&shell), 0}
	no      unix.Timespec
	aligned uint32
)

func at[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// Arguments.
const (
	minus1 = ^uintptr(0)
	high   = 1 << 32 // a bit that a check of 32 bits does not see
	page   = 4096

	cwd  = ^uintptr(99) // AT_FDCWD, -100
	rw   = unix.PROT_READ | unix.PROT_WRITE
	exec = unix.PROT_EXEC
	anon = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS

	stdin, stdout, stderr = 0, 1, 2
	socket                = 3
)

// parent is asked for while it still can be.
var parent = uintptr(unix.Getppid())
