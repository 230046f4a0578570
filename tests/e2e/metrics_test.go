package e2e_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// scrape asks a daemon's socket for its metrics, in OpenMetrics.
func scrape(t *testing.T, socket string) string {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sandboxd/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/openmetrics-text;version=1.0.0")
	response, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %s", response.Status, err, text)
	}
	return string(text)
}

// tells waits until the metrics have each of the lines.
func tells(t *testing.T, socket string, want ...string) string {
	t.Helper()
	var text string
	daemon.Eventually(t, 10*time.Second, func() error {
		text = scrape(t, socket)
		for _, line := range want {
			if !strings.Contains(text, "\n"+line) {
				return fmt.Errorf("the metrics have no %s:\n%s", line, text)
			}
		}
		return nil
	})
	return text
}

// TestMetrics: what happens is counted, from the daemon's start to its end, and nothing that anybody says is in it.
func TestMetrics(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(daemon.Dir(t), "m")
	_, recorded := audited(t)
	d, _ := policed(t, `
deny: ["t.drop_*"]
unknown: allow
rules:
  - {name: unguarded, tools: ["t.echo", "t.fail", "t.hang"], action: allow, guard: skip}
limits: {per_caller: {runs_per_minute: 6}}
`, "metrics: {listen: "+socket+"}\nguard: {url: 'http://127.0.0.1:1', timeout: 50ms}\n"+recorded)
	tells(t, socket, `sandboxd_pool_ready{profile="default"} 1.0`, `sandboxd_gateway_connections 0.0`, `sandboxd_runs_total{profile="default",outcome="ok"} 0.0`)
	waits, decide := make(chan struct{}), make(chan struct{})
	g := connect(t, d, mailed, sandboxd.Options{
		Approvals: func(context.Context, sandboxd.ApprovalRequest) (sandboxd.ApprovalAnswer, error) {
			close(waits)
			<-decide
			return sandboxd.ApprovalAnswer{Approve: true}, nil
		},
	})
	g.run(t, sandboxd.Program{Source: "await tools.t.echo({}); try { await tools.t.fail({}) } catch {} return 1"})
	g.run(t, sandboxd.Program{Source: "await tools.t.drop_all({})"})
	g.run(t, sandboxd.Program{Source: "throw 1"})
	g.run(t, sandboxd.Program{Source: "tools.t.hang({}); await new Promise(r => setTimeout(r, 100)); while (true);", Limits: &sandboxd.Limits{CPUMS: 100}})

	ended := make(chan *sandboxd.Result)
	go func() {
		defer close(ended)
		if r, err := g.Execute(t.Context(), sandboxd.Program{Source: "return await tools.t.mail({})"}); err == nil {
			ended <- r
		}
	}()
	wait(t, waits, "the request for an approval")
	text := tells(t, socket, `sandboxd_approvals_waiting 1.0`, `sandboxd_runs_running 1.0`, `sandboxd_gateway_connections 1.0`)
	if !regexp.MustCompile(`(?m)^sandboxd_approvals_oldest_seconds 0?\.?[0-9]`).MatchString(text) || strings.Contains(text, "\nsandboxd_approvals_oldest_seconds 0.0\n") {
		t.Error("the call that waits has waited for no time")
	}
	close(decide)
	if r := <-ended; r == nil || r.Outcome != sandboxd.OutcomeOK {
		t.Errorf("%+v", r)
	}
	g.run(t, sandboxd.Program{Source: "return 1"})
	g.run(t, sandboxd.Program{Source: "return 1"}) // the seventh this minute

	text = tells(t, socket,
		`sandboxd_runs_total{profile="default",outcome="ok"} 3.0`,
		`sandboxd_runs_total{profile="default",outcome="denied"} 1.0`,
		`sandboxd_runs_total{profile="default",outcome="error"} 1.0`,
		`sandboxd_runs_total{profile="default",outcome="cpu"} 1.0`,
		`sandboxd_runs_total{profile="default",outcome="busy"} 1.0`,
		`sandboxd_runs_total{profile="default",outcome="violation"} 0.0`,
		`sandboxd_busy_total{reason="quota"} 1.0`,
		`sandboxd_calls_total{decision="allow",verdict="none",state="succeeded"} 1.0`,
		`sandboxd_calls_total{decision="allow",verdict="none",state="failed"} 1.0`,
		`sandboxd_calls_total{decision="allow",verdict="none",state="unknown"} 1.0`,
		`sandboxd_calls_total{decision="deny",verdict="none",state="denied"} 1.0`,
		`sandboxd_calls_total{decision="allow",verdict="ask",state="succeeded"} 1.0`,
		`sandboxd_guard_checks_total{result="unavailable"} 1.0`,
		`sandboxd_guard_check_seconds_count 1`,
		`sandboxd_approvals_total{answer="approved"} 1.0`,
		`sandboxd_approvals_waiting 0.0`,
		`sandboxd_approvals_oldest_seconds 0.0`,
		`sandboxd_run_phase_seconds_count{phase="queue"} 6`,
		`sandboxd_run_phase_seconds_count{phase="wall"} 6`,
		`sandboxd_run_phase_seconds_count{phase="cpu"} 6`,
		`sandboxd_run_phase_seconds_count{phase="approval"} 1`,
		`sandboxd_run_phase_seconds_count{phase="tool"} 3`,
		`sandboxd_worker_peak_memory_bytes_count 6`,
		`sandboxd_call_seconds_count 3`,
		`sandboxd_audit_refused_total 0.0`,
		`sandboxd_audit_failing 0.0`,
		`sandboxd_policy_reload_failing 0.0`,
	)
	for _, pattern := range []string{
		`sandboxd_leases_total\{profile="default",start="warm"\} [1-6]\.0`, `sandboxd_worker_birth_seconds_count [1-9]`, `sandboxd_audit_sync_seconds_count [1-9]`,
		`sandboxd_audit_events_total [1-9]`, `sandboxd_build_info\{version="[^"]+",go_version="go[^"]+"\} 1\.0`,
		`sandboxd_worker_peak_memory_bytes_sum [1-9]`, `sandboxd_run_phase_seconds_bucket\{phase="tool",le="[^"]+"\} \d+ # \{run_id="[0-9A-Z]{26}"\}`,
	} {
		if !regexp.MustCompile("(?m)^" + pattern).MatchString(text) {
			t.Errorf("the metrics have no %s", pattern)
		}
	}
	for _, outside := range []string{"echo", "drop_all", "mail", "other", fmt.Sprint("uid ", os.Getuid())} {
		if i := strings.Index(text, outside); i >= 0 {
			t.Errorf("the metrics have %q: %s", outside, text[max(0, i-80):i+20])
		}
	}
}

