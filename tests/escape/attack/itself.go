//go:build linux

package attack

import (
	"golang.org/x/sys/unix"
)

var itself = Class{
	Name:  "self-modification",
	About: "Undo the jail, or change what the process is.",
	Attacks: []Attack{
		effect("raise its limits", "to open descriptors again", raiseLimits, Seccomp, Rlimits),
		effect("become dumpable", "so that a neighbour may trace it", becomeDumpable, Seccomp).because(
			"it gives itself away, and nobody else"),
		effect("ignore signals", "rt_sigaction", ignoreSignals, Seccomp).because(
			"workers are ended by SIGKILL, which can't be ignored"),

		killed("prctl PR_SET_VMA", "names memory, as newer Go runtimes do", unix.SYS_PRCTL, unix.PR_SET_VMA, 0, at(&buffer), page, 0),
		killed("prctl PR_SET_DUMPABLE", "lets others look into it", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1, 0, 0, 0),
		killed("prctl PR_SET_PDEATHSIG", "to outlive the nursery", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0, 0, 0, 0),
		killed("prctl PR_SET_NAME", "calls itself otherwise", unix.SYS_PRCTL, unix.PR_SET_NAME, at(&root), 0, 0, 0),
		killed("prctl PR_SET_SECCOMP", "strict mode, which allows writes to any descriptor",
			unix.SYS_PRCTL, unix.PR_SET_SECCOMP, 1, 0, 0, 0),
		killed("prctl PR_SET_NO_NEW_PRIVS", "to 0", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0),
		killed("prctl PR_CAP_AMBIENT", "keeps CAP_SYS_ADMIN for what it executes",
			unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, 21, 0, 0),
		killed("prctl PR_SET_PTRACER", "lets anybody trace it", unix.SYS_PRCTL, unix.PR_SET_PTRACER, minus1, 0, 0, 0),
		killed("prctl PR_SET_MM", "changes what /proc says of it", unix.SYS_PRCTL, unix.PR_SET_MM, 1, 0, 0, 0),
		killed("prctl PR_SET_TIMERSLACK", "sharper timers", unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 1, 0, 0, 0),
		killed("prctl PR_SET_CHILD_SUBREAPER", "becomes the parent of orphans", unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0),
		killed("prctl PR_SET_SPECULATION_CTRL", "switches a mitigation off", unix.SYS_PRCTL, unix.PR_SET_SPECULATION_CTRL, 0, 2, 0, 0),
		killed("seccomp strict", "another mode, with other calls", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_STRICT, 0, 0),
		killed("seccomp filter", "one more, with a listener", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 8, at(&buffer)),
		killed("seccomp, asked for only", "asks what the kernel's seccomp can do",
			unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, at(&buffer)),
		killed("landlock_create_ruleset", "asks for the ABI", unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1),
		killed("landlock_restrict_self", "by a ruleset that is its socket", unix.SYS_LANDLOCK_RESTRICT_SELF, socket, 0),
		killed("rt_sigaction", "a handler for SIGSYS", unix.SYS_RT_SIGACTION, 31, 0, at(&buffer), 8),
		killed("rt_sigprocmask BLOCK", "blocks signals, other than by setting all",
			unix.SYS_RT_SIGPROCMASK, unix.SIG_BLOCK, 0, at(&buffer), 8),
		killed("rt_sigprocmask SETMASK, a high bit", "SETMASK in 32 bits",
			unix.SYS_RT_SIGPROCMASK, high|unix.SIG_SETMASK, 0, at(&buffer), 8),
		allowed("rt_sigprocmask SETMASK", "asks for its mask",
			OK, "the Go runtime sets masks so; SIGKILL, with which workers are ended, has none",
			unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, 0, at(&buffer), 8),
		killed("rt_sigsuspend", "waits for a signal", unix.SYS_RT_SIGSUSPEND, at(&buffer), 8),
		killed("rt_sigtimedwait", "takes a signal", unix.SYS_RT_SIGTIMEDWAIT, at(&buffer), 0, at(&no), 8),
		allowed("sigaltstack", "asks where its signal stack is",
			OK, "the Go runtime sets one for each thread", unix.SYS_SIGALTSTACK, 0, at(&buffer)),
		killed("prlimit64", "reads a limit", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_AS, 0, at(&buffer)),
		killed("setrlimit", "sets a limit, by the older call", unix.SYS_SETRLIMIT, unix.RLIMIT_AS, at(&buffer)),
		killed("setuid", "0", unix.SYS_SETUID, 0),
		killed("setgid", "0", unix.SYS_SETGID, 0),
		killed("setresuid", "0", unix.SYS_SETRESUID, 0, 0, 0),
		killed("setresgid", "0", unix.SYS_SETRESGID, 0, 0, 0),
		killed("setfsuid", "0", unix.SYS_SETFSUID, 0),
		killed("setgroups", "drops its groups", unix.SYS_SETGROUPS, 0, 0),
		killed("getuid", "asks who it is", unix.SYS_GETUID),
		killed("capset", "gives itself capabilities", unix.SYS_CAPSET, at(&buffer), 0),
		killed("capget", "asks for its capabilities", unix.SYS_CAPGET, at(&buffer), 0),
		killed("setsid", "a session of its own", unix.SYS_SETSID),
		killed("setpgid", "a group of its own", unix.SYS_SETPGID, 0, 0),
		killed("setpriority", "goes before other processes", unix.SYS_SETPRIORITY, 0, 0, minus1),
		killed("sched_setaffinity", "binds itself to processors", unix.SYS_SCHED_SETAFFINITY, 0, 8, at(&buffer)),
		killed("sched_getaffinity", "asks how many processors there are", unix.SYS_SCHED_GETAFFINITY, 0, 8, at(&buffer)),
		killed("sched_setattr", "real time", unix.SYS_SCHED_SETATTR, 0, at(&buffer), 0),
		killed("sched_setparam", "a priority", unix.SYS_SCHED_SETPARAM, 0, at(&buffer)),
		killed("ioprio_set of itself", "real time", unix.SYS_IOPRIO_SET, 1, 0, 1<<13),
		killed("set_tid_address", "has the kernel write to its memory", unix.SYS_SET_TID_ADDRESS, at(&aligned)),
		killed("set_robust_list", "has the kernel walk its memory", unix.SYS_SET_ROBUST_LIST, at(&buffer), 24),
		killed("exit of a thread", "the others go on", unix.SYS_EXIT, 0),
		allowed("getpid", "asks for its pid", OK, "the Go runtime needs it to signal itself", unix.SYS_GETPID),
		allowed("gettid", "asks for its thread's number", OK, "the same", unix.SYS_GETTID),
		allowed("sched_yield", "lets others run", OK, "the Go runtime's locks", unix.SYS_SCHED_YIELD),
		allowed("nanosleep", "for no time", OK, "the Go runtime's threads rest so", unix.SYS_NANOSLEEP, at(&no), 0),
		killed("futex WAIT, shared", "on memory of other processes", unix.SYS_FUTEX, at(&aligned), 0, 1, at(&no)),
		killed("futex WAKE, shared", "wakes threads of other processes", unix.SYS_FUTEX, at(&aligned), 1, 0),
		killed("futex REQUEUE", "moves waiters", unix.SYS_FUTEX, at(&aligned), 3|128, 0, 0, at(&buffer), 0),
		killed("futex CMP_REQUEUE_PI", "moves waiters to a lock with inheritance of priority",
			unix.SYS_FUTEX, at(&aligned), 12|128, 1, 0, at(&buffer), 0),
		killed("futex WAKE_OP", "has the kernel change its memory", unix.SYS_FUTEX, at(&aligned), 5|128, 0, 0, at(&buffer), 0),
		killed("futex LOCK_PI", "a lock with inheritance of priority", unix.SYS_FUTEX, at(&aligned), 6|128, 0, 0),
		killed("futex WAIT_BITSET", "waits with a mask", unix.SYS_FUTEX, at(&aligned), 9|128, 1, at(&no), 0, 1),
		killed("futex WAKE, a high bit", "WAKE_PRIVATE in 32 bits", unix.SYS_FUTEX, at(&aligned), high|129, 0),
		killed("futex WAIT, the clock's flag", "WAIT_PRIVATE by another clock", unix.SYS_FUTEX, at(&aligned), 256|128, 1, at(&no)),
		killed("futex_waitv", "waits for several at once", unix.SYS_FUTEX_WAITV, at(&buffer), 1, 0, 0, 0),
		killed("futex_wake", "by the newer call", unix.SYS_FUTEX_WAKE, at(&aligned), 1, 1, 2),
		allowed("futex WAKE", "wakes nobody",
			OK, "the Go runtime's locks; private ones reach no other process", unix.SYS_FUTEX, at(&aligned), 129, 0),
		allowed("futex WAIT", "on a value that is not there",
			"EAGAIN", "the Go runtime's locks", unix.SYS_FUTEX, at(&aligned), 128, 1, at(&no)),
		allowed("restart_syscall", "nothing to restart",
			"EINTR", "the kernel itself makes the call, after SIGSTOP and SIGCONT", unix.SYS_RESTART_SYSCALL),
	},
}

func raiseLimits(*Target) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil {
		return err
	}
	now.Cur, now.Max = max(now.Max, 64), max(now.Max, 64)
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &now, nil); err != nil {
		return err
	}
	_, err := unix.Dup(stdin)
	return err
}

func becomeDumpable(*Target) error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		return err
	}
	return nil
}

func ignoreSignals(*Target) error {
	ignore := [4]uint64{1} // struct sigaction of the kernel: SIG_IGN
	if errno := raw(unix.SYS_RT_SIGACTION, uintptr(unix.SIGTERM), at(&ignore), 0, 8); errno != 0 {
		return errno
	}
	return nil
}
