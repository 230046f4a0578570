package hostile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// takeover is what a program says or does that has taken its worker over, and how its run must end.
type takeover struct {
	name    string
	program string
	outcome sandboxd.Outcome
	text    string // in the error's message, or in the value
	calls   []sandboxd.CallState
	seen    int // calls that reach the gateway, at most
}

const (
	ok        = sandboxd.OutcomeOK
	violation = sandboxd.OutcomeViolation
	timeout   = sandboxd.OutcomeTimeout
	crash     = sandboxd.OutcomeCrash
	anyway    = sandboxd.Outcome("") // whatever the outcome, there must be one
)

// broke is what a worker that broke the protocol is said to have done.
const broke = "broke its protocol"

func states(n int, s sandboxd.CallState) []sandboxd.CallState {
	all := make([]sandboxd.CallState, n)
	for i := range all {
		all[i] = s
	}
	return all
}

var (
	succeeded  = []sandboxd.CallState{sandboxd.CallSucceeded}
	unknown    = []sandboxd.CallState{sandboxd.CallUnknown}
	notStarted = []sandboxd.CallState{sandboxd.CallNotStarted}
)

// limitsOfTakeover are small, so that what hangs ends soon.
var limitsOfTakeover = sandboxd.Limits{WallMS: 700, CPUMS: 400}

var headers = []takeover{
	{"bad JSON", say("{\"type\":\n"), violation, broke, nil, 0},
	{"empty line", say("\n"), violation, broke, nil, 0},
	{"array", say("[]\n"), violation, broke, nil, 0},
	{"null", say("null\n"), violation, broke, nil, 0},
	{"no type", say("{}\n"), violation, broke, nil, 0},
	{"NUL", say("\x00\n"), violation, broke, nil, 0},
	{"invalid UTF-8", say("{\"type\":\"\xff\"}\n"), violation, broke, nil, 0},
	{"header without end", flood(200<<10, "x"), violation, broke, nil, 0},
	{"header of 4 MiB", flood(4<<20, " "), violation, broke, nil, 0},
	{"depth bomb", flood(60<<10, "["), timeout, "", nil, 0}, // no newline yet, and below the bound
	{"depth bomb, ended", script(flood(60<<10, "["), say("\n")), violation, broke, nil, 0},
	{"depth bomb in a member", script(say(`{"type":"calls","calls":`), flood(60<<10, "["), say("\n")), violation, broke, nil, 0},
	{"text behind a header", say(`{"type":"done","kind":"ok","size":1} 1` + "\n1"), violation, broke, nil, 0},
	{"two objects in a line", say(`{"type":"console","lines":[]}{"type":"done","kind":"ok","size":1}` + "\n1"), violation, broke, nil, 0},
	{"half a header, silence", say(`{"type":"do`), timeout, "700 ms", nil, 0},
	{"half a header, exit", script(say(`{"type":"do`), exit(0, "")), crash, "exit code 0", nil, 0},
	{"type unknown", say(`{"type":"exec"}` + "\n"), violation, broke, nil, 0},
	{"type of the nursery", say(`{"type":"gate","jail":{}}` + "\n"), violation, broke, nil, 0},
	{"type of the daemon: start", say(`{"type":"start","source":0,"input":0}` + "\n"), violation, broke, nil, 0},
	{"type of the daemon: result", say(`{"type":"result","id":1,"form":"json","size":0}` + "\n"), violation, broke, nil, 0},
	{"type of the daemon: stop", say(`{"type":"stop","kind":"ok"}` + "\n"), violation, broke, nil, 0},
	{"READY again", say(`{"type":"ready","report":{"landlock":7}}` + "\n"), violation, broke, nil, 0},
	{"unknown member of calls", say(`{"type":"calls","calls":[],"approved":true}` + "\n"), violation, broke, nil, 0},
	{"unknown member of a call", say(`{"type":"calls","calls":[{"id":1,"server":"s","tool":"t","size":2,"decision":"allow"}]}` + "\n{}"), violation, broke, nil, 0},
	{"unknown member of done", say(`{"type":"done","kind":"ok","size":1,"isolation":{}}` + "\n1"), violation, broke, nil, 0},
}