// TestMetricsByAddress: by TCP, on loopback; and a daemon that drains can be asked still.
func TestMetricsByAddress(t *testing.T) {
	t.Parallel()
	address := fmt.Sprintf("127.%d.%d.%d:9464", 1+rand.IntN(250), rand.IntN(250), 1+rand.IntN(250)) // all of 127/8 is this machine
	other, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	taken := startup(t, "metrics: {listen: '"+address+"'}\nisolation: {allow_missing: [cgroup]}\naudit: {path: none}\npolicy: "+daemon.Policy(t, "unknown: allow\n")+"\n",
		"--listen", filepath.Join(daemon.Dir(t), "s"))
	taken.check(t, "metrics.listen: ", "address already in use")
	other.Close()
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\ndrain: 20s\nmetrics: {listen: '" + address + "'}\n"})
	g := connect(t, d, nil, options)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = g.Execute(t.Context(), sandboxd.Program{Source: "await tools.t.slow({MS: 600})"})
	}()
	daemon.Eventually(t, 10*time.Second, func() error { return has(address, "sandboxd_runs_running 1") })
	if err := syscall.Kill(d.PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := has(address, "sandboxd_runs_running"); err != nil {
		t.Errorf("while it drains: %v", err)
	}
	wait(t, done, "the run's end")
}

// has says whether the metrics at an address have a text.
func has(address, want string) error {
	response, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && !strings.Contains(string(text), want) {
		err = fmt.Errorf("no %s in %s", want, text)
	}
	return err
}

// TestMetricsActivated: a socket of the service manager's is enough, and one more is too many.
func TestMetricsActivated(t *testing.T) {
	t.Parallel()
	n := listenNotices(t)
	_, socket := activated(t, "client:metrics", n.path)
	n.has(t, "READY=1")
	tells(t, socket+"1", `sandboxd_pool_size{profile="default"} 1.0`)
}
