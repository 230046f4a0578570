//go:build linux

package attack

import (
	"golang.org/x/sys/unix"
)

const x32 = 0x40000000

// Calls that only this architecture has.
var (
	nativeExecution = here(
		effect("execute code without a file", "a program in memory, by execveat", executeMemory, Seccomp, Rlimits),
		killed("fork", "a process, by the older call", unix.SYS_FORK),
		killed("vfork", "a process, by the older call", unix.SYS_VFORK),
	)
	nativeMemory = here(
		effect("write code and run it", "mmap RWX, and a jump there", runWritten, Seccomp).because(code),
		killed("arch_prctl SET_FS", "another thread pointer", unix.SYS_ARCH_PRCTL, 0x1002, 0),
		killed("arch_prctl CPUID", "faults on cpuid", unix.SYS_ARCH_PRCTL, 0x1012, 0),
		killed("modify_ldt", "segments of its own", unix.SYS_MODIFY_LDT, 1, at(&buffer), 16),
		killed("set_thread_area", "a thread pointer", unix.SYS_SET_THREAD_AREA, at(&buffer)),
	)
	nativeKernel = here(
		killed("iopl", "the machine's ports", unix.SYS_IOPL, 3),
		killed("ioperm", "the machine's ports", unix.SYS_IOPERM, 0, 1, 1),
		killed("kexec_file_load", "another kernel", unix.SYS_KEXEC_FILE_LOAD, socket, socket, 0, 0, 0),
		killed("_sysctl", "reads a setting of the kernel", unix.SYS__SYSCTL, at(&buffer)),
		killed("time", "the clock, by the older call", unix.SYS_TIME, 0),
		killed("alarm", "a signal to come", unix.SYS_ALARM, 1),
	)
	nativeFiles = here(
		killed("open", "the older call", unix.SYS_OPEN, at(&root), 0, 0),
		killed("creat", "makes a file", unix.SYS_CREAT, at(&root), 0o600),
		killed("stat", "looks at /", unix.SYS_STAT, at(&root), at(&buffer)),
		killed("access", "asks whether / may be read", unix.SYS_ACCESS, at(&root), 4),
		killed("unlink", "removes /", unix.SYS_UNLINK, at(&root)),
		killed("chmod", "changes the mode of /", unix.SYS_CHMOD, at(&root), 0o777),
		killed("readlink", "reads a link", unix.SYS_READLINK, at(&root), at(&buffer), page),
	)
	nativeDescriptors = here(
		killed("dup2", "its socket over standard output", unix.SYS_DUP2, socket, stdout),
		killed("poll", "waits for nothing", unix.SYS_POLL, 0, 0, 0),
		killed("select", "waits for nothing", unix.SYS_SELECT, 0, 0, 0, 0, at(&no)),
		killed("epoll_wait", "waits on the runtime's poller, by the older call", unix.SYS_EPOLL_WAIT, 4, at(&buffer), 1, 0),
		killed("pause", "waits for a signal", unix.SYS_PAUSE),
	)
	nativeNumbers = here(
		killed("x32 getpid", "a harmless call by the x32 number", x32|unix.SYS_GETPID),
		killed("x32 read", "an allowed call by the x32 number", x32|unix.SYS_READ, socket, at(&buffer), 0),
		killed("x32 mmap RWX", "memory to write code to and run it", x32|unix.SYS_MMAP, 0, page, rw|exec, anon, minus1, 0),
		killed("x32 execve", "its own number", x32|520, at(&shell), at(&argv), 0),
		killed("x32 ioctl", "its own number", x32|514, socket, 0x541b, at(&buffer)),
		killed("high bits in the number of open", "open in 32 bits", high|unix.SYS_OPEN, at(&root), 0, 0),
		Attack{Name: "high bits in the number of getpid", Tries: "getpid in 32 bits", Ends: OK,
			Why: "the kernel takes 32 bits of the number, and so it is getpid", Do: call(high | unix.SYS_GETPID)},
		Attack{Name: "int 0x80 getpid", Tries: "a harmless call by the 32-bit entry", Ends: Killed, Do: by32(20)},
		Attack{Name: "int 0x80 fork", Tries: "a process by the 32-bit entry", Ends: Killed, Do: by32(2)},
		Attack{Name: "int 0x80 open", Tries: "a file by the 32-bit entry", Ends: Killed, Do: by32(5)},
		Attack{Name: "int 0x80 execve", Tries: "its 32-bit number, 11, is munmap's in 64 bits, which is allowed",
			Ends: Killed, Do: by32(11)},
		Attack{Name: "int 0x80 chmod", Tries: "its 32-bit number, 15, is rt_sigreturn's in 64 bits, which is allowed",
			Ends: Killed, Do: by32(15)},
		Attack{Name: "int 0x80 mount", Tries: "by the 32-bit entry", Ends: Killed, Do: by32(21)},
		Attack{Name: "int 0x80 madvise", Tries: "its 32-bit number, 219, is restart_syscall's in 64 bits, which is allowed",
			Ends: Killed, Do: by32(219)},
		Attack{Name: "int 0x80 restart_syscall", Tries: "its 32-bit number, 0, is read's in 64 bits, which is allowed",
			Ends: Killed, Do: by32(0)},
		Attack{Name: "int 0x80 exit", Tries: "its 32-bit number, 1, is write's in 64 bits, which is allowed", Ends: Killed, Do: by32(1)},
		Attack{Name: "vsyscall gettimeofday", Tries: "jumps to the page that stands for system calls", Ends: Killed, Do: byPage(0)},
		Attack{Name: "vsyscall time", Tries: "its second entry", Ends: Killed, Do: byPage(1)},
		Attack{Name: "vsyscall getcpu", Tries: "its third entry", Ends: Killed, Do: byPage(2)},
	)
	nativeLifetime = here(
		run("die of a wild jump", "to an address that is not mapped", "crash", byItself, func() { jump(page) }),
		run("int3", "as if a debugger had set a stop", "crash", byItself, func() { trap() }),
		run("illegal instruction", "as if the machine were an older one", "crash", byItself, func() { illegal() }),
	)
)

