package docs_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// write writes the block into a file of its own.
func (f fenced) write(t *testing.T, name string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(f.text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func policyText(t *testing.T, f fenced) {
	sandboxctl(t, "", "policy", "check", f.write(t, "policy.yaml"))
}

// configText is a part of a configuration, which is none without a policy.
func configText(t *testing.T, f fenced) {
	f.text += "policy: " + daemon.Policy(t, "unknown: ask\n") + "\n"
	sandboxctl(t, "", "config", "check", f.write(t, "sandboxd.yaml"))
}

// guardConfig is what stands below guard: in a configuration.
func guardConfig(t *testing.T, f fenced) {
	f.text = "guard:\n" + regexp.MustCompile(`(?m)^`).ReplaceAllString(strings.TrimSuffix(f.text, "\n"), "  ") + "\n"
	configText(t, f)
}

func jsonText(t *testing.T, f fenced) {
	if !json.Valid([]byte(f.text)) {
		t.Errorf("%s: no JSON", f.name())
	}
}

// goSnippet runs what README has of Go, beside a daemon, with what is around it.
func goSnippet(t *testing.T, f fenced) {
	f.text = `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/sandboxd/sandboxd"
)

func main() {
	ctx, socket := context.Background(), os.Args[1]
	call := func(context.Context, sandboxd.ToolCall) (json.RawMessage, error) {
		return json.RawMessage(` + "`" + `{"content":[{"type":"text","text":"noon"}]}` + "`" + `), nil
	}
` + f.text + `
	defer pool.Close()
	fmt.Println(string(result.Value), err)
}
`
	run := exec.CommandContext(t.Context(), "go", "run", f.write(t, "main.go"), daemon.Start(t, daemon.Options{}).Socket)
	run.Dir = root // whose module it imports
	if out, err := run.CombinedOutput(); err != nil || string(out) != "\"noon\" <nil>\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// spoken holds commands that change a machine, or look into its journal, against what they are about: sandboxctl knows its own, make its
// targets, the package the units and groups, and the daemon's records the fields.
func spoken(t *testing.T, f fenced) {
	for line := range strings.Lines(f.text) {
		line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "   #")
		for command := range strings.SplitSeq(line, "&&") {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(command), "sudo "))
			last := words[len(words)-1]
			switch words[0] {
			case "sandboxctl":
				sandboxctl(t, "", append(words[1:], "--help")...)
			case "make":
				if out, err := exec.CommandContext(t.Context(), "make", "-n", "-C", root, words[1]).CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", command, err, out)
				}
			case "systemctl":
				read(t, "systemd/"+last)
			case "usermod":
				if !strings.Contains(read(t, "packaging/sysusers.d/sandboxd.conf"), " "+words[2]+" ") {
					t.Errorf("%s: the package makes no group %s", command, words[2])
				}
			case "apt":
				if !regexp.MustCompile(`^\./(?:dist/)?sandboxd_\*_\S+\.deb$`).MatchString(strings.Join(words[2:], "")) {
					t.Errorf("%s: packages are named sandboxd_VERSION_ARCH.deb", command)
				}
			case "journalctl":
				journal := read(t, "internal/audit/journal.go") + read(t, "internal/audit/event.go")
				for _, m := range regexp.MustCompile(`SANDBOXD_([A-Z]+)=`).FindAllStringSubmatch(command, -1) {
					if !strings.Contains(journal, `"SANDBOXD_`+m[1]+`"`) && !strings.Contains(journal, `"`+m[1]+`"`) {
						t.Errorf("%s: the journal gets no SANDBOXD_%s", command, m[1])
					}
				}
				for _, unit := range regexp.MustCompile(`-u (\S+)`).FindAllStringSubmatch(command, -1) {
					read(t, "systemd/"+unit[1]+".service")
				}
			default:
				t.Errorf("%s: this test knows no %s", command, words[0])
			}
		}
	}
}

