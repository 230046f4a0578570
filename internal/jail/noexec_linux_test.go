package jail_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/jail"
)

func forbidExec(jail.Spec) (jail.Report, error) {
	for range 4 { // threads that exist before the filter, and stay
		go func() { runtime.LockOSThread(); select {} }()
	}
	return jail.Report{}, jail.ForbidExec()
}

func execute() {
	for range 8 { // on whatever thread
		if err := exec.Command("/bin/true").Run(); !errors.Is(err, unix.EPERM) {
			say("execve: %v", err)
		}
	}
	memory, err := unix.MemfdCreate("x", 0)
	check(err)
	empty := [1]byte{}
	if _, _, errno := unix.Syscall6(unix.SYS_EXECVEAT, uintptr(memory), uintptr(unsafe.Pointer(&empty)), 0, 0, unix.AT_EMPTY_PATH, 0); errno != unix.EPERM {
		say("execveat: %v", errno)
	}
	threads, err := os.ReadDir("/proc/self/task")
	check(err)
	for _, thread := range threads {
		status, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/status")
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has ended
		}
		check(err)
		if !strings.Contains(string(status), "\nSeccomp:\t2\n") {
			say("thread %s has no filter", thread.Name())
		}
	}
	say("tried on %d threads", min(4, len(threads)))
}

// TestForbidExec executes from threads that were there before the filter, and from memory.
func TestForbidExec(t *testing.T) {
	c := start(t, spec, "no-exec", "")
	c.ready(t)
	if said, end := c.end(t); said != "tried on 4 threads\n" || end != "exit 0" {
		t.Errorf("%s: %s\n%s", end, said, c.stderr.String())
	}
}