var callAttacks = []takeover{
	{"no calls", say(calls()), violation, broke, nil, 0},
	{"id 0", call(0, "s", "t", "{}"), violation, broke, nil, 0},
	{"id -1", call(-1, "s", "t", "{}"), violation, broke, nil, 0},
	{"id 2 first", call(2, "s", "t", "{}"), violation, broke, nil, 0},
	{"id 2^63", call("9223372036854775808", "s", "t", "{}"), violation, broke, nil, 0},
	{"id 2^64+1", call("18446744073709551617", "s", "t", "{}"), violation, broke, nil, 0},
	{"id 1.5", call("1.5", "s", "t", "{}"), violation, broke, nil, 0},
	{"id a string", call(`"1"`, "s", "t", "{}"), violation, broke, nil, 0},
	{"id twice", script(call(1, "s", "t", "{}"), "await 1", call(1, "s", "t", "{}")), violation, broke, succeeded, 1},
	{"id twice in a batch", say(calls(header(1, "s", "t", 2), header(1, "s", "t", 2)) + "{}{}"), violation, broke, nil, 0},
	{"33 calls in a batch", say(calls(batch(33)...) + strings.Repeat("{}", 33)), violation, broke, nil, 0},
	{"500 calls in a batch", say(calls(batch(500)...) + strings.Repeat("{}", 500)), violation, broke, nil, 0},
	{"33 calls one by one", script(callsOneByOne(33)...), violation, broke, states(32, sandboxd.CallSucceeded), 32},
	{"size negative", say(calls(header(1, "s", "t", -1))), violation, broke, nil, 0},
	{"size -2^63", say(calls(header(1, "s", "t", "-9223372036854775808"))), violation, broke, nil, 0},
	{"size over the limit", script(say(calls(header(1, "s", "t", 256<<10+1))), flood(256<<10+1, " ")), violation, broke, nil, 0},
	{"size 2^40", say(calls(header(1, "s", "t", 1<<40))), violation, broke, nil, 0},
	{"size larger than what comes, silence", say(calls(header(1, "s", "t", 1000)) + "{}"), timeout, "700 ms", nil, 0},
	{"size larger than what comes, exit", script(say(calls(header(1, "s", "t", 1000))+"{}"), exit(0, "")), crash, "exit code 0", nil, 0},
	{"size smaller than what comes", say(calls(header(1, "s", "t", 2)) + "{}{}\n"), violation, broke, nil, 1},
	{"size 0", say(calls(header(1, "s", "t", 0))), violation, broke, nil, 0},
	{"arguments no JSON", call(1, "s", "t", `{"a":nonsense}`), violation, broke, nil, 0},
	{"arguments an array", call(1, "s", "t", `[]`), violation, broke, nil, 0},
	{"arguments a string", call(1, "s", "t", `"x"`), violation, broke, nil, 0},
	{"arguments two objects", call(1, "s", "t", `{}{}`), violation, broke, nil, 0},
	{"arguments with a raw newline in a string", call(1, "s", "t", "{\"a\":\"\n\"}"), violation, broke, nil, 0},
	{"arguments over two lines", script(call(1, "s", "t", "{\n\"a\":\n1}\n"), "await 1", done("ok", "1")), ok, "1", succeeded, 1},
	{"arguments that look like a message", script(call(1, "s", "t", `{"a":"}\n{\"jsonrpc\":\"2.0\",\"method\":\"x\"}"}`), "await 1", done("ok", "1")), ok, "1", succeeded, 1},
	{"arguments with invalid UTF-8", script(call(1, "s", "t", "{\"a\":\"\xff\"}"), "await 1", done("ok", "1")), violation, broke, nil, 0},
	{"arguments with a key twice", script(call(1, "s", "t", `{"amount":1,"amount":1000000}`), "await 1", done("ok", "1")), violation, broke, nil, 0},
	{"arguments with a key twice, below", script(call(1, "s", "t", `{"a":[{"b":1,"\u0062":2}]}`), "await 1", done("ok", "1")), violation, broke, nil, 0},
	{"arguments 5000 deep", script(call(1, "s", "t", `{"a":`+deep(5000)+`}`), "await 1", done("ok", "1")), violation, broke, nil, 0},
	{"arguments 9999 deep", script(call(1, "s", "t", `{"a":`+deep(9999)+`}`), "await 1", done("ok", "1")), violation, broke, nil, 0},
	{"no server", call(1, "", "t", "{}"), violation, broke, nil, 0},
	{"no tool", call(1, "s", "", "{}"), violation, broke, nil, 0},
	{"tool of 300 bytes", call(1, "s", strings.Repeat("x", 300), "{}"), violation, broke, nil, 0},
	{"server of 300 bytes", call(1, strings.Repeat("x", 300), "t", "{}"), violation, broke, nil, 0},
	{"tool with control characters", script(call(1, "s", "a\x00\n\x1b[2J", "{}"), "await 1", done("ok", "1")), anyway, "", nil, 0},
	{"tool with a right-to-left override", script(call(1, "s", "a\u202eb", "{}"), "await 1", done("ok", "1")), anyway, "", nil, 0},
	{"server unknown", script(call(1, "admin", "t", "{}"), "await 1", done("ok", "1")), ok, "1", []sandboxd.CallState{sandboxd.CallDenied}, 0},
	{"call, then gone", script(call(1, "s", "slow", "{}"), "pause 50", exit(0, "")), crash, "exit code 0", unknown, 1},
	{"calls and done at once", say(calls(batch(8)...) + strings.Repeat("{}", 8) + `{"type":"done","kind":"ok","size":1}` + "\n1"), ok, "1", nil, 8},
	{"8 slow calls and done", script(say(calls(slow(8)...)+strings.Repeat("{}", 8)), "pause 50", done("ok", "1")), ok, "1",
		append(states(4, sandboxd.CallUnknown), states(4, sandboxd.CallNotStarted)...), 4},
	{"unsent without number", say(`{"type":"unsent","calls":[{"id":7,"server":"s","tool":"t","size":0}]}` + "\n"), violation, broke, nil, 0},
	{"unsent nameless", say(`{"type":"unsent","calls":[{"id":1,"server":"","tool":"","size":0}]}` + "\n"), violation, broke, nil, 0},
	{"unsent over the limit", script(unsentOneByOne(40)...), violation, broke, states(33, sandboxd.CallNotStarted), 0},
	{"unsent, then sent", script(say(`{"type":"unsent","calls":[{"id":1,"server":"s","tool":"t","size":0}]}`+"\n"), call(2, "s", "t", "{}"), "await 1", done("ok", "1")),
		ok, "1", append(notStarted[:1:1], sandboxd.CallSucceeded), 1},
}

