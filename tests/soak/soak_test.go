// Package soak_test runs thousands of programs in a row on one daemon, one in ten of them hostile, and looks for what does
// not come back: descriptors, goroutines, threads, processes, cgroups, memory.
package soak_test

import (
	"context"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

func TestMain(m *testing.M) { daemon.Main(m) }

const (
	gateways = 4 // at once
	poolSize = 4
	samples  = 10
	patience = time.Minute // with a machine that is busy with other things: nothing here is about time
)

// The queue is as patient: a run that is refused as busy would be no fault.
const config = "pool: {default: 4}\nruns: {queue_wait: 60s}\n"

// total is how many runs a soak has: SANDBOXD_SOAK, or few enough for every day.
func total(t *testing.T) int {
	t.Helper()
	text := os.Getenv("SANDBOXD_SOAK")
	if text == "" {
		return 600
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < samples {
		t.Fatalf("SANDBOXD_SOAK=%s: must be a number of runs, at least %d", text, samples)
	}
	return n
}

// TestSoak is the real worker under all kinds of programs and gateways.
func TestSoak(t *testing.T) {
	soak(t, daemon.Options{Config: config}, total(t), honest, hostile)
}

// soak has n runs on a daemon, and holds what there is at rest then against what there was before.
func soak(t *testing.T, o daemon.Options, n int, honest, hostile []kind) {
	idle := daemon.Start(t, o)
	idle.Rest(t, poolSize)
	fresh := idle.Goroutines(t)

	d := daemon.Start(t, o)
	series(t, d, 0, 10*len(hostile), honest, hostile) // each hostile kind once: what is made once for all is made now
	base := take(t, d, 0)
	all := []sample{base}
	for i := range samples {
		from, to := n*i/samples, n*(i+1)/samples
		series(t, d, from, to, honest, hostile)
		s := take(t, d, to)
		if s.Levels != base.Levels {
			t.Errorf("after %d runs there are %+v, before the first there were %+v", to, s.Levels, base.Levels)
		}
		all = append(all, s)
	}
	t.Logf("at rest:\n%s", table(all))
	judge(t, all[1:])
	daemon.NoMore(t, d.Goroutines(t), fresh)
}

// gateway is one connected gateway; it has one run at a time.
type gateway struct {
	*sandboxd.Client
	socket string
}

// series is the runs from one number to another, by gateways that connect for it.
func series(t *testing.T, d *daemon.Daemon, from, to int, honest, hostile []kind) {
	t.Helper()
	var next atomic.Int64
	next.Store(int64(from))
	var all sync.WaitGroup
	for range gateways {
		g := connect(t, d.Socket)
		all.Go(func() {
			defer g.Close()
			for i := int(next.Add(1)) - 1; i < to; i = int(next.Add(1)) - 1 {
				k := honest[i%len(honest)]
				if i%10 == 9 {
					k = hostile[i/10%len(hostile)]
				}
				if err := once(t, k, g); err != nil {
					t.Errorf("run %d, %s: %v", i, k.name, err)
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow() // what comes next would only repeat it
	}
}

func connect(t *testing.T, socket string) *gateway {
	t.Helper()
	c, err := sandboxd.Dial(t.Context(), socket, sandboxd.Options{
		Name: "soak", Servers: []string{"s"}, Tools: perform,
		Progress: func(sandboxd.Progress) {}, Console: func(sandboxd.Console) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &gateway{c, socket}
}

func once(t *testing.T, k kind, g *gateway) error {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return k.run(ctx, g)
}
