package main_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var repos = []string{"acme/api", "acme/web", "acme/cli", "acme/docs", "acme/infra"}

type issue struct {
	Repo     string `json:"-"`
	Number   int    `json:"number"`
	Title    string `json:"title"`
	State    string `json:"state"`
	Comments int    `json:"comments"`
}

var binary string // set by TestMain, then read-only

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "tracker")
	if err == nil {
		binary = filepath.Join(dir, "tracker")
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

func connect(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func stdio(t *testing.T) *mcp.ClientSession {
	return connect(t, &mcp.CommandTransport{Command: exec.Command(binary)})
}

func call(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (text string, isError bool) {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

func list(t *testing.T, s *mcp.ClientSession, repo string) (issues []issue) {
	t.Helper()
	text, _ := call(t, s, "list_issues", map[string]any{"repo": repo})
	if err := json.Unmarshal([]byte(text), &issues); err != nil {
		t.Fatalf("listing of %s is no JSON: %v", repo, err)
	}
	for i := range issues {
		issues[i].Repo = repo
	}
	return issues
}

// The measurements of this project and its documentation rest on this data: a change is to be seen here.
func TestListingsAreTheSameOnEveryStart(t *testing.T) {
	s, hash := stdio(t), sha256.New()
	for _, repo := range repos {
		text, _ := call(t, s, "list_issues", map[string]any{"repo": repo})
		if len(text) < 225_000 || len(text) > 230_000 {
			t.Errorf("listing of %s has %d bytes, want 225 to 230 KB", repo, len(text))
		}
		hash.Write([]byte(text))
	}
	const want = "8da143251c8d9d4df3562a7654be29916cb4775e027f961fa1ff92c879299400"
	if got := fmt.Sprintf("%x", hash.Sum(nil)); got != want {
		t.Errorf("the listings hash to %s, want %s", got, want)
	}
}

func TestTopThree(t *testing.T) {
	s := stdio(t)
	var all []issue
	for _, repo := range repos {
		issues := list(t, s, repo)
		if len(issues) != 300 {
			t.Errorf("%s has %d issues, want 300", repo, len(issues))
		}
		all = append(all, issues...)
	}
	slices.SortFunc(all, func(a, b issue) int { return cmp.Compare(b.Comments, a.Comments) })
	var got []string
	for _, i := range all[:4] {
		got = append(got, fmt.Sprintf("%s#%d: %d", i.Repo, i.Number, i.Comments))
	}
	want := []string{"acme/infra#117: 487", "acme/api#42: 451", "acme/docs#203: 398"}
	if diff := gocmp.Diff(want, got[:3]); diff != "" || all[3].Comments >= 200 {
		t.Errorf("top three (-want +got), the next being %s:\n%s", got[3], diff)
	}
}

func TestStatesPartTheIssues(t *testing.T) {
	s := stdio(t)
	total := 0
	for _, state := range []string{"open", "closed"} {
		text, _ := call(t, s, "list_issues", map[string]any{"repo": "acme/cli", "state": state})
		total += strings.Count(text, fmt.Sprintf(`"state":%q`, state))
	}
	if total != 300 {
		t.Errorf("open and closed make %d issues, want 300", total)
	}
}

func TestCreatedIssueIsKept(t *testing.T) {
	s := stdio(t)
	made, isError := call(t, s, "create_issue", map[string]any{"repo": "acme/web", "title": "It works", "labels": []string{"bug"}})
	if isError {
		t.Fatal(made)
	}
	got, _ := call(t, s, "get_issue", map[string]any{"repo": "acme/web", "number": 301})
	if got != made {
		t.Errorf("get_issue gave %s, create_issue %s", got, made)
	}
	if first := list(t, s, "acme/web")[0]; first.Number != 301 || first.Title != "It works" {
		t.Errorf("the listing starts with %+v", first)
	}
}

func TestErrorsSayWhatWouldWork(t *testing.T) {
	s := stdio(t)
	tests := []struct {
		name, tool string
		args       map[string]any
		want       string
	}{
		{"unknown repository", "list_issues", map[string]any{"repo": "acme/ui"}, "there are acme/api, acme/web, acme/cli, acme/docs, acme/infra"},
		{"unknown issue", "get_issue", map[string]any{"repo": "acme/api", "number": 999}, "its issues are 1 to 300"},
		{"unknown state", "list_issues", map[string]any{"repo": "acme/api", "state": "stale"}, "enum"},
		{"unknown argument", "list_issues", map[string]any{"repository": "acme/api"}, "repository"},
		{"no title", "create_issue", map[string]any{"repo": "acme/api"}, "title"},
		{"empty title", "create_issue", map[string]any{"repo": "acme/api", "title": ""}, "minLength"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text, isError := call(t, s, test.tool, test.args)
			if !isError || !strings.Contains(text, test.want) {
				t.Errorf("got %q (isError %v), want an error with %q", text, isError, test.want)
			}
		})
	}
}

func TestHTTP(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := exec.CommandContext(ctx, binary, "--http", "127.0.0.1:0")
	stderr, _ := server.StderrPipe()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Wait()
	defer cancel()
	line, _ := bufio.NewReader(stderr).ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), "listening on ")
	if !found {
		t.Fatalf("the server said %q", line)
	}
	s := connect(t, &mcp.StreamableClientTransport{Endpoint: url})
	defer s.Close()
	if issues := list(t, s, "acme/api"); len(issues) != 300 {
		t.Errorf("%d issues, want 300", len(issues))
	}
}

func TestHTTPIsForLoopback(t *testing.T) {
	out, err := exec.Command(binary, "--http", "0.0.0.0:0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "want a loopback address") {
		t.Errorf("got %v: %s", err, out)
	}
}
