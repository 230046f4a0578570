package jail_test

import (
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const x32 = 0x40000000

// nativeProbes are those that only this architecture has.
var nativeProbes = []probe{
	{name: "open", nr: unix.SYS_OPEN, args: a(ptr(&root), 0, 0)},
	{name: "creat", nr: unix.SYS_CREAT, args: a(ptr(&root), 0o600)},
	{name: "fork", nr: unix.SYS_FORK},
	{name: "vfork", nr: unix.SYS_VFORK},
	{name: "dup2", nr: unix.SYS_DUP2, args: a(3, 1)},
	{name: "poll", nr: unix.SYS_POLL, args: a(0, 0, 0)},
	{name: "epoll_wait", nr: unix.SYS_EPOLL_WAIT, args: a(4, ptr(&buffer), 1, 0)},
	{name: "arch_prctl", nr: unix.SYS_ARCH_PRCTL, args: a(0x1002, 0)}, // ARCH_SET_FS
	{name: "modify_ldt", nr: unix.SYS_MODIFY_LDT, args: a(0, ptr(&buffer), 16)},
	{name: "iopl", nr: unix.SYS_IOPL, args: a(3)},
	{name: "ioperm", nr: unix.SYS_IOPERM, args: a(0, 1, 1)},
	{name: "kexec_load", nr: unix.SYS_KEXEC_LOAD},
	{name: "x32 getpid", nr: x32 | unix.SYS_GETPID},
	{name: "x32 mmap RWX", nr: x32 | unix.SYS_MMAP, args: a(0, page, rw|unix.PROT_EXEC, anon, minus1, 0)},
	{name: "x32 execve", nr: x32 | 520, args: a(ptr(&trueBin), ptr(&argv), 0)},
	{name: "high bits in the number of open", nr: high | unix.SYS_OPEN, args: a(ptr(&root), 0, 0)},
	{name: "int 0x80 getpid", do: call},
	{name: "int 0x80 execve", do: call},
}

// machine is code that is written while memory could still be made executable.
var machine = map[string][]byte{
	"int 0x80 getpid": {0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3}, // mov eax, 20; int 0x80; ret
	"int 0x80 execve": {0xb8, 11, 0, 0, 0, 0xcd, 0x80, 0xc3},
}

var code []byte

func prepareNative(name string) {
	if !strings.HasPrefix(name, "int 0x80") {
		return
	}
	var err error
	code, err = unix.Mmap(-1, 0, page, rw|unix.PROT_EXEC, anon)
	check(err)
	copy(code, machine[name])
}

func call() syscall.Errno {
	entry := &code[0]
	f := *(*func())(unsafe.Pointer(&[1]unsafe.Pointer{unsafe.Pointer(&entry)}))
	f()
	runtime.KeepAlive(entry)
	return 0
}
