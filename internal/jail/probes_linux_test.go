package jail_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A probe is one thing that native code could try in a sealed worker. It ends in SIGSYS; in an
// errno, where the call is allowed but must do nothing; or in "ok", where it is harmless.
type probe struct {
	name string
	want string // "" means SIGSYS
	nr   uintptr
	args []uintptr
	do   func() syscall.Errno // instead of a plain system call
}

// What probes point at. Static, as a uintptr keeps nothing alive.
var (
	buffer  [4096]byte
	root    = [...]byte{'/', 0}
	trueBin = [...]byte{'/', 'b', 'i', 'n', '/', 't', 'r', 'u', 'e', 0}
	argv    [2]uintptr
	timeout unix.Timespec
)

func ptr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func a(args ...uintptr) []uintptr { return args }

const (
	minus1 = ^uintptr(0)
	high   = 1 << 32 // a bit that a check of 32 bits does not see
	page   = 4096

	atFDCWD = ^uintptr(99) // -100
	rw      = unix.PROT_READ | unix.PROT_WRITE
	anon    = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
)

var probes = append([]probe{
	// files
	{name: "openat", nr: unix.SYS_OPENAT, args: a(atFDCWD, ptr(&root), 0, 0)},
	{name: "openat2", nr: unix.SYS_OPENAT2, args: a(atFDCWD, ptr(&root), ptr(&buffer), 24)},
	{name: "open_by_handle_at", nr: unix.SYS_OPEN_BY_HANDLE_AT, args: a(atFDCWD, ptr(&buffer), 0)},
	{name: "newfstatat by statx", nr: unix.SYS_STATX, args: a(atFDCWD, ptr(&root), 0, 0, ptr(&buffer))},
	{name: "memfd_create", nr: unix.SYS_MEMFD_CREATE, args: a(ptr(&root), 0)},
	{name: "memfd_secret", nr: unix.SYS_MEMFD_SECRET},
	{name: "unlinkat", nr: unix.SYS_UNLINKAT, args: a(atFDCWD, ptr(&root), unix.AT_REMOVEDIR)},
	{name: "inotify_init1", nr: unix.SYS_INOTIFY_INIT1},
	{name: "fanotify_init", nr: unix.SYS_FANOTIFY_INIT},
	// sockets
	{name: "socket inet", nr: unix.SYS_SOCKET, args: a(unix.AF_INET, unix.SOCK_STREAM, 0)},
	{name: "socket inet6 udp", nr: unix.SYS_SOCKET, args: a(unix.AF_INET6, unix.SOCK_DGRAM, 0)},
	{name: "socket unix", nr: unix.SYS_SOCKET, args: a(unix.AF_UNIX, unix.SOCK_STREAM, 0)},
	{name: "socket netlink", nr: unix.SYS_SOCKET, args: a(unix.AF_NETLINK, unix.SOCK_RAW, 0)},
	{name: "socketpair", nr: unix.SYS_SOCKETPAIR, args: a(unix.AF_UNIX, unix.SOCK_STREAM, 0, ptr(&buffer))},
	{name: "connect", nr: unix.SYS_CONNECT, args: a(3, ptr(&buffer), 16)},
	{name: "sendto", nr: unix.SYS_SENDTO, args: a(3, ptr(&buffer), 1, 0, 0, 0)},
	{name: "sendmsg", nr: unix.SYS_SENDMSG, args: a(3, ptr(&buffer), 0)},
	{name: "recvmsg", nr: unix.SYS_RECVMSG, args: a(3, ptr(&buffer), 0)},
	{name: "shutdown", nr: unix.SYS_SHUTDOWN, args: a(3, unix.SHUT_WR)},
	{name: "setsockopt", nr: unix.SYS_SETSOCKOPT, args: a(3, unix.SOL_SOCKET, unix.SO_SNDBUF, ptr(&buffer), 4)},
	// execution
	{name: "execve", nr: unix.SYS_EXECVE, args: a(ptr(&trueBin), ptr(&argv), 0)},
	{name: "execveat", nr: unix.SYS_EXECVEAT, args: a(atFDCWD, ptr(&trueBin), ptr(&argv), 0, 0)},
	{name: "clone a process", nr: unix.SYS_CLONE, args: a(uintptr(unix.SIGCHLD), 0, 0, 0, 0)},
	{name: "clone3", nr: unix.SYS_CLONE3, args: a(ptr(&buffer), 64)},
	{name: "unshare", nr: unix.SYS_UNSHARE, args: a(unix.CLONE_NEWUSER)},
	{name: "setns", nr: unix.SYS_SETNS, args: a(3, 0)},
	// other processes
	{name: "ptrace", nr: unix.SYS_PTRACE, args: a(unix.PTRACE_TRACEME, 0, 0, 0)},
	{name: "process_vm_readv", nr: unix.SYS_PROCESS_VM_READV, args: a(1, 0, 0, 0, 0, 0)},
	{name: "process_vm_writev", nr: unix.SYS_PROCESS_VM_WRITEV, args: a(1, 0, 0, 0, 0, 0)},
	{name: "pidfd_open", nr: unix.SYS_PIDFD_OPEN, args: a(1, 0)},
	{name: "pidfd_getfd", nr: unix.SYS_PIDFD_GETFD, args: a(3, 0, 0)},
	{name: "pidfd_send_signal", nr: unix.SYS_PIDFD_SEND_SIGNAL, args: a(3, 0, 0, 0)},
	{name: "kill -1", nr: unix.SYS_KILL, args: a(minus1, 0)},
	{name: "kill the parent", do: func() syscall.Errno { return raw(unix.SYS_KILL, uintptr(parent), 0) }},
	{name: "tkill", nr: unix.SYS_TKILL, args: a(1, 23)},
	{name: "tgkill the parent", do: func() syscall.Errno { return raw(unix.SYS_TGKILL, uintptr(parent), uintptr(parent), 23) }},
	{name: "tgkill itself by SIGTERM", do: func() syscall.Errno { return tgkillSelf(0, 15) }},
	{name: "tgkill itself by signal 0", do: func() syscall.Errno { return tgkillSelf(0, 0) }},
	{name: "tgkill itself, high bit in the pid", do: func() syscall.Errno { return tgkillSelf(high, 23) }},
	{name: "tgkill itself by SIGURG, high bit", do: func() syscall.Errno { return tgkillSelf(0, high|23) }},
	{name: "tgkill itself by SIGURG", want: "ok", do: func() syscall.Errno { return tgkillSelf(0, 23) }},
	{name: "rt_sigqueueinfo", nr: unix.SYS_RT_SIGQUEUEINFO, args: a(1, 15, ptr(&buffer))},
	{name: "rt_tgsigqueueinfo", nr: unix.SYS_RT_TGSIGQUEUEINFO, args: a(1, 1, 15, ptr(&buffer))},
	{name: "kcmp", nr: unix.SYS_KCMP, args: a(1, 1, 0, 0, 0)},
	{name: "process_madvise", nr: unix.SYS_PROCESS_MADVISE, args: a(3, ptr(&buffer), 1, 4, 0)},
	// memory
	{name: "mmap RWX", nr: unix.SYS_MMAP, args: a(0, page, rw|unix.PROT_EXEC, anon, minus1, 0)},
	{name: "mmap RX", nr: unix.SYS_MMAP, args: a(0, page, unix.PROT_READ|unix.PROT_EXEC, anon, minus1, 0)},
	{name: "mmap X", nr: unix.SYS_MMAP, args: a(0, page, unix.PROT_EXEC, anon, minus1, 0)},
	{name: "mmap R", nr: unix.SYS_MMAP, args: a(0, page, unix.PROT_READ, anon, minus1, 0)},
	{name: "mmap RW, high bit", nr: unix.SYS_MMAP, args: a(0, page, high|rw, anon, minus1, 0)},
	{name: "mmap RWX, high bit", nr: unix.SYS_MMAP, args: a(0, page, high|rw|unix.PROT_EXEC, anon, minus1, 0)},
	{name: "mmap of fd 3", nr: unix.SYS_MMAP, args: a(0, page, rw, unix.MAP_PRIVATE, 3, 0)},
	{name: "mmap anonymous with fd 3", nr: unix.SYS_MMAP, args: a(0, page, rw, anon, 3, 0)},
	{name: "mmap shared", nr: unix.SYS_MMAP, args: a(0, page, rw, unix.MAP_SHARED|unix.MAP_ANONYMOUS, minus1, 0)},
	{name: "mmap grows down", nr: unix.SYS_MMAP, args: a(0, page, rw, anon|unix.MAP_GROWSDOWN, minus1, 0)},
	{name: "mmap huge pages", nr: unix.SYS_MMAP, args: a(0, page, rw, anon|unix.MAP_HUGETLB, minus1, 0)},
	{name: "mmap offset", nr: unix.SYS_MMAP, args: a(0, page, rw, anon, minus1, page)},
	{name: "mmap RW", want: "ok", nr: unix.SYS_MMAP, args: a(0, page, rw, anon, minus1, 0)},
	{name: "mmap RW beyond the limit", want: "ENOMEM", nr: unix.SYS_MMAP, args: a(0, 1<<40, rw, anon, minus1, 0)},
	{name: "mprotect R", nr: unix.SYS_MPROTECT, args: a(0, page, unix.PROT_READ)},
	{name: "mprotect RWX", nr: unix.SYS_MPROTECT, args: a(0, page, rw|unix.PROT_EXEC)},
	{name: "pkey_mprotect", nr: unix.SYS_PKEY_MPROTECT, args: a(0, page, unix.PROT_EXEC, minus1)},
	{name: "mremap", nr: unix.SYS_MREMAP, args: a(0, page, page, 0, 0)},
	{name: "remap_file_pages", nr: unix.SYS_REMAP_FILE_PAGES, args: a(0, page, 0, 0, 0)},
	{name: "shmget", nr: unix.SYS_SHMGET, args: a(0, page, 0o1600)},
	{name: "shmat", nr: unix.SYS_SHMAT, args: a(0, 0, 0o100000)},
	{name: "mlock", nr: unix.SYS_MLOCK, args: a(ptr(&buffer), page)},
	{name: "madvise MERGEABLE", nr: unix.SYS_MADVISE, args: a(0, page, unix.MADV_MERGEABLE)},
	{name: "madvise HWPOISON", nr: unix.SYS_MADVISE, args: a(0, page, unix.MADV_HWPOISON)},
	{name: "madvise DONTNEED, high bit", nr: unix.SYS_MADVISE, args: a(0, 0, high|unix.MADV_DONTNEED)},
	{name: "madvise DONTNEED of nothing", want: "ok", nr: unix.SYS_MADVISE, args: a(0, 0, unix.MADV_DONTNEED)},
	{name: "userfaultfd", nr: unix.SYS_USERFAULTFD},
	{name: "mincore", nr: unix.SYS_MINCORE, args: a(0, page, ptr(&buffer))},
	{name: "personality", nr: unix.SYS_PERSONALITY, args: a(0x0400000)},
	// the kernel's surface
	{name: "io_uring_setup", nr: unix.SYS_IO_URING_SETUP, args: a(1, ptr(&buffer))},
	{name: "io_uring_enter", nr: unix.SYS_IO_URING_ENTER, args: a(3, 1, 0, 0, 0, 0)},
	{name: "io_setup", nr: unix.SYS_IO_SETUP, args: a(1, ptr(&buffer))},
	{name: "bpf", nr: unix.SYS_BPF, args: a(0, ptr(&buffer), 64)},
	{name: "perf_event_open", nr: unix.SYS_PERF_EVENT_OPEN, args: a(ptr(&buffer), 0, 0, minus1, 0)},
	{name: "keyctl", nr: unix.SYS_KEYCTL},
	{name: "add_key", nr: unix.SYS_ADD_KEY, args: a(ptr(&root), ptr(&root), 0, 0, 0)},
	{name: "request_key", nr: unix.SYS_REQUEST_KEY, args: a(ptr(&root), ptr(&root), 0, 0)},
	{name: "mount", nr: unix.SYS_MOUNT, args: a(ptr(&root), ptr(&root), 0, unix.MS_BIND, 0)},
	{name: "fsopen", nr: unix.SYS_FSOPEN, args: a(ptr(&root), 0)},
	{name: "chroot", nr: unix.SYS_CHROOT, args: a(ptr(&root))},
	{name: "pivot_root", nr: unix.SYS_PIVOT_ROOT, args: a(ptr(&root), ptr(&root))},
	{name: "reboot", nr: unix.SYS_REBOOT},
	{name: "init_module", nr: unix.SYS_INIT_MODULE},
	{name: "getrandom", nr: unix.SYS_GETRANDOM, args: a(ptr(&buffer), 8, 0)},
	{name: "uname", nr: unix.SYS_UNAME, args: a(ptr(&buffer))},
	{name: "sysinfo", nr: unix.SYS_SYSINFO, args: a(ptr(&buffer))},
	// itself
	{name: "prctl PR_SET_VMA", nr: unix.SYS_PRCTL, args: a(unix.PR_SET_VMA, 0, ptr(&buffer), page, 0)},
	{name: "prctl PR_SET_DUMPABLE", nr: unix.SYS_PRCTL, args: a(unix.PR_SET_DUMPABLE, 1)},
	{name: "seccomp", nr: unix.SYS_SECCOMP, args: a(unix.SECCOMP_GET_ACTION_AVAIL, 0, ptr(&buffer))},
	{name: "landlock_create_ruleset", nr: unix.SYS_LANDLOCK_CREATE_RULESET, args: a(0, 0, 1)},
	{name: "rt_sigaction", nr: unix.SYS_RT_SIGACTION, args: a(31, 0, ptr(&buffer), 8)},
	{name: "rt_sigprocmask block", nr: unix.SYS_RT_SIGPROCMASK, args: a(unix.SIG_BLOCK, 0, ptr(&buffer), 8)},
	{name: "rt_sigprocmask SETMASK, high bit", nr: unix.SYS_RT_SIGPROCMASK, args: a(high|unix.SIG_SETMASK, 0, ptr(&buffer), 8)},
	{name: "prlimit64", nr: unix.SYS_PRLIMIT64, args: a(0, unix.RLIMIT_AS, 0, ptr(&buffer))},
	{name: "setuid", nr: unix.SYS_SETUID, args: a(0)},
	{name: "setresuid", nr: unix.SYS_SETRESUID, args: a(0, 0, 0)},
	{name: "setgroups", nr: unix.SYS_SETGROUPS, args: a(0, 0)},
	{name: "capset", nr: unix.SYS_CAPSET, args: a(ptr(&buffer), 0)},
	{name: "sched_setaffinity", nr: unix.SYS_SCHED_SETAFFINITY, args: a(0, 8, ptr(&buffer))},
	{name: "setpriority", nr: unix.SYS_SETPRIORITY, args: a(0, 0, 19)},
	{name: "exit of a thread", nr: unix.SYS_EXIT},
	{name: "futex requeue", nr: unix.SYS_FUTEX, args: a(ptr(&buffer), 3|128, 0, 0, ptr(&buffer), 0)},
	{name: "futex shared wake", nr: unix.SYS_FUTEX, args: a(ptr(&buffer), 1, 0)},
	{name: "futex wake, high bit", nr: unix.SYS_FUTEX, args: a(ptr(&buffer), high|129, 0)},
	{name: "getppid", want: "EPERM", nr: unix.SYS_GETPPID},
	{name: "getuid", nr: unix.SYS_GETUID},
	{name: "getpid", want: "ok", nr: unix.SYS_GETPID},
	// fds
	{name: "dup", nr: unix.SYS_DUP, args: a(3)},
	{name: "dup3", nr: unix.SYS_DUP3, args: a(3, 1, 0)},
	{name: "fcntl", nr: unix.SYS_FCNTL, args: a(3, unix.F_GETFL)},
	{name: "ioctl", nr: unix.SYS_IOCTL, args: a(3, 0x541b, ptr(&buffer))},
	{name: "close", nr: unix.SYS_CLOSE, args: a(0)},
	{name: "close_range", nr: unix.SYS_CLOSE_RANGE, args: a(0, 2, 0)},
	{name: "pipe2", nr: unix.SYS_PIPE2, args: a(ptr(&buffer), 0)},
	{name: "read stdin", nr: unix.SYS_READ, args: a(0, ptr(&buffer), 1)},
	{name: "read stderr", nr: unix.SYS_READ, args: a(2, ptr(&buffer), 1)},
	{name: "read fd 3, high bit", nr: unix.SYS_READ, args: a(high|3, ptr(&buffer), 0)},
	{name: "read fd 3, nothing", want: "ok", nr: unix.SYS_READ, args: a(3, ptr(&buffer), 0)},
	{name: "read fd 100", nr: unix.SYS_READ, args: a(100, ptr(&buffer), 1)},
	{name: "readv", nr: unix.SYS_READV, args: a(3, ptr(&buffer), 0)},
	{name: "pread64", nr: unix.SYS_PREAD64, args: a(3, ptr(&buffer), 0, 0)},
	{name: "write stdout", nr: unix.SYS_WRITE, args: a(1, ptr(&buffer), 1)},
	{name: "write fd 3, high bit", nr: unix.SYS_WRITE, args: a(high|3, ptr(&buffer), 0)},
	{name: "write fd -1", nr: unix.SYS_WRITE, args: a(minus1, ptr(&buffer), 0)},
	{name: "writev", nr: unix.SYS_WRITEV, args: a(3, ptr(&buffer), 0)},
	{name: "splice", nr: unix.SYS_SPLICE, args: a(3, 0, 2, 0, 1, 0)},
	{name: "sendfile", nr: unix.SYS_SENDFILE, args: a(3, 3, 0, 1)},
	{name: "ppoll", nr: unix.SYS_PPOLL, args: a(0, 0, ptr(&timeout), 0, 0)},
	{name: "epoll_create1", nr: unix.SYS_EPOLL_CREATE1},
	{name: "epoll_ctl", nr: unix.SYS_EPOLL_CTL, args: a(4, unix.EPOLL_CTL_ADD, 3, ptr(&buffer))},
	{name: "epoll_pwait on fd 3", nr: unix.SYS_EPOLL_PWAIT, args: a(3, ptr(&buffer), 1, 0, 0, 8)},
	{name: "eventfd2", nr: unix.SYS_EVENTFD2},
	{name: "timerfd_create", nr: unix.SYS_TIMERFD_CREATE},
	// queues and timers
	{name: "msgget", nr: unix.SYS_MSGGET, args: a(0, 0o1600)},
	{name: "semget", nr: unix.SYS_SEMGET, args: a(0, 1, 0o1600)},
	{name: "mq_open", nr: unix.SYS_MQ_OPEN, args: a(ptr(&root), unix.O_CREAT, 0o600, 0)},
	{name: "timer_create", nr: unix.SYS_TIMER_CREATE, args: a(0, 0, ptr(&buffer))},
	{name: "setitimer", nr: unix.SYS_SETITIMER, args: a(0, ptr(&buffer), 0)},
	{name: "clock_settime", nr: unix.SYS_CLOCK_SETTIME, args: a(0, ptr(&timeout))},
	{name: "clock_gettime of another clock", nr: unix.SYS_CLOCK_GETTIME, args: a(4, ptr(&timeout))},
	{name: "clock_gettime of another process", nr: unix.SYS_CLOCK_GETTIME, args: a(^uintptr(1<<3-1)|2, ptr(&timeout))},
	{name: "clock_nanosleep", nr: unix.SYS_CLOCK_NANOSLEEP, args: a(0, 0, ptr(&timeout), 0)},
	// numbers
	{name: "number -1", nr: minus1},
	{name: "number 100000", nr: 100000},
	{name: "number 4096", nr: 4096},
}, nativeProbes...)

