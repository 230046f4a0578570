package guard_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/guard"
)

// over serves a judge on a Unix socket, and counts its requests.
func over(b *testing.B, answer func(http.ResponseWriter, asked)) (guard.Config, *atomic.Int64) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "guard.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		b.Fatal(err)
	}
	var n atomic.Int64
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		j := judge{answer: answer}
		j.ServeHTTP(w, r)
	})}
	go server.Serve(l)
	b.Cleanup(func() { server.Close() })
	c := guard.Default()
	c.URL = "unix://" + path
	return c, &n
}

// BenchmarkCheck is one check after the other, by a judge that answers at once; "bare" is what net/http takes of it.
func BenchmarkCheck(b *testing.B) {
	b.Run("guard", func(b *testing.B) {
		c, _ := over(b, says(0, allow))
		g, err := guard.New(c)
		if err != nil {
			b.Fatal(err)
		}
		defer g.Close()
		for b.Loop() {
			if a := g.Check(b.Context(), call("r", "a.b")); a.Verdict != guard.Allow {
				b.Fatal(a)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		c, _ := over(b, says(0, allow))
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", c.URL[len("unix://"):])
		}}
		defer transport.CloseIdleConnections()
		for b.Loop() {
			bare(b, transport)
		}
	})
}

// BenchmarkParallel is 32 calls of a run at once, by a judge that takes 15 ms.
func BenchmarkParallel(b *testing.B) {
	c, requests := over(b, says(15*time.Millisecond, allow))
	g, err := guard.New(c)
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	for b.Loop() {
		for _, a := range gather(b.Context(), g, slices.Repeat(calls("r", "a.b"), 32)...) {
			if a.Verdict != guard.Allow {
				b.Fatal(a)
			}
		}
	}
	b.ReportMetric(float64(requests.Load())/float64(b.N), "requests/op")
}

func bare(b *testing.B, transport *http.Transport) {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://localhost/v1/guard", strings.NewReader(`{"action":{"tool":"a.b","args":{}}}`))
	if err != nil {
		b.Fatal(err)
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		b.Fatal(err)
	}
}
