package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
	"github.com/sandboxd/sandboxd/tests/skip"
)

const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeUnknownMethod  = -32601
	codeInvalidParams  = -32602
	codeRefused        = -32000
	codeBusy           = -32001
	codeVersion        = -32002

	maxLine = 8 << 20
)

// TestGatewayLines sends one wrong line on a connection that is introduced; the connection must go on after the refusal.
func TestGatewayLines(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "-")
	execute := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"execute","params":{` + params + `}}`
	}
	for _, a := range []struct {
		name, line, id string
		code           int
		text           string
	}{
		{"not JSON", `hello`, "null", codeParse, "not a JSON-RPC"},
		{"array", `[{"jsonrpc":"2.0","id":1,"method":"status"}]`, "null", codeParse, "'{'"},
		{"number", `42`, "null", codeParse, "'{'"},
		{"NUL", "\x00\x00", "null", codeParse, "not a JSON-RPC"},
		{"NUL in a string", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sta\x00tus\"}", "1", codeParse, "control character"},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}", "1", codeParse, "UTF-8"},
		{"cut", `{"jsonrpc":"2.0","id":1,"method":"status"`, "1", codeParse, "ends"},
		{"two on a line", `{"jsonrpc":"2.0","id":1,"method":"status"} {}`, "1", codeParse, "the end"},
		{"600 deep params", `{"jsonrpc":"2.0","id":1,"method":"execute","params":` + deep(600) + `}`, "1", codeParse, "nested deeper"},
		{"600 deep input", execute(`"source":"return 1","input":` + deep(600)), "1", codeParse, "nested deeper"},
		{"100000 deep", deep(100_000), "null", codeParse, "'{'"},
		{"unclosed 1000 deep", `{"jsonrpc":"2.0","id":1,"method":"status","params":` + strings.Repeat("[", 1000), "1", codeParse, "nested deeper"},
		{"no version", `{"id":1,"method":"status"}`, "1", codeParse, `"jsonrpc"`},
		{"wrong version", `{"jsonrpc":"1.0","id":1,"method":"status"}`, "1", codeParse, `"jsonrpc"`},
		{"version a number", `{"jsonrpc":2.0,"id":1,"method":"status"}`, "null", codeParse, "string"},
		{"neither", `{"jsonrpc":"2.0","id":1}`, "1", codeParse, "neither"},
		{"request and response", `{"jsonrpc":"2.0","id":1,"method":"status","result":{}}`, "1", codeParse, "both"},
		{"unknown member", `{"jsonrpc":"2.0","id":1,"method":"status","more":1}`, "1", codeParse, `"more"`},
		{"duplicate id", `{"jsonrpc":"2.0","id":1,"id":2,"method":"status"}`, "1", codeParse, "twice"},
		{"duplicate method, one escaped", `{"jsonrpc":"2.0","id":1,"method":"status","meth\u006fd":"cancel"}`, "1", codeParse, "twice"},
		{"duplicate params", execute(`"source":"return 1","source":"return 2"`), "1", codeInvalidParams, "twice"},
		{"duplicate params, one escaped", execute(`"source":"return 1","s\u006furce":"return 2"`), "1", codeInvalidParams, "twice"},
		{"duplicate params, in two cases", execute(`"source":"return 1","Source":"return 2"`), "1", codeInvalidParams, "Source"},
		{"duplicate limits", execute(`"source":"return 1","limits":{"calls":1,"calls":32}`), "1", codeInvalidParams, "twice"},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"status"}`, "null", codeParse, "id"},
		{"id an array", `{"jsonrpc":"2.0","id":[1],"method":"status"}`, "null", codeParse, "id"},
		{"id a boolean", `{"jsonrpc":"2.0","id":true,"method":"status"}`, "null", codeParse, "id"},
		{"id of 100 bytes", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 98) + `","method":"status"}`, "null", codeParse, "id"},
		{"id no JSON", `{"jsonrpc":"2.0","id":nope,"method":"status"}`, "null", codeParse, "value"},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, "1", codeParse, "method"},
		{"method of 65 bytes", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 65) + `"}`, "1", codeParse, "method"},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`, "1", codeUnknownMethod, `"shutdown"`},
		{"own method sent back", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, "1", codeUnknownMethod, "unknown method"},
		{"initialize twice", strings.Replace(greeting, `"id":0`, `"id":1`, 1), "1", codeRefused, "already"},
		{"params an array", `{"jsonrpc":"2.0","id":1,"method":"execute","params":[1]}`, "1", codeInvalidParams, "'{'"},
		{"no source", `{"jsonrpc":"2.0","id":1,"method":"execute","params":{"source":5}}`, "1", codeInvalidParams, "source"},
		{"unknown field", execute(`"source":"return 1","sandbox":false`), "1", codeInvalidParams, `"sandbox"`},
		{"unknown limit", execute(`"source":"return 1","limits":{"wall":1}`), "1", codeInvalidParams, `"wall"`},
		{"negative limit", execute(`"source":"return 1","limits":{"calls":-1}`), "1", codeInvalidParams, "below 0"},
		{"limit above the profile's", execute(`"source":"return 1","limits":{"calls":33}`), "1", codeInvalidParams, "only lower"},
		{"limit of 2^63", execute(`"source":"return 1","limits":{"wall_ms":9223372036854775808}`), "1", codeInvalidParams, "params"},
		{"limit a float", execute(`"source":"return 1","limits":{"calls":1.5}`), "1", codeInvalidParams, "params"},
		{"memory too small to live", execute(`"source":"return 1","limits":{"memory_bytes":1}`), "1", codeInvalidParams, "memory_bytes"},
		{"unknown profile", execute(`"source":"return 1","profile":"../../etc/passwd"`), "1", codeInvalidParams, "profile"},
		{"server not announced", execute(`"source":"return 1","servers":["admin"]`), "1", codeInvalidParams, "announced"},
		{"server twice", execute(`"source":"return 1","servers":["s","s"]`), "1", codeInvalidParams, "twice"},
		{"long token", execute(`"source":"return 1","token":"` + strings.Repeat("x", 129) + `"`), "1", codeInvalidParams, "token"},
		{"long traceparent", execute(`"source":"return 1","traceparent":"` + strings.Repeat("x", 129) + `"`), "1", codeInvalidParams, "traceparent"},
		{"large input", execute(`"source":"return 1","input":"` + strings.Repeat("x", 4<<20) + `"`), "1", codeInvalidParams, "input"},
		{"input no JSON below", execute(`"source":"return 1","input":{"a":[nonsense]}`), "1", codeInvalidParams, "params"},
		{"line over 8 MiB", execute(`"source":"` + strings.Repeat("x", maxLine) + `"`), "1", codeInvalidRequest, "longer than 8388608"},
		{"line over 8 MiB, without id", `{"params":"` + strings.Repeat("x", maxLine) + `","id":1}`, "null", codeInvalidRequest, "longer than 8388608"},
		{"cancel without a name", `{"jsonrpc":"2.0","id":1,"method":"cancel","params":{}}`, "1", codeInvalidParams, "either"},
		{"cancel with two names", `{"jsonrpc":"2.0","id":1,"method":"cancel","params":{"run":"a","token":"b"}}`, "1", codeInvalidParams, "either"},
		{"status with params", `{"jsonrpc":"2.0","id":1,"method":"status","params":{"all":true}}`, "1", codeInvalidParams, `"all"`},
	} {
		s.attack(t, a.name, func(t *testing.T) {
			r := s.greeted(t)
			r.send(a.line)
			r.refusal(a.id, a.code, a.text)
			r.alive()
		})
	}
	for _, a := range []struct{ name, source, text string }{
		{"source over 64 KiB", "//" + strings.Repeat("x", 64<<10-1), "65537 bytes"},
		{"source with NUL", "return 1\x00", "NUL"},
		{"source empty", " \n// nothing", "empty"},
	} {
		s.attack(t, a.name, func(t *testing.T) {
			r := s.greeted(t)
			r.execute(1, a.source)
			wantRun(t, r.run("1"), sandboxd.OutcomeInvalid, a.text)
			r.alive()
		})
	}
	s.finish(t)
}

// TestGatewayIDs sends ids of every legal kind: they must come back byte by byte.
func TestGatewayIDs(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "-")
	for _, id := range []string{`"a"`, `""`, `"\u0000\ud800"`, `-1`, `0`, `1.0`, `1e3`, `9223372036854775808`, `123456789012345678901234567890`, `-0.0`} {
		s.attack(t, id, func(t *testing.T) {
			r := s.greeted(t)
			r.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"status"}`)
			r.result(id)
			r.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"nothing"}`)
			r.refusal(id, codeUnknownMethod, "nothing")
		})
	}
	s.attack(t, "null is a notification, and gets no answer", func(t *testing.T) {
		r := s.greeted(t)
		r.send(`{"jsonrpc":"2.0","id":null,"method":"execute","params":{"source":"return 1"}}`)
		r.send(`{"jsonrpc":"2.0","method":"nothing"}`)
		r.send(`{"jsonrpc":"2.0","id":"next","method":"status"}`)
		if m := r.read(); string(m.ID) != `"next"` {
			t.Errorf("got %s first", sprint(m))
		}
	})
}

// TestGatewayBeforeInitialize says what may not be said first.
func TestGatewayBeforeInitialize(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "-")
	initialize := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + params + `}}`
	}
	for _, a := range []struct {
		name, line string
		code       int
		text       string
	}{
		{"execute", `{"jsonrpc":"2.0","id":1,"method":"execute","params":{"source":"return 1"}}`, codeRefused, "before initialize"},
		{"status", `{"jsonrpc":"2.0","id":1,"method":"status"}`, codeRefused, "before initialize"},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"x"}`, codeRefused, "before initialize"},
		{"wrong protocol version", initialize(`"protocol_version":"2","client":{"name":"x"}`), codeVersion, `"1" is`},
		{"no protocol version", initialize(`"client":{"name":"x"}`), codeVersion, "protocol version"},
		{"unknown field", initialize(`"protocol_version":"1","client":{"name":"x"},"admin":true`), codeInvalidParams, `"admin"`},
		{"unknown field of client", initialize(`"protocol_version":"1","client":{"name":"x","uid":0}`), codeInvalidParams, `"uid"`},
		{"server twice", initialize(`"protocol_version":"1","client":{"name":"x"},"servers":["a","a"]`), codeInvalidParams, "twice"},
		{"nameless server", initialize(`"protocol_version":"1","client":{"name":"x"},"servers":[""]`), codeInvalidParams, "servers[0]"},
		{"long server", initialize(`"protocol_version":"1","client":{"name":"x"},"servers":["` + strings.Repeat("x", 129) + `"]`), codeInvalidParams, "servers[0]"},
		{"257 servers", initialize(`"protocol_version":"1","client":{"name":"x"},"servers":[` + numbers(257) + `]`), codeInvalidParams, "257"},
	} {
		s.attack(t, a.name, func(t *testing.T) {
			r := s.dial(t)
			r.send(a.line)
			r.refusal("1", a.code, a.text)
			r.send(greeting)
			r.result("0")
		})
	}
}

