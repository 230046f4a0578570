//go:build linux

package attack

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// code is why one layer is enough against what only makes new code.
const code = "new code in the worker can ask for nothing that old code can't, and an attacker with machine code has that already; " +
	"that no memory is ever executable makes the way there harder"

var memory = Class{
	Name:  "memory",
	About: "Make code, share memory, and change how memory works.",
	Attacks: append([]Attack{
		effect("make memory executable", "mmap, then mprotect", makeExecutable, Seccomp).because(code),
		effect("map executable memory", "mmap RWX", mapExecutable, Seccomp).because(code),
		effect("change its own code", "through /proc/self/mem, past the protection of pages",
			changeCode, Seccomp, Landlock, Rlimits, Dumpable),
		effect("lock memory", "so that it can't be swapped out", lockMemory, Seccomp, Rlimits),
		effect("share pages with other processes", "madvise MERGEABLE: timing tells what they contain",
			merge, Seccomp).needs("KSM").because(
			"the kernel merges pages only of processes that ask for it, and no other process of ours does"),
		effect("handle page faults", "userfaultfd: stops the kernel where it reads memory", handleFaults, Seccomp, Rlimits).
			needs("userfaultfd for everybody"),
		effect("make every mapping executable", "personality READ_IMPLIES_EXEC", executableMappings, Seccomp).because(code),
		{Name: "take address space", Tries: "64 GiB", Ends: "ENOMEM", Why: "RLIMIT_AS", Do: takeSpace, Stops: []Layer{Rlimits},
			Reason: "address space alone costs nothing; resident memory is limited by the daemon's watch, and by memory.max " +
				"where cgroups are delegated"},

		killed("mmap RWX", "memory to write code to and run it", unix.SYS_MMAP, 0, page, rw|exec, anon, minus1, 0),
		killed("mmap RX", "memory that can be executed", unix.SYS_MMAP, 0, page, unix.PROT_READ|exec, anon, minus1, 0),
		killed("mmap X", "memory that can only be executed", unix.SYS_MMAP, 0, page, exec, anon, minus1, 0),
		killed("mmap R", "memory that can only be read", unix.SYS_MMAP, 0, page, unix.PROT_READ, anon, minus1, 0),
		killed("mmap RW, a high bit in prot", "RW in 32 bits", unix.SYS_MMAP, 0, page, high|rw, anon, minus1, 0),
		killed("mmap RWX, a high bit in prot", "what the check of 32 bits of another rule might pass",
			unix.SYS_MMAP, 0, page, high|rw|exec, anon, minus1, 0),
		killed("mmap RW, a high bit in flags", "PRIVATE and ANONYMOUS in 32 bits", unix.SYS_MMAP, 0, page, rw, high|anon, minus1, 0),
		killed("mmap RW, a high bit in offset", "0 in 32 bits", unix.SYS_MMAP, 0, page, rw, anon, minus1, high),
		killed("mmap of fd 3", "its socket as memory", unix.SYS_MMAP, 0, page, rw, unix.MAP_PRIVATE, socket, 0),
		killed("mmap anonymous with fd 3", "memory, with a descriptor that is not used", unix.SYS_MMAP, 0, page, rw, anon, socket, 0),
		killed("mmap fd -1, a bit missing", "-1 in 32 bits", unix.SYS_MMAP, 0, page, rw, anon, minus1^high, 0),
		killed("mmap shared", "memory to share with children", unix.SYS_MMAP, 0, page, rw, unix.MAP_SHARED|unix.MAP_ANONYMOUS, minus1, 0),
		killed("mmap grows down", "a stack", unix.SYS_MMAP, 0, page, rw, anon|unix.MAP_GROWSDOWN, minus1, 0),
		killed("mmap huge pages", "from the machine's store of them", unix.SYS_MMAP, 0, page, rw, anon|unix.MAP_HUGETLB, minus1, 0),
		killed("mmap locked", "memory that can't be swapped out", unix.SYS_MMAP, 0, page, rw, anon|unix.MAP_LOCKED, minus1, 0),
		killed("mmap populated", "memory that is there at once", unix.SYS_MMAP, 0, page, rw, anon|unix.MAP_POPULATE, minus1, 0),
		killed("mmap at page 0", "FIXED and NOREPLACE", unix.SYS_MMAP, 0, page, rw, anon|unix.MAP_FIXED_NOREPLACE, minus1, 0),
		killed("mmap offset", "memory, with an offset that is not used", unix.SYS_MMAP, 0, page, rw, anon, minus1, page),
		allowed("mmap RW", "a page for itself",
			OK, "the Go runtime's memory; RLIMIT_AS bounds it", unix.SYS_MMAP, 0, page, rw, anon, minus1, 0),
		allowed("mmap nothing", "a page without rights",
			OK, "the Go runtime reserves address space so", unix.SYS_MMAP, 0, page, 0, anon, minus1, 0),
		allowed("munmap of nothing", "a page that is not there",
			OK, "the Go runtime's memory; it can only hurt itself", unix.SYS_MUNMAP, page, page),
		killed("mprotect R", "makes memory one that can only be read", unix.SYS_MPROTECT, 0, page, unix.PROT_READ),
		killed("mprotect RWX", "makes memory executable", unix.SYS_MPROTECT, 0, page, rw|exec),
		killed("mprotect RX, a high bit in prot", "makes memory executable", unix.SYS_MPROTECT, 0, page, high|unix.PROT_READ|exec),
		killed("pkey_mprotect", "makes memory executable, with a key", unix.SYS_PKEY_MPROTECT, 0, page, exec, minus1),
		killed("pkey_alloc", "a memory protection key", unix.SYS_PKEY_ALLOC, 0, 0),
		killed("mremap", "moves memory", unix.SYS_MREMAP, 0, page, page, 0, 0),
		killed("remap_file_pages", "exchanges pages", unix.SYS_REMAP_FILE_PAGES, 0, page, 0, 0, 0),
		killed("brk", "the older heap", unix.SYS_BRK, 0),
		killed("msync", "throws caches away", unix.SYS_MSYNC, 0, page, unix.MS_INVALIDATE),
		killed("mseal", "makes a mapping one for ever", unix.SYS_MSEAL, 0, page, 0),
		killed("map_shadow_stack", "a stack of return addresses", unix.SYS_MAP_SHADOW_STACK, 0, page, 0),
		killed("mlock", "keeps memory from being swapped out", unix.SYS_MLOCK, at(&buffer), page),
		killed("mlock2", "the same, when it is touched", unix.SYS_MLOCK2, at(&buffer), page, 1),
		killed("mlockall", "the same, for all of it", unix.SYS_MLOCKALL, 3),
		killed("mincore", "asks what is resident", unix.SYS_MINCORE, 0, page, at(&buffer)),
		killed("mbind", "says on which node memory is to be", unix.SYS_MBIND, 0, page, 0, 0, 0, 0),
		killed("set_mempolicy", "says on which node memory is to be", unix.SYS_SET_MEMPOLICY, 0, 0, 0),
		killed("membarrier", "interrupts other processors", unix.SYS_MEMBARRIER, 0, 0, 0),
		killed("rseq", "restartable sequences", unix.SYS_RSEQ, at(&buffer), 32, 0, 0),
		killed("madvise MERGEABLE", "lets pages be shared with other processes", unix.SYS_MADVISE, 0, page, unix.MADV_MERGEABLE),
		killed("madvise HWPOISON", "breaks a page of the machine", unix.SYS_MADVISE, 0, page, unix.MADV_HWPOISON),
		killed("madvise REMOVE", "cuts a hole into a file", unix.SYS_MADVISE, 0, page, unix.MADV_REMOVE),
		killed("madvise DOFORK", "lets children have a mapping", unix.SYS_MADVISE, 0, page, unix.MADV_DOFORK),
		killed("madvise DONTNEED, a high bit", "DONTNEED in 32 bits", unix.SYS_MADVISE, 0, 0, high|unix.MADV_DONTNEED),
		allowed("madvise DONTNEED of nothing", "gives no memory back",
			OK, "the Go runtime gives memory back so", unix.SYS_MADVISE, 0, 0, unix.MADV_DONTNEED),
		killed("userfaultfd", "handles page faults", unix.SYS_USERFAULTFD, 0),
		killed("personality", "ADDR_NO_RANDOMIZE", unix.SYS_PERSONALITY, 0x0040000),
		killed("personality, asked for only", "asks whose behaviour it has", unix.SYS_PERSONALITY, 0xffffffff),
	}, nativeMemory...),
}