// drawn: what a picture names is there.
func drawn(t *testing.T, f fenced) {
	named := 0
	for _, word := range regexp.MustCompile(`(?:internal|cmd)/[a-z]+(?:-[a-z]+)?|\bsandbox[a-z]*(?:-[a-z]+)?\b`).FindAllString(f.text, -1) {
		if !strings.Contains(word, "/") {
			word = "cmd/" + word
		}
		if _, err := os.Stat(filepath.Join(root, word)); err != nil {
			t.Errorf("%s: %v", f.name(), err)
		}
		named++
	}
	_, lowest, _ := strings.Cut(f.text, "\nL0")
	lowest, _, _ = strings.Cut(lowest, "(below")
	for word := range strings.FieldsSeq(lowest) {
		if _, err := os.Stat(filepath.Join(root, "internal", word)); err != nil {
			t.Errorf("%s: %v", f.name(), err)
		}
		named++
	}
	if named < 3 {
		t.Errorf("%s: names %d of ours", f.name(), named)
	}
}

// doctorSays: the page shows lines of what doctor says of one of the machines in its tests, in their order, and leaves out what ... is for.
func doctorSays(t *testing.T, f fenced) {
	left := read(t, "cmd/sandboxctl/testdata/doctor/hybrid.golden")
	for line := range strings.Lines(strings.TrimPrefix(f.text, "$ sandboxctl doctor\n")) {
		_, after, found := strings.Cut(left, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "..."))
		if !found {
			t.Errorf("doctor does not say %q, there or then", line)
		}
		left = after
	}
}

// auditedRun is the run that docs/audit.md asks about.
const auditedRun = "01JDZ3M8Q5T6V7W8X9Y0Z1A2B3"

// auditLog writes a log with the run, and returns its file and its lines.
func auditLog(t *testing.T) (path string, lines []string) {
	t.Helper()
	c := audit.Default()
	c.Path = filepath.Join(daemon.Dir(t), "audit.log")
	log, err := audit.Open(c, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	call := audit.Call{Run: auditedRun, N: 1, Server: "pay", Tool: "refund"}
	arguments := audit.Judgement{Arguments: log.Payload([]byte("{}"))}
	for _, e := range []audit.Event{
		audit.RunStart{Run: auditedRun, Profile: "default", Program: audit.Plain([]byte("return 1"))},
		audit.CallIntent{Call: call, Judgement: arguments},
		audit.CallOutcome{Run: auditedRun, N: 1, State: "succeeded"},
		audit.CallDenied{Call: call, Judgement: arguments, By: "policy"},
		audit.CallDenied{Call: call, Judgement: arguments, By: "policy"},
		audit.CallDenied{Call: call, Judgement: arguments, By: "policy"},
		audit.RunEnd{Run: auditedRun, Outcome: "ok"},
	} {
		if err := log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	return c.Path, strings.Split(strings.TrimSpace(string(text)), "\n")
}

func hashOf(line string) string {
	return strings.TrimSuffix(line[strings.LastIndex(line, `"hash":"`)+len(`"hash":"`):], `"}`)
}

// auditCommands runs commands on a log, beside a journal that has one of its hashes.
func auditCommands(t *testing.T, f fenced) {
	path, lines := auditLog(t)
	intent := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, `"event":"call.intent"`) })
	stub := filepath.Join(filepath.Dir(path), "journalctl")
	if err := os.WriteFile(stub, []byte("#!/bin/sh\necho "+hashOf(lines[intent])+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(path)+":"+daemon.Binaries(t)+":"+os.Getenv("PATH"))
	for line := range strings.Lines(f.text) {
		command := strings.TrimPrefix(strings.TrimSpace(line), "$ ")
		shell := exec.Command("sh", "-c", strings.Replace(command, "sandboxctl audit", "sandboxctl audit --log "+path, 1))
		shell.Dir = filepath.Dir(path)
		out, err := shell.CombinedOutput()
		if err != nil || len(out) == 0 {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		if strings.Contains(command, "sha256sum") && string(out) != hashOf(lines[6])+"  -\n" {
			t.Errorf("%s says %s, and the line %s", command, out, lines[6])
		}
	}
}

// auditLine: the members that the page shows are those of a line, in their order.
func auditLine(t *testing.T, f fenced) {
	_, lines := auditLog(t)
	members := regexp.MustCompile(`"([a-z]+)":`)
	var want []string
	for _, m := range members.FindAllStringSubmatch(f.text, -1) {
		want = append(want, m[1])
	}
	all := members.FindAllStringSubmatch(lines[2], -1)
	got := []string{all[0][1], all[1][1], all[2][1], all[3][1], all[len(all)-1][1]}
	if !slices.Equal(got, want) {
		t.Errorf("a line has %v, and the page shows %v", got, want)
	}
}

// guardTakes sends the check to the example of a guard.
func guardTakes(t *testing.T, f fenced) {
	s := newSession(t)
	s.start(t, s.here.Replace(" go run ./examples/guard --listen unix:///tmp/guard.sock"), "")
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(s.dir, "guard.sock"))
	}}}
	defer client.CloseIdleConnections()
	r, err := client.Post("http://guard/v1/guard", "application/json", strings.NewReader(f.text))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if said, err := io.ReadAll(r.Body); err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(said), `"verdict":"ask"`) {
		t.Errorf("it says %s: %s, %v", r.Status, said, err)
	}
}