func numbers(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%q", fmt.Sprint(i)))
	}
	return strings.Join(names, ",")
}

// TestGatewayAnswers answers a tool call wrongly. The call must fail where the answer is known to be one, the
// program must be able to catch that, and the run must go on.
func TestGatewayAnswers(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "-")
	result := func(text string) string { return `{"jsonrpc":"2.0","id":ID,"result":` + text + `}` }
	failure := func(text string) string { return `{"jsonrpc":"2.0","id":ID,"error":` + text + `}` }
	text := func(t string) string { return result(`{"content":[{"type":"text","text":` + t + `}]}`) }
	const failed, succeeded, unknown = sandboxd.CallFailed, sandboxd.CallSucceeded, sandboxd.CallUnknown
	for _, a := range []struct {
		name, answer string
		state        sandboxd.CallState
		value        string // that the program returns holds this
	}{
		{"null", result(`null`), failed, "no CallToolResult"},
		{"number", result(`5`), failed, "no CallToolResult"},
		{"array", result(`[]`), failed, "no CallToolResult"},
		{"empty object", result(`{}`), failed, "no CallToolResult"},
		{"content null", result(`{"content":null}`), failed, "no CallToolResult"},
		{"content a number", result(`{"content":7}`), failed, "no CallToolResult"},
		{"content of numbers", result(`{"content":[7]}`), failed, "no CallToolResult"},
		{"text a number", text(`7`), failed, "no CallToolResult"},
		{"text null", text(`null`), failed, "no CallToolResult"},
		{"text missing", result(`{"content":[{"type":"text"}]}`), failed, "no CallToolResult"},
		{"text with a wrong escape", text(`"\q"`), failed, "no CallToolResult"},
		{"type a number", result(`{"content":[{"type":1,"text":"x"}]}`), failed, "no CallToolResult"},
		{"duplicate content", result(`{"content":[],"content":[{"type":"text","text":"x"}]}`), failed, "twice"},
		{"duplicate text", result(`{"content":[{"type":"text","text":"a","text":"b"}]}`), failed, "twice"},
		{"isError yes", result(`{"isError":"yes","content":[{"type":"text","text":"it broke"}]}`), failed, "it broke"},
		{"isError without content", result(`{"isError":true}`), failed, "without saying why"},
		{"isError with 5 MiB", result(`{"isError":true,"content":[{"type":"text","text":"` + strings.Repeat("x", 5<<20) + `"}]}`), failed, "(cut)"},
		{"structuredContent an array", result(`{"structuredContent":[1,2],"content":[]}`), succeeded, "[1,2]"},
		{"structuredContent no JSON below", result(`{"structuredContent":{"a":[nonsense]},"content":[]}`), succeeded, "caught"},
		{"text that begins like JSON", text(`"{\"a\": nonsense}"`), succeeded, "nonsense"},
		{"65 members", result(`{"content":[],` + members(65) + `}`), failed, "no CallToolResult"},
		{"600 deep structuredContent", result(`{"structuredContent":{"a":` + deep(600) + `}}`), failed, "nested deeper"},
		{"600 deep content item", result(`{"content":[{"type":"image","data":` + deep(600) + `}]}`), failed, "nested deeper"},
		{"600 deep text", text(`"` + deep(600) + `"`), succeeded, ""},
		{"100000 deep text", text(`"` + deep(100_000) + `"`), succeeded, ""},
		{"invalid UTF-8", text("\"\xff\xfe\""), failed, ""},
		{"over the limit of results", text(`"` + strings.Repeat("x", 4<<20+1) + `"`), failed, "over the limit of 4194304"},
		{"line over 8 MiB", text(`"` + strings.Repeat("x", maxLine) + `"`), failed, "longer than 8388608"},
		{"error a string", failure(`"no"`), failed, "can't be read"},
		{"error a number", failure(`5`), failed, "can't be read"},
		{"error null", failure(`null`), failed, "can't be read"},
		{"error empty", failure(`{}`), failed, "can't be read"},
		{"error code a string", failure(`{"code":"x","message":"no"}`), failed, "can't be read"},
		{"error with 1 MiB", failure(`{"code":1,"message":"` + strings.Repeat("x", 1<<20) + `"}`), failed, "(cut)"},
		{"result and error", `{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"error":{"code":1,"message":"no"}}`, failed, ""},
		{"neither result nor error", `{"jsonrpc":"2.0","id":ID}`, failed, ""},
		{"unknown member", `{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"more":1}`, failed, ""},
		{"duplicate result", `{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"result":{"content":[]}}`, failed, ""},
		{"wrong version", `{"jsonrpc":"1.0","id":ID,"result":{"content":[]}}`, failed, ""},
		{"id a string", `{"jsonrpc":"2.0","id":"ID","result":` + pong + `}`, unknown, ""},
		{"id another", `{"jsonrpc":"2.0","id":ID000,"result":` + pong + `}`, unknown, ""},
		{"id negative", `{"jsonrpc":"2.0","id":-ID,"result":` + pong + `}`, unknown, ""},
		{"no id", `{"jsonrpc":"2.0","result":` + pong + `}`, unknown, ""},
		{"twice", result(pong) + "\n" + result(`{"content":[{"type":"text","text":"second"}]}`), succeeded, "pong"},
		{"another's first", `{"jsonrpc":"2.0","id":999,"result":` + pong + "}\n" + text(`"mine"`), succeeded, "mine"},
	} {
		s.attack(t, a.name, func(t *testing.T) {
			r := s.greeted(t)
			wall := 3000
			if a.state == unknown {
				wall = 400
			}
			r.execute(7, `try { return JSON.stringify(await tools.s.t({})).slice(0, 900) } catch (e) { return "caught " + e.message.slice(0, 9000) }`,
				fmt.Sprintf(`"limits":{"wall_ms":%d}`, wall))
			id, _ := r.call()
			r.send(strings.ReplaceAll(a.answer, "ID", id))
			got := r.run("7")
			if a.state == unknown {
				wantRun(t, got, sandboxd.OutcomeTimeout, "400 ms")
			} else {
				wantRun(t, got, sandboxd.OutcomeOK, a.value)
			}
			wantCalls(t, got, a.state)
			if a.state == failed && !strings.HasPrefix(string(got.Value), `"caught`) {
				t.Errorf("the program got %s, want an error that it can catch", sprint(got.Value))
			}
			r.alive()
		})
	}
	s.finish(t)
}

