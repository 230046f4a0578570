package hostile_test

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestApprovals are gateways, programs and administrators that make what waits for approval their tool. Nothing that nobody approved
// may reach a gateway.
func TestApprovals(t *testing.T) {
	t.Parallel()
	s := newStage(t, "approvals: {wait: 1s, pending: 6, per_caller: 4}\ngateways: {write_wait: 1s}\n"+
		"policy: "+daemon.Policy(t, "unknown: allow\nrules: [{name: asked, tools: ['s.asked'], action: ask}]\n")+"\n", "-")
	for _, a := range []struct {
		name string
		do   func(*testing.T, *stage)
	}{
		{"never answers", approverSilent},
		{"answers what is none", approverTalksNonsense},
		{"answers twice", approverTwice},
		{"answers after the run", approverLate},
		{"answers under other ids", approverMisses},
		{"answers one for another", approverSwaps},
		{"hangs up when asked", approverGone},
		{"stops reading when asked", approverDeaf},
		{"decides for another gateway", approverOfOthers},
		{"more calls than may wait", approvalsCrowd},
		{"administrators that flood", adminsFlood},
	} {
		s.attack(t, a.name, func(t *testing.T) { a.do(t, s) })
	}
	s.finish(t)
}

// approver is a gateway that is asked, and whose program waits for the answer.
func (s *stage) approver(t *testing.T) (r *raw, id string, q sandboxd.ApprovalRequest) {
	t.Helper()
	r = s.dial(t)
	r.send(strings.Replace(greeting, `"servers"`, `"approvals":true,"servers"`, 1))
	r.result("0")
	r.execute(1, "return await tools.s.asked({x: 1})", `"token":"mine"`)
	m := r.read()
	if m.Method != "approvals/request" || json.Unmarshal(m.Params, &q) != nil || string(q.Arguments) != `{"x":1}` {
		t.Fatalf("not asked: %s", sprint(m))
	}
	return r, string(m.ID), q
}

// denied reads until the run ends, denied and without a call. Its wall clock of a second stood still while it waited for as long.
func (r *raw) denied(why string) {
	r.t.Helper()
	m := r.until(func(m message) bool {
		if m.Method == "tools/call" {
			r.t.Fatal("a call that nobody approved was sent")
		}
		return string(m.ID) == "1" && m.Method == ""
	})
	var result sandboxd.Result
	if err := json.Unmarshal(m.Result, &result); err != nil {
		r.t.Fatalf("%v: %s", err, sprint(m))
	}
	if result.Outcome != sandboxd.OutcomeDenied || !strings.Contains(result.Error.Message, why) || result.Calls[0].State != sandboxd.CallDenied {
		r.t.Errorf("the run ended as %s, want denied with %q", sprint(result), why)
	}
}

func approverSilent(t *testing.T, s *stage) {
	r, id, q := s.approver(t)
	taken := r.until(func(m message) bool { return m.Method == "approvals/cancel" })
	if want := `{"id":"` + q.ID + `"}`; string(taken.Params) != want {
		t.Errorf("taken back: %s, want %s", taken.Params, want)
	}
	r.denied("nobody answered within 1s")
	r.reply(id, `{"approve":true}`)
	r.alive()
}