// guardAnswers has the daemon's side read the answer.
func guardAnswers(t *testing.T, f fenced) {
	judge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, f.text)
	}))
	defer judge.Close()
	c := guard.Default()
	c.URL, c.Timeout = judge.URL, 20*time.Second
	g, err := guard.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	a := g.Check(t.Context(), guard.Check{Run: "r", Tool: "mail.send", Trigger: guard.UserRequest, Args: []byte("{}")})
	if !a.Judged || a.Verdict != guard.Ask || a.Reason == "" {
		t.Errorf("it is read as %+v", a)
	}
}

// signature is what sandboxctl says of the example's tool.
func signature(t *testing.T, f fenced) {
	if said := sandboxctl(t, "", "types", "--mcp", mcp(t), "--signatures"); !strings.Contains(said, strings.TrimSpace(f.text)) {
		t.Errorf("%s\nis not in\n%s", f.text, said)
	}
}

// scraped: Prometheus asks where the daemon is told to answer, and loads rules that are there.
func scraped(t *testing.T, f fenced) {
	var c struct {
		Scrape []struct {
			Job    string                       `yaml:"job_name"`
			Static []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
		Rules []string `yaml:"rule_files"`
	}
	d := yaml.NewDecoder(strings.NewReader(f.text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Scrape {
		for _, target := range s.Static[0].Targets {
			if !strings.Contains(read(t, f.page), "listen: "+target) {
				t.Errorf("nothing listens at %s", target)
			}
		}
	}
	for _, rules := range c.Rules {
		read(t, "packaging/prometheus/"+rules)
	}
}

// collected: the collector of the page listens where the page's daemon sends, and its pipeline has only what it defines.
func collected(t *testing.T, f fenced) {
	var c struct {
		Receivers map[string]struct {
			Protocols map[string]struct{ Endpoint string }
		}
		Exporters map[string]struct{ Endpoint string }
		Service   struct {
			Pipelines map[string]struct{ Receivers, Exporters []string }
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(f.text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil {
		t.Fatal(err)
	}
	pipeline := c.Service.Pipelines["traces"]
	if len(pipeline.Receivers) == 0 || len(pipeline.Exporters) == 0 {
		t.Errorf("%s: its pipeline takes or sends no traces", f.name())
	}
	for _, name := range pipeline.Receivers {
		at := c.Receivers[name].Protocols["http"].Endpoint
		if at == "" || !strings.Contains(read(t, "docs/traces.md"), "endpoint: http://"+at+" ") {
			t.Errorf("%s: %s listens on %q, where the page's daemon does not send to", f.name(), name, at)
		}
	}
	for _, name := range pipeline.Exporters {
		if c.Exporters[name].Endpoint == "" {
			t.Errorf("%s: no exporter %q", f.name(), name)
		}
	}
}
