//go:build linux

package attack

import (
	"golang.org/x/sys/unix"
)

var lifetime = Class{
	Name:   "lifetime",
	About:  "Stay longer than allowed, or die in a way that leaves something. The runs are the real daemon's.",
	Daemon: true,
	Attacks: append([]Attack{
		run("sleep for an hour", "nanosleep", "timeout", byClock, sleep),
		run("sleep with all signals blocked", "so that nothing wakes it", "timeout", byClock, func() { blockSignals(); sleep() }),
		run("wait for nobody", "a futex that is never woken", "timeout", byClock, func() {
			forever(unix.SYS_FUTEX, at(&aligned), 128, 0, 0)
		}),
		run("read for ever", "takes the daemon's words from its own engine", "timeout", byClock, func() {
			forever(unix.SYS_READ, socket, at(&buffer), page)
		}),
		run("die of a wild write", "to an address that is not mapped", "crash", byItself, wildWrite),
		run("unmap itself", "its code, its heap and its stacks", "crash", byItself, func() { raw(unix.SYS_MUNMAP, 0, 1<<46) }),
		run("give up its stack", "madvise DONTNEED, under its feet", "crash", byItself, func() {
			raw(unix.SYS_MADVISE, 0xc000000000, 64<<20, unix.MADV_DONTNEED)
			wildWrite()
		}),
		run("exit with 0", "as if all were well", "crash", byItself, func() { raw(unix.SYS_EXIT_GROUP, 0) }),
		run("abort", "SIGABRT to itself, for a core file", "violation", byFilter, func() { _ = tgkill(0, 6) }),
		run("end one thread", "exit, so that the others hang", "violation", byFilter, func() { raw(unix.SYS_EXIT, 0) }),
	}, nativeLifetime...),
}

func wildWrite() { *(*byte)(pointer(8)) = 1 }
