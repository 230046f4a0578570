package jail_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
)

// What the holes are filled with here.
const (
	testEpoll = 4
	testEvent = 5
	testPID   = 4242
)

const (
	kill  = 0x80000000 // SECCOMP_RET_KILL_PROCESS
	allow = 0x7fff0000
	eperm = 0x00050001 // SECCOMP_RET_ERRNO | EPERM
)

// syscallData is what the kernel shows to a filter: struct seccomp_data.
type syscallData struct {
	nr   uint32
	arch uint32
	args [6]uint64
}

// numbers are of the kernel's headers, written down here once more, and not taken from the library.
type numbers struct {
	audit                                                                                    uint32
	read, write, mmap, munmap, madvise, futex, nanosleep, yield, epoll, getpid, gettid       uint32
	tgkill, sigprocmask, sigreturn, sigaltstack, clockGettime, restart, exit, getppid, ioctl uint32
}

var headers = map[string]numbers{
	"amd64": {0xc000003e, 0, 1, 9, 11, 28, 202, 35, 24, 281, 39, 186, 234, 14, 15, 131, 228, 219, 231, 110, 16},
	"arm64": {0xc00000b7, 63, 64, 222, 215, 233, 98, 101, 124, 22, 172, 178, 131, 135, 139, 132, 113, 128, 94, 173, 29},
}

// reference says what the filter must answer. It knows nothing of the rules' data or of BPF.
func reference(n numbers, c syscallData) uint32 {
	if c.arch != n.audit {
		return kill
	}
	a := c.args
	ok := false
	switch c.nr {
	case n.munmap, n.nanosleep, n.yield, n.getpid, n.gettid, n.sigreturn, n.sigaltstack, n.restart, n.exit:
		ok = true
	case n.getppid:
		return eperm
	case n.ioctl:
		if a[0] == 2 && a[1] == 0x5401 {
			return eperm
		}
	case n.read:
		ok = a[0] == 3 || a[0] == testEvent
	case n.write:
		ok = a[0] == 2 || a[0] == 3 || a[0] == testEvent
	case n.mmap:
		ok = (a[2] == 0 || a[2] == 3) && (a[3] == 0x22 || a[3] == 0x32) && (a[4] == 0xffffffff || a[4] == ^uint64(0)) && a[5] == 0
	case n.madvise:
		ok = slices.Contains([]uint64{4, 8, 14, 15, 25}, a[2])
	case n.futex:
		ok = a[1] == 128 || a[1] == 129
	case n.epoll:
		ok = a[0] == testEpoll && a[4] == 0
	case n.tgkill:
		ok = a[0] == testPID && a[2] == 23
	case n.sigprocmask:
		ok = a[0] == 2
	case n.clockGettime:
		ok = a[0] <= 2
	}
	if ok {
		return allow
	}
	return kill
}

// filterVM runs a program as the kernel would: words in the machine's order, low half first.
type filterVM struct{ vm *bpf.VM }

func newVM(t testing.TB, program []bpf.Instruction) filterVM {
	t.Helper()
	vm, err := bpf.NewVM(fill(program))
	if err != nil {
		t.Fatal(err)
	}
	return filterVM{vm}
}

func fill(program []bpf.Instruction) []bpf.Instruction {
	filled := slices.Clone(program)
	holes := map[uint32]uint32{0x7fffff01: testEpoll, 0x7fffff02: testEvent, 0x7fffff03: testPID}
	for i, in := range filled {
		if j, ok := in.(bpf.JumpIf); ok {
			if v, ok := holes[j.Val]; ok {
				j.Val = v
				filled[i] = j
			}
		}
	}
	return filled
}