func members(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"m%d":0`, i))
	}
	return strings.Join(all, ",")
}

// wantRun compares how a run ended; text must stand in its value or its error.
func wantRun(t testing.TB, r sandboxd.Result, outcome sandboxd.Outcome, text string) {
	t.Helper()
	got := string(r.Value)
	if r.Error != nil {
		got = r.Error.Message
	}
	if r.Outcome != outcome || !strings.Contains(got, text) {
		t.Errorf("the run ended as %s, want %s with %q", sprint(r), outcome, text)
	}
}

func wantCalls(t testing.TB, r sandboxd.Result, states ...sandboxd.CallState) {
	t.Helper()
	var got []sandboxd.CallState
	for _, c := range r.Calls {
		got = append(got, c.State)
	}
	if fmt.Sprint(got) != fmt.Sprint(states) {
		t.Errorf("calls are %v, want %v", got, states)
	}
}

// TestGatewayConduct are attacks that take more than one line.
func TestGatewayConduct(t *testing.T) {
	t.Parallel()
	s := newStage(t, "runs: {per_caller: 200, queue: 200}\ngateways: {write_wait: 1s}\n", "-")
	for _, a := range []struct {
		name string
		do   func(*testing.T, *stage)
	}{
		{"a byte at a time", byteAtATime},
		{"initialize and a request in one write", pipelined},
		{"many requests in one write", manyInOneWrite},
		{"one request in many writes", oneInManyWrites},
		{"line without end", endless},
		{"half a line, then gone", halfALine},
		{"half a line, then silence", halfALineSilence},
		{"128 unanswered requests", flooded},
		{"flood of wrong lines, no reading", neverReads},
		{"stops reading while a run prints", stopsReading},
		{"stops reading while a run calls", stopsReadingCalls},
		{"never answers a call", neverAnswers},
		{"answers late", answersLate},
		{"disconnects mid-call", disconnects},
		{"half-closes mid-call", halfCloses},
		{"disconnects while the program computes", disconnectsComputing},
		{"cancels the run of another", cancelsOthers},
		{"cancels twice", cancelsTwice},
		{"cancels a run in the lease", cancelsInLease},
		{"calls beyond the program's end", afterTheEnd},
		{"program returns 600 levels", deepValue},
		{"program calls with 600 levels", deepArguments},
	} {
		s.attack(t, a.name, func(t *testing.T) { a.do(t, s) })
	}
	s.finish(t)
}

func byteAtATime(t *testing.T, s *stage) {
	r := s.dial(t)
	for _, b := range []byte("\n\r\n" + greeting + "\r\n\n") {
		r.write(string([]byte{b}))
	}
	r.result("0")
}

// pipelined sends a request behind initialize without waiting for its answer.
func pipelined(t *testing.T, s *stage) {
	for range 30 {
		r := s.dial(t)
		r.write(greeting + "\n" + `{"jsonrpc":"2.0","id":1,"method":"status"}` + "\n")
		for range 2 {
			if m := r.read(); m.Error != nil {
				t.Fatalf("answer to %s: %s", m.ID, m.Error.Message)
			}
		}
		r.conn.Close()
	}
}

func manyInOneWrite(t *testing.T, s *stage) {
	r := s.dial(t)
	text := greeting + "\n"
	for i := 1; i <= 40; i++ {
		text += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"nothing"}`+"\n", i)
	}
	r.write(text)
	got := make(map[string]bool)
	for len(got) < 41 {
		got[string(r.read().ID)] = true
	}
}

