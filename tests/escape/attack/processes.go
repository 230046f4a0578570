//go:build linux

package attack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// neighbours is why one layer is enough against what workers can do to workers.
const neighbours = "workers share a uid, and the kernel asks for no more; the run that is hit is late or ends, and nothing of it leaks"

var processes = Class{
	Name:  "other processes",
	About: "Kill, stop, read, trace and limit the daemon, the nursery and other workers.",
	Attacks: []Attack{
		effect("kill the daemon", "SIGKILL to a process with the daemon's uid",
			killDaemon, Seccomp, Landlock, Namespaces, UID).fromABI(6),
		effect("read the daemon's command line", "in /proc", readCommandLine, Seccomp, Landlock, Rlimits, Namespaces),
		effect("signal the nursery", "SIGCONT; it could as well be SIGKILL", signalNursery, Seccomp, Landlock, UID).fromABI(6),
		effect("kill another worker", "SIGKILL",
			func(t *Target) error { return unix.Kill(t.Worker, unix.SIGKILL) }, Seccomp, Landlock).fromABI(6),
		effect("kill another worker by queue", "SIGKILL by rt_sigqueueinfo", queueKill, Seccomp, Landlock).fromABI(6),
		effect("kill another worker by pidfd", "SIGKILL by pidfd_send_signal", pidfdKill, Seccomp, Landlock, Rlimits).fromABI(6),
		effect("read another worker's memory", "process_vm_readv", readWorker, Seccomp, Landlock, Dumpable),
		effect("write another worker's memory", "process_vm_writev", writeWorker, Seccomp, Landlock, Dumpable),
		effect("open another worker's memory", "/proc/PID/mem", openWorker, Seccomp, Landlock, Rlimits, Dumpable),
		effect("trace another worker", "ptrace", traceWorker, Seccomp, Landlock, Dumpable),
		effect("take another worker's socket", "pidfd_getfd", takeSocket, Seccomp, Landlock, Rlimits, Dumpable),
		effect("compare with another worker", "kcmp: addresses of kernel objects",
			compareWorker, Seccomp, Landlock, Dumpable).needs("kcmp"),
		effect("limit another worker", "prlimit: no CPU time any more", limitWorker, Seccomp).because(neighbours),
		effect("slow another worker down", "setpriority 19", slowWorker, Seccomp).because(neighbours),
		effect("bind another worker to a processor", "sched_setaffinity", bindWorker, Seccomp).because(neighbours),

		killed("kill the parent", "signal 0", unix.SYS_KILL, parent, 0),
		killed("kill -1", "signal 0 to whoever it may", unix.SYS_KILL, minus1, 0),
		killed("kill its own group", "signal 0", unix.SYS_KILL, 0, 0),
		killed("tkill", "a thread by its number only", unix.SYS_TKILL, 1, 23),
		killed("tgkill the parent", "SIGURG", unix.SYS_TGKILL, parent, parent, 23),
		killed("tgkill pid -1", "SIGURG", unix.SYS_TGKILL, minus1, 1, 23),
		{Name: "tgkill itself by SIGURG", Tries: "as the Go runtime does", Ends: OK,
			Why: "the runtime preempts goroutines with it; it reaches no other process",
			Do:  func(*Target) error { return tgkill(0, 23) }},
		{Name: "tgkill itself by SIGTERM", Tries: "another signal", Ends: Killed, Do: func(*Target) error { return tgkill(0, 15) }},
		{Name: "tgkill itself by signal 0", Tries: "no signal", Ends: Killed, Do: func(*Target) error { return tgkill(0, 0) }},
		{Name: "tgkill itself, a high bit in the pid", Tries: "a pid that is its own in 32 bits", Ends: Killed,
			Do: func(*Target) error { return tgkill(high, 23) }},
		{Name: "tgkill itself, a high bit in the signal", Tries: "a signal that is SIGURG in 32 bits", Ends: Killed,
			Do: func(*Target) error { return tgkill(0, high|23) }},
		killed("rt_sigqueueinfo", "SIGTERM with data", unix.SYS_RT_SIGQUEUEINFO, 1, 15, at(&buffer)),
		killed("rt_tgsigqueueinfo", "SIGTERM with data, to a thread", unix.SYS_RT_TGSIGQUEUEINFO, 1, 1, 15, at(&buffer)),
		killed("ptrace TRACEME", "asks to be traced by the nursery", unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0, 0),
		killed("ptrace ATTACH", "traces the nursery", unix.SYS_PTRACE, unix.PTRACE_ATTACH, parent, 0, 0),
		killed("ptrace SEIZE", "traces the nursery without stopping it", unix.SYS_PTRACE, unix.PTRACE_SEIZE, parent, 0, 0),
		killed("process_vm_readv", "reads process 1", unix.SYS_PROCESS_VM_READV, 1, 0, 0, 0, 0, 0),
		killed("process_vm_writev", "writes process 1", unix.SYS_PROCESS_VM_WRITEV, 1, 0, 0, 0, 0, 0),
		killed("process_madvise", "tells another process's memory to go", unix.SYS_PROCESS_MADVISE, socket, at(&buffer), 1, 4, 0),
		killed("process_mrelease", "frees a dying process's memory", unix.SYS_PROCESS_MRELEASE, socket, 0),
		killed("move_pages", "asks where another process's memory is", unix.SYS_MOVE_PAGES, 1, 0, 0, 0, 0, 0),
		killed("migrate_pages", "moves another process's memory", unix.SYS_MIGRATE_PAGES, 1, 0, 0, 0),
		killed("pidfd_open", "on process 1", unix.SYS_PIDFD_OPEN, 1, 0),
		killed("pidfd_getfd", "takes a descriptor of another process", unix.SYS_PIDFD_GETFD, socket, 0, 0),
		killed("pidfd_send_signal", "to its socket", unix.SYS_PIDFD_SEND_SIGNAL, socket, 0, 0, 0),
		killed("kcmp", "compares kernel objects with process 1", unix.SYS_KCMP, 1, 1, 0, 0, 0),
		killed("wait4", "for anybody", unix.SYS_WAIT4, minus1, 0, unix.WNOHANG, 0),
		killed("waitid", "for anybody", unix.SYS_WAITID, unix.P_ALL, 0, at(&buffer), unix.WNOHANG|unix.WEXITED, 0),
		killed("getpgid", "of the parent", unix.SYS_GETPGID, parent),
		killed("get_robust_list", "of another thread", unix.SYS_GET_ROBUST_LIST, 1, at(&buffer), at(&buffer)),
		killed("prlimit64 of the parent", "reads its limits", unix.SYS_PRLIMIT64, parent, unix.RLIMIT_NOFILE, 0, at(&buffer)),
		killed("sched_setscheduler", "makes another process idle", unix.SYS_SCHED_SETSCHEDULER, 1, 5, at(&buffer)),
		killed("ioprio_set", "of another process", unix.SYS_IOPRIO_SET, 1, 1, 0),
		allowed("getppid", "asks who the nursery is",
			"EPERM", "the canary: its EPERM proves to the worker itself that the filter is on", unix.SYS_GETPPID),
	},
}

