package metrics_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/sandboxd/sandboxd/internal/metrics"
)

var update = flag.Bool("update", false, "write testdata/metrics.golden and the table of docs/metrics.md anew")

// whole is a daemon that has everything.
func whole() metrics.State {
	return metrics.State{
		Version: "1.2", Running: 3, Waiting: 2, Gateways: 5, Pool: []metrics.Pool{{Profile: "default", Size: 8, Ready: 7}, {Profile: "large", Failing: true}},
		Approvals: 1, Oldest: 90 * time.Second, Guard: &metrics.Guard{Breaker: "open", Failures: 4, Block: 9}, Audit: &metrics.Audit{Events: 100, Refused: 1},
		Traces: &metrics.Traces{Exported: 40, Dropped: 2},
	}
}

func profiles() []string { return []string{"default", "large"} }

// names are the labels of a family, and the values of those that are listed in the package.
func names(f *dto.MetricFamily) string {
	var labels []string
	values := make(map[string][]string)
	for _, m := range f.Metric {
		for _, l := range m.Label {
			if !slices.Contains(labels, l.GetName()) {
				labels = append(labels, l.GetName())
			}
			if !slices.Contains(values[l.GetName()], l.GetValue()) {
				values[l.GetName()] = append(values[l.GetName()], l.GetValue())
			}
		}
	}
	for i, l := range labels {
		switch l {
		case "profile", "version", "go_version":
		default:
			labels[i] += ": " + strings.Join(values[l], ", ")
		}
	}
	return strings.Join(labels, "; ")
}

// TestGolden holds the names, kinds, labels and help of all metrics: who renames one breaks somebody's dashboard.
func TestGolden(t *testing.T) {
	var got, table strings.Builder
	table.WriteString("| metric | kind | labels | |\n|---|---|---|---|\n")
	for _, f := range metrics.New(profiles()).Gather(whole()) {
		kind := strings.ToLower(f.GetType().String())
		fmt.Fprintf(&got, "%s %s {%s}\n\t%s\n", f.GetName(), kind, names(f), f.GetHelp())
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", f.GetName(), kind, names(f), f.GetHelp())
	}
	holds(t, "testdata/metrics.golden", got.String())

	const page = "../../docs/metrics.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), "<!-- metrics: begin -->\n")
	_, after, ends := strings.Cut(rest, "<!-- metrics: end -->")
	if !begins || !ends {
		t.Fatalf("%s has no place for the table", page)
	}
	holds(t, page, before+"<!-- metrics: begin -->\n"+table.String()+"<!-- metrics: end -->"+after)
}

func holds(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("%s is out of date: go test ./internal/metrics -run TestGolden -update\n%s", file, diff)
	}
}

// TestConventions are Prometheus': base units, and _total for counters alone.
func TestConventions(t *testing.T) {
	for _, f := range metrics.New(profiles()).Gather(whole()) {
		name := f.GetName()
		if !model.LegacyValidation.IsValidMetricName(name) || !strings.HasPrefix(name, "sandboxd_") && name != "process_start_time_seconds" {
			t.Errorf("%s: no name of ours", name)
		}
		if is := f.GetType() == dto.MetricType_COUNTER; is != strings.HasSuffix(name, "_total") {
			t.Errorf("%s is a %s", name, f.GetType())
		}
		if f.GetType() == dto.MetricType_HISTOGRAM && !strings.HasSuffix(name, "_seconds") && !strings.HasSuffix(name, "_bytes") {
			t.Errorf("%s has no base unit", name)
		}
		if !strings.HasSuffix(f.GetHelp(), ".") {
			t.Errorf("%s: its help is no sentence: %s", name, f.GetHelp())
		}
	}
}

// scraped are the series of a text with their values.
func scraped(t *testing.T, text string) map[string]float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	got := make(map[string]float64)
	for name, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetValue())
			}
			key := name + "{" + strings.Join(labels, ",") + "}"
			switch {
			case m.Counter != nil:
				got[key] = m.Counter.GetValue()
			case m.Gauge != nil:
				got[key] = m.Gauge.GetValue()
			case m.Histogram != nil:
				got[key+" count"], got[key+" sum"] = float64(m.Histogram.GetSampleCount()), m.Histogram.GetSampleSum()
				for _, b := range m.Histogram.Bucket {
					got[fmt.Sprint(key, " ", b.GetUpperBound())] = float64(b.GetCumulativeCount())
				}
			}
		}
	}
	return got
}

// served serves until the test ends, and returns a client of it.
func served(t *testing.T, m *metrics.Metrics, network, address string) (*http.Client, net.Addr) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Serve(ctx, l, whole, slog.New(slog.DiscardHandler)) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, l.Addr().String())
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}, l.Addr()
}