func (m filterVM) run(t testing.TB, c syscallData) uint32 {
	var b [64]byte // the VM loads words in network order
	binary.BigEndian.PutUint32(b[0:], c.nr)
	binary.BigEndian.PutUint32(b[4:], c.arch)
	for i, a := range c.args {
		binary.BigEndian.PutUint32(b[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(b[20+8*i:], uint32(a>>32))
	}
	got, err := m.vm.Run(b[:])
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

// adversarial values of an argument: what is allowed anywhere, its neighbours, with bits in the high
// half, sign-extended, and numbers of system calls.
func adversarial(n numbers) []uint64 {
	var all []uint64
	for _, v := range []uint64{0, 1, 2, 3, testEpoll, testEvent, 4, 7, 8, 14, 15, 16, 22, 23, 24, 25, 0x22, 0x32, 0x23, 0x20,
		128, 129, 130, 0x5401, testPID, 0xffffffff, 0x7fffffff, 0x80000000, 1<<63 - 1, 1 << 63, ^uint64(0), 0x7fffff01, 0x7fffff02, 0x7fffff03,
		uint64(n.read), uint64(n.mmap), uint64(n.exit), uint64(n.getppid)} {
		all = append(all, v, v-1, v+1, v+1<<32, v-1<<32, v|1<<63, v|0xffffffff<<32, v<<32)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func syscallNumbers() []uint32 {
	var nrs []uint32
	for nr := range uint32(601) {
		nrs = append(nrs, nr, 0x40000000|nr, 0x80000000|nr)
	}
	return append(nrs, ^uint32(0), 100000, 0x40000000-1, 0x7fffffff)
}

var auditArches = []uint32{0xc000003e, 0xc00000b7, 0x40000003 /* i386 */, 0x40000028 /* arm */, 0, ^uint32(0), 0x8000003e}

// benign arguments satisfy every rule that looks at an argument, one set by system call.
func benign(n numbers) map[uint32][6]uint64 {
	return map[uint32][6]uint64{
		n.read: {3}, n.write: {2}, n.mmap: {0, 4096, 3, 0x22, 0xffffffff, 0}, n.madvise: {0, 0, 4}, n.futex: {0, 128},
		n.epoll: {testEpoll}, n.tgkill: {testPID, 1, 23}, n.sigprocmask: {2}, n.clockGettime: {1},
	}
}

// TestFilter runs the assembled programs against the reference: every number under every
// architecture, with every argument in turn adversarial while the others are what some rule allows.
func TestFilter(t *testing.T) {
	for _, a := range arches {
		t.Run(a.goarch, func(t *testing.T) {
			n := headers[a.goarch]
			vm := newVM(t, assemble(t, a.info))
			ran := map[uint32]int{}
			try := func(c syscallData) {
				got, want := vm.run(t, c), reference(n, c)
				if got != want {
					t.Fatalf("%#x under %#x %x: got %#x, want %#x", c.nr, c.arch, c.args, got, want)
				}
				ran[got]++
			}
			values, sets := adversarial(n), benign(n)
			for _, nr := range syscallNumbers() {
				for _, audit := range auditArches {
					try(syscallData{nr, audit, sets[nr]})
				}
				for _, set := range sets {
					try(syscallData{nr, n.audit, set})
				}
				for arg := range 6 {
					for _, v := range values {
						set := sets[nr]
						set[arg] = v
						try(syscallData{nr, n.audit, set})
					}
				}
			}
			pairs(n, values, try)
			sweep(n, try)
			t.Logf("%d runs: %d killed, %d allowed, %d EPERM", ran[kill]+ran[allow]+ran[eperm], ran[kill], ran[allow], ran[eperm])
			if ran[allow] == 0 || ran[eperm] == 0 {
				t.Error("nothing was allowed")
			}
		})
	}
}

// pairs makes two arguments adversarial at a time, where rules look at more than one.
func pairs(n numbers, values []uint64, try func(syscallData)) {
	for nr, args := range map[uint32][]int{n.mmap: {2, 3, 4, 5}, n.tgkill: {0, 2}, n.epoll: {0, 4}} {
		for i, first := range args {
			for _, second := range args[i+1:] {
				for _, v := range values {
					for _, w := range values {
						set := benign(n)[nr]
						set[first], set[second] = v, w
						try(syscallData{nr, n.audit, set})
					}
				}
			}
		}
	}
}

// sweep tries every small value of each argument of each rule, and each bit flipped.
func sweep(n numbers, try func(syscallData)) {
	for nr, right := range benign(n) {
		for arg := range 6 {
			c := syscallData{nr, n.audit, right}
			for v := range uint64(1024) {
				c.args[arg] = v
				try(c)
			}
			for bit := range 64 {
				c.args[arg] = right[arg] ^ 1<<bit
				try(c)
			}
		}
	}
}

// TestFilterIsSmall: at most 20 system calls are reachable, and the number is loaded once only.
func TestFilterIsSmall(t *testing.T) {
	for _, a := range arches {
		n := headers[a.goarch]
		vm := newVM(t, assemble(t, a.info))
		reachable := map[uint32]bool{}
		for _, nr := range syscallNumbers() {
			for _, set := range append([][6]uint64{{}}, values(benign(n))...) {
				if vm.run(t, syscallData{nr, n.audit, set}) == allow {
					reachable[nr] = true
				}
			}
		}
		if len(reachable) > 20 {
			t.Errorf("%s: %d system calls are reachable", a.goarch, len(reachable))
		}
		var early []uint32 // loads of what is not an argument
		for _, in := range assemble(t, a.info) {
			if l, ok := in.(bpf.LoadAbsolute); ok && l.Off < 16 {
				early = append(early, l.Off)
			}
		}
		if !slices.Equal(early, []uint32{4, 0}) {
			t.Errorf("%s: architecture and number are loaded once each, first: got offsets %d", a.goarch, early)
		}
	}
}

func values(m map[uint32][6]uint64) (all [][6]uint64) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// FuzzFilter looks for a system call on which a program and the reference differ.
func FuzzFilter(f *testing.F) {
	f.Add(false, uint32(9), uint32(0xc000003e), uint64(0), uint64(4096), uint64(7), uint64(0x22), uint64(0xffffffff), uint64(0))
	f.Add(true, uint32(222), uint32(0xc00000b7), uint64(0), uint64(4096), uint64(1<<32|3), uint64(0x22), ^uint64(0), uint64(0))
	vms := []filterVM{newVM(f, assemble(f, arches[0].info)), newVM(f, assemble(f, arches[1].info))}
	f.Fuzz(func(t *testing.T, arm bool, nr, audit uint32, a0, a1, a2, a3, a4, a5 uint64) {
		i := 0
		if arm {
			i = 1
		}
		n := headers[arches[i].goarch]
		for _, arch := range []uint32{audit, n.audit} { // most of a random one are foreign
			c := syscallData{nr, arch, [6]uint64{a0, a1, a2, a3, a4, a5}}
			if got, want := vms[i].run(t, c), reference(n, c); got != want {
				t.Errorf("%s %+v: got %#x, want %#x", arches[i].goarch, c, got, want)
			}
		}
	})
}
