package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// weighed is a check as a judge gets it.
type weighed struct {
	Action struct {
		Tool string
		Args json.RawMessage
	}
	Intent, Trigger string
	Constraints     []string
	Context         struct {
		Call     int
		Labels   []string
		Read     []struct{ Call int }
		Evidence []struct {
			Path string
			Call int
			Tool string
		}
	}
}

// judge is a guard that rules as a test says, on checks that come alone or together.
type judge struct {
	rule    func(weighed) string
	takes   time.Duration    // for a request
	arrives func(checks int) // if not nil, is told of each request

	mu       sync.Mutex // guards the fields below
	requests int
	checks   []weighed
}

func (j *judge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Checks []weighed
		weighed
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	together := strings.HasSuffix(r.URL.Path, "/batch")
	if !together {
		body.Checks = []weighed{body.weighed}
	}
	j.mu.Lock()
	j.requests++
	j.checks = append(j.checks, body.Checks...)
	j.mu.Unlock()
	if j.arrives != nil {
		j.arrives(len(body.Checks))
	}
	time.Sleep(j.takes)
	var rulings []json.RawMessage
	for _, c := range body.Checks {
		rulings = append(rulings, json.RawMessage(j.rule(c)))
	}
	var answer any = rulings[0]
	if together {
		answer = map[string]any{"results": rulings}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer)
}

// guarded has a run ask a judge.
func (s *stage) guarded(t testing.TB, rule func(weighed) string) *judge {
	t.Helper()
	j := &judge{rule: rule}
	socket := filepath.Join(t.TempDir(), "g")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: j}
	go server.Serve(listener)
	c := guard.Default()
	c.URL, c.Timeout = "unix://"+socket, 20*time.Second
	g, err := guard.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(); server.Close() })
	s.Guard = g
	return j
}

// TestVerdicts: the strictest of policy and guard counts, and what is no verdict allows nothing.
func TestVerdicts(t *testing.T) {
	const text = `
unknown: allow
rules:
  - {name: asks, tools: ["mail.*"], action: ask}
  - {name: unguarded, tools: ["db.*"], action: allow, guard: skip}
`
	for _, c := range []struct {
		name, server, ruling string
		rule                 string // empty: it is made
		verdict              string
		asked                string // with these reasons; empty: nobody was
	}{
		{"allow", "s", `{"verdict":"allow"}`, "", "allow", ""},
		{"block", "s", `{"verdict":"block","reason":"not what was asked for"}`, "guard", "block", ""},
		{"ask", "s", `{"verdict":"ask","reason":"unusual"}`, "", "ask", "[the guard wants it approved: unusual]"},
		{"ask, and no reason", "s", `{"verdict":"ask"}`, "", "ask", "[the guard wants it approved, and did not say why]"},
		{"no verdict", "s", `{"verdict":"ALLOW"}`, "", "ask", `[the guard was asked, and there is no verdict: `},
		{"nothing", "s", `{}`, "", "ask", `[the guard was asked, and there is no verdict: `},
		{"policy asks, guard allows", "mail", `{"verdict":"allow"}`, "", "allow", "[the policy asks about it]"},
		{"policy asks, guard blocks", "mail", `{"verdict":"block"}`, "guard", "block", ""},
		{"not asked about", "db", `{"verdict":"block"}`, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, text, nil)
			s.guarded(t, func(weighed) string { return c.ruling })
			asked := ""
			s.Approve = func(_ context.Context, r approval.Request) (approval.Answer, error) {
				asked = fmt.Sprint(r.Reasons)
				return approval.Answer{Approved: true, By: "uid 7"}, nil
			}
			s.call(t, toolCall(c.server, "t", "{}"))
			account := s.Calls()[0]
			if got := s.got(1); got.rule != c.rule || (got.form == wire.FormBlocked) != (c.rule != "") {
				t.Errorf("the program got %+v", got)
			}
			if account.Verdict != c.verdict || !strings.HasPrefix(asked, c.asked) || (asked == "") != (c.asked == "") {
				t.Errorf("verdict %q, want %q; asked: %q, want %q", account.Verdict, c.verdict, asked, c.asked)
			}
		})
	}
}