func oneInManyWrites(t *testing.T, s *stage) {
	r := s.greeted(t)
	line := `{"jsonrpc":"2.0","id":1,"method":"execute","params":{"source":"return input.length","input":"` + strings.Repeat("x", 1<<20) + `"}}` + "\n"
	for len(line) > 0 {
		n := min(4099, len(line))
		r.write(line[:n])
		line = line[n:]
	}
	wantRun(t, r.run("1"), sandboxd.OutcomeOK, "1048576")
}

// endless sends a line of 80 MiB: the daemon must give up on it, and hold no more than one line may have.
func endless(t *testing.T, s *stage) {
	before := rss(t, s.PID)
	r := s.greeted(t)
	chunk := strings.Repeat("x", 1<<20)
	most := int64(0)
	for range 80 {
		if r.write(chunk) != nil {
			break
		}
		most = max(most, rss(t, s.PID))
	}
	r.closed()
	if grown := most - before; grown > 64<<20 {
		t.Errorf("the daemon grew by %d MiB for a line of at most 8", grown>>20)
	}
}

func halfALine(t *testing.T, s *stage) {
	r := s.greeted(t)
	r.write(`{"jsonrpc":"2.0","id":1,"meth`)
	r.conn.Close()
}

func halfALineSilence(t *testing.T, s *stage) {
	r := s.greeted(t)
	r.write(`{"jsonrpc":"2.0","id":1,"method":"execute","params":{"source":"` + strings.Repeat("x", 1<<20))
	time.Sleep(50 * time.Millisecond)
}

