//go:build linux

package attack

import (
	"golang.org/x/sys/unix"
)

// ownFour is why one layer is enough against what can be done with the descriptors that are there.
const ownFour = "there are four descriptors: /dev/null twice, a pipe and a socket, and whoever reads those two distrusts every byte"

var descriptors = Class{
	Name:  "descriptors",
	About: "Make descriptors, and do with the ones that are there what they are not for.",
	Attacks: append([]Attack{
		effect("duplicate its socket", "dup", func(*Target) error { _, err := unix.Dup(socket); return err }, Seccomp, Rlimits),
		effect("make a pipe", "to have two descriptors more",
			func(*Target) error { return unix.Pipe2(make([]int, 2), unix.O_CLOEXEC) }, Seccomp, Rlimits),
		effect("make an eventfd", "to have a descriptor more",
			func(*Target) error { _, err := unix.Eventfd(0, unix.EFD_CLOEXEC); return err }, Seccomp, Rlimits),
		effect("read how much waits in its socket", "ioctl",
			func(*Target) error { _, err := unix.IoctlGetInt(socket, unix.TIOCINQ); return err },
			Seccomp).because(ownFour),
		effect("enlarge its socket's buffer", "setsockopt", func(*Target) error {
			return unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<20)
		}, Seccomp).because("the kernel bounds it (net.core.wmem_max), and counts it with the worker's memory; " + ownFour),
		effect("write to its standard input", "a byte",
			func(*Target) error { _, err := unix.Write(stdin, []byte("x")); return err }, Seccomp).because(ownFour),

		killed("dup", "a second descriptor of its socket", unix.SYS_DUP, socket),
		killed("dup3", "its socket over standard output", unix.SYS_DUP3, socket, stdout, 0),
		killed("fcntl F_GETFL", "asks how its socket was opened", unix.SYS_FCNTL, socket, unix.F_GETFL, 0),
		killed("fcntl F_SETFL", "makes its socket one that does not block", unix.SYS_FCNTL, socket, unix.F_SETFL, unix.O_NONBLOCK),
		killed("fcntl F_DUPFD", "a second descriptor of its socket", unix.SYS_FCNTL, socket, unix.F_DUPFD, 10),
		killed("fcntl F_SETOWN", "has SIGIO sent to the nursery", unix.SYS_FCNTL, socket, unix.F_SETOWN, parent),
		killed("fcntl F_SETPIPE_SZ", "a larger pipe", unix.SYS_FCNTL, stderr, unix.F_SETPIPE_SZ, 1<<20),
		killed("ioctl FIONREAD", "asks how much waits in its socket", unix.SYS_IOCTL, socket, 0x541b, at(&buffer)),
		allowed("ioctl TCGETS", "asks whether standard error is a terminal", "EPERM",
			"esbuild asks that; the filter answers, and the kernel never sees it", unix.SYS_IOCTL, stderr, unix.TCGETS, at(&buffer)),
		killed("ioctl TCGETS of standard output", "asks whether it is a terminal", unix.SYS_IOCTL, stdout, unix.TCGETS, at(&buffer)),
		killed("ioctl TCGETS, a high bit", "the same in 32 bits", unix.SYS_IOCTL, stderr, high|unix.TCGETS, at(&buffer)),
		killed("ioctl TCSETS", "sets a terminal's mode", unix.SYS_IOCTL, stderr, unix.TCSETS, at(&buffer)),
		killed("ioctl TIOCSTI", "types at a terminal", unix.SYS_IOCTL, stdin, unix.TIOCSTI, at(&root)),
		killed("ioctl SIOCGIFCONF", "asks for the network devices", unix.SYS_IOCTL, socket, unix.SIOCGIFCONF, at(&buffer)),
		killed("close", "its standard input", unix.SYS_CLOSE, stdin),
		killed("close_range", "its first three descriptors", unix.SYS_CLOSE_RANGE, 0, 2, 0),
		killed("pipe2", "two more descriptors", unix.SYS_PIPE2, at(&buffer), 0),
		killed("read standard input", "a byte", unix.SYS_READ, stdin, at(&buffer), 1),
		killed("read standard error", "a byte, of a pipe that it may only write", unix.SYS_READ, stderr, at(&buffer), 1),
		killed("read fd 3, a high bit", "3 in 32 bits", unix.SYS_READ, high|socket, at(&buffer), 0),
		killed("read fd 100", "a byte, where nothing is open", unix.SYS_READ, 100, at(&buffer), 1),
		killed("read fd -1", "a byte, where nothing can be open", unix.SYS_READ, minus1, at(&buffer), 1),
		allowed("read fd 3", "nothing", OK, "it is what the worker lives on", unix.SYS_READ, socket, at(&buffer), 0),
		allowed("read fd 3 into the kernel", "an address that is the kernel's", "EFAULT", "the kernel checks addresses",
			unix.SYS_READ, socket, 1<<63, 8),
		killed("write standard output", "a byte", unix.SYS_WRITE, stdout, at(&buffer), 1),
		killed("write fd 3, a high bit", "3 in 32 bits", unix.SYS_WRITE, high|socket, at(&buffer), 0),
		killed("write standard error, a high bit", "2 in 32 bits", unix.SYS_WRITE, high|stderr, at(&buffer), 0),
		killed("write fd -1", "nothing, where nothing can be open", unix.SYS_WRITE, minus1, at(&buffer), 0),
		allowed("write standard error", "nothing", OK, "the Go runtime says there why it dies", unix.SYS_WRITE, stderr, at(&buffer), 0),
		killed("readv", "from its socket, to several places", unix.SYS_READV, socket, at(&buffer), 0),
		killed("writev", "to its socket, from several places", unix.SYS_WRITEV, socket, at(&buffer), 0),
		killed("pread64", "from its socket, at an offset", unix.SYS_PREAD64, socket, at(&buffer), 0, 0),
		killed("pwrite64", "to its socket, at an offset", unix.SYS_PWRITE64, socket, at(&buffer), 0, 0),
		killed("preadv2", "from its socket, with flags", unix.SYS_PREADV2, socket, at(&buffer), 0, 0, 0, 0),
		killed("pwritev2", "to its socket, with flags", unix.SYS_PWRITEV2, socket, at(&buffer), 0, 0, 0, 0),
		killed("lseek", "on standard input", unix.SYS_LSEEK, stdin, 0, 0),
		killed("splice", "from its socket to standard error", unix.SYS_SPLICE, socket, 0, stderr, 0, 1, 0),
		killed("tee", "from a pipe to itself", unix.SYS_TEE, stderr, stderr, 1, 0),
		killed("vmsplice", "maps its memory into a pipe", unix.SYS_VMSPLICE, stderr, at(&buffer), 0, 0),
		killed("sendfile", "from its socket to itself", unix.SYS_SENDFILE, socket, socket, 0, 1),
		killed("fstat", "looks at its socket", unix.SYS_FSTAT, socket, at(&buffer)),
		killed("fsync", "its standard input", unix.SYS_FSYNC, stdin),
		killed("flock", "locks /dev/null, which every process has", unix.SYS_FLOCK, stdin, 2),
		killed("ppoll", "waits for nothing", unix.SYS_PPOLL, 0, 0, at(&no), 0, 0),
		killed("pselect6", "waits for nothing", unix.SYS_PSELECT6, 0, 0, 0, 0, at(&no), 0),
		killed("epoll_create1", "another poller", unix.SYS_EPOLL_CREATE1, 0),
		killed("epoll_ctl", "adds its socket to the runtime's epoll", unix.SYS_EPOLL_CTL, 4, unix.EPOLL_CTL_ADD, socket, at(&buffer)),
		killed("epoll_pwait on fd 3", "waits on what is no poller", unix.SYS_EPOLL_PWAIT, socket, at(&buffer), 1, 0, 0, 8),
		killed("epoll_pwait2", "waits by the newer call", unix.SYS_EPOLL_PWAIT2, 4, at(&buffer), 1, at(&no), 0, 8),
		killed("eventfd2", "one more descriptor", unix.SYS_EVENTFD2, 0, 0),
		killed("signalfd4", "reads signals instead of getting them", unix.SYS_SIGNALFD4, minus1, at(&buffer), 8, 0),
	}, nativeDescriptors...),
}
