//go:build linux

package escape_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/tests/escape/attack"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// layers are those that are switched on and off, one at a time.
var layers = []attack.Layer{attack.Seccomp, attack.Landlock, attack.Rlimits, attack.Dumpable, attack.Namespaces, attack.UID}

// arm is a nursery and its workers, with some of the layers. A process of its own drives it: see drive. That one has the
// daemon's part: its uid is what workers are not to have, and its namespaces are what they are to have others than.
type arm struct {
	On       []attack.Layer `json:"on"` // and capabilities, always: a worker has none to drop
	Dir      string         `json:"dir"`
	Neighbor uint32         `json:"uid"` // of nursery and workers alike, where they are to have the same

	landlock int // the ABI in force; 0: none
	command  *exec.Cmd
	orders   *json.Encoder
	answers  *json.Decoder
	stderr   bytes.Buffer
}

const (
	envArm = "SANDBOXD_ESCAPE_ARM"

	sameUID = 65533 // of a driver whose workers are to have its uid, when the tests run as root
)

// newArm starts one. It skips the test if this machine does not have the layers that are to be on, or can't do without
// those that are to be off; where the tests don't run as root, the uid is always the same.
func newArm(t *testing.T, on ...attack.Layer) *arm {
	t.Helper()
	a := &arm{On: on, Dir: binaries(t, off(on))}
	if os.Geteuid() != 0 && a.on(attack.UID) {
		a.On = slices.DeleteFunc(slices.Clone(on), func(l attack.Layer) bool { return l == attack.UID })
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	a.command = exec.Command("/proc/self/exe") // whoever it runs as may not walk the path
	a.command.Env = []string{envArm + "=" + string(text), "PATH=" + os.Getenv("PATH")}
	a.command.Dir = "/"
	a.command.Stderr = &a.stderr
	a.command.SysProcAttr = a.attributes()
	in, err := a.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.end(t, in, out) })
	a.orders, a.answers = json.NewEncoder(in), json.NewDecoder(out)
	a.hello(t)
	return a
}

func (a *arm) on(l attack.Layer) bool { return slices.Contains(a.On, l) }

// attributes make the driver a process whose nursery lacks what is to be off: it has a uid for which workers get no other,
// and a user namespace in which it can forbid itself any other namespace.
func (a *arm) attributes() *syscall.SysProcAttr {
	s := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	root := os.Geteuid() == 0
	if root && !a.on(attack.UID) {
		s.Credential = &syscall.Credential{Uid: sameUID, Gid: sameUID}
	}
	if a.on(attack.Namespaces) {
		return s
	}
	s.Cloneflags = unix.CLONE_NEWUSER
	s.AmbientCaps = []uintptr{unix.CAP_SYS_RESOURCE}
	s.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	s.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	if root {
		s.GidMappingsEnableSetgroups = true
		s.UidMappings[0].Size, s.GidMappings[0].Size = 1<<16, 1<<16
	}
	return s
}

// hello learns what the driver has.
func (a *arm) hello(t *testing.T) {
	t.Helper()
	var h hello
	if err := a.answers.Decode(&h); err != nil {
		t.Fatalf("driver: %v\n%s", err, &a.stderr)
	}
	switch {
	case h.Missing != "":
		skip.Because(t, "%s", h.Missing)
	case h.Namespaces && !a.on(attack.Namespaces):
		t.Fatal("the nursery has namespaces that it is not to have")
	}
	a.landlock = h.Landlock
}

// try has one attack made.
func (a *arm) try(t *testing.T, name string) result {
	t.Helper()
	var r result
	err := a.orders.Encode(name)
	if err == nil {
		err = a.answers.Decode(&r)
	}
	if err == nil && r.Err != "" {
		err = fmt.Errorf("%s", r.Err)
	}
	if err != nil {
		t.Fatalf("driver: %v\n%s", err, &a.stderr)
	}
	return r
}

// stops reports whether a layer that is on stops an attack, by the register.
func (a *arm) stops(x attack.Attack) bool {
	return slices.ContainsFunc(x.Stops, func(l attack.Layer) bool {
		return a.on(l) && (l != attack.Landlock || a.landlock >= x.ABI)
	})
}

func (a *arm) end(t *testing.T, in io.Closer, out io.Reader) {
	in.Close()
	_, _ = io.Copy(io.Discard, out) // until its end, whatever is left to say
	if err := a.command.Wait(); err != nil && !t.Skipped() {
		t.Errorf("driver: %v\n%s", err, &a.stderr)
	}
}

// off lists the layers inside the worker that its build is to lack.
func off(on []attack.Layer) []attack.Layer {
	return slices.DeleteFunc(slices.Clone(attack.Inside), func(l attack.Layer) bool { return slices.Contains(on, l) })
}

// binaries builds daemon, nursery and, in the place of its worker, the victim. With nothing off they are built as they are
// released.
func binaries(t testing.TB, off []attack.Layer) string {
	t.Helper()
	builds.Lock()
	defer builds.Unlock()
	key := strings.Trim(strings.ReplaceAll(fmt.Sprint(off), " ", ","), "[]")
	if dir, ok := builds.by[key]; ok {
		return dir
	}
	dir, err := os.MkdirTemp("", "sandboxd-escape-")
	if err != nil {
		t.Fatal(err)
	}
	builds.by[key] = dir
	args := []string{"build", "-o", dir + "/"}
	if len(off) > 0 {
		args = append(args, "-tags", "sandboxd_layers", "-ldflags", "-s -w -X "+module+"/internal/jail.off="+key)
	} else {
		args = append(args, module+"/cmd/sandboxd")
	}
	command := exec.Command("go", append(args, module+"/cmd/sandbox-nursery", module+"/tests/escape/victim")...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build victim without %q: %v\n%s", key, err, out)
	}
	if err := errors.Join(
		os.Chmod(dir, 0o755), // workers and drivers are others
		os.Rename(filepath.Join(dir, "victim"), filepath.Join(dir, "sandbox-worker")),
	); err != nil {
		t.Fatal(err)
	}
	return dir
}

const module = "github.com/sandboxd/sandboxd"

var builds = struct {
	sync.Mutex
	by map[string]string
}{by: make(map[string]string)}

// clean removes what was built.
func clean() {
	builds.Lock()
	defer builds.Unlock()
	for _, dir := range builds.by {
		os.RemoveAll(dir)
	}
}