// tgkill signals the calling thread, with bits added to the pid.
func tgkill(bits, signal uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if errno := raw(unix.SYS_TGKILL, bits|uintptr(os.Getpid()), uintptr(unix.Gettid()), signal); errno != 0 {
		return errno
	}
	return nil
}

func killDaemon(t *Target) error { return unix.Kill(t.Daemon, unix.SIGKILL) }

func signalNursery(*Target) error { return unix.Kill(int(parent), unix.SIGCONT) }

func readCommandLine(t *Target) error {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/cmdline", t.Daemon), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.Read(fd, buffer[:])
	return err
}

func queueKill(t *Target) error {
	const byQueue = ^uint32(0) // si_code SI_QUEUE, -1: others are the kernel's to claim
	binary.NativeEndian.PutUint32(buffer[8:], byQueue)
	if errno := raw(unix.SYS_RT_SIGQUEUEINFO, uintptr(t.Worker), uintptr(unix.SIGKILL), at(&buffer)); errno != 0 {
		return errno
	}
	return nil
}

func pidfdKill(t *Target) error {
	fd, err := unix.PidfdOpen(t.Worker, 0)
	if err != nil {
		return err
	}
	return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
}

// own is what each worker has in memory for others to find: its pid. It lies at the same address in all of them, which
// are one binary.
var own [8]byte

// Prepare puts that there.
func Prepare() { binary.NativeEndian.PutUint64(own[:], uint64(os.Getpid())) }

// theirs fails unless what was read is the other worker's.
func theirs(t *Target, read []byte) error {
	if got := binary.NativeEndian.Uint64(read); got != uint64(t.Worker) {
		return fmt.Errorf("read %d, not the other worker's %d", got, t.Worker)
	}
	return nil
}

// remote is where own is in the other worker.
func remote() []unix.RemoteIovec { return []unix.RemoteIovec{{Base: at(&own), Len: len(own)}} }

func readWorker(t *Target) error {
	var read [8]byte
	here := []unix.Iovec{{Base: &read[0], Len: uint64(len(read))}}
	if _, err := unix.ProcessVMReadv(t.Worker, here, remote(), 0); err != nil {
		return err
	}
	return theirs(t, read[:])
}

func writeWorker(t *Target) error {
	var zero [8]byte
	here := []unix.Iovec{{Base: &zero[0], Len: uint64(len(zero))}}
	_, err := unix.ProcessVMWritev(t.Worker, here, remote(), 0)
	return err
}

func openWorker(t *Target) error {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/mem", t.Worker), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var read [8]byte
	if _, err := unix.Pread(fd, read[:], int64(at(&own))); err != nil {
		return err
	}
	return theirs(t, read[:])
}

func traceWorker(t *Target) error { return unix.PtraceSeize(t.Worker) }

func takeSocket(t *Target) error {
	fd, err := unix.PidfdOpen(t.Worker, 0)
	if err != nil {
		return err
	}
	_, err = unix.PidfdGetfd(fd, socket, 0)
	return err
}

func compareWorker(t *Target) error {
	const kcmpVM = 1
	order, errno := rawValue(unix.SYS_KCMP, uintptr(os.Getpid()), uintptr(t.Worker), kcmpVM, 0, 0)
	switch {
	case errno != 0:
		return errno
	case order == 0:
		return errors.New("the same memory")
	}
	return nil
}

func limitWorker(t *Target) error {
	return unix.Prlimit(t.Worker, unix.RLIMIT_CPU, &unix.Rlimit{}, nil)
}

func slowWorker(t *Target) error { return unix.Setpriority(unix.PRIO_PROCESS, t.Worker, 19) }

func bindWorker(t *Target) error {
	var one unix.CPUSet
	for cpu := 0; ; cpu++ { // the first that there is
		one.Zero()
		one.Set(cpu)
		if err := unix.SchedSetaffinity(t.Worker, &one); err != unix.EINVAL || cpu > 1000 {
			return err
		}
	}
}

// pointer makes a pointer of an address that no Go object has.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