// flooded has 128 runs under way or waiting, and asks for more.
func flooded(t *testing.T, s *stage) {
	r := s.greeted(t)
	for i := 1; i <= 140; i++ {
		r.execute(i, `await tools.s.t({})`, `"limits":{"wall_ms":300}`)
	}
	busy := r.until(func(m message) bool { return m.Error != nil })
	if busy.Error.Code != codeBusy || !strings.Contains(busy.Error.Message, "128") {
		t.Errorf("got %s, want a refusal as busy", sprint(busy))
	}
	if err := s.serve(); err != nil && !strings.Contains(err.Error(), `"busy"`) {
		t.Errorf("an honest run meanwhile, which may be told to come again: %v", err)
	}
	r.conn.Close()
}

// neverReads makes the daemon write refusals that nobody takes: it must hang up after its write_wait.
func neverReads(t *testing.T, s *stage) {
	r := s.greeted(t)
	line := strings.Repeat("wrong\n", 1000)
	end := time.Now().Add(patience)
	for {
		r.conn.SetWriteDeadline(time.Now().Add(4 * time.Second))
		_, err := r.conn.Write([]byte(line))
		if err != nil && !os.IsTimeout(err) {
			return // hung up
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("the daemon does not hang up on a gateway that does not read: %v", err)
		}
	}
}

