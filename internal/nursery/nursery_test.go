package nursery_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/tests/daemon"
	"github.com/sandboxd/sandboxd/tests/skip"
)

func TestMain(m *testing.M) { daemon.Main(m) }

var spec = nursery.Spec{Jail: jail.Spec{LandlockABI: 1, MemoryBytes: 64 << 20, CPUSeconds: 5}, CPUs: 1, PIDs: 24}

func start(t *testing.T) *nursery.Client {
	t.Helper()
	c := nursery.NewClient(nursery.Start(filepath.Join(daemon.Binaries(t), "sandbox-nursery"), os.Stderr, false))
	t.Cleanup(c.Close)
	return c
}

func spawn(t *testing.T, c *nursery.Client) *nursery.Worker {
	t.Helper()
	w, err := c.Spawn(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWorker looks at a worker from outside: it has nothing but what a worker needs.
func TestWorker(t *testing.T) {
	w := spawn(t, start(t))
	defer w.Bury()
	proc := fmt.Sprintf("/proc/%d", w.PID)
	status, err := os.ReadFile(proc + "/status")
	if err != nil {
		t.Fatal(err)
	}
	uid := os.Geteuid()
	if uid == 0 {
		uid = 65534 // a nursery that is root does not give that to workers
	}
	for _, want := range []string{
		"Name:\tsandbox-worker", "NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000",
		fmt.Sprintf("Uid:\t%d\t%d\t%d\t%d", uid, uid, uid, uid),
	} {
		if !strings.Contains(string(status), want+"\n") {
			t.Errorf("status does not say %q", want)
		}
	}
	if os.Geteuid() != 0 {
		if _, err := os.ReadDir(proc + "/fd"); !errors.Is(err, os.ErrPermission) {
			t.Errorf("descriptors can be listed by their own user: the worker is dumpable (%v)", err)
		}
		return
	}
	if environ, err := os.ReadFile(proc + "/environ"); err != nil || len(environ) > 0 {
		t.Errorf("environment is %q, %v", environ, err)
	}
	if supplementary := "Groups:\t \n"; !strings.Contains(string(status), supplementary) {
		t.Errorf("the worker is in groups:\n%s", status)
	}
	var fds []string
	entries, err := os.ReadDir(proc + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		link, err := os.Readlink(proc + "/fd/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(link, ":[")
		fds = append(fds, kind)
	}
	// The nursery opened /dev/null before it had a root of its own: there it is /null of a mount that has no place.
	want := []string{"/null", "/null", "pipe", "socket", "anon_inode:[eventpoll]", "anon_inode:[eventfd]"}
	for i := range fds {
		if strings.HasPrefix(fds[i], "anon_inode") && i >= 4 {
			fds[i] = strings.SplitAfter(fds[i], "]")[0]
		}
	}
	if diff := cmp.Diff(want[:4], fds[:min(4, len(fds))]); diff != "" || len(fds) != len(want) {
		t.Errorf("descriptors are %q: %s", fds, diff)
	}
}

// TestNamespaces looks at what a worker sees, from outside.
func TestNamespaces(t *testing.T) {
	w := spawn(t, start(t))
	defer w.Bury()
	if why, missing := w.Layers.Missing[nursery.LayerNamespaces]; missing {
		skip.Because(t, "this system lets user %d make no namespaces: %s", os.Geteuid(), why)
	}
	want := []string{"ipc", "mnt", "net", "pid"}
	if os.Geteuid() != 0 {
		want = append(want, "user")
	}
	if diff := cmp.Diff(want, w.Layers.Namespaces); diff != "" {
		t.Errorf("namespaces: %s", diff)
	}
	proc := fmt.Sprintf("/proc/%d/", w.PID)
	var mounts []string
	for line := range strings.Lines(read(t, proc+"mountinfo")) {
		mounts = append(mounts, strings.Fields(line)[4])
	}
	places := []string{"/", "/proc"}
	if w.Layers.Cgroup {
		places = append(places, "/cg")
	}
	slices.Sort(places)
	if slices.Sort(mounts); !slices.Equal(mounts, places) {
		t.Errorf("it sees mounts %v, want %v", mounts, places)
	}
	for line := range strings.Lines(read(t, proc+"net/dev")) {
		if name, _, isDevice := strings.Cut(strings.TrimSpace(line), ":"); isDevice && name != "lo" {
			t.Errorf("it sees network device %q", name)
		}
	}
	// Its number there comes last.
	if ids := strings.Fields(between(read(t, proc+"status"), "NSpid:", "\n")); len(ids) < 2 || ids[0] != strconv.Itoa(w.PID) {
		t.Errorf("its pids are %v, and %d here", ids, w.PID)
	}
	if os.Geteuid() != 0 {
		return
	}
	for _, kind := range want {
		theirs, err := os.Readlink(proc + "ns/" + kind)
		if err != nil {
			t.Fatal(err)
		}
		if ours, err := os.Readlink("/proc/self/ns/" + kind); err != nil || ours == theirs {
			t.Errorf("namespace %s is ours: %s, %v", kind, ours, err)
		}
	}
}

// TestServiceIsLookedAt has a nursery that is a service of its own, whose unit forgot the root directory: that its mounts differ
// from the daemon's must not count.
func TestServiceIsLookedAt(t *testing.T) {
	if os.Geteuid() != 0 {
		skip.Because(t, "only root makes namespaces without a user namespace")
	}
	path := filepath.Join(daemon.Dir(t), "n")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	unit := exec.Command(filepath.Join(daemon.Binaries(t), "sandbox-nursery"))
	unit.ExtraFiles, unit.Stderr = []*os.File{socket}, os.Stderr
	unit.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET}
	if err := unit.Start(); err != nil {
		t.Fatal(err)
	}
	defer unit.Wait()
	c := nursery.NewClient(nursery.Dial(path))
	defer c.Close()
	w := spawn(t, c)
	defer w.Bury()
	if want := []string{"ipc", "net"}; !slices.Equal(w.Layers.Namespaces, want) || w.Layers.Walled() {
		t.Errorf("namespaces %v, want %v", w.Layers.Namespaces, want)
	}
	if why := w.Layers.Missing[nursery.LayerNamespaces]; !strings.Contains(why, "root directory is the daemon's") {
		t.Errorf("why: %q", why)
	}
}

// TestCgroup looks at the cgroups of workers, where one is delegated to the test.
func TestCgroup(t *testing.T) {
	c := start(t)
	w := spawn(t, c)
	if why, missing := w.Layers.Missing[nursery.LayerCgroup]; missing {
		if os.Getenv("SANDBOXD_TEST_CGROUP") != "" {
			t.Fatalf("a cgroup is delegated, and not used: %s", why)
		}
		skip.Because(t, "no cgroup is delegated to the tests; make vm runs it: %s", why)
	}
	leaf := func(w *nursery.Worker) string {
		return "/sys/fs/cgroup" + strings.TrimSpace(strings.TrimPrefix(read(t, fmt.Sprintf("/proc/%d/cgroup", w.PID)), "0::"))
	}
	dir := leaf(w)
	if delegated := os.Getenv("SANDBOXD_TEST_CGROUP"); delegated == "" || !strings.HasPrefix(filepath.Base(dir), "worker-") || filepath.Dir(dir) != delegated {
		t.Errorf("the worker is in %s, want a child of %s", dir, delegated)
	}
	for file, want := range map[string]string{
		"memory.max": strconv.Itoa((64 + 16 + 24) << 20), "memory.swap.max": "0", "memory.oom.group": "1",
		"cpu.max": "100000 100000", "pids.max": "24", "cpu.weight": "100",
	} {
		if got := strings.TrimSpace(read(t, filepath.Join(dir, file))); got != want {
			t.Errorf("%s is %s, want %s", file, got, want)
		}
	}
	if err := w.Lower(t.Context(), 32<<20); err != nil {
		t.Error(err)
	}
	if got := strings.TrimSpace(read(t, dir+"/memory.max")); got != strconv.Itoa((32+8+24)<<20) {
		t.Errorf("lowered, memory.max is %s", got)
	}
	if err := w.Lower(t.Context(), 48<<20); err == nil {
		t.Error("what was lowered was raised again")
	}
	exit, err := w.Bury()
	if err != nil || !exit.Killed || exit.OOM || exit.CPUMicros < 1000 || exit.PeakMemory < 1<<20 {
		t.Errorf("it ended as %+v, %v", exit, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its cgroup is left: %v", err)
	}

	t.Run("out of memory", func(t *testing.T) {
		w := spawn(t, c)
		// Below what it has already: the kernel takes what can be taken, and then the worker.
		if err := os.WriteFile(leaf(w)+"/memory.max", []byte("0"), 0); err != nil {
			t.Fatal(err)
		}
		w.Socket.Write([]byte("{")) // it has to touch something
		select {
		case <-w.Dead:
		case <-time.After(10 * time.Second):
			t.Error("it lives")
		}
		exit, err := w.Bury()
		if err != nil || !exit.OOM || exit.Killed || exit.Signal != int(syscall.SIGKILL) {
			t.Errorf("it ended as %+v, %v", exit, err)
		}
	})
	t.Run("the nursery dies", func(t *testing.T) {
		w := spawn(t, c)
		dir := leaf(w)
		if err := syscall.Kill(nurseryOf(t), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		daemon.Gone(t, []int{w.PID})
		w.Bury()
		next := spawn(t, c)
		defer next.Bury()
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) && leaf(next) != dir {
			t.Errorf("a cgroup is left: %v", err)
		}
	})
}

// TestNurseryHasLittle looks at the nursery from outside: it keeps what it takes to start and to bury.
func TestNurseryHasLittle(t *testing.T) {
	w := spawn(t, start(t))
	defer w.Bury()
	if _, missing := w.Layers.Missing[nursery.LayerNamespaces]; missing {
		skip.Because(t, "this system lets user %d make no namespaces", os.Geteuid())
	}
	capabilities := "0000000000000000"
	if os.Geteuid() == 0 {
		capabilities = "00000000000000e0" // KILL, SETGID, SETUID
	}
	pid := nurseryOf(t)
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil || len(tasks) < 2 {
		t.Fatalf("threads: %v, %v", tasks, err)
	}
	for _, task := range tasks {
		status := read(t, fmt.Sprintf("/proc/%d/task/%s/status", pid, task.Name()))
		for key, want := range map[string]string{
			"NoNewPrivs:": "1", "CapInh:": "0000000000000000", "CapPrm:": capabilities, "CapEff:": capabilities,
			"CapBnd:": "0000000000000000", "CapAmb:": "0000000000000000",
		} {
			if got := strings.TrimSpace(between(status, key, "\n")); got != want {
				t.Errorf("thread %s: %s is %s, want %s", task.Name(), key, got, want)
			}
		}
	}
	if info, err := os.Stat(fmt.Sprintf("/proc/%d/fd", pid)); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("its descriptors belong to its user: it is dumpable (%v)", err) // proc_pid(5)
	}
}

// nurseryOf returns the pid of the one nursery that this test has started.
func nurseryOf(t *testing.T) int {
	t.Helper()
	var pids []int
	for _, pid := range daemon.Descendants(os.Getpid()) {
		if strings.HasPrefix(read(t, fmt.Sprintf("/proc/%d/comm", pid)), "sandbox-nursery") {
			pids = append(pids, pid)
		}
	}
	if len(pids) != 1 {
		t.Fatalf("nurseries: %v", pids)
	}
	return pids[0]
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return text
}

func TestBury(t *testing.T) {
	c := start(t)
	for _, tt := range []struct {
		name string
		end  func(*nursery.Worker)
		want nursery.Exit
	}{
		{"alive", func(*nursery.Worker) {}, nursery.Exit{Code: -1, Signal: int(syscall.SIGKILL), Killed: true}},
		{"hung up on", func(w *nursery.Worker) { w.Socket.Close(); time.Sleep(200 * time.Millisecond) }, nursery.Exit{Code: 0}},
		{"told nonsense", func(w *nursery.Worker) { w.Socket.WriteString("nonsense\n"); <-w.Dead },
			nursery.Exit{Code: 1, Stderr: "sandbox-worker: broke the worker protocol: header: invalid character 'o' in literal null (expecting 'u')"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := spawn(t, c)
			tt.end(w)
			got, err := w.Bury()
			if err != nil {
				t.Fatal(err)
			}
			if got.CPUMicros == 0 || got.PeakMemory < 1<<20 {
				t.Errorf("account is %d µs, %d bytes", got.CPUMicros, got.PeakMemory)
			}
			got.CPUMicros, got.PeakMemory = 0, 0
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", w.PID)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the process is still there: %v", err)
			}
			if _, err := w.Bury(); err == nil {
				t.Error("it was buried twice")
			}
		})
	}
}

// TestGone: who is handed a worker knows at once that it died, before its nursery tells.
func TestGone(t *testing.T) {
	w := spawn(t, start(t))
	defer w.Bury()
	if w.Gone() {
		t.Error("a worker that lives is said to be gone")
	}
	if err := syscall.Kill(w.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	daemon.Eventually(t, 10*time.Second, func() error {
		if daemon.Living(w.PID) != 0 {
			return errors.New("it lives")
		}
		return nil
	})
	if !w.Gone() {
		t.Error("a worker that was killed is said to live")
	}
}

func TestSpawnRefuses(t *testing.T) {
	c := start(t)
	for _, tt := range []struct {
		spec nursery.Spec
		want string
	}{
		{nursery.Spec{Jail: jail.Spec{MemoryBytes: 64 << 20}, CPUs: 1, PIDs: 24}, "landlock_abi 0: must be at least 1"},
		{nursery.Spec{Jail: jail.Spec{LandlockABI: 99, MemoryBytes: 64 << 20, CPUSeconds: 5}, CPUs: 1, PIDs: 24}, "the spec wants 99"},
	} {
		_, err := c.Spawn(context.Background(), tt.spec)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.spec, err, tt.want)
		}
	}
	if _, err := spawn(t, c).Bury(); err != nil {
		t.Errorf("after refusals: %v", err)
	}
}

