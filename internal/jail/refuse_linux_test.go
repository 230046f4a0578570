package jail_test

import (
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// leak leaves something about that Enter must refuse.
func leak(what string) {
	var err error
	switch what {
	case "file", "closed file":
		_, err = unix.Open("/etc/passwd", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil && what == "closed file" {
			err = jail.CloseOthers()
		}
	case "eventfd":
		time.Sleep(time.Millisecond) // the runtime has its own by now
		_, err = unix.Eventfd(0, unix.EFD_CLOEXEC)
	case "socket":
		var p [2]int
		if err = unix.Pipe2(p[:], unix.O_CLOEXEC); err == nil {
			unix.Dup3(p[0], 3, 0)
			err = jail.CloseOthers()
		}
	case "filtered thread":
		err = filterOneThread()
	}
	check(err)
}

// filterOneThread gives a thread a filter that no other has, so that TSYNC can't succeed.
func filterOneThread() error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		pass := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: allow}
		prog := unix.SockFprog{Len: 1, Filter: &pass}
		_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
		if errno != 0 {
			result <- errno
		}
		close(result)
		select {} // and holds its thread
	}()
	return <-result
}

func TestRefuses(t *testing.T) {
	named := func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "GODEBUG=decoratemappings=1") }
	tests := []struct {
		name   string
		spec   jail.Spec
		leak   string
		change func(*exec.Cmd)
		want   string // "" where it is no reason to refuse
	}{
		{name: "zero spec", want: "landlock_abi 0"},
		{name: "future ABI", spec: jail.Spec{LandlockABI: 99, MemoryBytes: 32 << 20, CPUSeconds: 1}, want: "restrict by landlock: the kernel's ABI is"},
		{name: "open file", spec: spec, leak: "file", want: "is open to /etc/passwd"},
		{name: "file that was closed", spec: spec, leak: "closed file"},
		{name: "second eventfd", spec: spec, leak: "eventfd", want: "is open to anon_inode:[eventfd]"},
		{name: "pipe as fd 3", spec: spec, leak: "socket", want: "fd 3 is pipe:"},
		{name: "thread out of reach", spec: spec, leak: "filtered thread", want: "seccomp(SECCOMP_SET_MODE_FILTER): no such process"},
		{name: "named mappings", spec: spec, change: named, want: "decoratemappings=0"},
		{name: "inherited fds", spec: spec, change: func(cmd *exec.Cmd) {
			cmd.ExtraFiles = append(cmd.ExtraFiles, os.Stdin, nil, os.Stdin)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "named mappings" && !namesMappings() {
				skip.Because(t, "kernel without CONFIG_ANON_VMA_NAME")
			}
			if tt.change == nil {
				tt.change = func(*exec.Cmd) {}
			}
			c := start(t, tt.spec, "leak", tt.leak, tt.change)
			said, end := c.end(t)
			stderr := c.stderr.String()
			if tt.want == "" {
				if end != "exit 0" {
					t.Errorf("ended with %s: %s", end, stderr)
				}
				return
			}
			if said != "" || end != "exit 3" || !strings.Contains(stderr, tt.want) {
				t.Errorf("said %q, ended with %s: %s\nwant an error with %q", said, end, stderr, tt.want)
			}
		})
	}
}

// namesMappings asks the kernel to name a page of this process.
func namesMappings() bool {
	mem, err := unix.Mmap(-1, 0, page, rw, anon)
	return err == nil && unix.Prctl(unix.PR_SET_VMA, unix.PR_SET_VMA_ANON_NAME, ptr(&mem[0]), page, ptr(&root)) == nil
}

// TestEveryFieldCounts: each field of Spec, changed alone, changes how a child ends.
func TestEveryFieldCounts(t *testing.T) {
	tests := map[string]struct {
		act        string
		less, more int64
		endLess    string
		endMore    string
	}{
		"LandlockABI": {"nothing", 1, 99, "exit 0", "exit 3"},
		"MemoryBytes": {"allocate", 8 << 20, 256 << 20, "exit 2", "exit 0"},
		"CPUSeconds":  {"spin", 1, 60, "SIGKILL", "still there"},
	}
	typ := reflect.TypeFor[jail.Spec]()
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt, ok := tests[name]
			if !ok {
				t.Fatal("no test says what this field changes")
			}
			for value, want := range map[int64]string{tt.less: tt.endLess, tt.more: tt.endMore} {
				s := spec
				reflect.ValueOf(&s).Elem().Field(i).SetInt(value)
				if got := endOf(t, start(t, s, tt.act, ""), want); got != want {
					t.Errorf("%d: ended with %s, want %s", value, got, want)
				}
			}
		})
	}
}

// endOf is how a child ended, which is waited for only if it is to end.
func endOf(t *testing.T, c *child, want string) string {
	if want != "still there" {
		_, end := c.end(t)
		return end
	}
	c.ready(t)
	time.Sleep(4 * time.Second)
	if state, err := os.ReadFile("/proc/" + strconv.Itoa(c.Process.Pid) + "/stat"); err != nil || strings.Contains(string(state), ") Z ") {
		return "gone"
	}
	return want
}
