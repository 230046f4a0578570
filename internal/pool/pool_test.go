package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/metrics"
	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/internal/pool"
	"github.com/sandboxd/sandboxd/internal/wire"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

func TestMain(m *testing.M) { daemon.Main(m) }

const memory = 64 << 20

var spec = nursery.Spec{Jail: jail.Spec{LandlockABI: 1, MemoryBytes: memory, CPUSeconds: 5}, CPUs: 1, PIDs: 24}

// fill runs a pool of one kind until the test ends.
func fill(t *testing.T, size int, wrap func(pool.Spawn) pool.Spawn) *pool.Pool {
	t.Helper()
	client := nursery.NewClient(nursery.Start(filepath.Join(daemon.Binaries(t), "sandbox-nursery"), os.Stderr, false))
	p := pool.New(wrap(client.Spawn), []pool.Kind{{Name: "default", Spec: spec, Size: size}}, 2, slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); p.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done; client.Close() })
	return p
}

func asItIs(s pool.Spawn) pool.Spawn { return s }

func full(t *testing.T, p *pool.Pool, want int) {
	t.Helper()
	daemon.Eventually(t, 10*time.Second, func() error {
		if s := p.Status()[0]; s.Ready != want || s.Failing != "" {
			return fmt.Errorf("status is %+v, want %d ready", s, want)
		}
		return nil
	})
}

func lease(t *testing.T, p *pool.Pool) *pool.Worker {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	w, err := p.Lease(ctx, "default", memory)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var limits = wire.Limits{Calls: 4, OutputBytes: 1 << 10, ConsoleBytes: 1 << 10, ArgumentBytes: 1 << 10, CPUMS: 1000, MemoryBytes: memory}

// TestLease runs programs on workers that are ready, each on one of its own.
func TestLease(t *testing.T) {
	p := fill(t, 3, asItIs)
	full(t, p, 3)
	for i := range 6 {
		w := lease(t, p)
		if i == 0 && !w.Warm {
			t.Error("a worker that was ready is not warm")
		}
		if err := w.Start(wire.Start{Limits: limits}, "globalThis.seen = (globalThis.seen ?? 0) + 1; return seen", nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		m, err := w.Next(context.Background())
		done, ok := m.(*wire.Done)
		if err != nil || !ok || string(done.Value) != "1" {
			t.Errorf("run %d: %+v, %v", i, m, err)
		}
		exit, err := w.Close()
		if err != nil || !exit.Killed {
			t.Errorf("exit %+v, %v", exit, err)
		}
		if again, _ := w.Close(); again != exit {
			t.Errorf("a second Close says %+v", again)
		}
	}
	full(t, p, 3)
}

// TestLeaseTogether takes more workers than there are, at once: each is handed out once.
func TestLeaseTogether(t *testing.T) {
	var pids sync.Map
	p := fill(t, 2, func(s pool.Spawn) pool.Spawn {
		return func(ctx context.Context, spec nursery.Spec) (*nursery.Worker, error) {
			w, err := s(ctx, spec)
			if err == nil {
				if _, twice := pids.LoadOrStore(w.PID, true); twice {
					t.Errorf("process %d was born twice", w.PID)
				}
			}
			return w, err
		}
	})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			w := lease(t, p)
			defer w.Close()
			if err := w.Start(wire.Start{Limits: limits}, "return 1", nil, nil, nil); err != nil {
				t.Error(err)
			}
			if m, err := w.Next(context.Background()); err != nil {
				t.Errorf("%v, %v", m, err)
			}
		})
	}
	all.Wait()
	full(t, p, 2)
}

// TestIdleDeath kills workers that are ready: they are replaced, and never handed out.
func TestIdleDeath(t *testing.T) {
	var mu sync.Mutex
	var born []*nursery.Worker
	p := fill(t, 3, func(s pool.Spawn) pool.Spawn {
		return func(ctx context.Context, spec nursery.Spec) (*nursery.Worker, error) {
			w, err := s(ctx, spec)
			mu.Lock()
			defer mu.Unlock()
			born = append(born, w)
			return w, err
		}
	})
	full(t, p, 3)
	mu.Lock()
	for _, w := range born {
		// Hanging up ends a worker; a signal would take the worker's user.
		if err := w.Socket.Close(); err != nil {
			t.Error(err)
		}
		<-w.Dead
	}
	mu.Unlock()
	for range 3 {
		w := lease(t, p)
		if err := w.Start(wire.Start{Limits: limits}, "return 1", nil, nil, nil); err != nil {
			t.Error(err)
		}
		if m, err := w.Next(context.Background()); err != nil {
			t.Errorf("%v, %v", m, err)
		}
		w.Close()
	}
	full(t, p, 3)
}