func stopsReading(t *testing.T, s *stage) {
	daemon.InTime(t, 4*time.Second, func() struct{} {
		r := s.greeted(t)
		defer r.conn.Close()
		for i := 1; i <= 8; i++ {
			r.execute(i, `for (let i = 0; i < 4000; i++) { console.log(''); if (i % 50 == 0) await tools.s.t({}).catch(() => {}) } await new Promise(() => {})`,
				`"console":true,"progress":true,"limits":{"wall_ms":2000}`, `"token":"`+strings.Repeat("t", 128)+`"`)
		}
		time.Sleep(300 * time.Millisecond) // the buffers fill
		s.served(t)
		return struct{}{}
	})
}

// stopsReadingCalls has calls of 256 KiB that the gateway does not take.
func stopsReadingCalls(t *testing.T, s *stage) {
	daemon.InTime(t, 4*time.Second, func() struct{} { // wall 1 s, write_wait 1 s
		r := s.greeted(t)
		r.execute(1, `const x = 'x'.repeat(200000); await Promise.all([...Array(8)].map(() => tools.s.t({x})))`)
		daemon.Eventually(t, patience, func() error {
			c, err := sandboxd.Dial(context.Background(), s.Socket, honestGateway)
			if err != nil {
				return err
			}
			defer c.Close()
			status, err := c.Status(context.Background())
			if err == nil && status.Running > 0 {
				err = fmt.Errorf("%d runs are left", status.Running)
			}
			return err
		})
		return struct{}{}
	})
}

func neverAnswers(t *testing.T, s *stage) {
	r := s.greeted(t)
	r.execute(1, `try { await tools.s.t({}) } catch { return 1 }`, `"limits":{"wall_ms":300}`)
	_, call := r.call()
	cancel := r.until(func(m message) bool { return m.Method == "tools/cancel" })
	var c sandboxd.ToolCancel
	if err := json.Unmarshal(cancel.Params, &c); err != nil || c.Run != call.Run || c.N != 1 {
		t.Errorf("tools/cancel says %s, want run %s and call 1", cancel.Params, call.Run)
	}
	got := r.run("1")
	wantRun(t, got, sandboxd.OutcomeTimeout, "300 ms")
	wantCalls(t, got, sandboxd.CallUnknown)
}

func answersLate(t *testing.T, s *stage) {
	r := s.greeted(t)
	r.execute(1, `await tools.s.t({})`, `"limits":{"wall_ms":200}`)
	id, _ := r.call()
	got := r.run("1")
	wantRun(t, got, sandboxd.OutcomeTimeout, "200 ms")
	r.reply(id, pong)
	r.reply(id, `{"content":[{"type":"text","text":"`+strings.Repeat("x", 1<<20)+`"}]}`) // its memory must come back
	r.alive()
}

func disconnects(t *testing.T, s *stage) {
	r := s.greeted(t)
	r.execute(1, `await Promise.all([tools.s.a({}), tools.s.b({})])`)
	r.call()
	before := s.workers(t)
	r.conn.Close()
	daemon.Eventually(t, patience, func() error {
		for _, pid := range before {
			if daemon.Living(pid) == 0 {
				return nil // the one that ran it
			}
		}
		return fmt.Errorf("all of %v live", before)
	})
}

func halfCloses(t *testing.T, s *stage) {
	r := s.greeted(t)
	r.execute(1, `await tools.s.a({})`)
	r.call()
	if err := r.conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	r.closed()
}

