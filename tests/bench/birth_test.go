package bench_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

func TestMain(m *testing.M) { daemon.Main(m) }

// BenchmarkBirth raises and buries workers, one after the other, jailed and unjailed in turn, and a program that does nothing.
func BenchmarkBirth(b *testing.B) {
	arms := []struct {
		name   string
		client *nursery.Client
		wall   []time.Duration
		cpu    time.Duration
	}{
		{name: "jailed", client: nurseryOf(b, daemon.Binaries(b))},
		{name: "unjailed", client: nurseryOf(b, daemon.Binaries(b, "sandboxd_unjailed"))},
	}
	spec := nursery.Spec{Jail: jail.Spec{LandlockABI: 1, MemoryBytes: 256 << 20, CPUSeconds: 6}, CPUs: 1, PIDs: 24}
	births, idle := 0, newNothing(b)
	for b.Loop() {
		births++
		for i := range arms {
			began := time.Now()
			w, err := arms[i].client.Spawn(context.Background(), spec)
			if err != nil {
				b.Fatal(err)
			}
			arms[i].wall = append(arms[i].wall, time.Since(began))
			exit, err := w.Bury()
			if err != nil {
				b.Fatal(err)
			}
			arms[i].cpu += time.Duration(exit.CPUMicros) * time.Microsecond
		}
		idle.run(b)
	}
	b.ReportMetric(0, "ns/op")
	for _, a := range arms {
		b.ReportMetric(milliseconds(quantile(a.wall, 0.5)), a.name+"-p50-ms")
		b.ReportMetric(milliseconds(quantile(a.wall, 0.99)), a.name+"-p99-ms")
		b.ReportMetric(milliseconds(a.cpu)/float64(births), a.name+"-worker-cpu-ms")
	}
	b.ReportMetric(milliseconds(idle.p50()), "nothing-p50-ms")
	b.ReportMetric(milliseconds(idle.cpu)/float64(births), "nothing-cpu-ms")
	b.ReportMetric(float64(arms[0].cpu)/float64(idle.cpu), "cpu-nothing-ratio")
}

func nurseryOf(b *testing.B, bin string) *nursery.Client {
	c := nursery.NewClient(nursery.Start(filepath.Join(bin, "sandbox-nursery"), os.Stderr, false))
	b.Cleanup(c.Close)
	return c
}
