//go:build linux

package attack

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

var kernel = Class{
	Name:  "kernel surface",
	About: "Reach parts of the kernel that have had holes, or that change the machine.",
	Attacks: append([]Attack{
		effect("set up io_uring", "system calls past the filter", setupRing, Seccomp, Rlimits).needs("io_uring for everybody"),
		effect("set up asynchronous I/O", "io_setup", setupAIO, Seccomp).because(
			"its operations need an open descriptor, and the worker has four that have none to offer"),
		effect("count events", "perf_event_open on itself",
			countEvents, Seccomp, Rlimits).needs("kernel.perf_event_paranoid of 2 at the most"),
		effect("keep a key", "add_key, in the keyring of its process", keepKey, Seccomp).needs("keyrings").because(
			"it is a little memory, within a quota of its user, and goes with the process"),

		killed("io_uring_setup", "makes rings", unix.SYS_IO_URING_SETUP, 1, at(&buffer)),
		killed("io_uring_enter", "has its socket's rings worked through", unix.SYS_IO_URING_ENTER, socket, 1, 0, 0, 0, 0),
		killed("io_uring_register", "registers without rings", unix.SYS_IO_URING_REGISTER, minus1, 0, 0, 0),
		killed("io_setup", "makes a ring", unix.SYS_IO_SETUP, 1, at(&buffer)),
		killed("io_submit", "gives work to a ring", unix.SYS_IO_SUBMIT, 0, 0, 0),
		killed("bpf", "makes a map", unix.SYS_BPF, 0, at(&buffer), 64),
		killed("perf_event_open", "counts what it does itself", unix.SYS_PERF_EVENT_OPEN, at(&buffer), 0, 0, minus1, 0),
		killed("keyctl", "asks for a keyring", unix.SYS_KEYCTL, 0, 0, 0, 0, 0),
		killed("add_key", "keeps data in the kernel", unix.SYS_ADD_KEY, at(&root), at(&root), 0, 0, 0),
		killed("request_key", "makes the kernel start a program", unix.SYS_REQUEST_KEY, at(&root), at(&root), 0, 0),
		killed("mount", "binds / over itself", unix.SYS_MOUNT, at(&root), at(&root), 0, unix.MS_BIND, 0),
		killed("umount2", "takes / away", unix.SYS_UMOUNT2, at(&root), unix.MNT_DETACH),
		killed("fsopen", "begins to make a file system", unix.SYS_FSOPEN, at(&root), 0),
		killed("fsmount", "mounts what its socket is", unix.SYS_FSMOUNT, socket, 0, 0),
		killed("fsconfig", "configures what its socket is", unix.SYS_FSCONFIG, socket, 0, 0, 0, 0),
		killed("fspick", "takes / to change it", unix.SYS_FSPICK, cwd, at(&root), 0),
		killed("open_tree", "a copy of all that is mounted", unix.SYS_OPEN_TREE, cwd, at(&root), 1),
		killed("move_mount", "moves / to itself", unix.SYS_MOVE_MOUNT, cwd, at(&root), cwd, at(&root), 0),
		killed("mount_setattr", "changes how / is mounted", unix.SYS_MOUNT_SETATTR, cwd, at(&root), 0, at(&buffer), 32),
		killed("statmount", "asks for a mount", unix.SYS_STATMOUNT, at(&buffer), at(&buffer), 1, 0),
		killed("listmount", "asks for all mounts", unix.SYS_LISTMOUNT, at(&buffer), at(&buffer), 1, 0),
		killed("chroot", "into /", unix.SYS_CHROOT, at(&root)),
		killed("pivot_root", "exchanges / with itself", unix.SYS_PIVOT_ROOT, at(&root), at(&root)),
		killed("swapon", "swaps to /", unix.SYS_SWAPON, at(&root), 0),
		killed("quotactl", "asks for quotas", unix.SYS_QUOTACTL, 0, 0, 0, 0),
		killed("acct", "has all processes recorded", unix.SYS_ACCT, at(&root)),
		killed("reboot", "the machine", unix.SYS_REBOOT, 0, 0, 0, 0),
		killed("kexec_load", "another kernel", unix.SYS_KEXEC_LOAD, 0, 0, 0, 0),
		killed("init_module", "loads code into the kernel", unix.SYS_INIT_MODULE, 0, 0, 0),
		killed("finit_module", "loads code into the kernel, from its socket", unix.SYS_FINIT_MODULE, socket, 0, 0),
		killed("delete_module", "takes code out of the kernel", unix.SYS_DELETE_MODULE, at(&root), 0),
		killed("sethostname", "renames the machine", unix.SYS_SETHOSTNAME, at(&root), 1),
		killed("setdomainname", "renames the machine's domain", unix.SYS_SETDOMAINNAME, at(&root), 1),
		killed("settimeofday", "sets the clock", unix.SYS_SETTIMEOFDAY, at(&buffer), 0),
		killed("clock_settime", "sets the clock, by the newer call", unix.SYS_CLOCK_SETTIME, 0, at(&no)),
		killed("clock_adjtime", "trims a clock", unix.SYS_CLOCK_ADJTIME, 0, at(&buffer)),
		killed("adjtimex", "trims the clock", unix.SYS_ADJTIMEX, at(&buffer)),
		killed("syslog", "reads the kernel's log", unix.SYS_SYSLOG, 3, at(&buffer), page),
		killed("vhangup", "hangs up a terminal", unix.SYS_VHANGUP),
		killed("lsm_list_modules", "asks what guards the machine", unix.SYS_LSM_LIST_MODULES, at(&buffer), at(&aligned), 0),
		killed("uname", "asks for the kernel's version", unix.SYS_UNAME, at(&buffer)),
		killed("sysinfo", "asks how busy the machine is", unix.SYS_SYSINFO, at(&buffer)),
		killed("getrandom", "random bytes", unix.SYS_GETRANDOM, at(&buffer), 8, 0),
		killed("getcpu", "asks which processor it is on", unix.SYS_GETCPU, at(&aligned), 0, 0),
		killed("getrusage", "asks what it has used", unix.SYS_GETRUSAGE, 0, at(&buffer)),
		killed("times", "asks what it has used, by the older call", unix.SYS_TIMES, at(&buffer)),
		killed("cachestat", "asks what other processes have read", unix.SYS_CACHESTAT, socket, at(&buffer), at(&buffer), 0),
		killed("clock_gettime of a thread", "its thread's CPU time", unix.SYS_CLOCK_GETTIME, unix.CLOCK_THREAD_CPUTIME_ID, at(&no)),
		killed("clock_gettime of a raw clock", "a finer one", unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC_RAW, at(&no)),
		killed("clock_gettime of another process", "process 1", unix.SYS_CLOCK_GETTIME, ^uintptr(1<<3-1)|2, at(&no)),
		killed("clock_gettime, a high bit", "CLOCK_REALTIME in 32 bits", unix.SYS_CLOCK_GETTIME, high, at(&no)),
		allowed("clock_gettime", "the monotonic clock", OK, "Go asks so where the vDSO can't tell", unix.SYS_CLOCK_GETTIME, 1, at(&no)),
		killed("clock_getres", "asks how fine a clock is", unix.SYS_CLOCK_GETRES, 1, at(&no)),
		killed("clock_nanosleep", "sleeps by a clock", unix.SYS_CLOCK_NANOSLEEP, 0, 0, at(&no), 0),
		killed("timer_create", "a timer that sends signals", unix.SYS_TIMER_CREATE, 0, 0, at(&buffer)),
		killed("setitimer", "a timer that sends signals", unix.SYS_SETITIMER, 0, at(&buffer), 0),
		killed("timerfd_create", "a timer that is a descriptor", unix.SYS_TIMERFD_CREATE, 0, 0),
	}, nativeKernel...),
}

func setupRing(*Target) error {
	clear(buffer[:])
	if errno := raw(unix.SYS_IO_URING_SETUP, 1, at(&buffer)); errno != 0 {
		return errno
	}
	return nil
}

func setupAIO(*Target) error {
	var context uintptr
	if errno := raw(unix.SYS_IO_SETUP, 1, at(&context)); errno != 0 {
		return errno
	}
	return nil
}

func countEvents(*Target) error {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	_, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	return err
}

func keepKey(*Target) error {
	_, err := unix.AddKey("user", "sandboxd", []byte("kept"), unix.KEY_SPEC_PROCESS_KEYRING)
	return err
}
