//go:build linux

package attack

import (
	"golang.org/x/sys/unix"
)

var numbers = Class{
	Name: "numbers and arguments",
	About: "System calls that don't exist, other ways into the kernel, and arguments that a wrong filter takes for something else: " +
		"a known bug lets the next rule compare its number with the argument before.",
	Attacks: append([]Attack{
		killed("number -1", "what a tracer sets to skip a call", minus1),
		killed("number 2^32-1", "-1 in 32 bits", 1<<32-1),
		killed("number 100000", "far beyond the last", 100000),
		killed("number 4096", "beyond the last", 4096),
		killed("number 1000", "beyond the last", 1000),
		killed("number of getpid, sign bit", "a negative number", 1<<31|unix.SYS_GETPID),

		killed("read fd = exit_group's number", "a call that is always allowed", unix.SYS_READ, unix.SYS_EXIT_GROUP, at(&buffer), 0),
		killed("read fd = munmap's number", "a call that is always allowed", unix.SYS_READ, unix.SYS_MUNMAP, at(&buffer), 0),
		killed("read fd = mmap's number", "a call with rules of its own", unix.SYS_READ, unix.SYS_MMAP, at(&buffer), rw, anon, minus1, 0),
		killed("write fd = gettid's number", "a call that is always allowed", unix.SYS_WRITE, unix.SYS_GETTID, at(&buffer), 0),
		killed("write fd = tgkill's number", "a call with rules of its own", unix.SYS_WRITE, unix.SYS_TGKILL, at(&buffer), 23),
		killed("mmap prot = write's number and more", "bits of other calls",
			unix.SYS_MMAP, 0, page, unix.SYS_EXIT_GROUP, anon, minus1, 0),
		killed("mmap flags = munmap's number", "a call that is always allowed", unix.SYS_MMAP, 0, page, rw, unix.SYS_MUNMAP, minus1, 0),
		killed("mmap fd = getpid's number", "a call that is always allowed", unix.SYS_MMAP, 0, page, rw, anon, unix.SYS_GETPID, 0),
		killed("mmap offset = munmap's number", "a call that is always allowed",
			unix.SYS_MMAP, 0, page, rw, anon, minus1, unix.SYS_MUNMAP),
		killed("madvise advice = munmap's number", "a call that is always allowed", unix.SYS_MADVISE, 0, 0, unix.SYS_MUNMAP),
		killed("futex op = rt_sigreturn's number", "a call that is always allowed",
			unix.SYS_FUTEX, at(&aligned), unix.SYS_RT_SIGRETURN, 0),
		killed("futex op = sigaltstack's number", "a call that is always allowed", unix.SYS_FUTEX, at(&aligned), unix.SYS_SIGALTSTACK, 0),
		killed("tgkill pid = nanosleep's number", "a call that is always allowed", unix.SYS_TGKILL, unix.SYS_NANOSLEEP, 1, 23),
		killed("tgkill signal = sched_yield's number", "a call that is always allowed",
			unix.SYS_TGKILL, uintptr(unix.Getpid()), 1, unix.SYS_SCHED_YIELD),
		killed("rt_sigprocmask how = getpid's number", "a call that is always allowed",
			unix.SYS_RT_SIGPROCMASK, unix.SYS_GETPID, 0, at(&buffer), 8),
		killed("clock_gettime clock = munmap's number", "a call that is always allowed",
			unix.SYS_CLOCK_GETTIME, unix.SYS_MUNMAP, at(&no)),
		killed("epoll_pwait fd = munmap's number", "a call that is always allowed",
			unix.SYS_EPOLL_PWAIT, unix.SYS_MUNMAP, at(&buffer), 1, 0, 0, 8),

		killed("mmap: prot right, flags wrong", "the second of two conditions", unix.SYS_MMAP, 0, page, rw, unix.MAP_SHARED, minus1, 0),
		killed("mmap: prot wrong, flags right", "the first of two conditions", unix.SYS_MMAP, 0, page, exec, anon, minus1, 0),
		killed("mmap: flags where prot is", "exchanged", unix.SYS_MMAP, 0, page, anon, rw, minus1, 0),
		killed("mmap: prot and flags right, fd 0", "the third of four conditions", unix.SYS_MMAP, 0, page, rw, anon, stdin, 0),
		killed("tgkill: pid right, signal wrong", "the second of two conditions",
			unix.SYS_TGKILL, uintptr(unix.Getpid()), uintptr(unix.Getpid()), 9),
		killed("tgkill: pid wrong, signal right", "the first of two conditions", unix.SYS_TGKILL, 1, 1, 23),
		killed("epoll_pwait: with a mask", "blocks signals behind the runtime's back",
			unix.SYS_EPOLL_PWAIT, 4, at(&buffer), 1, 0, at(&buffer), 8),
	}, nativeNumbers...),
}