var otherAttacks = []takeover{
	{"console level unknown", say(console(`{"level":"fatal","size":1}`) + "x"), violation, broke, nil, 0},
	{"console over the limit", script(say(console(`{"level":"log","size":4097}`)), flood(4097, "x")), violation, broke, nil, 0},
	{"console over the limit, line by line", flood(5000, console(`{"level":"log","size":1}`)+"x"), violation, broke, nil, 0},
	{"console over the limit, empty lines", flood(5000, console(`{"level":"log","size":0}`)), violation, broke, nil, 0},
	{"console size negative", say(console(`{"level":"log","size":-1}`)), violation, broke, nil, 0},
	{"console messages without lines, for ever", flood(1<<30, console()), violation, broke, nil, 0},
	{"console with control characters", script(say(console(`{"level":"log","size":5}`)+"\x1b[2J\x00"), done("ok", "1")), ok, "1", nil, 0},
	{"console with invalid UTF-8", script(say(console(`{"level":"log","size":1}`)+"\xff"), done("ok", "1")), violation, broke, nil, 0},
	{"done before anything", done("ok", `{"a":1}`), ok, `{"a":1}`, nil, 0},
	{"done twice", script(done("ok", "1"), done("error", "2")), ok, "1", nil, 0},
	{"done, then calls", script(done("ok", "1"), call(1, "s", "t", "{}")), ok, "1", nil, 0},
	{"done, then garbage", script(done("ok", "1"), flood(1<<20, "\x00")), ok, "1", nil, 0},
	{"done value no JSON", done("ok", "nonsense"), violation, broke, nil, 0},
	{"done value two values", done("ok", "1 2"), violation, broke, nil, 0},
	{"done without value", done("ok", ""), violation, broke, nil, 0},
	{"done value over the limit", script(say(`{"type":"done","kind":"ok","size":65537}`+"\n"), flood(65537, "1")), violation, broke, nil, 0},
	{"done size negative", say(`{"type":"done","kind":"ok","size":-1}` + "\n"), violation, broke, nil, 0},
	{"done size larger than what comes", say(`{"type":"done","kind":"ok","size":5}` + "\n1"), timeout, "700 ms", nil, 0},
	{"done value over lines", done("ok", "[\n1,\n2]\n"), ok, "[1,2]", nil, 0},
	{"done value invalid UTF-8", done("ok", "\"\xff\""), violation, broke, nil, 0},
	{"done value 400 deep", done("ok", deep(400)), ok, "[[[", nil, 0},
	{"done value 9999 deep", done("ok", deep(9999)), anyway, "", nil, 0},
	{"done kind empty", done("", "1"), violation, broke, nil, 0},
	{"done kind internal", done("internal", "1"), violation, broke, nil, 0},
	{"done kind busy", done("busy", "1"), violation, broke, nil, 0},
	{"done kind cancelled", done("cancelled", "1"), violation, broke, nil, 0},
	{"done kind invalid", done("invalid", "1"), violation, broke, nil, 0},
	{"done kind violation", done("violation", "1"), violation, broke, nil, 0},
	{"done kind OK", done("OK", "1"), violation, broke, nil, 0},
	{"done ok with an error", say(`{"type":"done","kind":"ok","size":1,"error":{"message":"x"}}` + "\n1"), ok, "1", nil, 0},
	{"done error without an error", done("error", ""), sandboxd.OutcomeError, "did not say why", nil, 0},
	{"done error of 100 KiB", script(say(`{"type":"done","kind":"error","size":0,"error":{"message":"`), flood(100<<10, "x"), say("\"}}\n")), sandboxd.OutcomeError, "xxx", nil, 0},
	{"done error of 200 KiB", script(say(`{"type":"done","kind":"error","size":0,"error":{"message":"`), flood(200<<10, "x"), say("\"}}\n")), violation, broke, nil, 0},
	{"done error at line -5", say(`{"type":"done","kind":"error","size":0,"error":{"message":"x","line":-5,"column":-7}}` + "\n"), violation, broke, nil, 0},
	{"done with -5 dropped lines", say(`{"type":"done","kind":"ok","size":1,"dropped_lines":-5,"dropped_bytes":-9}` + "\n1"), violation, broke, nil, 0},
	{"says nothing", "stopped\nstopped", timeout, "700 ms", nil, 0},
	{"reads nothing", "deaf", timeout, "700 ms", nil, 0},
	{"answers stop with ok", script("stopped", done("ok", "1")), timeout, "700 ms", nil, 0},
	{"answers stop with garbage", script("stopped", say("garbage\n")), anyway, "", nil, 0},
	{"exits on stop", script("stopped", exit(0, "")), timeout, "700 ms", nil, 0},
	{"half-closes", "half-close", violation, "forbidden system call", nil, 0},
	{"forbidden system call", "syscall", violation, "forbidden system call", nil, 0},
	{"exit 0", exit(0, ""), crash, "exit code 0", nil, 0},
	{"exit 2", exit(2, "panic: x"), crash, "exit code 2", nil, 0},
	{"exit 2, as if out of memory", exit(2, "fatal error: runtime: out of memory"), sandboxd.OutcomeMemory, "memory", nil, 0},
	{"exit 2, invalid UTF-8", exit(2, "\xff\xfe\x00"), crash, "exit code 2", nil, 0},
	{"floods standard error", "stderr 4000000", timeout, "700 ms", nil, 0},
}