// TestCounts goes through each method, with values in its labels' lists and others, and reads what Prometheus gets.
func TestCounts(t *testing.T) {
	m := metrics.New(profiles())
	m.Run(metrics.Run{
		ID: "01RUN", Profile: "default", Outcome: "ok", Queue: 0, Lease: 200 * time.Microsecond, Wall: 3 * time.Second, CPU: 100 * time.Microsecond,
		Tools: metrics.Never, Approval: metrics.Never, PeakMemory: 8 << 20,
	})
	m.Run(metrics.Run{
		ID: "01BUSY", Profile: "of nobody", Outcome: "strange\"\n", Queue: metrics.Never, Lease: time.Hour, Wall: metrics.Never, CPU: metrics.Never,
		Tools: metrics.Never, Approval: metrics.Never,
	})
	m.Busy("starting")
	m.Busy("whatever")
	m.Call("01RUN", "allow", "", "succeeded", 2*time.Millisecond)
	m.Call("01RUN", "", "", "not_started", 0)
	m.Call("01RUN", "deny", "block", "denied", 0)
	m.Lease("default", true)
	m.Lease("default", true)
	m.Lease("large", false)
	m.Born(4 * time.Millisecond)
	m.Stillborn("nursery")
	m.Checked("01RUN", 20*time.Millisecond)
	m.Answered("denied")
	m.Synced(300 * time.Microsecond)
	client, _ := served(t, m, "unix", filepath.Join(t.TempDir(), "m"))
	text, response := get(t, client, "http://sandboxd/metrics", "")
	if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Errorf("Content-Type is %q", kind)
	}
	got := scraped(t, text)
	for key, want := range map[string]float64{
		"sandboxd_runs_total{default,ok}": 1, "sandboxd_runs_total{default,violation}": 0, "sandboxd_runs_total{other,other}": 1,
		"sandboxd_run_phase_seconds{queue} count": 1, "sandboxd_run_phase_seconds{queue} 0.0001": 1,
		"sandboxd_run_phase_seconds{lease} count": 2, "sandboxd_run_phase_seconds{lease} 0.0001": 0, "sandboxd_run_phase_seconds{lease} 0.00025": 1,
		"sandboxd_run_phase_seconds{lease} 300": 1, "sandboxd_run_phase_seconds{lease} +Inf": 2, "sandboxd_run_phase_seconds{lease} sum": 3600.0002,
		"sandboxd_run_phase_seconds{wall} count": 1, "sandboxd_run_phase_seconds{cpu} 0.0001": 1, // a bound is in its bucket
		"sandboxd_run_phase_seconds{tool} count": 0, "sandboxd_run_phase_seconds{approval} count": 0,
		"sandboxd_worker_peak_memory_bytes{} count": 1, fmt.Sprint("sandboxd_worker_peak_memory_bytes{} ", float64(8<<20)): 1,
		"sandboxd_busy_total{starting}": 1, "sandboxd_busy_total{other}": 1, "sandboxd_busy_total{capacity}": 0,
		"sandboxd_calls_total{allow,none,succeeded}": 1, "sandboxd_calls_total{none,none,not_started}": 1, "sandboxd_calls_total{deny,block,denied}": 1,
		"sandboxd_call_seconds{} count": 1, "sandboxd_call_seconds{} sum": .002,
		"sandboxd_leases_total{default,warm}": 2, "sandboxd_leases_total{large,cold}": 1, "sandboxd_leases_total{large,warm}": 0,
		"sandboxd_worker_birth_seconds{} 0.005": 1, "sandboxd_worker_birth_failures_total{nursery}": 1, "sandboxd_worker_birth_failures_total{worker}": 0,
		"sandboxd_guard_check_seconds{} 0.025": 1, "sandboxd_guard_check_seconds{} 0.01": 0, "sandboxd_approvals_total{denied}": 1,
		"sandboxd_audit_sync_seconds{} 0.0005": 1,
		"sandboxd_pool_ready{default}":         7, "sandboxd_pool_failing{large}": 1, "sandboxd_guard_breaker{open}": 1, "sandboxd_guard_breaker{closed}": 0,
		"sandboxd_guard_checks_total{block}": 9, "sandboxd_audit_refused_total{}": 1, "sandboxd_trace_spans_total{exported}": 40, "sandboxd_trace_spans_total{dropped}": 2, "sandboxd_approvals_oldest_seconds{}": 90,
	} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s is %v (%v), want %v", key, v, ok, want)
		}
	}
	for key := range got {
		if strings.Contains(key, "strange") || strings.Contains(key, "nobody") {
			t.Errorf("%s: text from outside", key)
		}
	}
}

// TestExemplars: in OpenMetrics each bucket names its last run.
func TestExemplars(t *testing.T) {
	m := metrics.New(profiles())
	for _, id := range []string{"01FIRST", "01SECOND"} {
		m.Run(metrics.Run{ID: id, Profile: "default", Outcome: "ok", Wall: 2 * time.Second, PeakMemory: 1})
	}
	client, _ := served(t, m, "unix", filepath.Join(t.TempDir(), "m"))
	// As Prometheus 3 asks.
	text, response := get(t, client, "http://sandboxd/metrics", "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"+
		"application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2")
	if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/openmetrics-text; version=1.0.0") {
		t.Errorf("Content-Type is %q", kind)
	}
	if !strings.HasSuffix(text, "# EOF\n") {
		t.Error("OpenMetrics without an end")
	}
	found := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, `sandboxd_run_phase_seconds_bucket{phase="wall",le="2.5"} 2 # {run_id="01SECOND"} 2.0 `) {
			found++
		}
		if strings.Contains(line, "01FIRST") {
			t.Errorf("a run that is not the last: %s", line)
		}
	}
	if found != 1 {
		t.Errorf("%d exemplars of the last run in its bucket, in\n%s", found, text)
	}
}

