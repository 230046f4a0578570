package gateways_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestCrowd: what two bad gateways do is their own ruin, and nobody else's; nothing is left of any of them.
func TestCrowd(t *testing.T) {
	idle := daemon.Start(t, daemon.Options{Config: config})
	idle.Rest(t, pool)
	fresh := idle.Goroutines(t)

	d := daemon.Start(t, daemon.Options{Config: config})
	busy(t, d, connected) // what is made once for all is made now
	levels, memory := d.Rest(t, pool), d.Memory(t)
	busy(t, d, 2*connected)
	if now := d.Memory(t); now > memory+memory/10+4<<10 { // a step of a heap of this size: see tests/soak
		t.Errorf("the daemon's memory grew from %d KiB to %d", memory, now)
	}
	d.Calm(t, levels)
	if !strings.Contains(d.Log(), "the other end did not read for 500ms") {
		t.Error("the log does not tell of the one that was hung up on")
	}
	daemon.NoMore(t, d.Goroutines(t), fresh)
}

// busy is n programs of the honest ones, with the bad ones beside them.
func busy(t *testing.T, d *daemon.Daemon, n int) {
	t.Helper()
	c := gather(t, d)
	defer c.close()
	end := trouble(t, d)
	defer end()
	c.work(t, n)
}

// TestFull: one more than may be is told why.
func TestFull(t *testing.T) {
	d := daemon.Start(t, daemon.Options{Config: config})
	c := gather(t, d)
	defer c.close()
	for range bad {
		d.Dial(t, sandboxd.Options{})
	}
	_, err := sandboxd.Dial(t.Context(), d.Socket, sandboxd.Options{Name: "one more"})
	var closed *sandboxd.ClosedError
	if !errors.As(err, &closed) || !strings.Contains(err.Error(), "200 gateways are connected, the most that the configuration allows") {
		t.Errorf("one more is told %v", err)
	}
	c.gateways[0].Close()
	if g := insist(t, d.Socket, sandboxd.Options{Name: "instead"}); g != nil {
		g.Close()
	}
}

// gross is the ratio that no load of the machine explains.
const gross = 6

// BenchmarkCrowd is 200 programs of the honest gateways, without and with the bad ones beside them, in turn.
func BenchmarkCrowd(b *testing.B) {
	d := daemon.Start(b, daemon.Options{Config: config})
	c := gather(b, d)
	defer c.close()
	c.work(b, connected) // each has been heard
	var quiet, beside []time.Duration
	for b.Loop() {
		quiet = append(quiet, c.work(b, connected)...)
		end := trouble(b, d)
		time.Sleep(500 * time.Millisecond) // both are what they are now
		beside = append(beside, c.work(b, connected)...)
		end()
	}
	b.ReportMetric(0, "ns/op")
	ratio := float64(quantile(beside, 0.99)) / float64(quantile(quiet, 0.99))
	b.ReportMetric(quantile(quiet, 0.5).Seconds()*1000, "quiet-p50-ms")
	b.ReportMetric(quantile(quiet, 0.99).Seconds()*1000, "quiet-p99-ms")
	b.ReportMetric(quantile(beside, 0.5).Seconds()*1000, "beside-p50-ms")
	b.ReportMetric(quantile(beside, 0.99).Seconds()*1000, "beside-p99-ms")
	b.ReportMetric(ratio, "p99-ratio")
	if ratio > gross {
		b.Errorf("the p99 of honest gateways is %.1f times that without two bad ones: 2 is wanted", ratio)
	}
}

// quantile sorts its argument.
func quantile(d []time.Duration, q float64) time.Duration {
	slices.Sort(d)
	return d[min(int(q*float64(len(d))), len(d)-1)]
}
