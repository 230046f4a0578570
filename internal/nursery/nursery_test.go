package nursery_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

func TestMain(m *testing.M) { daemon.Main(m) }

var spec = jail.Spec{LandlockABI: 1, MemoryBytes: 64 << 20, CPUSeconds: 5}

func start(t *testing.T) *nursery.Client {
	t.Helper()
	c := nursery.NewClient(nursery.Start(filepath.Join(daemon.Binaries(t), "sandbox-nursery"), os.Stderr))
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
	want := []string{"/dev/null", "/dev/null", "pipe", "socket", "anon_inode:[eventpoll]", "anon_inode:[eventfd]"}
	for i := range fds {
		if strings.HasPrefix(fds[i], "anon_inode") && i >= 4 {
			fds[i] = strings.SplitAfter(fds[i], "]")[0]
		}
	}
	if diff := cmp.Diff([]string{"/dev/null", "/dev/null", "pipe", "socket"}, fds[:min(4, len(fds))]); diff != "" || len(fds) != len(want) {
		t.Errorf("descriptors are %q: %s", fds, diff)
	}
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

func TestSpawnRefuses(t *testing.T) {
	c := start(t)
	for _, tt := range []struct {
		spec jail.Spec
		want string
	}{
		{jail.Spec{}, "landlock_abi 0: must be at least 1"},
		{jail.Spec{LandlockABI: 99, MemoryBytes: 64 << 20, CPUSeconds: 5}, "the spec wants 99"},
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
	var pids []int
	open := nursery.Start(filepath.Join(daemon.Binaries(t), "sandbox-nursery"), os.Stderr)
	c := nursery.NewClient(func(ctx context.Context) (*net.UnixConn, func(), error) {
		conn, gone, err := open(ctx)
		for _, pid := range daemon.Descendants(os.Getpid()) {
			if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); strings.HasPrefix(string(comm), "sandbox-nursery") {
				pids = append(pids, pid)
			}
		}
		return conn, gone, err
	})
	t.Cleanup(c.Close)
	first := spawn(t, c)
	if len(pids) == 0 { // it had not changed its name yet when open returned
		for _, pid := range daemon.Descendants(os.Getpid()) {
			if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); strings.HasPrefix(string(comm), "sandbox-nursery") {
				pids = append(pids, pid)
			}
		}
	}
	if len(pids) != 1 {
		t.Fatalf("nurseries: %v", pids)
	}
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
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
	daemon.Eventually(t, 3*time.Second, func() error {
		if now := len(daemon.Descendants(os.Getpid())); now > before {
			return fmt.Errorf("%d processes, %d before", now, before)
		}
		return nil
	})
}