var parent = os.Getppid() // asked for while it still can be

func raw(nr uintptr, args ...uintptr) syscall.Errno {
	var six [6]uintptr
	copy(six[:], args)
	_, _, errno := syscall.RawSyscall6(nr, six[0], six[1], six[2], six[3], six[4], six[5])
	return errno
}

// tgkillSelf signals the calling thread, with bits added to the pid.
func tgkillSelf(bits, signal uintptr) syscall.Errno {
	return raw(unix.SYS_TGKILL, bits|uintptr(os.Getpid()), uintptr(unix.Gettid()), signal)
}

func prepareProbe(name string) {
	argv[0] = ptr(&trueBin)
	prepareNative(name)
}

func probeInside(name string) {
	for _, p := range probes {
		if p.name != name {
			continue
		}
		errno := syscall.Errno(0)
		if p.do != nil {
			errno = p.do()
		} else {
			errno = raw(p.nr, p.args...)
		}
		if errno == 0 {
			say("ok")
		} else {
			say("%s", unix.ErrnoName(errno))
		}
	}
}

func TestProbes(t *testing.T) {
	for _, p := range probes {
		t.Run(strings.ReplaceAll(p.name, " ", "_"), func(t *testing.T) {
			c := start(t, spec, "probe", p.name)
			c.ready(t)
			said, end := c.end(t)
			wantSaid, wantEnd := "", "SIGSYS"
			if p.want != "" {
				wantSaid, wantEnd = p.want+"\n", "exit 0"
			}
			if said != wantSaid || end != wantEnd {
				t.Errorf("said %q, ended with %s; want %q, %s\n%s", said, end, wantSaid, wantEnd, c.stderr.String())
			}
		})
	}
}