func batch(n int) []string { return headersOf(n, "t", 2) }
func slow(n int) []string  { return headersOf(n, "slow", 2) }
func big(n int) []string   { return headersOf(n, "big", 2) }

func headersOf(n int, tool string, size int) []string {
	var all []string
	for i := range n {
		all = append(all, header(i+1, "s", tool, size))
	}
	return all
}

func callsOneByOne(n int) []string {
	var steps []string
	for i := range n {
		steps = append(steps, call(i+1, "s", "t", "{}"), "await 1")
	}
	return steps
}

func unsentOneByOne(n int) []string {
	var steps []string
	for i := range n {
		steps = append(steps, say(`{"type":"unsent","calls":[`+header(i+1, "s", "t", 0)+"]}\n"))
	}
	return steps
}

func console(lines ...string) string {
	return `{"type":"console","lines":[` + strings.Join(lines, ",") + "]}\n"
}

// TestWorkerHeaders has workers whose lines are no messages, or none that are due.
func TestWorkerHeaders(t *testing.T) { t.Parallel(); takeovers(t, headers, limitsOfTakeover) }

// TestWorkerCalls has workers that lie about their calls.
func TestWorkerCalls(t *testing.T) { t.Parallel(); takeovers(t, callAttacks, limitsOfTakeover) }

