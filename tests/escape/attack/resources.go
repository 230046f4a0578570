//go:build linux

package attack

import (
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// run is an attack that a daemon ends, with an outcome of the run.
func run(name, tries, outcome, why string, do func()) Attack {
	return Attack{Name: name, Tries: tries, Ends: outcome, Why: why, Do: func(*Target) error { do(); return nil }}
}

// Why runs end as they do.
const (
	byFilter = "seccomp, at the first one"
	byClock  = "the daemon's clock; SIGKILL"
	byCPU    = "the daemon's watch of CPU time, with RLIMIT_CPU behind it"
	byMemory = "the daemon's watch of resident memory, with RLIMIT_AS behind it, and memory.max where cgroups are delegated"
	byItself = "it dies; the nursery tells the daemon"
)

var resources = Class{
	Name:   "resources",
	About:  "Use up the machine: memory, processors, threads, processes, descriptors. The runs are the real daemon's.",
	Daemon: true,
	Attacks: []Attack{
		run("flood memory", "fills all the address space that it gets", "memory", byMemory, floodMemory),
		run("flood the Go heap", "until the runtime is out of memory", "memory", byMemory, floodHeap),
		run("hoard address space", "maps what it gets, touches nothing, and sleeps", "timeout", byClock, func() { hoard(); sleep() }),
		run("thread bomb", "clone after clone",
			"violation", byFilter, func() { forever(unix.SYS_CLONE, cloneThread, at(&buffer), 0, 0, 0) }),
		run("fork bomb", "fork after fork", "violation", byFilter, func() { forever(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0) }),
		run("descriptor bomb", "dup after dup", "violation", byFilter, func() { forever(unix.SYS_DUP, socket) }),
		run("file bomb", "memfd_create after memfd_create",
			"violation", byFilter, func() { forever(unix.SYS_MEMFD_CREATE, at(&root), 0) }),
		run("message bomb", "System V queues", "violation", byFilter, func() { forever(unix.SYS_MSGGET, 0, 0o1600) }),
		run("spin with all signals blocked", "so that nothing asks it to end", "cpu", byCPU, func() { blockSignals(); spin() }),
		run("spin in the kernel", "sched_yield after sched_yield", "cpu", byCPU, func() { forever(unix.SYS_SCHED_YIELD) }),
		run("spin in the page fault handler", "gives a page back and touches it", "cpu", byCPU, spinFaults),
		run("spin on signals", "SIGURG to itself", "cpu", byCPU, func() {
			for {
				_ = tgkill(0, 23)
			}
		}),
		run("collapse pages", "madvise COLLAPSE after COLLAPSE", "cpu", byCPU, collapse),
	},
}

const cloneThread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD

// forever makes a system call over and over.
func forever(nr uintptr, args ...uintptr) {
	for {
		raw(nr, args...)
	}
}

func sleep() {
	hour := unix.Timespec{Sec: 3600}
	forever(unix.SYS_NANOSLEEP, at(&hour), 0)
}

func spin() {
	for i := uint64(1); ; i++ {
		if i == 0 {
			return
		}
	}
}

// blockSignals blocks all of them for this thread, which the filter allows.
func blockSignals() {
	all := ^uint64(0)
	raw(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, at(&all), 0, 8)
}

// hoard maps address space until there is no more, and returns the parts.
func hoard() []uintptr {
	var parts []uintptr
	for size := uintptr(1 << 30); size >= page; size /= 2 {
		for {
			mem, errno := rawValue(unix.SYS_MMAP, 0, size, rw, anon, minus1, 0)
			if errno != 0 {
				break
			}
			parts = append(parts, mem, size)
		}
	}
	return parts
}

func floodMemory() {
	parts := hoard()
	for i := 0; i < len(parts); i += 2 {
		for _, b := range pages(parts[i], parts[i+1]) {
			*b = 1
		}
	}
	sleep()
}

// pages are the first bytes of the pages of a mapping.
func pages(start, size uintptr) func(yield func(int, *byte) bool) {
	return func(yield func(int, *byte) bool) {
		for i := uintptr(0); i < size; i += page {
			if !yield(int(i), (*byte)(pointer(start+i))) {
				return
			}
		}
	}
}

var kept [][]byte

func floodHeap() {
	debug.SetGCPercent(-1)
	for {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += page {
			b[i] = 1
		}
		kept = append(kept, b)
	}
}

func spinFaults() {
	mem, _ := rawValue(unix.SYS_MMAP, 0, 1<<20, rw, anon, minus1, 0)
	for {
		for _, b := range pages(mem, 1<<20) {
			*b = 1
		}
		raw(unix.SYS_MADVISE, mem, 1<<20, unix.MADV_DONTNEED)
	}
}

func collapse() {
	const size = 8 << 20
	mem, _ := rawValue(unix.SYS_MMAP, 0, size, rw, anon, minus1, 0)
	for {
		for _, b := range pages(mem, size) {
			*b = 1
		}
		raw(unix.SYS_MADVISE, mem, size, unix.MADV_COLLAPSE)
		raw(unix.SYS_MADVISE, mem, size, unix.MADV_DONTNEED)
	}
}