// TestBirthsFail shows that a filler never gives up, and that it tells why it fails.
func TestBirthsFail(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	p := fill(t, 1, func(s pool.Spawn) pool.Spawn {
		return func(ctx context.Context, spec nursery.Spec) (*nursery.Worker, error) {
			if broken.Load() {
				return nil, syscall.EAGAIN
			}
			return s(ctx, spec)
		}
	})
	daemon.Eventually(t, 5*time.Second, func() error {
		if s := p.Status()[0]; !strings.Contains(s.Failing, "resource temporarily unavailable") || s.Ready != 0 {
			return fmt.Errorf("status is %+v", s)
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := p.Lease(ctx, "default", memory)
	var busy *pool.BusyError
	if !errors.As(err, &busy) || busy.Reason != "crashing" || !strings.Contains(busy.Detail, "resource temporarily unavailable") {
		t.Errorf("error is %v", err)
	}
	broken.Store(false)
	full(t, p, 1)
	lease(t, p).Close()
}

func TestLeaseWithout(t *testing.T) {
	never := func(pool.Spawn) pool.Spawn {
		return func(context.Context, nursery.Spec) (*nursery.Worker, error) {
			time.Sleep(200 * time.Millisecond)
			return nil, errors.New("too late")
		}
	}
	t.Run("in time", func(t *testing.T) {
		p := fill(t, 1, never)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		_, err := p.Lease(ctx, "default", memory)
		var busy *pool.BusyError
		if !errors.As(err, &busy) || busy.Reason != "starting" {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("wanting it", func(t *testing.T) {
		p := fill(t, 1, never)
		why := errors.New("no more")
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
		if _, err := p.Lease(ctx, "default", memory); !errors.Is(err, why) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("such a kind", func(t *testing.T) {
		p := fill(t, 0, asItIs)
		if _, err := p.Lease(context.Background(), "other", memory); err == nil {
			t.Error("a worker of no kind was leased")
		}
	})
}

// TestLeaseOfItsOwn shows that a run with less memory than its kind gets a worker that is jailed so.
func TestLeaseOfItsOwn(t *testing.T) {
	var asked []int64
	p := fill(t, 0, func(s pool.Spawn) pool.Spawn {
		return func(ctx context.Context, spec nursery.Spec) (*nursery.Worker, error) {
			asked = append(asked, spec.Jail.MemoryBytes)
			return s(ctx, spec)
		}
	})
	for _, memory := range []int64{memory, memory / 2, memory * 2} {
		w, err := p.Lease(context.Background(), "default", memory)
		if err != nil {
			t.Fatal(err)
		}
		if w.Warm {
			t.Error("a worker that was just born is warm")
		}
		w.Close()
	}
	if got, want := fmt.Sprint(asked), fmt.Sprint([]int64{memory, memory / 2, memory}); got != want {
		t.Errorf("workers were jailed with %s, want %s", got, want)
	}
}

// TestBirthsAreCounted: by what failed, and with how long they took.
func TestBirthsAreCounted(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	births := []error{nursery.RefusedError("no READY within 5s"), errors.New("the nursery is gone"), nil}
	p := pool.New(func(context.Context, nursery.Spec) (*nursery.Worker, error) {
		err := births[0]
		births = births[1:]
		return &nursery.Worker{Socket: w}, err
	}, []pool.Kind{{Name: "default", Spec: spec}}, 1, slog.New(slog.DiscardHandler))
	p.Metrics = metrics.New([]string{"default"})
	for i, fails := range []bool{true, true, false} {
		if _, err := p.Lease(t.Context(), "default", memory); (err != nil) != fails {
			t.Errorf("lease %d: %v", i, err)
		}
	}
	got := make(map[string]float64)
	for _, f := range p.Metrics.Gather(metrics.State{}) {
		for _, m := range f.Metric {
			got[f.GetName()+fmt.Sprint(m.Label)] = m.Counter.GetValue() + float64(m.Histogram.GetSampleCount())
		}
	}
	var words []string
	for key, n := range got {
		if strings.HasPrefix(key, "sandboxd_worker_birth_") && n == 1 {
			words = append(words, key)
		}
	}
	if len(words) != 3 {
		t.Errorf("counted once: %v; want a birth, one that failed by the worker, and one by the nursery", words)
	}
}