func disconnectsComputing(t *testing.T, s *stage) {
	r := s.greeted(t)
	r.execute(1, `await tools.s.a({}); for (;;) {}`, `"limits":{"wall_ms":20000}`)
	id, _ := r.call()
	r.reply(id, pong)
	time.Sleep(30 * time.Millisecond)
	r.conn.Close()
	s.calm(t) // in far less than its limits
}

func cancelsOthers(t *testing.T, s *stage) {
	victim, attacker := s.greeted(t), s.greeted(t)
	victim.execute(1, `return await tools.s.t({})`, `"token":"mine"`)
	id, call := victim.call()
	for i, params := range []string{`{"run":"` + call.Run + `"}`, `{"token":"mine"}`} {
		attacker.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"cancel","params":%s}`, i, params))
		var r sandboxd.CancelResult
		if err := json.Unmarshal(attacker.result(fmt.Sprint(i)), &r); err != nil || r.Cancelled != 0 {
			t.Errorf("cancel %s of another's run: %+v %v", params, r, err)
		}
	}
	attacker.reply(id, `{"content":[{"type":"text","text":"forged"}]}`)
	victim.reply(id, pong)
	wantRun(t, victim.run("1"), sandboxd.OutcomeOK, "pong")
}

func cancelsTwice(t *testing.T, s *stage) {
	r := s.greeted(t)
	r.execute(1, `await tools.s.t({})`, `"token":"x"`)
	r.call()
	cancel := `{"jsonrpc":"2.0","id":%d,"method":"cancel","params":{"token":"x"}}` + "\n"
	r.write(fmt.Sprintf(cancel, 2) + fmt.Sprintf(cancel, 3))
	got := make(map[string]message)
	for len(got) < 3 {
		if m := r.read(); m.Method == "" {
			got[string(m.ID)] = m
		}
	}
	var result sandboxd.Result
	if err := json.Unmarshal(got["1"].Result, &result); err != nil {
		t.Fatal(err)
	}
	wantRun(t, result, sandboxd.OutcomeCancelled, "cancelled by the gateway")
	wantCalls(t, result, sandboxd.CallUnknown)
	if got["2"].Error != nil || got["3"].Error != nil {
		t.Errorf("answers to cancel: %s %s", sprint(got["2"]), sprint(got["3"]))
	}
}

// cancelsInLease cancels runs whose worker is being born for them.
func cancelsInLease(t *testing.T, s *stage) {
	r := s.greeted(t)
	for i := range 20 {
		r.execute(2*i+1, `return 1`, `"token":"x"`, `"limits":{"memory_bytes":100000000}`)
		time.Sleep(time.Duration(i) * 300 * time.Microsecond)
		r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"cancel","params":{"token":"x"}}`, 2*i+2))
		if got := r.run(fmt.Sprint(2*i + 1)); got.Outcome != sandboxd.OutcomeCancelled && got.Outcome != sandboxd.OutcomeOK {
			t.Errorf("ended as %s", sprint(got))
		}
	}
}

// afterTheEnd looks for calls that are dispatched after the answer.
func afterTheEnd(t *testing.T, s *stage) {
	r := s.greeted(t)
	r.execute(1, `for (let i = 0; i < 32; i++) tools.s.t({i}); return 1`)
	r.answer("1")
	for {
		m, err := r.next(200 * time.Millisecond)
		if err != nil {
			return
		}
		if m.Method == "tools/call" {
			t.Fatalf("dispatched after the answer: %s", sprint(m))
		}
	}
}

// deepValue is no attack of a gateway's, but on one: the answer must be one that it can read.
func deepValue(t *testing.T, s *stage) {
	c := s.Dial(t, honestGateway)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, depth := range []int{500, 520, 600, 990} {
		_, err := c.Execute(ctx, sandboxd.Program{Source: fmt.Sprintf(`let a = 1; for (let i = 0; i < %d; i++) a = [a]; return a`, depth)})
		if err != nil {
			t.Fatalf("a value of %d levels: %v", depth, err)
		}
	}
}

func deepArguments(t *testing.T, s *stage) {
	c := s.Dial(t, honestGateway)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, depth := range []int{500, 520, 600, 990} {
		r, err := c.Execute(ctx, sandboxd.Program{Source: fmt.Sprintf(`let a = 1; for (let i = 0; i < %d; i++) a = [a]; await tools.s.t({a}).catch(() => {}); return 1`, depth)})
		if err != nil || r.Outcome != sandboxd.OutcomeOK {
			t.Fatalf("arguments of %d levels: %s %v", depth, sprint(r), err)
		}
	}
}