func approverTalksNonsense(t *testing.T, s *stage) {
	for _, text := range []string{`null`, `true`, `{}`, `{"approve":1}`, `{"approve":true,"approve":true}`, `{"approve":true,"why":""}`, `{"approve":true,"scope":"ever"}`, deep(500)} {
		r, id, _ := s.approver(t)
		r.reply(id, text)
		r.denied("nobody answered within 1s")
	}
	r, id, _ := s.approver(t)
	r.send(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":1,"message":"` + strings.Repeat("x", 1<<20) + `"}}`)
	r.denied("nobody answered within 1s")
}

func approverTwice(t *testing.T, s *stage) {
	r, id, _ := s.approver(t)
	r.write(`{"jsonrpc":"2.0","id":` + id + `,"result":{"approve":false,"reason":"no"}}` + "\n" +
		`{"jsonrpc":"2.0","id":` + id + `,"result":{"approve":true}}` + "\n")
	r.denied("no")
}

func approverLate(t *testing.T, s *stage) {
	r, id, q := s.approver(t)
	r.send(`{"jsonrpc":"2.0","id":2,"method":"cancel","params":{"token":"mine"}}`)
	result := r.run("1")
	if result.Outcome != sandboxd.OutcomeCancelled || result.Calls[0].State != sandboxd.CallNotStarted {
		t.Errorf("cancelled: %s", sprint(result))
	}
	r.reply(id, `{"approve":true}`)
	r.send(`{"jsonrpc":"2.0","id":3,"method":"approvals/decide","params":{"id":"` + q.ID + `","approve":true}}`)
	r.refusal("3", -32602, "no call waits")
	if m, err := r.next(200 * time.Millisecond); err == nil {
		t.Errorf("after the run: %s", sprint(m))
	}
}

// approverMisses approves by ids that are none of the request's.
func approverMisses(t *testing.T, s *stage) {
	r, id, q := s.approver(t)
	for _, other := range []string{"0", "-" + id, id + "0", `"` + id + `"`, id + ".5", "null", `"` + q.ID + `"`, `"` + q.Run + `/1"`} {
		r.reply(other, `{"approve":true,"scope":"run"}`)
	}
	r.denied("nobody answered within 1s")
}

// approverSwaps is asked about two calls, and approves one: only that one is sent, with the arguments that were shown.
func approverSwaps(t *testing.T, s *stage) {
	r := s.dial(t)
	r.send(strings.Replace(greeting, `"servers"`, `"approvals":true,"servers"`, 1))
	r.result("0")
	r.execute(1, `const all = await Promise.allSettled([1, 2].map(x => tools.s.asked({x}))); return all.map(a => a.reason?.reason ?? 'made')`)
	asked := map[string]string{} // the request's id, by the arguments
	for len(asked) < 2 {
		m := r.until(func(m message) bool { return m.Method == "approvals/request" })
		var q sandboxd.ApprovalRequest
		if err := json.Unmarshal(m.Params, &q); err != nil {
			t.Fatal(err)
		}
		asked[string(q.Arguments)] = string(m.ID)
	}
	r.reply(asked[`{"x":2}`], `{"approve":true,"scope":"run"}`)
	call := r.until(func(m message) bool { return m.Method == "tools/call" })
	if !strings.Contains(string(call.Params), `"arguments":{"x":2}`) {
		t.Fatalf("sent: %s", call.Params)
	}
	r.reply(string(call.ID), pong)
	r.reply(asked[`{"x":1}`], `{"approve":false,"reason":"not this one"}`)
	end := r.until(func(m message) bool {
		if m.Method == "tools/call" {
			t.Errorf("sent as well: %s", m.Params)
		}
		return m.Method == "" && string(m.ID) == "1"
	})
	var result sandboxd.Result
	if err := json.Unmarshal(end.Result, &result); err != nil || !strings.Contains(string(result.Value), `: not this one","made"]`) {
		t.Errorf("%v: the run ended as %s", err, sprint(end))
	}
}

func approverGone(t *testing.T, s *stage) {
	r, _, _ := s.approver(t)
	r.conn.Close()
}

func approverDeaf(t *testing.T, s *stage) {
	r, _, _ := s.approver(t)
	for r.write(strings.Repeat(`{"jsonrpc":"2.0","id":7,"method":"approvals/list"}`+"\n", 100)) == nil {
	}
}

func approverOfOthers(t *testing.T, s *stage) {
	r, _, q := s.approver(t)
	other := s.greeted(t)
	other.execute(1, "await new Promise(() => {})", `"token":"`+q.Run+`"`) // by the other's name
	for i, id := range []string{q.ID, q.Run, q.Run + "/1", "mine", ""} {
		other.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"d%d","method":"approvals/decide","params":{"id":%q,"approve":true,"scope":"run"}}`, i, id))
		other.refusal(fmt.Sprintf(`"d%d"`, i), -32602, "no call waits")
	}
	other.send(`{"jsonrpc":"2.0","id":"l","method":"approvals/list"}`)
	if list := other.result(`"l"`); string(list) != `{"approvals":[]}` {
		t.Errorf("another gateway sees %s", list)
	}
	r.denied("nobody answered within 1s")
}

func approvalsCrowd(t *testing.T, s *stage) {
	r := s.greeted(t)
	r.execute(1, `const all = await Promise.allSettled(Array.from({length: 16}, (_, x) => tools.s.asked({x, text: "x".repeat(200000)})))
		return all.map(a => a.reason.message)`, `"limits":{"wall_ms":10000,"concurrent_calls":4}`)
	for waits := 0; waits < 4; {
		r.send(`{"jsonrpc":"2.0","id":2,"method":"approvals/list"}`)
		var list sandboxd.ApprovalList
		text := r.result("2")
		if err := json.Unmarshal(text, &list); err != nil || len(list.Approvals) > 4 || len(text) > 64<<10 {
			t.Fatalf("%d wait, in %d bytes: %v", len(list.Approvals), len(text), err)
		}
		waits = len(list.Approvals)
	}
	result := r.run("1")
	text := string(result.Value)
	if full, expired := strings.Count(text, "4 calls wait for approval already"), strings.Count(text, "nobody answered"); full+expired != 16 || full == 0 || expired < 4 {
		t.Errorf("%d had no room, %d expired: %s", full, expired, sprint(result))
	}
}

func adminsFlood(t *testing.T, s *stage) {
	r, _, _ := s.approver(t)
	for _, text := range []string{
		strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"approvals/decide","params":{"id":"AAAAAAAAAAAAAAAAAAAAAAAAAA","approve":true}}`+"\n", 10_000),
		strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"policy/reload"}`+"\n", 200),
		strings.Repeat("x", 1<<20), strings.Repeat("\n", 1<<20), "{", strings.Repeat(`{"a":`, 1000) + "\n", "\x00\xff\n",
	} {
		conn, err := net.Dial("unix", s.Admin)
		if err != nil {
			t.Fatal(err)
		}
		conn.SetWriteDeadline(time.Now().Add(patience))
		conn.Write([]byte(text)) // it may hang up before it has read all
		conn.Close()
	}
	var idle []net.Conn
	for range 100 { // more than may be connected
		conn, err := net.Dial("unix", s.Admin)
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, conn)
	}
	r.denied("nobody answered within 1s")
	for _, conn := range idle {
		conn.Close()
	}
}
