package traces_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/traces"
	"github.com/sandboxd/sandboxd/tests/collector"
)

const (
	trace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent = "00f067aa0ba902b7"
)

// traced is a Traces on an endpoint.
func traced(t testing.TB, endpoint string, change ...func(*traces.Config)) (*traces.Traces, *bytes.Buffer) {
	t.Helper()
	c := traces.Default()
	c.Endpoint, c.Timeout = endpoint, 2*time.Second
	for _, f := range change {
		f(&c)
	}
	var log bytes.Buffer
	all, err := traces.New(c, "1.2", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return all, &log
}

// flush sends what there is, and no more.
func flush(all *traces.Traces) {
	ended, end := context.WithCancel(context.Background())
	end()
	all.Run(ended)
}

// TestTraceparent holds what is taken for a trace context against the standard's words, by what goes onward while nothing is traced and by
// the trace of a span.
func TestTraceparent(t *testing.T) {
	all, _ := traced(t, "http://127.0.0.1:1")
	for text, ok := range map[string]bool{
		"00-" + trace + "-" + parent + "-01":                          true,
		"00-" + trace + "-" + parent + "-ff":                          true,
		"00-" + trace + "-" + parent + "-03":                          true,
		"cc-" + trace + "-" + parent + "-01":                          true, // a later version
		"cc-" + trace + "-" + parent + "-01-more":                     true,
		"cc-" + trace + "-" + parent + "-01more":                      false,
		"00-" + trace + "-" + parent + "-01-more":                     false,
		"00-" + trace + "-" + parent + "-01-":                         false,
		"ff-" + trace + "-" + parent + "-01":                          false,
		"00-" + strings.ToUpper(trace) + "-" + parent + "-01":         false,
		"00-" + trace + "-" + strings.ToUpper(parent) + "-01":         false,
		"0A-" + trace + "-" + parent + "-01":                          false,
		"00-" + strings.Repeat("0", 32) + "-" + parent + "-01":        false,
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01":         false,
		"00-" + trace + "-" + parent + "-0g":                          false,
		"00-" + trace + "-" + parent + "-0":                           false,
		"00_" + trace + "-" + parent + "-01":                          false,
		"00-" + trace[1:] + "-" + parent + "0-01":                     false,
		" 00-" + trace + "-" + parent + "-01":                         false,
		"":                                                            false,
		"00":                                                          false,
		"00-é" + trace[2:] + "-" + parent + "-01":                     false,
		"00-" + trace + "-" + parent + "-01\r\nAuthorization: Bearer": false,
	} {
		want := text
		if !ok {
			want = ""
		}
		if s, onward := (*traces.Traces)(nil).Begin("x", text); s != nil || onward != want {
			t.Errorf("%q, without traces: %q", text, onward)
		}
		s, onward := all.Begin("x", text)
		if s == nil || onward != s.Traceparent() || strings.Contains(onward, trace) != ok || strings.Contains(onward, parent) {
			t.Errorf("%q: %q", text, onward)
		}
	}
}

// TestSpans: what is told is OTLP, each child below its parent, all of it bounded.
func TestSpans(t *testing.T) {
	c, url := collector.Start(t)
	all, _ := traced(t, url)
	run, onward := all.Begin("run", "00-"+trace+"-"+parent+"-01")
	if !regexp.MustCompile("^00-" + trace + "-[0-9a-f]{16}-01$").MatchString(onward) {
		t.Errorf("onward is %s", onward)
	}
	call := run.Child("call", traces.Internal)
	call.Text("long", strings.Repeat("é", 100))
	call.Text("odd", "a\xff\"\n\u2028")
	call.Text("none", "")
	call.Number("n", -1<<63)
	call.Truth("no", false)
	call.Fail("denied")
	guard := call.Child("guard", traces.Client)
	guard.End()
	call.End()
	run.End()
	other, _ := all.Begin("run", "")
	other.End()
	flush(all)
	got := c.Spans()
	if len(got) != 4 {
		t.Fatalf("%+v", got)
	}
	if g, k, r := got[0], got[1], got[2]; g.Parent != k.ID || k.Parent != r.ID || r.Parent != parent || g.Trace != trace || k.Trace != trace || r.Trace != trace ||
		!r.Remote || k.Remote || g.Remote || !strings.Contains(onward, r.ID) || g.Kind != 3 || k.Kind != 1 || r.Kind != 2 || !k.Failed || r.Failed {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(map[string]string{
		"long": strings.Repeat("é", 64), "odd": "a\ufffd\"\n\u2028", "n": "-9223372036854775808", "no": "false", "error.type": "denied",
	}, got[1].Attributes); diff != "" {
		t.Error(diff)
	}
	if r := got[0].Resource; r["service.name"] != "sandboxd" || r["service.version"] != "1.2" || len(r["service.instance.id"]) != 32 {
		t.Errorf("%v", r)
	}
	if got[3].Trace == trace || got[3].Parent != "" {
		t.Errorf("without a parent: %+v", got[3])
	}
	if s := all.Stats(); s != (traces.Stats{Exported: 4}) {
		t.Errorf("%+v", s)
	}
}

// TestSample: a gateway's word counts, and without one the configuration's.
func TestSample(t *testing.T) {
	none, _ := traced(t, "http://127.0.0.1:1", func(c *traces.Config) { c.Sample = 0 })
	all, _ := traced(t, "http://127.0.0.1:1")
	kept, not := "00-"+trace+"-"+parent+"-01", "00-"+trace+"-"+parent+"-00"
	if s, _ := none.Begin("x", kept); s == nil {
		t.Error("one that the parent keeps is not traced")
	}
	if s, onward := all.Begin("x", not); s != nil || onward != not {
		t.Errorf("one that the parent does not keep is traced, or %s", onward)
	}
	s, onward := none.Begin("x", "")
	if s != nil || !regexp.MustCompile("^00-[0-9a-f]{32}-[0-9a-f]{16}-02$").MatchString(onward) {
		t.Errorf("one that is not kept goes on as %q", onward)
	}
	half, _ := traced(t, "http://127.0.0.1:1", func(c *traces.Config) { c.Sample = 50 })
	n := 0
	for range 1000 {
		if s, _ := half.Begin("x", ""); s != nil {
			n++
		}
	}
	if n < 350 || n > 650 {
		t.Errorf("%d of 1000 are traced, want about half", n)
	}
}

// TestNil: what is not traced costs nothing.
func TestNil(t *testing.T) {
	var all *traces.Traces
	ctx := t.Context()
	cost := testing.AllocsPerRun(100, func() {
		s, _ := all.Begin("run", "")
		k := s.Child("call", traces.Internal)
		k.Text("a", "b")
		k.Number("n", 1)
		k.Truth("t", true)
		k.Fail("x")
		if traces.With(ctx, k) != ctx || traces.Of(ctx) != nil || k.Traceparent() != "" {
			t.Error("there is something")
		}
		k.End()
	})
	if cost != 0 {
		t.Errorf("%v allocations", cost)
	}
}

// TestFull: spans that find no room are counted, and nobody waits.
func TestFull(t *testing.T) {
	all, _ := traced(t, "http://127.0.0.1:1")
	var makers sync.WaitGroup
	for range 8 {
		makers.Go(func() {
			for range 1000 {
				s, _ := all.Begin("x", "")
				s.End()
			}
		})
	}
	makers.Wait()
	if s := all.Stats(); s.Dropped != 8000-4096 {
		t.Errorf("%+v", s)
	}
}

// TestAnswers: what a collector says, and what becomes of a batch when the daemon ends, which has one try.
func TestAnswers(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	secrets := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(secrets, []byte("# the tenant's\nAuthorization: Bearer hunter2\nx-team: seven\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status := func(code int, header ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
		}
	}
	says := func(text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
	}
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte(" "), 32<<10)); err != nil {
				return
			}
		}
	}
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		want   traces.Stats
		log    string
	}{
		"taken":                {says(`{}`), traces.Stats{Exported: 1}, ""},
		"taken, without words": {status(204), traces.Stats{Exported: 1}, ""},
		"taken, with nonsense": {says(`<html>`), traces.Stats{Exported: 1}, ""},
		"endless":              {endless, traces.Stats{Exported: 1}, ""},
		"partly":               {says(`{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no hunter2\nhere"}}`), traces.Stats{Rejected: 1}, `rejected 1 spans of a batch: \"no (header)\\nhere`},
		"partly, as a number":  {says(`{"partialSuccess":{"rejectedSpans":9,"errorMessage":""}}`), traces.Stats{Rejected: 1}, "rejected 9 spans"},
		"none rejected":        {says(`{"partialSuccess":{"errorMessage":"a warning"}}`), traces.Stats{Exported: 1}, ""},
		"below none":           {says(`{"partialSuccess":{"rejectedSpans":"-5"}}`), traces.Stats{Exported: 1}, ""},
		"redirect":             {status(307, "Location", elsewhere.URL), traces.Stats{Failed: 1}, "redirects are not followed"},
		"bad":                  {status(400), traces.Stats{Failed: 1}, "400 Bad Request"},
		"no key":               {status(401), traces.Stats{Failed: 1}, "does not take the headers"},
		"no traces":            {status(404), traces.Stats{Failed: 1}, "no traces at this path"},
		"busy":                 {status(503, "Retry-After", "3600"), traces.Stats{Failed: 1}, "503"},
		"silent":               {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, traces.Stats{Failed: 1}, "context deadline exceeded"},
		"huge head":            {status(200, "X", strings.Repeat("x", 64<<10)), traces.Stats{Failed: 1}, "header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := collector.New(t)
			c.Answer = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if r.Header.Get("Authorization") != "Bearer hunter2" || r.Header.Get("X-Team") != "seven" {
					t.Errorf("headers %v", r.Header)
				}
				test.answer(w, r)
				return true
			}
			s := httptest.NewServer(c)
			defer s.Close()
			all, log := traced(t, s.URL, func(c *traces.Config) { c.Headers, c.Timeout = secrets, 300*time.Millisecond })
			span, _ := all.Begin("x", "")
			span.End()
			flush(all)
			if got := all.Stats(); got != test.want || c.Requests() != 1 {
				t.Errorf("%+v after %d requests, want %+v", got, c.Requests(), test.want)
			}
			if !strings.Contains(log.String(), test.log) || (test.log == "") != (log.Len() == 0) || strings.Contains(log.String(), "hunter2") {
				t.Errorf("the log has %s", log)
			}
		})
	}
	s := httptest.NewServer(nil)
	s.Close()
	all, log := traced(t, s.URL)
	span, _ := all.Begin("x", "")
	span.End()
	flush(all)
	if got := all.Stats(); got != (traces.Stats{Failed: 1}) || !strings.Contains(log.String(), "connection refused") {
		t.Errorf("nobody there: %+v, %s", got, log)
	}
}

