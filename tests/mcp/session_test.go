package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

const top3 = `const repos = await tools.tracker.list_repositories({})
const all = (await Promise.all(repos.map(r => tools.tracker.list_issues({repo: r.name})))).flat()
return all.sort((a, b) => b.comments - a.comments).slice(0, 3).map(i => i.number)`

func TestSession(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.connect(nil, "--mcp", h.config(object{"tracker": h.tracker(), "fake": h.fake("plain")}), "--policy", h.open())
	s.wants(top3, "[117,42,203]")
	s.wants("return typeof tools.nope + await tools.fake.target()", "undefinedhit")
	s.wants("const a: number = 1; return a + b", "ReferenceError", "line 1", "b is not defined")
	s.wants("return await tools.tracker.get_issue({repo: 'acme/api', numbr: 1})", "number", "calls:", "denied")
	if text, _ := s.call("search_tools", object{}); text != "servers 1 to 2 of 2:\ntools.fake: 5\ntools.tracker: 4\n" {
		t.Errorf("the servers are %q", text)
	}
	if text, _ := s.call("search_tools", object{"query": "issues"}); !strings.Contains(text, "tools.tracker.list_issues(args: { repo: string") {
		t.Errorf("issues finds %s", text)
	}
	if got := s.stderr.String(); strings.Count(got, "started a private one for this session") != 1 {
		t.Errorf("it said %s", got)
	}
}

// TestWithDaemon: a daemon that runs is used.
func TestWithDaemon(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\n"})
	s := h.connect(nil, "--mcp", h.config(object{"tracker": h.tracker()}), "--socket", d.Socket)
	s.wants(top3, "[117,42,203]")
	if strings.Contains(s.stderr.String(), "private") {
		t.Errorf("it said %s", s.stderr)
	}
}

func TestProgressAndCancel(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	told := filepath.Join(h.dir, "cancelled")
	said := make(chan string, 100)
	s := h.connect(&mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		said <- r.Params.Message
	}}, "--mcp", h.config(object{"fake": h.fake("plain", "CANCELLED_FILE="+told)}), "--policy", h.open())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		p := &mcp.CallToolParams{Name: "execute_code", Arguments: object{"code": "return await tools.fake.slow()"}}
		p.SetProgressToken("here")
		_, err := s.CallTool(ctx, p)
		ended <- err
	}()
	select {
	case got := <-said:
		if got != "0 of 1 calls done, waiting for fake.slow" {
			t.Errorf("it said %q", got)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("no progress")
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	daemon.Eventually(t, 20*time.Second, func() error {
		_, err := os.Stat(told)
		return err
	})
	s.wants("return 1", "1")
}

// TestCrash: a server that ends is started again, and a program is told that it is not there.
func TestCrash(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.connect(nil, "--mcp", h.config(object{"fake": h.fake("plain"), "tracker": h.tracker(), "never": object{"command": "no-such-command"}}), "--policy", h.open())
	first := s.execute("return await tools.fake.pid()")
	s.wants("await tools.fake.crash()", "the server is gone (exit status 3)", "1 fake.crash failed")
	s.wants(top3, "[117,42,203]")
	daemon.Eventually(t, 30*time.Second, func() error {
		if got := s.execute("return await tools.fake.pid()"); got == first || strings.Contains(got, "rror") {
			return fmt.Errorf("it says %s", got)
		}
		return nil
	})
	s.wants("return await tools.never.any()", "does not say at present which tools it has")
	if text, _ := s.call("search_tools", object{}); !strings.Contains(text, "tools.never: 0 (it does not answer at present)") || !strings.Contains(text, "tools.fake: 5\n") {
		t.Errorf("the servers are %s", text)
	}
}

// TestApprovals: without a policy each call is asked about, and only who is asked and says yes lets it through.
func TestApprovals(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const program = "return await tools.tracker.get_issue({repo: 'acme/api', number: 42}).then(i => i.number, e => e.name + ': ' + e.message)"
	for _, c := range []struct {
		name   string
		answer *mcp.ElicitResult
		want   string
	}{
		{"yes", &mcp.ElicitResult{Action: "accept", Content: object{"approve": "call"}}, "42"},
		{"no", &mcp.ElicitResult{Action: "decline"}, "the user of the MCP client declined"},
		{"can't be asked", nil, "does not offer elicitation"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var o mcp.ClientOptions
			asked := ""
			if c.answer != nil {
				o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked += r.Params.Message
					return c.answer, nil
				}
			}
			s := h.connect(&o, "--mcp", h.config(object{"tracker": h.tracker()}))
			s.wants(program, c.want)
			if c.answer == nil {
				s.wants(program, "ToolBlocked", "sandboxctl mcp --policy FILE")
				return
			}
			for _, want := range []string{"\n      tool       tracker.get_issue\n", "\n                   \"number\": 42\n"} {
				if !strings.Contains(asked, want) {
					t.Errorf("it asked %q, want %q", asked, want)
				}
			}
		})
	}
}

// TestAdministratorAnswers: with a daemon of others, its administrators answer for a client that can't be asked.
func TestAdministratorAnswers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\npolicy: " + daemon.Policy(t, "unknown: ask\n") + "\n"})
	s := h.connect(nil, "--mcp", h.config(object{"tracker": h.tracker()}), "--socket", d.Socket)
	answered := make(chan string, 1)
	go func() { answered <- s.execute("return (await tools.tracker.list_repositories()).length") }()
	daemon.Eventually(t, 30*time.Second, func() error {
		out, _ := h.run("approvals", "list", "--socket", d.Admin)
		id, _, waits := strings.Cut(out, "  call 1 of run")
		if !waits {
			return fmt.Errorf("nothing waits: %s", out)
		}
		if out, code := h.run("approvals", "approve", id, "--socket", d.Admin); code != 0 {
			t.Fatal(out)
		}
		return nil
	})
	if got := <-answered; got != "5" {
		t.Errorf("it answered %s", got)
	}
}

// TestHints: what servers say of their tools reaches the policy, of a run and of a session.
func TestHints(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	config := h.config(object{"tracker": h.tracker()})
	policy := h.file("hints.yaml", "version: 1\nunknown: allow\nrules:\n"+
		"  - {name: others, tools: [\"*.*\"], action: allow}\n  - {name: by its word, tools: [\"*.*\"], when: \"'readOnlyHint' in annotations && annotations.readOnlyHint\", action: deny}\n")
	const program = "return await tools.tracker.list_repositories()"
	s := h.connect(nil, "--mcp", config, "--policy", policy)
	s.wants(program, "1 tracker.list_repositories denied by by its word")
	if out, code := h.run("run", "--mcp", config, "--policy", policy, h.file("p.js", program)); code != 5 || !strings.Contains(out, "by its word") {
		t.Errorf("run: %d, %s", code, out)
	}
}