// TestGatewayMemory holds as much of the common memory for long lines as connections can, and wants honest
// long lines to be taken all the same.
func TestGatewayMemory(t *testing.T) {
	t.Parallel()
	s := newStage(t, "gateways: {memory_bytes: 16777216}\n", "-")
	s.attack(t, "long lines that never end", func(t *testing.T) {
		for range 4 {
			r := s.greeted(t)
			r.write(`{"jsonrpc":"2.0","id":1,"method":"execute","params":{"source":"` + strings.Repeat("x", 1<<20))
			r.conn.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
			r.conn.Write([]byte(strings.Repeat("x", 6<<20))) // as much as the daemon takes
		}
		honest := s.greeted(t)
		honest.execute(1, `return input.length`, `"input":"`+strings.Repeat("x", 1<<20)+`"`)
		wantRun(t, honest.run("1"), sandboxd.OutcomeOK, "1048576")
	})
}

// TestGatewayQueued cancels a run that waits for its slot.
func TestGatewayQueued(t *testing.T) {
	t.Parallel()
	s := newStage(t, "runs: {at_once: 1, per_caller: 10, queue: 10, queue_wait: 5s}\n", "-")
	s.attack(t, "cancels a run in the queue", func(t *testing.T) {
		r := s.greeted(t)
		r.execute(1, `await tools.s.t({})`)
		id, _ := r.call()
		r.execute(2, `return 2`, `"token":"queued"`)
		time.Sleep(50 * time.Millisecond)
		r.send(`{"jsonrpc":"2.0","id":3,"method":"cancel","params":{"token":"queued"}}`)
		wantRun(t, r.run("2"), sandboxd.OutcomeCancelled, "cancelled")
		r.reply(id, pong)
		wantRun(t, r.run("1"), sandboxd.OutcomeOK, "")
	})
}

// TestGatewayBirths hangs up on runs for which a worker is being born, more often than the nursery has places for
// workers: each of them must be buried.
func TestGatewayBirths(t *testing.T) {
	t.Parallel()
	s := newStage(t, "runs: {at_once: 200, per_caller: 200}\n", "-")
	s.attack(t, "1200 births that nobody wants", func(t *testing.T) {
		r := s.greeted(t)
		most := 0
		const low = `"limits":{"memory_bytes":100000000}`
		for i := range 1200 {
			r.execute(2*i+1, `return 1`, `"token":"x"`, low)
			time.Sleep(time.Millisecond) // the order is with the nursery
			r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"cancel","params":{"token":"x"}}`, 2*i+2))
			if got := r.run(fmt.Sprint(2*i + 1)); got.Outcome != sandboxd.OutcomeCancelled && got.Outcome != sandboxd.OutcomeOK {
				t.Fatalf("birth %d ended as %s", i, sprint(got))
			}
			if i%20 == 0 {
				most = max(most, len(daemon.Descendants(s.PID)))
			}
		}
		if most > 30 {
			t.Errorf("%d processes at once, for runs one after the other on one connection", most)
		}
		daemon.Eventually(t, patience, func() error {
			if n := len(daemon.Descendants(s.PID)); n > 1+poolSize {
				return fmt.Errorf("%d processes", n)
			}
			return nil
		})
		r.execute(1, `return 1`, low)
		wantRun(t, r.run("1"), sandboxd.OutcomeOK, "1")
	})
}

// TestGatewayRefused connects as a user who is not allowed.
func TestGatewayRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 12345 {
		skip.Because(t, "this user is the allowed one: 12345")
	}
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\ncallers: {uids: [\"12345\"]}\n"})
	before := daemon.FDs(d.PID)
	for range 20 {
		c, err := sandboxd.Dial(context.Background(), d.Socket, honestGateway)
		if err == nil {
			c.Close()
			t.Fatal("a caller who is not allowed was served")
		}
		if want := fmt.Sprintf("user %d is not an allowed caller", os.Geteuid()); !strings.Contains(err.Error(), want) {
			t.Fatalf("refused with %q, want %q", err, want)
		}
	}
	daemon.Eventually(t, 5*time.Second, func() error {
		if after := daemon.FDs(d.PID); after > before+3 { // those of the one warm worker may come in between
			return fmt.Errorf("%d descriptors, %d before", after, before)
		}
		return nil
	})
}

// TestGatewayCrowd has more connections than are allowed.
func TestGatewayCrowd(t *testing.T) {
	t.Parallel()
	s := newStage(t, "gateways: {connections: 4}\n", "-")
	t.Run("fifth of four", func(t *testing.T) {
		for range 4 {
			s.greeted(t)
		}
		r := s.dial(t)
		r.refusal("null", codeRefused, "4 gateways are connected")
		r.closed()
	})
	s.calm(t)
	s.served(t)
}
