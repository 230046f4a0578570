package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sandboxd/sandboxd/internal/guard"
)

var binary string // set by TestMain, then read-only

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "guard")
	if err == nil {
		binary = filepath.Join(dir, "guard")
		build := exec.Command("go", "build", "-o", binary, ".")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	code := 1
	if err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// listen starts the server, and returns the url that it says.
func listen(t *testing.T, address string) string {
	t.Helper()
	command := exec.Command(binary, "--listen", address)
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Signal(os.Interrupt)
		if err := command.Wait(); err != nil {
			t.Errorf("an interrupt ends it with %v", err)
		}
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "guard: listening on ")
	if err != nil || !found {
		t.Fatalf("%q, %v", line, err)
	}
	return url
}

func client(t *testing.T, url string) *guard.Guard {
	t.Helper()
	c := guard.Default()
	c.URL = url
	g, err := guard.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

var people = strings.TrimSuffix(strings.Repeat(`"a@b.example",`, 21), ",")

var cases = []struct{ tool, args, trigger, want string }{
	{"db.execute", `{"sql":"DELETE FROM invoices"}`, "user_request", "block"},
	{"db.execute", `{"sql":"delete from invoices where id = 7"}`, "user_request", "allow"},
	{"db.execute", `{"sql":"DELETE FROM invoices -- where id = 7"}`, "user_request", "block"},
	{"db.execute", `{"sql":"delete from invoices /* where */; select 1 where 1"}`, "user_request", "block"},
	{"db.execute", `{"sql":"UPDATE users SET name = ' where '"}`, "user_request", "block"},
	{"db.execute", `{"sql":"UPDATE users\nSET name = 'x'\nWHERE id = 7; DROP  TABLE users"}`, "user_request", "block"},
	{"db.execute", `{"options":{"query":["SELECT 1","TRUNCATE TABLE a"]}}`, "user_request", "block"},
	{"mail.send", `{"body":"please delete from the list"}`, "user_request", "allow"},
	{"mail.send", `{"to":[` + people + `]}`, "user_request", "block"},
	{"mail.send", `{"to":"a@b.example; c@d.example","cc":["e@f.example"]}`, "user_request", "allow"},
	{"mail.send", `{"to":"a@b.example"}`, "tool_result", "ask"},
	{"slack.post_message", `{"text":"hi"}`, "tool_result", "ask"},
	{"github.list_issues", `{"repo":"a/b"}`, "tool_result", "allow"},
}

// TestUnderstandsOurClient asks by loopback and by a Unix socket, one call at a time and all at once.
func TestUnderstandsOurClient(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "unix://" + filepath.Join(t.TempDir(), "guard.sock")} {
		g := client(t, listen(t, address))
		ask := func(run string, i int) {
			c := cases[i]
			a := g.Check(t.Context(), guard.Check{Run: run, Tool: c.tool, Args: json.RawMessage(c.args), Trigger: c.trigger})
			if !a.Judged || a.Verdict.String() != c.want || (a.Reason == "") != (c.want == "allow") {
				t.Errorf("%s %s %s: %+v, want %s", address, c.tool, c.args, a, c.want)
			}
		}
		for i := range cases {
			ask("one", i)
		}
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() { ask("all", i%len(cases)) })
		}
		all.Wait()
		if s := g.State(); s.Counts.Unavailable != 0 || s.Counts.Batches == 0 || !s.Batches {
			t.Errorf("%+v", s)
		}
	}
}

func TestRefuses(t *testing.T) {
	url := listen(t, "127.0.0.1:0")
	for _, test := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/v1/guard", "", http.StatusMethodNotAllowed},
		{"POST", "/v1/other", "{}", http.StatusNotFound},
		{"POST", "/v1/guard", "{", http.StatusBadRequest},
		{"POST", "/v1/guard/batch", `{"checks":{}}`, http.StatusBadRequest},
		{"POST", "/v1/guard", `{"x":"` + strings.Repeat("x", 2<<20) + `"}`, http.StatusBadRequest},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, url+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != test.want {
			t.Errorf("%s %s: %d, want %d", test.method, test.path, response.StatusCode, test.want)
		}
	}
	out, err := exec.CommandContext(t.Context(), binary, "--listen", "0.0.0.0:0").CombinedOutput()
	if err == nil || !strings.Contains(fmt.Sprint(string(out)), "want a loopback address") {
		t.Errorf("%v: %s", err, out)
	}
}
