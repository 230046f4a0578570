package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/audit"
)

const redacted = "unknown: allow\nrules: [{name: in, tools: ['s.*'], action: label, redact: [result]}]"

// token is in two parts, so that no scanner takes it for one that is out.
const token = "gh" + "p_" + "Zx81kLmQ02vTr5yWn7Bd9CsEfGhJ3aPq4UoI"

// TestSecretAtTheCut: a tool can't put a secret where its message is cut, so that no part of it looks like one.
func TestSecretAtTheCut(t *testing.T) {
	for before := maxMessage - len(token); before < maxMessage; before += 7 {
		s := newStage(t, redacted, func(sandboxd.ToolCall) string {
			return fmt.Sprintf(`{"isError":true,"content":[{"type":"text","text":"%s %s"}]}`, strings.Repeat("x", before-1), token)
		})
		s.call(t, toolCall("s", "t", "{}"))
		if got := s.got(1).text; len(got) < maxMessage-len(token) || strings.Contains(got, token[:8]) {
			t.Errorf("at %d the program got … %s", before, got[max(0, len(got)-60):])
		}
		if c := s.Calls()[0]; c.Redacted != 1 {
			t.Errorf("at %d: %d were taken out", before, c.Redacted)
		}
	}
}

// TestMarksFit: what a result is longer by without its secrets counts.
func TestMarksFit(t *testing.T) {
	s := newStage(t, redacted, func(sandboxd.ToolCall) string {
		return `{"content":[{"type":"text","text":"api_key=q7XlmR2vTz91bKw4"}]}`
	})
	s.Limits.ResultBytes = 30
	s.call(t, toolCall("s", "t", "{}"))
	if got := s.got(1); !strings.Contains(got.text, "over the limit of 30") || strings.Contains(got.text, "q7Xl") {
		t.Errorf("the program got %+v", got)
	}
}

// TestProgramsLearnNoPaths: why the daemon could not do what it must is for its log.
func TestProgramsLearnNoPaths(t *testing.T) {
	var log strings.Builder
	s := newStage(t, "unknown: allow\nrules: [{name: mail, tools: ['mail.*'], action: ask}]", nil)
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	s.recorded(t)
	s.Approve = func(context.Context, approval.Request) (approval.Answer, error) {
		return approval.Answer{Approved: true, By: "x"}, errors.New("write /var/log/secret: no space")
	}
	s.call(t, toolCall("mail", "send", "{}"))
	limitFiles(t)
	s.call(t, toolCall("s", "t", "{}"))
	for n := range 2 {
		if got := s.got(n + 1); !strings.Contains(got.text, "the daemon's log says why") || strings.Contains(got.text, "/") || s.Calls()[n].Error != got.text {
			t.Errorf("the program got %+v", got)
		}
	}
	for _, want := range []string{"/var/log/secret", "audit.log", "file too large"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q: %s", want, log.String())
		}
	}
	if s.sent() != "" {
		t.Errorf("sent: %s", s.sent())
	}
}

// TestJudgeEnds: a run that has ended is not judged any more, and what was not is as if it had never been made.
func TestJudgeEnds(t *testing.T) {
	s := newStage(t, "unknown: allow", nil)
	made := calls(1, 3, "s")
	if err := s.Admit(made); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if judged := Judge(ctx, s.Run, made); len(judged) != 0 {
		t.Errorf("%d were judged", len(judged))
	}
	if got := states(s.Run); got != "[not_started not_started not_started]" {
		t.Errorf("the calls are %s", got)
	}
}

// TestEndings ends runs at any moment, while their calls wait for a guard, for people, for the disk, for their turn and for answers.
// What the gateway saw must be in the log before, no more than once, and with an end; and what
// was refused or never got that far must not be there.
func TestEndings(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		ending(t)
	}
}

