package jail

import (
	"fmt"
	"strings"
)

// A rule lets one system call through if each argument that it names has one of the listed values.
// The rules are the source of the filter programs: see filter_linux_amd64.go.
type rule struct {
	Syscall string
	Args    []arg
	Fails   string // why the call fails with EPERM instead of killing; it is never let through
}

// arg limits one argument of a system call, compared on all 64 bits.
type arg struct {
	Index uint32
	Name  string
	OneOf []value
}

// value is an allowed argument: a number, or a hole that is filled when the filter is loaded.
type value struct {
	Text string // as printed
	N    uint64
}

// Holes stand for numbers that only the process itself knows. None can be a real fd or pid.
const (
	holeEpoll = 0x7fffff01 + iota
	holeEvent
	holePID
)

const (
	fdStderr = 2
	fdSocket = 3 // to the daemon
)

// rules is the allow-list, the most frequent first: the smallest that goja and the Go runtime live on. Everything
// else kills the process, the 32-bit and x32 entry points included.
func rules() []rule {
	var (
		stderr = value{"stderr", fdStderr}
		socket = value{"socket", fdSocket}
		event  = value{"eventfd", holeEvent}
		epoll  = value{"epoll", holeEpoll}
		pid    = value{"own", holePID}
	)
	return []rule{
		{Syscall: "futex", Args: []arg{{1, "op", []value{{"WAIT_PRIVATE", 128}, {"WAKE_PRIVATE", 129}}}}},
		{Syscall: "read", Args: []arg{{0, "fd", []value{socket, event}}}},
		{Syscall: "write", Args: []arg{{0, "fd", []value{socket, event, stderr}}}},
		// The mask stays nil: no signal is blocked behind the runtime's back.
		{Syscall: "epoll_pwait", Args: []arg{{0, "fd", []value{epoll}}, {4, "sigmask", []value{{"nil", 0}}}}},
		{Syscall: "nanosleep"},
		{Syscall: "sched_yield"},
		{Syscall: "madvise", Args: []arg{{2, "advice", []value{
			{"DONTNEED", 4}, {"FREE", 8}, {"HUGEPAGE", 14}, {"NOHUGEPAGE", 15}, {"COLLAPSE", 25}}}}},
		// Private anonymous memory, never executable. The fd is -1, which Go's amd64 stub doesn't sign-extend.
		{Syscall: "mmap", Args: []arg{
			{2, "prot", []value{{"NONE", 0}, {"READ|WRITE", 3}}},
			{3, "flags", []value{{"PRIVATE|ANONYMOUS", 0x22}, {"PRIVATE|ANONYMOUS|FIXED", 0x32}}},
			{4, "fd", []value{{"-1", 1<<32 - 1}, {"-1L", 1<<64 - 1}}},
			{5, "offset", []value{{"0", 0}}}}},
		{Syscall: "munmap"},
		{Syscall: "getpid"},
		{Syscall: "gettid"},
		{Syscall: "tgkill", Args: []arg{{0, "pid", []value{pid}}, {2, "signal", []value{{"URG", 23}}}}},
		{Syscall: "rt_sigprocmask", Args: []arg{{0, "how", []value{{"SETMASK", 2}}}}},
		{Syscall: "rt_sigreturn"},
		{Syscall: "sigaltstack"},
		// For the CPU watchdog, and for the wall clock where the vDSO falls back to the kernel.
		{Syscall: "clock_gettime", Args: []arg{{0, "clock", []value{
			{"REALTIME", 0}, {"MONOTONIC", 1}, {"PROCESS_CPUTIME_ID", 2}}}}},
		{Syscall: "restart_syscall"}, // after SIGSTOP and SIGCONT, and in freezers
		{Syscall: "exit_group"},
		// It can't fail without a filter (getppid(2)), so that its EPERM proves that the filter is on.
		{Syscall: "getppid", Fails: "tried to prove that the filter is on"},
		// esbuild's only call of the system, in internal/logger, whatever it is told about colors.
		{Syscall: "ioctl", Args: []arg{{0, "fd", []value{stderr}}, {1, "request", []value{{"TCGETS", 0x5401}}}},
			Fails: "asked by esbuild, to know whether it writes to a terminal"},
	}
}

// String is the rule on one line.
func (r rule) String() string {
	var args []string
	for _, a := range r.Args {
		var values []string
		for _, v := range a.OneOf {
			values = append(values, v.Text)
		}
		args = append(args, a.Name+" = "+strings.Join(values, " or "))
	}
	if r.Fails != "" {
		args = append(args, "never; fails with EPERM: "+r.Fails)
	}
	if args == nil {
		return r.Syscall
	}
	return fmt.Sprintf("%-15s %s", r.Syscall, strings.Join(args, "; "))
}
