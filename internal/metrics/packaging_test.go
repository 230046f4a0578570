package metrics_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"go.yaml.in/yaml/v3"

	"github.com/sandboxd/sandboxd/internal/metrics"
	"github.com/sandboxd/sandboxd/tests/skip"
)

const packaged = "../../packaging/prometheus"

// known are the series that there can be, by name, with the values of their labels; a label with none has any.
type known map[string]map[string][]string

func all() known {
	k := known{"up": {"job": nil}} // Prometheus' own
	for _, f := range metrics.New(profiles()).Gather(whole()) {
		labels := map[string][]string{"job": nil}
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if name := l.GetName(); name != "profile" {
					labels[name] = append(labels[name], l.GetValue())
				} else {
					labels[name] = nil
				}
			}
		}
		if f.GetType() != dto.MetricType_HISTOGRAM {
			k[f.GetName()] = labels
			continue
		}
		k[f.GetName()+"_sum"], k[f.GetName()+"_count"] = labels, labels
		k[f.GetName()+"_bucket"] = map[string][]string{"le": nil}
		for name, values := range labels {
			k[f.GetName()+"_bucket"][name] = values
		}
	}
	return k
}

var (
	selector = regexp.MustCompile(`([a-z_]+)\{([^}]*)\}`)
	matcher  = regexp.MustCompile(`^([a-z_]+)(=~|!~|!=|=)"([^"]*)"$`)
	grouping = regexp.MustCompile(`\b(?:by|on)\s*\(([^)]*)\)`)
	span     = regexp.MustCompile(`\[[^\]]*\]`)
	word     = regexp.MustCompile(`[A-Za-z_$][A-Za-z0-9_]*`)

	functions = []string{"sum", "rate", "increase", "histogram_quantile", "time", "and", "or"}
)

// check says what of an expression can never be: names, labels and values that the metrics do not have.
func (k known) check(expr string) (wrong []string) {
	var labels []string
	used := func(name string) {
		for l := range k[name] {
			labels = append(labels, l)
		}
	}
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		for pair := range strings.SplitSeq(s[2], ",") {
			m := matcher.FindStringSubmatch(strings.TrimSpace(pair))
			if m == nil {
				wrong = append(wrong, "the matcher "+pair)
				continue
			}
			values, has := k[s[1]][m[1]]
			if !has {
				wrong = append(wrong, s[1]+" has no label "+m[1])
			}
			for v := range strings.SplitSeq(m[3], "|") {
				if has && values != nil && !slices.Contains(values, v) {
					wrong = append(wrong, s[1]+" has no "+m[1]+" "+v)
				}
			}
		}
	}
	plain := span.ReplaceAllString(selector.ReplaceAllString(expr, "$1"), "")
	for _, name := range word.FindAllString(grouping.ReplaceAllString(plain, ""), -1) {
		if _, metric := k[name]; metric {
			used(name)
		} else if !slices.Contains(functions, name) {
			wrong = append(wrong, "there is no "+name)
		}
	}
	for _, g := range grouping.FindAllStringSubmatch(plain, -1) {
		for _, l := range word.FindAllString(g[1], -1) {
			if !slices.Contains(labels, l) {
				wrong = append(wrong, "grouped by "+l+", which nothing in it has")
			}
		}
	}
	if strings.Count(expr, "(") != strings.Count(expr, ")") || len(labels) == 0 {
		wrong = append(wrong, "no expression")
	}
	return wrong
}

// TestCheck: the check finds what is wrong.
func TestCheck(t *testing.T) {
	for expr, want := range map[string]string{
		`sandboxd_runs_running > 1`: "",
		`sum by (phase, le) (rate(sandboxd_run_phase_seconds_bucket{phase="cpu"}[5m]))`: "",
		`sandboxd_run_running > 1`:                                                     "there is no sandboxd_run_running; no expression",
		`sandboxd_runs_total{outcome="violations"}`:                                    "sandboxd_runs_total has no outcome violations",
		`sandboxd_runs_total{kind="violation"}`:                                        "sandboxd_runs_total has no label kind",
		`sandboxd_runs_total{outcome=~"crash|panic"}`:                                  "sandboxd_runs_total has no outcome panic",
		`sum by (tool) (rate(sandboxd_calls_total[5m]))`:                               "grouped by tool, which nothing in it has",
		`rate(sandboxd_run_phase_seconds[5m])`:                                         "there is no sandboxd_run_phase_seconds; no expression",
		`histogram_quantil(0.5, sum by (le) (rate(sandboxd_call_seconds_bucket[5m])))`: "there is no histogram_quantil",
	} {
		if got := strings.Join(all().check(expr), "; "); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

// TestAlerts holds the alerts against the metrics: one on a name that is none would never fire.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(packaged, "sandboxd.rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if !strings.HasPrefix(r.Alert, "Sandboxd") || seen[r.Alert] {
				t.Errorf("alert %q: no name of ours, or a second one", r.Alert)
			}
			seen[r.Alert] = true
			for _, w := range all().check(r.Expr) {
				t.Errorf("%s: %s", r.Alert, w)
			}
			if s := r.Labels["severity"]; s != "critical" && s != "warning" {
				t.Errorf("%s: severity %q", r.Alert, s)
			}
			if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s says too little", r.Alert)
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d alerts", len(seen))
	}
}

// TestPromtool has Prometheus' own tool read the alerts, where it is.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		skip.Because(t, "promtool is not installed, which comes with Prometheus")
	}
	if out, err := exec.Command(promtool, "check", "rules", filepath.Join(packaged, "sandboxd.rules.yaml")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestDashboard holds the dashboard against the metrics, and its panels against each other.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(packaged, "sandboxd.dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID          int
			Type, Title string
			GridPos     struct{ H, W, X, Y int }
			Targets     []struct{ Expr, RefID string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	ids, cells, shown := make(map[int]bool), make(map[[2]int]string), ""
	for _, p := range board.Panels {
		if ids[p.ID] {
			t.Errorf("%s: a second panel of id %d", p.Title, p.ID)
		}
		ids[p.ID] = true
		for y := range p.GridPos.H {
			for x := range p.GridPos.W {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if cells[at] != "" || at[0] > 23 {
					t.Fatalf("%s lies on %q, or beyond the edge", p.Title, cells[at])
				}
				cells[at] = p.Title
			}
		}
		if (p.Type == "row") != (len(p.Targets) == 0) {
			t.Errorf("%s shows nothing, or is a row that does", p.Title)
		}
		for _, target := range p.Targets {
			shown += target.Expr + "\n"
			for _, w := range all().check(target.Expr) {
				t.Errorf("%s: %s", p.Title, w)
			}
		}
	}
	for _, f := range metrics.New(profiles()).Gather(whole()) {
		switch name := f.GetName(); {
		case strings.Contains(shown, name):
		case slices.Contains([]string{"sandboxd_build_info", "sandboxd_pool_failing", "sandboxd_audit_failing", "sandboxd_guard_requests_total", "sandboxd_guard_batches_total", "sandboxd_trace_spans_total"}, name):
		default:
			t.Errorf("%s is on no panel", name)
		}
	}
}
