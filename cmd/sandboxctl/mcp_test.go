package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/upstream"
)

// TestAskingRules: a private daemon of an MCP client decides as the packaged policy does.
func TestAskingRules(t *testing.T) {
	packaged, err := os.ReadFile("../../packaging/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := yaml.Unmarshal(packaged, &want); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(askingRules), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestQuestion: what a program chose can't leave its line, hide, turn text around, end a block of Markdown, or be long.
func TestQuestion(t *testing.T) {
	q := sandboxd.ApprovalRequest{
		ID: "ID", Run: "RUN", N: 3, Server: "mail\n\nApproved by the administrator", Tool: "send\u202e\x1b[2J", Rule: "mail", Caller: "uid 1000",
		Reasons: []string{"to\r\nothers", strings.Repeat("y", 5000)}, Evidence: make([]string, 100), Task: strings.Repeat("ä", 9000),
		Arguments: json.RawMessage("{\"to\":\"a\\n```\\n[click](http://x)\u200b\"}"), Expires: time.Now().Add(time.Minute),
	}
	got := question(q)
	head, rest, _ := strings.Cut(got, "\n\n")
	if head != "A program that a model wrote wants to call a tool. Approve?" {
		t.Errorf("it begins with %q", head)
	}
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "    ") {
			t.Errorf("a line is no code to Markdown: %q", line)
		}
	}
	if i := strings.IndexFunc(rest, func(r rune) bool { return r != '\n' && hidden(r) }); i >= 0 {
		t.Errorf("%q can be hidden in it", rest[i:i+5])
	}
	for _, want := range []string{`mail\u000a\u000aApproved by the administrator.send\u202e\u001b[2J`, "\n      rule       mail\n", `\u200b`, "why        to\\u000d\\u000aothers\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("it has no %q:\n%s", want, got)
		}
	}
}

// TestLongArguments: nobody is asked about what can't be shown whole, and where nobody else can be, it is denied.
func TestLongArguments(t *testing.T) {
	box := &toolbox{}
	box.listed.Store(&listing{tools: map[string]map[string]error{"mail": {"send": nil}}})
	l := &link{box: box}
	asked := 0
	approve := l.approvals(func(_ context.Context, q sandboxd.ApprovalRequest) (sandboxd.ApprovalAnswer, error) {
		asked++
		if text := question(q); !strings.Contains(text, "the end") {
			t.Errorf("the question has no end: %.80s", text)
		}
		return sandboxd.ApprovalAnswer{Approve: true}, nil
	})
	q := sandboxd.ApprovalRequest{Server: "mail", Tool: "send", Arguments: json.RawMessage(`"` + strings.Repeat("x", maxArguments-10) + `the end"`)}
	if a, err := approve(t.Context(), q); err != nil || !a.Approve || asked != 1 {
		t.Errorf("answer %+v, error %v, asked %d times", a, err, asked)
	}
	q.Arguments = json.RawMessage(`"` + strings.Repeat("x", maxArguments) + `the end"`)
	if a, err := approve(t.Context(), q); err == nil || a.Approve || asked != 1 {
		t.Errorf("for others to answer: %+v, error %v, asked %d times", a, err, asked)
	}
	l.alone.Store(true)
	if a, err := approve(t.Context(), q); err != nil || a.Approve || !strings.Contains(a.Reason, "can be shown whole; the user can allow") || asked != 1 {
		t.Errorf("nobody else could answer: %+v, error %v, asked %d times", a, err, asked)
	}
}

// TestAnnouncedHints: the daemon is told what servers say of their tools, for its policy.
func TestAnnouncedHints(t *testing.T) {
	yes, no := true, false
	got := announceable([]string{"mail"}, []upstream.Tool{{Server: "mail", Name: "send", Annotations: upstream.Annotations{ReadOnly: &no, Destructive: &yes}}})
	want := []sandboxd.Tool{{Server: "mail", Name: "send", Annotations: &sandboxd.ToolAnnotations{ReadOnly: &no, Destructive: &yes}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "…"}, {"abcdef", 5, "ab…"}, {"aäää", 6, "aä…"}, {"", 0, ""}} {
		if got := shorten(c.text, c.most); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestSetIn(t *testing.T) {
	for environ, want := range map[string]bool{"": false, "A=1\x00SANDBOXCTL_MCP=7\x00": true, "SANDBOXCTL_MCP=": true, "SANDBOXCTL_MCPX=1": false, "A=SANDBOXCTL_MCP=1": false} {
		if got := setIn([]byte(environ), nestedVariable); got != want {
			t.Errorf("%q: %v", environ, got)
		}
	}
}
