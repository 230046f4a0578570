package jail_test

import (
	"runtime"
	"slices"
	"testing"

	"golang.org/x/net/bpf"

	"github.com/sandboxd/sandboxd/internal/jail"
)

// FuzzFilled fills the program that is loaded with the numbers of some process, and makes a system call: what is filled must
// answer as the reference does with these numbers, also where one of them is a number that stands in the program already.
func FuzzFilled(f *testing.F) {
	f.Add(4, 5, 4242, uint32(281), uint64(4), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0))
	f.Add(5, 4, 128, uint32(0), uint64(4), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0))
	f.Add(9, 186, 202, uint32(234), uint64(202), uint64(1), uint64(23), uint64(0), uint64(0), uint64(0))
	f.Add(0x22, 0x32, 0x7fffff02, uint32(1), uint64(0x7fffff02), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, epoll, event, pid int, nr uint32, a0, a1, a2, a3, a4, a5 uint64) {
		epoll, event, pid = epoll&0xffff, event&0xffff, pid&(1<<22-1) // what a process can have: /proc/sys/fs/nr_open, kernel.pid_max
		raw, err := jail.Filled(epoll, event, pid)
		if right := epoll > 3 && event > 3 && epoll != event && pid > 0; (err == nil) != right {
			t.Fatalf("epoll %d, eventfd %d, pid %d: %v", epoll, event, pid, err)
		}
		if err != nil {
			return
		}
		var program []bpf.Instruction
		for _, in := range raw {
			program = append(program, bpf.RawInstruction{Op: in.Code, Jt: in.Jt, Jf: in.Jf, K: in.K}.Disassemble())
		}
		vm, err := bpf.NewVM(program)
		if err != nil {
			t.Fatal(err)
		}
		n := headers[runtime.GOARCH]
		for _, first := range []uint64{a0, uint64(epoll), uint64(event), uint64(pid), uint64(pid) | 1<<32} {
			c := syscallData{nr, n.audit, [6]uint64{first, a1, a2, a3, a4, a5}}
			// The reference knows the numbers of this package's tests; the process has others.
			asked := c
			asked.args[0] = rename(first, map[uint64]uint64{uint64(epoll): testEpoll, uint64(event): testEvent}, nr, n.read, n.write, n.epoll)
			asked.args[0] = rename(asked.args[0], map[uint64]uint64{uint64(pid): testPID}, nr, n.tgkill)
			if got, want := (filterVM{vm}).run(t, c), reference(n, asked); got != want {
				t.Errorf("epoll %d, eventfd %d, pid %d, %+v: got %#x, want %#x", epoll, event, pid, c, got, want)
			}
		}
	})
}

// rename gives a number of the process, in the calls that look at it, the name that the reference has for it. What has that name
// without being the number becomes one that nothing allows.
func rename(v uint64, names map[uint64]uint64, nr uint32, calls ...uint32) uint64 {
	if !slices.Contains(calls, nr) {
		return v
	}
	if name, ok := names[v]; ok {
		return name
	}
	for _, name := range names {
		if v == name {
			return 1 << 40
		}
	}
	return v
}