func get(t *testing.T, client *http.Client, url, accept string) (string, *http.Response) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), response
}

// TestServesNothingElse tries other paths, methods and hosts, of which a page in a browser has its own.
func TestServesNothingElse(t *testing.T) {
	client, address := served(t, metrics.New(profiles()), "tcp", "127.0.0.1:0")
	for _, test := range []struct {
		method, path, host string
		want               int
	}{
		{"GET", "/metrics", "", 200},
		{"GET", "/metrics", "localhost:9464", 200},
		{"GET", "/metrics", "[::1]:9464", 200},
		{"GET", "/metrics", "127.9.9.9", 200},
		{"GET", "/metrics", "evil.example:9464", 403},
		{"GET", "/metrics", "127.0.0.1.evil.example", 403},
		{"GET", "/metrics", "10.0.0.1:9464", 403},
		{"GET", "/", "", 404},
		{"GET", "/metrics/", "", 404},
		{"GET", "/debug/vars", "", 404},
		{"GET", "/debug/pprof/", "", 404},
		{"POST", "/metrics", "", 405},
		{"HEAD", "/metrics", "", 405},
		{"DELETE", "/metrics", "", 405},
	} {
		request, err := http.NewRequestWithContext(t.Context(), test.method, "http://"+address.String()+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = test.host
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != test.want {
			t.Errorf("%s %s for %q: %s, want %d", test.method, test.path, test.host, response.Status, test.want)
		}
	}
}

// TestBounds: long headers are refused, and so many connections that say nothing keep nobody out for longer than they may wait.
func TestBounds(t *testing.T) {
	t.Parallel() // it waits for connections to be given up
	client, address := served(t, metrics.New(profiles()), "tcp", "127.0.0.1:0")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address.String()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Long", strings.Repeat("x", 64<<10))
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header of 64 KiB: %s", response.Status)
	}
	client.CloseIdleConnections()
	for range 8 {
		silent, err := net.Dial("tcp", address.String())
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
	}
	if text, _ := get(t, client, "http://"+address.String()+"/metrics", ""); !strings.Contains(text, "sandboxd_build_info") {
		t.Error("behind connections that say nothing, there are no metrics")
	}
}

// TestNil: without metrics everything goes on.
func TestNil(t *testing.T) {
	var m *metrics.Metrics
	m.Run(metrics.Run{})
	m.Busy("capacity")
	m.Call("", "", "", "", time.Second)
	m.Lease("", true)
	m.Born(0)
	m.Stillborn("worker")
	m.Checked("", 0)
	m.Answered("denied")
	m.Synced(0)
}

// TestTogether: counts that come in at once are all there, and what is told meanwhile adds up.
func TestTogether(t *testing.T) {
	m := metrics.New(profiles())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				m.Run(metrics.Run{ID: "r", Profile: "large", Outcome: "error", Wall: time.Second, Queue: metrics.Never, Lease: metrics.Never})
			}
		})
	}
	for range 20 {
		for _, f := range m.Gather(whole()) {
			if f.GetName() == "sandboxd_run_phase_seconds" {
				for _, one := range f.Metric {
					if h := one.Histogram; h.GetSampleCount() != h.Bucket[len(h.Bucket)-1].GetCumulativeCount() {
						t.Fatalf("%d values, and %d in all buckets", h.GetSampleCount(), h.Bucket[len(h.Bucket)-1].GetCumulativeCount())
					}
				}
			}
		}
	}
	all.Wait()
	client, _ := served(t, m, "unix", filepath.Join(t.TempDir(), "m"))
	text, _ := get(t, client, "http://sandboxd/metrics", "")
	got := scraped(t, text)
	if n, sum := got["sandboxd_runs_total{large,error}"], got["sandboxd_run_phase_seconds{wall} sum"]; n != 8000 || sum != 8000 {
		t.Errorf("%v runs of %v s, want 8000 of 8000", n, sum)
	}
}

// BenchmarkRun is what is counted of a run with one call.
func BenchmarkRun(b *testing.B) {
	m := metrics.New(profiles())
	b.ReportAllocs()
	for b.Loop() {
		m.Lease("default", true)
		m.Call("01RUN", "allow", "allow", "succeeded", time.Millisecond)
		m.Run(metrics.Run{ID: "01RUN", Profile: "default", Outcome: "ok", Queue: 1, Lease: 1, Wall: 1e6, CPU: 1e6, Tools: 1e6, Approval: metrics.Never, PeakMemory: 1})
	}
}

// BenchmarkChecked is what is counted of a call while it is on its way.
func BenchmarkChecked(b *testing.B) {
	m := metrics.New(profiles())
	b.ReportAllocs()
	for b.Loop() {
		m.Checked("01RUN", 20*time.Millisecond)
	}
}