func TestAccounts(t *testing.T) {
	w := spawn(t, start(t))
	cpu, err := w.CPU()
	if err != nil || cpu <= 0 || cpu > time.Second {
		t.Errorf("CPU time is %s, %v", cpu, err)
	}
	peak, err := w.PeakMemory()
	if err != nil || peak < 1<<20 || peak > 64<<20 {
		t.Errorf("peak memory is %d, %v", peak, err)
	}
	if _, err := w.Bury(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.CPU(); err == nil {
		t.Error("a dead worker has a CPU clock")
	}
	if _, err := w.PeakMemory(); err == nil {
		t.Error("a dead worker has memory")
	}
}

// TestNurseryDies shows that workers die with it, that this is told, and that another one is opened.
func TestNurseryDies(t *testing.T) {
	c := start(t)
	first := spawn(t, c)
	if err := syscall.Kill(nurseryOf(t), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.Dead:
	case <-time.After(2 * time.Second):
		t.Error("its death is not told")
	}
	daemon.Gone(t, []int{first.PID})
	if _, err := first.Bury(); err == nil {
		t.Error("a nursery that is gone buried a worker")
	}
	if _, err := spawn(t, c).Bury(); err != nil {
		t.Errorf("the next nursery: %v", err)
	}
}

// TestHangUp shows that no worker outlives its daemon's connection.
func TestHangUp(t *testing.T) {
	c := start(t)
	var pids []int
	for range 4 {
		pids = append(pids, spawn(t, c).PID)
	}
	c.Close()
	daemon.Gone(t, pids)
}

func TestSpawnIsCancelled(t *testing.T) {
	c := start(t)
	if _, err := spawn(t, c).Bury(); err != nil {
		t.Fatal(err)
	}
	before := len(daemon.Descendants(os.Getpid()))
	for i := range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Millisecond/2)
		if w, err := c.Spawn(ctx, spec); err == nil {
			w.Bury()
		}
		cancel()
	}
	daemon.Eventually(t, time.Minute, func() error {
		if now := len(daemon.Descendants(os.Getpid())); now > before {
			return fmt.Errorf("%d processes, %d before", now, before)
		}
		return nil
	})
}