// TestGuardIsTold what the user asked for and what the run has read, and nothing of the program.
func TestGuardIsTold(t *testing.T) {
	s := newStage(t, "unknown: allow\nrules: [{name: reads, tools: ['db.*'], action: allow, guard: skip, labels: [untrusted]}]",
		func(sandboxd.ToolCall) string { return `{"structuredContent":{"key":"q7XlmR2vTz91"}}` })
	s.Task, s.Constraints = "post the key to the channel", []string{"never by mail"}
	j := s.guarded(t, func(weighed) string { return `{"verdict":"allow"}` })
	s.call(t, toolCall("db", "get", "{}"))
	s.call(t, toolCall("s", "post", `{"text":"q7XlmR2vTz91", "n": 1.50}`))
	if len(j.checks) != 1 {
		t.Fatalf("%d checks, want 1", len(j.checks))
	}
	got := fmt.Sprintf("%+v", j.checks[0])
	want := fmt.Sprintf("%+v", weighed{
		Action: struct {
			Tool string
			Args json.RawMessage
		}{"s.post", json.RawMessage(`{"text":"q7XlmR2vTz91","n":1.5}`)},
		Intent: s.Task, Trigger: "tool_result", Constraints: s.Constraints,
		Context: struct {
			Call     int
			Labels   []string
			Read     []struct{ Call int }
			Evidence []struct {
				Path string
				Call int
				Tool string
			}
		}{2, []string{"untrusted"}, []struct{ Call int }{{1}}, []struct {
			Path string
			Call int
			Tool string
		}{{"text", 1, "db.get"}}},
	})
	if got != want {
		t.Errorf("the guard was told\n%s, want\n%s", got, want)
	}
}

// TestChecksGoTogether: calls that are made at once are checked at once, in batches, though only four may be at the gateway. The guard rules
// when it has all of them before it; how few its requests are is internal/guard's, whose tests have a clock of their own.
func TestChecksGoTogether(t *testing.T) {
	const n = 32
	s := newStage(t, "unknown: allow", nil)
	var all sync.WaitGroup
	all.Add(n)
	j := s.guarded(t, func(weighed) string { all.Wait(); return `{"verdict":"allow"}` })
	j.arrives = func(checks int) { all.Add(-checks) }
	var made []wire.Call
	want := ""
	for i := range n {
		made = append(made, toolCall("s", "t", fmt.Sprintf(`{"i":%d}`, i)))
		want += fmt.Sprintf("%d s.t;", i+1)
	}
	s.call(t, made...)
	if s.sent() != want {
		t.Errorf("sent: %s", s.sent())
	}
	if j.requests == n || len(j.checks) != n {
		t.Errorf("%d requests for %d checks", j.requests, len(j.checks))
	}
}

// TestRunEndsWhileWeighed: a verdict or an approval that comes too late sends nothing.
func TestRunEndsWhileWeighed(t *testing.T) {
	for _, by := range []string{"guard", "person"} {
		t.Run(by, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := newStage(t, "unknown: allow", nil)
			if by == "guard" {
				s.guarded(t, func(weighed) string { cancel(); return `{"verdict":"allow"}` })
			} else {
				s.Policy = rules("unknown: ask")
				s.Approve = func(context.Context, approval.Request) (approval.Answer, error) {
					cancel()
					return approval.Answer{Approved: true, By: "x"}, nil
				}
			}
			if err := s.Admit(calls(1, 1, "s")); err != nil {
				t.Fatal(err)
			}
			if err := Do(ctx, s.Run, Judge(t.Context(), s.Run, calls(1, 1, "s"))[0], s.reply); err != nil {
				t.Error(err)
			}
			if s.sent() != "" || (s.got(1) != answered{}) || s.Calls()[0].State != sandboxd.CallNotStarted {
				t.Errorf("sent %q, answered %+v, %+v", s.sent(), s.got(1), s.Calls()[0])
			}
		})
	}
}

// TestOneValue: whatever a worker sends, the guard, people and the gateway get the same bytes, or nobody gets any.
func TestOneValue(t *testing.T) {
	for _, args := range []string{
		`{}`, ` { "a" : 1.0 , "b":[ 1e2, -0, 1E400 ] } `, `{"a":1e2,"b":0.1}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`,
		`{"n":9007199254740993}`, `{"n":123456789012345678901234567890}`, `{"s":"\ud83d\ude00\u0000\u2028"}`, `{"s":"\ud800"}`,
		"{\"s\":\"\xff\"}", `{"s":"</script>&"}`, `{"__proto__":{"a":1}}`, `[1]`, `{"a":1} {}`, `{"a":1}x`, ``, `null`,
		`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
	} {
		s := newStage(t, "unknown: ask", nil)
		j := s.guarded(t, func(weighed) string { return `{"verdict":"allow"}` })
		var approved string
		s.Approve = func(_ context.Context, r approval.Request) (approval.Answer, error) {
			approved = string(r.Arguments)
			return approval.Answer{Approved: true, By: "x"}, nil
		}
		s.call(t, toolCall("s", "t", args))
		var judged, sent string
		if len(j.checks) > 0 {
			judged = string(j.checks[0].Action.Args)
		}
		if len(s.seen) > 0 {
			sent = string(s.seen[0].Arguments)
		}
		if judged != approved || approved != sent {
			t.Errorf("%q: judged %q, approved %q, sent %q", args, judged, approved, sent)
		}
		if refused := s.got(1).form == wire.FormInvalid; refused != (sent == "") {
			t.Errorf("%q: refused %v, sent %q", args, refused, sent)
		}
	}
}
