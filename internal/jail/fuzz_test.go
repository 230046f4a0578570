package jail_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sandboxd/sandboxd/internal/jail"
)

// FuzzAssemble assembles rules that nobody wrote, and makes a system call: the program must answer as the rules read. So the
// assembler is right for the rules to come, and not by luck for those of today.
func FuzzAssemble(f *testing.F) {
	f.Add([]byte{0, 1, 0x10, 3, 1, 2, 0, 2, 0x21, 9, 9, 0xff}, uint32(0), uint64(3), uint64(3), uint64(9))
	f.Add([]byte{7, 0, 10, 3, 0x10, 1, 0x80, 0x20, 2, 3, 0x50, 0, 39, 0}, uint32(10), uint64(1), uint64(7), uint64(0))
	f.Add([]byte{1, 0x40, 2, 0x1f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, uint32(2), uint64(1)<<32, uint64(3), ^uint64(0))
	f.Fuzz(func(t *testing.T, recipe []byte, nr uint32, a, b, c uint64) {
		rules := rulesOf(recipe)
		if len(rules) == 0 {
			return
		}
		own := jail.Rules
		defer func() { jail.Rules = own }()
		jail.Rules = func() []jail.Rule { return rules }
		for _, arch := range arches {
			vm := newVM(t, assemble(t, arch.info))
			numbers := []uint32{nr}
			for _, r := range rules {
				numbers = append(numbers, uint32(arch.info.SyscallNames[r.Syscall]))
			}
			for _, nr := range numbers {
				for _, audit := range []uint32{headers[arch.goarch].audit, uint32(a)} {
					call := syscallData{nr, audit, [6]uint64{a, b, c, a ^ b, b ^ c, a + 1}}
					want := uint32(kill)
					if audit == headers[arch.goarch].audit {
						want = judge(rules, func(name string) bool { return uint32(arch.info.SyscallNames[name]) == nr }, call)
					}
					if got := vm.run(t, call); got != want {
						t.Errorf("%s, rules %v, %+v: got %#x, want %#x", arch.goarch, rules, call, got, want)
					}
				}
			}
		}
	})
}

// judge reads the rules as a person does.
func judge(rules []jail.Rule, is func(name string) bool, c syscallData) uint32 {
	for _, r := range rules {
		if !is(r.Syscall) {
			continue
		}
		for _, a := range r.Args {
			if !slices.ContainsFunc(a.OneOf, func(v jail.Value) bool { return v.N == c.args[a.Index] }) {
				return kill
			}
		}
		if r.Fails != "" {
			return eperm
		}
		return allow
	}
	return kill
}

// names are system calls that both architectures have.
var names = []string{"read", "write", "mmap", "munmap", "madvise", "futex", "nanosleep", "getpid", "gettid", "tgkill", "close", "mprotect",
	"ppoll", "lseek", "brk", "ioctl", "exit", "kill", "socket", "bind"}

// shortJumps is how long a program may be. Jumps over more than 255 instructions are wrong in go-seccomp-bpf v1.6.0
// (Program.resolveLabel takes a position in the program for a distance).
const shortJumps = 250

// rulesOf makes rules of bytes: each takes a name and what it looks at. There is one rule for each system call, as there is in the
// list, and no more than fit a program.
func rulesOf(recipe []byte) (rules []jail.Rule) {
	size := 0
	take := func() (b byte) {
		if len(recipe) > 0 {
			b, recipe = recipe[0], recipe[1:]
		}
		return b
	}
	for len(recipe) > 0 && len(rules) < len(names) {
		r := jail.Rule{Syscall: names[int(take())%len(names)]}
		shape := take()
		if slices.ContainsFunc(rules, func(other jail.Rule) bool { return other.Syscall == r.Syscall }) {
			continue
		}
		if shape%16 == 15 {
			r.Fails = "for a reason"
		}
		for i := range uint32(shape>>4) % 4 {
			a := jail.Arg{Index: (i + uint32(shape)) % 6, Name: fmt.Sprint(i)}
			for range 1 + shape%8 {
				size += 4
				v := uint64(take())
				switch v >> 6 {
				case 1:
					v <<= 32
				case 2:
					v |= 0xffffffff << 32
				case 3:
					v = ^v
				}
				a.OneOf = append(a.OneOf, jail.Value{N: v})
			}
			r.Args = append(r.Args, a)
		}
		if size += 1 + 2*len(r.Args); size > shortJumps {
			break
		}
		rules = append(rules, r)
	}
	return rules
}