// TestWorkerDeaf has a worker that reads none of its results. Its run lasts for long enough that all of them come, and
// ends before the daemon gives a worker up that does not read for five seconds.
func TestWorkerDeaf(t *testing.T) {
	t.Parallel()
	takeovers(t, []takeover{
		{"does not read 4 results of 4 MiB", script(say(calls(big(4)...)+strings.Repeat("{}", 4)), "deaf"), timeout, "4000 ms", states(4, sandboxd.CallSucceeded), 4},
	}, sandboxd.Limits{WallMS: 4000, CPUMS: 400})
}

// TestWorkerOthers has workers that lie about what they print and how they end, or say nothing.
func TestWorkerOthers(t *testing.T) { t.Parallel(); takeovers(t, otherAttacks, limitsOfTakeover) }

func takeovers(t *testing.T, table []takeover, limits sandboxd.Limits) {
	s := newStage(t, "", "")
	for _, a := range table {
		s.attack(t, a.name, func(t *testing.T) { s.takeOver(t, a, limits) })
	}
	s.finish(t)
}

func (s *stage) takeOver(t *testing.T, a takeover, limits sandboxd.Limits) {
	var seen, late, answered atomic.Int32
	c := s.Dial(t, sandboxd.Options{
		Name: "victim", Servers: []string{"s"},
		Tools: func(ctx context.Context, call sandboxd.ToolCall) (json.RawMessage, error) {
			seen.Add(1)
			if answered.Load() > 0 {
				// Either it went out before the answer, and this goroutine is late: the daemon cancels it. Or it went out after it.
				late.Add(1)
				select {
				case <-ctx.Done():
					late.Add(-1)
				case <-time.After(patience):
				}
			}
			if !json.Valid(call.Arguments) || call.Arguments[0] != '{' {
				t.Errorf("arguments that reach the gateway are %q", call.Arguments)
			}
			switch call.Tool {
			case "slow":
				<-ctx.Done()
			case "big":
				return json.RawMessage(`{"structuredContent":"` + strings.Repeat("x", 4<<20-2) + `"}`), nil
			}
			return json.RawMessage(pong), nil
		},
	})
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	most := time.Duration(limits.WallMS)*time.Millisecond + time.Second
	if a.outcome != timeout && a.outcome != anyway {
		limits.WallMS = 20_000 // what a busy machine delays is told as what it is, all the same
	}
	r := daemon.InTime(t, most, func() *sandboxd.Result {
		seen.Store(0)
		answered.Store(0)
		r, err := c.Execute(ctx, sandboxd.Program{Source: a.program, Limits: &limits})
		answered.Store(1)
		if err != nil {
			t.Fatalf("no result: %v", err)
		}
		return r
	})
	if a.outcome != anyway {
		wantRun(t, *r, a.outcome, a.text)
	}
	if a.calls != nil {
		wantCalls(t, *r, a.calls...)
	}
	for _, call := range r.Calls {
		switch call.State {
		case sandboxd.CallNotStarted, sandboxd.CallDenied, sandboxd.CallSucceeded, sandboxd.CallFailed, sandboxd.CallUnknown:
		default:
			t.Errorf("call %d is in state %q", call.N, call.State)
		}
	}
	if n := int(seen.Load()); n > a.seen {
		t.Errorf("%d calls reached the gateway, at most %d may", n, a.seen)
	}
	if (r.Outcome == ok) != (r.Error == nil) || r.Outcome != ok && string(r.Value) != "null" {
		t.Errorf("outcome, error and value don't fit together: %s", sprint(r))
	}
	time.Sleep(5 * time.Millisecond)
	daemon.Eventually(t, patience/2, func() error {
		if late.Load() > 0 {
			return errors.New("a call was dispatched after the answer, or not cancelled with its run")
		}
		return nil
	})
}

