package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

// BenchmarkNamespaces starts a small process and waits for its end: as the nursery does, from inside namespaces that are
// there already, and in namespaces of its own, in turn.
func BenchmarkNamespaces(b *testing.B) {
	const walls = syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID
	arms := []struct {
		name  string
		flags uintptr
		took  []time.Duration
	}{
		{name: "inherited"},
		{name: "own-user", flags: syscall.CLONE_NEWUSER},
		{name: "own-all", flags: syscall.CLONE_NEWUSER | walls},
	}
	small := filepath.Join(daemon.Binaries(b), "sandboxd")
	for b.Loop() {
		for i := range arms {
			command := exec.Command(small, "--version")
			command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: arms[i].flags}
			if arms[i].flags != 0 {
				command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
				command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
			}
			began := time.Now()
			if err := command.Run(); err != nil {
				b.Fatal(err)
			}
			arms[i].took = append(arms[i].took, time.Since(began))
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, a := range arms {
		b.ReportMetric(milliseconds(quantile(a.took, 0.5)), a.name+"-p50-ms")
	}
}