// TestAgain: what may be tried again is, no earlier than the collector asks, and the log tells of both ends.
func TestAgain(t *testing.T) {
	t.Parallel()
	c := collector.New(t)
	var first, second time.Time
	c.Answer = func(w http.ResponseWriter, _ *http.Request, n int) bool {
		if n == 1 {
			first = time.Now()
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		second = time.Now()
		return false
	}
	s := httptest.NewServer(c)
	defer s.Close()
	all, log := traced(t, s.URL)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); all.Run(ctx) }()
	span, _ := all.Begin("x", "")
	span.End()
	c.Named("x", 1)
	end()
	<-ended
	if got := all.Stats(); got != (traces.Stats{Exported: 1}) || c.Requests() != 2 {
		t.Errorf("%+v after %d requests", got, c.Requests())
	}
	if second.Sub(first) < 2*time.Second {
		t.Errorf("it came again after %v", second.Sub(first))
	}
	if !strings.Contains(log.String(), "spans get lost") || !strings.Contains(log.String(), "spans reach the collector again") {
		t.Errorf("the log has %s", log)
	}
}

// TestConfig: what New refuses, and with which words.
func TestConfig(t *testing.T) {
	file := func(text string, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "h")
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	many := ""
	for i := range 17 {
		many += fmt.Sprintf("x-%d: v\n", i)
	}
	for want, change := range map[string]func(*traces.Config){
		"endpoint: is empty":                            func(c *traces.Config) { c.Endpoint = "" },
		"endpoint: is http:// to collector":             func(c *traces.Config) { c.Endpoint = "http://collector:4318" },
		"endpoint: has a user or a password":            func(c *traces.Config) { c.Endpoint = "https://a:hunter2@collector" },
		"endpoint: is neither":                          func(c *traces.Config) { c.Endpoint = "grpc://127.0.0.1:4317" },
		"ca: is for an https:// endpoint only":          func(c *traces.Config) { c.CA = "/ca" },
		"timeout: 1h0m0s is not within 100ms":           func(c *traces.Config) { c.Timeout = time.Hour },
		"sample: 101 is not within 0 and 100":           func(c *traces.Config) { c.Sample = 101 },
		"names no credential":                           func(c *traces.Config) { c.Headers = "none" },
		"has the mode 0644":                             func(c *traces.Config) { c.Headers = file("a: b\n", 0o644) },
		"is empty":                                      func(c *traces.Config) { c.Headers = file("\n# a: b\n", 0o600) },
		":2: is no header: want NAME: VALUE":            func(c *traces.Config) { c.Headers = file("a: b\nhunter2\n", 0o600) },
		":1: is no header":                              func(c *traces.Config) { c.Headers = file("hunter2 x: b\n", 0o600) },
		":3: is no header":                              func(c *traces.Config) { c.Headers = file("a: b\n\nc: hunter2\x01d\n", 0o600) },
		"the header Content-Length is the daemon's own": func(c *traces.Config) { c.Headers = file("content-length: 5\n", 0o600) },
		"the header X-A stands there twice":             func(c *traces.Config) { c.Headers = file("x-a: 1\nX-A: 2\n", 0o600) },
		":17: more than 16 headers":                     func(c *traces.Config) { c.Headers = file(many, 0o600) },
		"longer than 8192 bytes":                        func(c *traces.Config) { c.Headers = file("a: "+strings.Repeat("b", 8<<10), 0o600) },
	} {
		c := traces.Default()
		c.Endpoint = "http://127.0.0.1:4318"
		change(&c)
		if _, err := traces.New(c, "", slog.Default()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// BenchmarkRun is what a run with one call costs, without traces and with them.
func BenchmarkRun(b *testing.B) {
	on, _ := traced(b, "http://127.0.0.1:1")
	for name, all := range map[string]*traces.Traces{"off": nil, "on": on} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run, _ := all.Begin("run", "00-"+trace+"-"+parent+"-01")
				for _, child := range []string{"queue", "lease", "call"} {
					s := run.Child(child, traces.Internal)
					s.Text("sandboxd.tool", "list_issues")
					s.Number("sandboxd.call", 1)
					s.End()
				}
				run.Text("sandboxd.outcome", "ok")
				run.End()
			}
		})
	}
}