// TestWorkerSpins burns CPU time and heeds no stop: its limit is on CPU time, and must be met whatever the machine
// does besides.
func TestWorkerSpins(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "")
	for _, threads := range []int{1, 4} {
		s.attack(t, fmt.Sprintf("on %d threads", threads), func(t *testing.T) {
			c := s.Dial(t, honestGateway)
			defer c.Close()
			r, err := c.Execute(context.Background(), sandboxd.Program{
				Source: fmt.Sprintf("spin %d", threads), Limits: &sandboxd.Limits{WallMS: 20_000, CPUMS: 400},
			})
			if err != nil {
				t.Fatal(err)
			}
			wantRun(t, *r, sandboxd.OutcomeCPU, "400 ms")
			if r.Stats.CPUMS > 1400 {
				t.Errorf("it used %.0f ms of 400", r.Stats.CPUMS)
			}
		})
	}
}

// TestWorkerFrozenAtStart has a worker that never reads its program, and an input larger than its socket takes.
func TestWorkerFrozenAtStart(t *testing.T) {
	t.Parallel()
	bin := fakeBin(t, "deaf")
	d := daemon.Start(t, daemon.Options{Bin: bin, Config: "pool: {default: 2}\n"})
	c := d.Dial(t, sandboxd.Options{Name: "x"})
	for name, input := range map[string]json.RawMessage{"small": nil, "large": json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`)} {
		t.Run(name, func(t *testing.T) {
			r := daemon.InTime(t, 1700*time.Millisecond, func() *sandboxd.Result {
				r, err := c.Execute(context.Background(), sandboxd.Program{Source: "stopped", Input: input, Limits: &limitsOfTakeover})
				if err != nil {
					t.Fatal(err)
				}
				return r
			})
			wantRun(t, *r, timeout, "700 ms")
		})
	}
}