func by32(nr uint32) func(*Target) error {
	return func(*Target) error { int80(nr); return nil }
}

func byPage(entry uintptr) func(*Target) error {
	return func(*Target) error { jump(0xffffffffff600000 + entry<<10); return nil }
}

// int80 makes a 32-bit system call, without arguments.
func int80(nr uint32)

// jump calls code at an address, with arguments that are all 0.
func jump(address uintptr)

// trap and illegal are machine code that raises SIGTRAP and SIGILL.
func trap()
func illegal()

// ret is the machine code of a function that does nothing.
const ret = 0xc3

func runWritten(*Target) error {
	mem, err := unix.Mmap(-1, 0, page, rw|exec, anon)
	if err != nil {
		return err
	}
	mem[0] = ret
	jump(at(&mem[0]))
	return nil
}

// program is an executable that says on fd 3 that the run is done, and exits:
//
//	mov eax, 1; mov edi, 3; lea rsi, [rip+19]; mov edx, len; syscall
//	mov eax, 231; xor edi, edi; syscall
var program = func() []byte {
	const text, base, size = 0x78, 0x400000, 120
	code := []byte{
		0xb8, 1, 0, 0, 0, 0xbf, 3, 0, 0, 0, 0x48, 0x8d, 0x35, 16, 0, 0, 0, 0xba, byte(len(Done)), 0, 0, 0, 0x0f, 0x05,
		0xb8, 231, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05,
	}
	code = append(code, Done...)
	file := make([]byte, size, size+len(code))
	copy(file, "\x7fELF\x02\x01\x01")
	put := func(at int, bytes int, value uint64) {
		for i := range bytes {
			file[at+i] = byte(value >> (8 * i))
		}
	}
	put(16, 2, 2)         // executable
	put(18, 2, 62)        // x86-64
	put(20, 4, 1)         // version
	put(24, 8, base+text) // entry
	put(32, 8, 64)        // program headers
	put(52, 2, 64)        // size of this header
	put(54, 2, 56)        // of a program header
	put(56, 2, 1)         // of which there is one
	put(64, 4, 1)         // to load
	put(68, 4, 5)         // to read and to execute
	put(80, 8, base)
	put(88, 8, base)
	put(96, 8, uint64(size+len(code)))
	put(104, 8, uint64(size+len(code)))
	put(112, 8, 0x1000)
	return append(file, code...)
}()

func executeMemory(*Target) error {
	fd, err := unix.MemfdCreate("sandboxd-escape", 0)
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, program); err != nil {
		return err
	}
	path := [1]byte{}
	args := [2]uintptr{at(&shell)}
	if errno := raw(unix.SYS_EXECVEAT, uintptr(fd), at(&path), at(&args), 0, unix.AT_EMPTY_PATH); errno != 0 {
		return errno
	}
	return nil
}
