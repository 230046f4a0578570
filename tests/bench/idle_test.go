package bench_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/tests/daemon"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// idleWorkers are kept ready by the larger of the two daemons that BenchmarkIdle compares; the smaller keeps one.
const idleWorkers = 20

// BenchmarkIdle is what daemons hold that have nothing to do: memory and descriptors for each worker that is ready, and the rest. Each
// iteration is two daemons in turn.
func BenchmarkIdle(b *testing.B) {
	var worker, perWorker, alone []float64
	var fds, nurseryFDs float64
	for b.Loop() {
		few, some := idle(b, 1), idle(b, idleWorkers)
		worker = append(worker, some.workers/idleWorkers)
		perWorker = append(perWorker, (some.total()-few.total())/(idleWorkers-1))
		alone = append(alone, few.daemon+few.nursery)
		fds = float64(some.DaemonFDs-few.DaemonFDs) / (idleWorkers - 1)
		nurseryFDs = float64(some.NurseryFDs-few.NurseryFDs) / (idleWorkers - 1)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(mean(worker)/1024, "MiB/worker")
	b.ReportMetric(mean(perWorker)/1024, "MiB/worker-in-all")
	b.ReportMetric(mean(alone)/1024, "MiB-daemon-and-nursery")
	b.ReportMetric(fds, "fds/worker")
	b.ReportMetric(nurseryFDs, "nursery-fds/worker")
}

// held is what the processes of a daemon hold: memory in KiB, in which a page that n processes share counts for an nth in each.
type held struct {
	daemon.Levels
	daemon, nursery, workers float64
}

func (h held) total() float64 { return h.daemon + h.nursery + h.workers }

func idle(b *testing.B, workers int) (h held) {
	d := daemon.Start(b, daemon.Options{Config: fmt.Sprintf("pool: {default: %d}\n", workers)})
	h.Levels = d.Rest(b, workers)
	time.Sleep(time.Second) // for what is resident to settle
	nursery := daemon.Nursery(b, d.PID)
	h.daemon, h.nursery = pss(b, d.PID), pss(b, nursery)
	for _, pid := range daemon.Descendants(d.PID) {
		if pid != nursery {
			h.workers += pss(b, pid)
		}
	}
	d.Signal(b, syscall.SIGTERM)
	<-d.Exited() // else the next one shares pages with it
	return h
}

// pss is a process's share of memory, in KiB (proc_pid_smaps(5)).
func pss(b *testing.B, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		skip.Because(b, "the memory of a worker can't be read, which takes root: %v", err)
	}
	_, rest, _ := strings.Cut(string(text), "\nPss:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		b.Fatalf("smaps_rollup of process %d: %v", pid, err)
	}
	return n
}

func mean(all []float64) (sum float64) {
	for _, n := range all {
		sum += n / float64(len(all))
	}
	return sum
}