func ending(t *testing.T) {
	const most = 12
	pause := func() { time.Sleep(time.Duration(rand.IntN(800)) * time.Microsecond) }
	var lines func() []map[string]any
	s := newStage(t, `
unknown: allow
rules:
  - {name: mail, tools: ["mail.*"], action: ask}
  - {name: reads, tools: ["db.*"], action: allow, labels: [read, untrusted]}
`, func(c sandboxd.ToolCall) string {
		intents := 0
		for _, l := range lines() {
			if l["event"] == audit.KindCallIntent && int(l["n"].(float64)) == c.N {
				intents++
			}
		}
		if intents != 1 {
			t.Errorf("call %d is at the gateway, and has %d intents", c.N, intents)
		}
		pause()
		return `{"structuredContent":{"key":"q7XlmR2vTz91"}}`
	})
	lines = s.recordedWith(t, audit.SyncMutations)
	s.guarded(t, func(c weighed) string {
		pause()
		if c.Context.Call%5 == 0 {
			return `{"verdict":"block"}`
		}
		return `{"verdict":"allow"}`
	})
	s.Approve = func(ctx context.Context, r approval.Request) (approval.Answer, error) {
		select {
		case <-time.After(time.Duration(rand.IntN(800)) * time.Microsecond):
			return approval.Answer{ID: "A", Approved: r.N%2 == 0, By: "uid 7"}, nil
		case <-ctx.Done():
			return approval.Answer{}, ctx.Err()
		}
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	after := time.AfterFunc(time.Duration(rand.IntN(6000))*time.Microsecond, end)
	defer after.Stop()
	var all sync.WaitGroup
	for n := 1; n <= most && ctx.Err() == nil; {
		made := calls(n, min(1+rand.IntN(4), most-n+1), "s")
		for i := range made {
			made[i].Server, made[i].Args = []string{"s", "db", "mail"}[rand.IntN(3)], []byte(`{"body":"q7XlmR2vTz91"}`)
		}
		if err := s.Admit(made); err != nil {
			t.Fatal(err)
		}
		for _, judged := range Judge(t.Context(), s.Run, made) {
			all.Go(func() {
				if err := Do(ctx, s.Run, judged, s.reply); err != nil {
					t.Error(err)
				}
			})
		}
		n += len(made)
		pause()
	}
	if rand.IntN(2) == 0 {
		end()
	}
	s.Close()
	end()
	all.Wait()
	s.check(t, lines())
}

// check holds the log and the account against what the gateway saw.
func (s *stage) check(t *testing.T, lines []map[string]any) {
	t.Helper()
	s.mu.Lock()
	seen := s.seen
	s.mu.Unlock()
	open, ended, denied := map[int]bool{}, map[int]string{}, map[int]bool{}
	for _, l := range lines {
		n, _ := l["n"].(float64)
		switch call := int(n); l["event"] {
		case audit.KindCallIntent:
			if open[call] || ended[call] != "" || denied[call] {
				t.Errorf("a second word on call %d, its intent", call)
			}
			open[call] = true
		case audit.KindCallOutcome:
			if !open[call] && l["state"] != string(sandboxd.CallNotStarted) {
				t.Errorf("call %d is %s before its intent", call, l["state"])
			}
			delete(open, call)
			ended[call] = l["state"].(string)
		case audit.KindCallDenied:
			denied[call] = true
		}
	}
	if len(open) > 0 {
		t.Errorf("no outcome of %v", open)
	}
	at := map[int]bool{}
	for _, c := range seen {
		if at[c.N] || denied[c.N] || ended[c.N] == "" || ended[c.N] == string(sandboxd.CallNotStarted) {
			t.Errorf("call %d was sent: twice: %v, denied: %v, and is %q in the log", c.N, at[c.N], denied[c.N], ended[c.N])
		}
		at[c.N] = true
		if c.Server != "mail" && c.N%5 == 0 || c.Server == "mail" && c.N%2 == 1 {
			t.Errorf("call %d of %s was sent, which nobody allowed", c.N, c.Server)
		}
	}
	for _, c := range s.Calls() {
		if ended[c.N] != "" && ended[c.N] != string(c.State) || denied[c.N] && c.State != sandboxd.CallDenied && c.State != sandboxd.CallNotStarted {
			t.Errorf("call %d is %s, and in the log %q", c.N, c.State, ended[c.N])
		}
	}
}

// limitFiles makes the log's disk full, for as long as the test goes on.
func limitFiles(t *testing.T) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) })
}