func makeExecutable(*Target) error {
	mem, err := unix.Mmap(-1, 0, page, rw, anon)
	if err != nil {
		return err
	}
	return unix.Mprotect(mem, unix.PROT_READ|exec)
}

func mapExecutable(*Target) error {
	_, err := unix.Mmap(-1, 0, page, rw|exec, anon)
	return err
}

// changeCode writes a byte of the program's text, as it is.
func changeCode(*Target) error {
	fd, err := unix.Open("/proc/self/mem", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var one [1]byte
	text := int64(textAddress())
	if _, err := unix.Pread(fd, one[:], text); err != nil {
		return err
	}
	_, err = unix.Pwrite(fd, one[:], text)
	return err
}

// textAddress is where its own code is.
func textAddress() uintptr {
	f := textAddress
	return **(**uintptr)(unsafe.Pointer(&f))
}

func lockMemory(*Target) error {
	if errno := raw(unix.SYS_MLOCK, at(&buffer), page); errno != 0 {
		return errno
	}
	return nil
}

func merge(*Target) error {
	mem, err := unix.Mmap(-1, 0, page, rw, anon)
	if err != nil {
		return err
	}
	return unix.Madvise(mem, unix.MADV_MERGEABLE)
}

func handleFaults(*Target) error {
	const userModeOnly = 1 // what is left for who has no privileges
	if errno := raw(unix.SYS_USERFAULTFD, userModeOnly); errno != 0 {
		return errno
	}
	return nil
}

func executableMappings(*Target) error {
	const readImpliesExec = 0x0400000
	if errno := raw(unix.SYS_PERSONALITY, readImpliesExec); errno != 0 {
		return errno
	}
	return nil
}

func takeSpace(*Target) error {
	if errno := raw(unix.SYS_MMAP, 0, 64<<30, 0, anon, minus1, 0); errno != 0 {
		return errno
	}
	return nil
}
