package broker

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/audit"
)

// recorded has a run write an audit log, whose lines the returned function reads.
func (s *stage) recorded(t testing.TB) func() []map[string]any {
	return s.recordedWith(t, audit.SyncNone)
}

func (s *stage) recordedWith(t testing.TB, sync string) func() []map[string]any {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := audit.Default()
	c.Path, c.Sync = filepath.Join(dir, "audit.log"), sync
	log, err := audit.Open(c, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	s.Audit = log
	return func() (lines []map[string]any) {
		text, err := os.ReadFile(c.Path)
		if err != nil {
			t.Error(err)
		}
		for line := range bytes.Lines(text) {
			var fields map[string]any
			if err := json.Unmarshal(line, &fields); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			lines = append(lines, fields)
		}
		return lines
	}
}

// events are those of calls, in the order of the log.
func events(lines []map[string]any) string {
	text := ""
	for _, l := range lines {
		switch l["event"] {
		case audit.KindCallIntent:
			text += "intent " + l["tool"].(string) + ";"
		case audit.KindCallDenied:
			text += "denied " + l["tool"].(string) + " by " + l["by"].(string) + ";"
		case audit.KindCallOutcome:
			text += l["state"].(string) + ";"
		}
	}
	return text
}

// TestRecord: what goes out is in the log before, and what became of it after; so is what was refused, with who refused it.
func TestRecord(t *testing.T) {
	var s *stage
	var before string
	var lines func() []map[string]any
	s = newStage(t, `
deny: ["s.drop"]
unknown: allow
rules:
  - {name: never, tools: ["s.burn"], action: deny}
  - {name: mail, tools: ["mail.*"], action: ask, labels: [external]}
`, func(c sandboxd.ToolCall) string {
		before = events(lines())
		if c.Tool == "fail" {
			return `{"isError":true,"content":[{"type":"text","text":"no"}]}`
		}
		return `{"structuredContent":{"a":1}}`
	})
	lines = s.recorded(t)
	s.Approve = func(_ context.Context, r approval.Request) (approval.Answer, error) {
		return approval.Answer{ID: "A1", Approved: r.Tool == "send", By: "uid 7", Peer: &approval.Peer{UID: 7, GID: 8, PID: 9}}, nil
	}
	s.call(t, toolCall("s", "get", "{}"))
	if before != "intent get;" {
		t.Errorf("when the call was at the gateway, the log had %q", before)
	}
	for _, c := range [][2]string{{"s", "fail"}, {"s", "drop"}, {"s", "burn"}, {"mail", "send"}, {"mail", "draft"}, {"nowhere", "x"}} {
		s.call(t, toolCall(c[0], c[1], "{}"))
	}
	want := "intent get;succeeded;intent fail;failed;denied drop by deny;denied burn by policy;intent send;succeeded;" +
		"denied draft by approval;denied x by deny;"
	if got := events(lines()); got != want {
		t.Errorf("the log has\n%s, want\n%s", got, want)
	}
	for _, l := range lines() {
		if l["event"] != audit.KindCallIntent || l["tool"] != "send" {
			continue
		}
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			`"decision":"ask"`, `"rule":"mail"`, `"approval":{"by":{"gid":8,"pid":9,"uid":7},"id":"A1"}`, `"labels":["external"]`,
			`"trigger":"user_request"`, `"idempotency_key":"r/5"`, `"n":5`,
		} {
			if !strings.Contains(string(text), want) {
				t.Errorf("an intent without %s: %s", want, text)
			}
		}
	}
}

// TestNothingUnrecorded: a call that can't be written down is not made, and the program is told so.
func TestNothingUnrecorded(t *testing.T) {
	s := newStage(t, "unknown: allow", nil)
	s.recorded(t)
	s.call(t, toolCall("s", "a", "{}"))
	s.Audit.Close()
	s.call(t, toolCall("s", "b", "{}"))
	if got := s.got(2); got.rule != "audit" || !strings.Contains(got.text, "can't be recorded") || s.sent() != "1 s.a;" {
		t.Errorf("the program got %+v; sent: %s", got, s.sent())
	}
	if got := s.Calls()[1].State; got != sandboxd.CallDenied {
		t.Errorf("the call is %s", got)
	}
}

// TestEveryIntentEnds: a call whose run ends before its turn is not left open in the log.
func TestEveryIntentEnds(t *testing.T) {
	s := newStage(t, "unknown: allow", nil)
	lines := s.recorded(t)
	if err := s.Admit(calls(1, 1, "s")); err != nil {
		t.Fatal(err)
	}
	judged := Judge(t.Context(), s.Run, calls(1, 1, "s"))[0]
	s.Close()
	if err := Do(t.Context(), s.Run, judged, s.reply); err != nil {
		t.Error(err)
	}
	if got := events(lines()); got != "intent t;not_started;" || s.sent() != "" {
		t.Errorf("the log has %q, sent %q", got, s.sent())
	}
}

// TestSeenCountsByNumber: a call that was never sent keeps none out of those whose answer the run did not have yet.
func TestSeenCountsByNumber(t *testing.T) {
	r := account(9, 9)
	r.Unsent(calls(1, 1, "s"))
	if err := r.Admit(calls(2, 2, "s")); err != nil {
		t.Fatal(err)
	}
	judged := Judge(t.Context(), r, calls(2, 2, "s"))
	if got := judged[1].seen.Pending; !slices.Equal(got, []int{1, 2}) {
		t.Errorf("before call 3, calls %v had no answer, want 1 and 2", got)
	}
}
