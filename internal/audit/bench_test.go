package audit_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sandboxd/sandboxd/internal/audit"
)

// BenchmarkAppend is one caller, and 32 at once. fsync/op shows what they share.
func BenchmarkAppend(b *testing.B) {
	for _, sync := range []string{audit.SyncNone, audit.SyncMutations} {
		for _, callers := range []int{1, 32} {
			b.Run(fmt.Sprintf("sync=%s/callers=%d", sync, callers), func(b *testing.B) { appends(b, sync, callers) })
		}
	}
}

func appends(b *testing.B, how string, callers int) {
	c := config(place(b))
	c.Sync, c.MaxBytes = how, 1<<30
	l := open(b, c)
	before := l.Stats()
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for n := left.Add(-1); n >= 0; n = left.Add(-1) {
				if err := l.Append(context.Background(), intent("01JDZ3M8Q5T6V7W8X9Y0Z1A2B3", int(n))); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	after := l.Stats()
	b.ReportMetric(float64(after.Syncs-before.Syncs)/float64(b.N), "fsync/op")
	b.ReportMetric(float64(after.Writes-before.Writes)/float64(b.N), "write/op")
}

// BenchmarkVerify reads a log of 64 MiB, and BenchmarkOpen starts on it.
func BenchmarkVerify(b *testing.B) {
	c := large(b)
	for b.Loop() {
		if _, err := verify(c); err != nil {
			b.Fatal(err)
		}
	}
	reportSize(b, c)
}

func BenchmarkOpen(b *testing.B) {
	c := large(b)
	for b.Loop() {
		l, err := audit.Open(c, audit.Options{})
		if err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
	reportSize(b, c)
}

func large(b *testing.B) audit.Config {
	c := config(place(b))
	c.Sync, c.MaxBytes = audit.SyncNone, 1<<30
	l := open(b, c)
	var all sync.WaitGroup
	for caller := range 32 {
		all.Go(func() {
			for n := range 2500 {
				run := fmt.Sprintf("01JDZ3M8Q5T6V7W8X9Y0Z1A2%02d", caller)
				add(b, l, intent(run, n), outcome(run, n))
			}
		})
	}
	all.Wait()
	closeLog(b, l)
	return c
}

func reportSize(b *testing.B, c audit.Config) {
	info, err := os.Stat(c.Path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
}
