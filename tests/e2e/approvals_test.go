package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

const askForMail = "unknown: allow\nrules: [{name: mail, tools: ['t.mail'], action: ask}]\n"

// mailed is a tool that says that it was called.
var mailed = tools{"mail": func(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return structured(args), nil }}

// TestGatewayApproves: a gateway that wants to is asked about what would be sent, to the byte.
func TestGatewayApproves(t *testing.T) {
	t.Parallel()
	file, config := audited(t)
	d, _ := policed(t, askForMail, config)
	var asked []sandboxd.ApprovalRequest
	answer := sandboxd.ApprovalAnswer{Approve: true}
	g := connect(t, d, mailed, sandboxd.Options{
		Approvals: func(_ context.Context, q sandboxd.ApprovalRequest) (sandboxd.ApprovalAnswer, error) {
			asked = append(asked, q)
			return answer, nil
		},
	})
	r := g.run(t, sandboxd.Program{Source: "return await tools.t.mail({to: 'ann', n: 1.0})", Intent: "tell ann"})
	if string(r.Value) != `{"to":"ann","n":1}` || len(asked) != 1 {
		t.Fatalf("got %s, %v; asked %d times", r.Value, r.Error, len(asked))
	}
	q := asked[0]
	if string(q.Arguments) != `{"to":"ann","n":1}` || q.Server != "t" || q.Tool != "mail" || q.Run != r.Run || q.N != 1 || q.Task != "tell ann" || q.Rule != "mail" {
		t.Errorf("asked: %+v", q)
	}
	if c := r.Calls[0]; c.Decision != "ask" || !strings.HasPrefix(c.Approved, "gateway uid ") {
		t.Errorf("the call: %+v", c)
	}
	answer = sandboxd.ApprovalAnswer{Reason: "not on Fridays"}
	r = g.run(t, sandboxd.Program{Source: "await tools.t.mail({})"})
	ending{outcome: "denied", message: ": not on Fridays", line: 1, hint: "*"}.check(t, r)
	answer = sandboxd.ApprovalAnswer{Approve: true, Scope: sandboxd.ScopeRun}
	asked = nil
	r = g.run(t, sandboxd.Program{Source: "for (const to of ['a', 'b', 'a', 'a']) await tools.t.mail({to}); return 'sent'"})
	if string(r.Value) != `"sent"` || len(asked) != 2 {
		t.Errorf("got %s, %v; asked %d times for two different calls", r.Value, r.Error, len(asked))
	}
	got := lines(t, file)
	for _, want := range []string{"run.start approval.request approval.answer call.intent call.outcome:succeeded run.end:ok", "approval.request approval.answer call.denied run.end:denied"} {
		if !strings.Contains(got, want) {
			t.Errorf("the log has no %s: %s", want, got)
		}
	}
	verify(t, file)
}

// TestAdministratorApproves: somebody at the other socket answers, by the command that people have.
func TestAdministratorApproves(t *testing.T) {
	t.Parallel()
	d, _ := policed(t, askForMail, "")
	g := connect(t, d, mailed, sandboxd.Options{})
	ctl := func(args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), filepath.Join(daemon.Binaries(t), "sandboxctl"), append([]string{"approvals"}, args...)...)
		command.Env = []string{"SANDBOXD_ADMIN_SOCKET=" + d.Admin}
		out, err := command.CombinedOutput()
		return string(out), err
	}
	for _, c := range []struct {
		command string
		check   func(r *sandboxd.Result)
	}{
		{"approve", func(r *sandboxd.Result) {
			if string(r.Value) != `{"to":"ann"}` {
				t.Errorf("approved: %s, %v", r.Value, r.Error)
			}
			if r.Stats.ApprovalMS <= 0 || r.Stats.WallMS > 2000 {
				t.Errorf("the run's clock did not stand still: %+v", r.Stats)
			}
		}},
		{"deny", func(r *sandboxd.Result) {
			ending{outcome: "denied", message: "the call needs an approval, and was denied one by uid ", line: 1, hint: "*"}.check(t, r)
		}},
	} {
		ended := make(chan *sandboxd.Result, 1)
		go func() {
			r, err := g.Execute(t.Context(), sandboxd.Program{Source: "return await tools.t.mail({to: 'ann'})", Limits: &sandboxd.Limits{WallMS: 2000}})
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		var id string
		daemon.Eventually(t, 10*time.Second, func() error {
			out, err := ctl("list", "--json")
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			var list sandboxd.ApprovalList
			if err := json.Unmarshal([]byte(out), &list); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			if len(list.Approvals) != 1 {
				return errors.New("nothing waits")
			}
			id = list.Approvals[0].ID
			return nil
		})
		time.Sleep(2100 * time.Millisecond) // longer than the run may take
		if out, err := ctl("show", id); err != nil || !strings.Contains(out, `"to": "ann"`) && !strings.Contains(out, `"to":"ann"`) {
			t.Errorf("show: %v: %s", err, out)
		}
		if out, err := ctl(c.command, id); err != nil {
			t.Errorf("%s: %v: %s", c.command, err, out)
		}
		select {
		case r := <-ended:
			checkResult(t, r)
			c.check(r)
		case <-time.After(10 * time.Second):
			t.Fatal("the run does not go on")
		}
		if out, err := ctl("approve", id); err == nil || !strings.Contains(out, "already") {
			t.Errorf("a second answer: %v: %s", err, out)
		}
	}
}

// TestNobodyApproves: what nobody answers in time is denied.
func TestNobodyApproves(t *testing.T) {
	t.Parallel()
	d, _ := policed(t, askForMail, "approvals: {wait: 1s}\n")
	g := connect(t, d, mailed, sandboxd.Options{})
	got := g.value(t, "try { await tools.t.mail({}) } catch (e) { return [e.name, e.rule, e.reason] }")
	if got != `["ToolBlocked","mail","the call needs an approval, and got none: nobody answered within 1s"]` {
		t.Errorf("got %s", got)
	}
}

// TestApproverGone: a gateway that hangs up while it is asked sends nothing, and leaves nothing that waits.
func TestApproverGone(t *testing.T) {
	t.Parallel()
	d, _ := policed(t, askForMail, "")
	asked := make(chan struct{})
	g := connect(t, d, mailed, sandboxd.Options{
		Approvals: func(ctx context.Context, _ sandboxd.ApprovalRequest) (sandboxd.ApprovalAnswer, error) {
			close(asked)
			<-ctx.Done()
			return sandboxd.ApprovalAnswer{Approve: true}, ctx.Err()
		},
	})
	go g.Execute(t.Context(), sandboxd.Program{Source: "await tools.t.mail({})"})
	wait(t, asked, "the question")
	g.Close()
	other := connect(t, d, nil, sandboxd.Options{})
	daemon.Eventually(t, 10*time.Second, func() error {
		s, err := other.Status(t.Context())
		if err != nil || s.Running > 0 {
			return fmt.Errorf("%d runs, %v", s.Running, err)
		}
		return nil
	})
	if got := says(t, d.Admin, `{"jsonrpc":"2.0","id":1,"method":"approvals/list"}`); !strings.Contains(got, `"approvals":[]`) {
		t.Errorf("what waits: %s", got)
	}
}
