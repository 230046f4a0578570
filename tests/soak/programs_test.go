package soak_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/sandboxd/sandboxd"
)

// kind is one kind of run: what is sent, and how it must end.
type kind struct {
	name string
	run  func(ctx context.Context, g *gateway) error // an error: it ended in another way
}

// ends is a program that must end with an outcome and, if that is ok, a value.
func ends(name string, p sandboxd.Program, want sandboxd.Outcome, value string) kind {
	return kind{name, func(ctx context.Context, g *gateway) error {
		r, err := g.Execute(ctx, p)
		if err != nil {
			return err
		}
		if r.Outcome != want || want == sandboxd.OutcomeOK && string(r.Value) != value {
			return fmt.Errorf("ended as %s with %.100s, %v; want %s with %s", r.Outcome, r.Value, r.Error, want, value)
		}
		return complete(r)
	}}
}

// complete holds for every result, however it came about.
func complete(r *sandboxd.Result) error {
	for i, c := range r.Calls {
		switch c.State {
		case sandboxd.CallNotStarted, sandboxd.CallDenied, sandboxd.CallSucceeded, sandboxd.CallFailed, sandboxd.CallUnknown:
		default:
			return fmt.Errorf("call %d is in state %q", c.N, c.State)
		}
		if c.N != i+1 {
			return fmt.Errorf("call %d stands at place %d", c.N, i+1)
		}
	}
	return nil
}

func source(text string) sandboxd.Program { return sandboxd.Program{Source: text} }

// within is a program whose limits are lowered, so that what would go on for long ends soon.
func within(l sandboxd.Limits, text string) sandboxd.Program {
	return sandboxd.Program{Source: text, Limits: &l}
}

// honest are what models write, and what goes wrong with that on an ordinary day.
var honest = []kind{
	ends("a value", source(`return {a: [1, 2, 3], b: 'x'}`), sandboxd.OutcomeOK, `{"a":[1,2,3],"b":"x"}`),
	ends("a call", source(`return (await tools.s.echo({n: 1})).n`), sandboxd.OutcomeOK, "1"),
	ends("calls in order", source(`let sum = 0; for (let n = 1; n <= 5; n++) sum += (await tools.s.echo({n})).n; return sum`), sandboxd.OutcomeOK, "15"),
	ends("calls at once", source(`const all = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(n => tools.s.echo({n}))); return all.length`), sandboxd.OutcomeOK, "8"),
	ends("a listing", source(`const rows = await tools.s.rows({}); return rows.filter(r => r.n % 2).length`), sandboxd.OutcomeOK, "500"),
	ends("console", sandboxd.Program{
		Source: `for (let i = 0; i < 40; i++) console.log('line', i, {a: [i]}); console.error(new Error('x')); return 1`, Console: true, Progress: true,
	}, sandboxd.OutcomeOK, "1"),
	ends("thrown", source("const f = () => { throw new TypeError('boom') }\nf()"), sandboxd.OutcomeError, ""),
	ends("syntax", source("const a = 1;\nlet b = a +;"), sandboxd.OutcomeError, ""),
	ends("a failure, caught", source(`try { await tools.s.fail({}) } catch (e) { return e.name }`), sandboxd.OutcomeOK, `"ToolError"`),
	ends("a failure", source(`await tools.s.fail({})`), sandboxd.OutcomeError, ""),
	ends("a broken tool", source(`try { await tools.s.broken({}) } catch (e) { return e.name }`), sandboxd.OutcomeOK, `"ToolError"`),
	ends("never settles", source(`await new Promise(() => {})`), sandboxd.OutcomeError, ""),
	ends("timeout", within(sandboxd.Limits{WallMS: 30}, `await tools.s.hang({})`), sandboxd.OutcomeTimeout, ""),
	ends("empty", source("// nothing"), sandboxd.OutcomeInvalid, ""),
	ends("timers", source(`await new Promise(r => setTimeout(r, 5)); return 1`), sandboxd.OutcomeOK, "1"),
	ends("input and output", sandboxd.Program{
		Source: `return input.text.slice(0, 60000).length`, Input: json.RawMessage(`{"text":"` + strings.Repeat("x", 100_000) + `"}`),
	}, sandboxd.OutcomeOK, "60000"),
	ends("a worker of its own", sandboxd.Program{Source: `return 1`, Profile: "large"}, sandboxd.OutcomeOK, "1"),
	ends("a large result", source(`return (await tools.s.large({})).length`), sandboxd.OutcomeOK, fmt.Sprint(largeText)),
}

// hostile are programs and gateways that want harm, and gateways that are gone in the middle.
var hostile = []kind{
	ends("memory flood", within(sandboxd.Limits{MemoryBytes: 32 << 20}, `const a = []; for (;;) a.push(new Array(1000).fill(a.length))`), sandboxd.OutcomeMemory, ""),
	{"hang-up", hangUpOn(source(`await tools.s.hang({})`))},
	ends("spin", within(sandboxd.Limits{CPUMS: 50}, `for (;;) {}`), sandboxd.OutcomeCPU, ""),
	{"cancel", cancel},
	ends("recursion", source(`const f = () => 1 + f(); f()`), sandboxd.OutcomeError, ""),
	{"garbage", raw("hello\n{}\n[]\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"execute\"}\n")},
	ends("output flood", source(`return 'x'.repeat(10_000_000)`), sandboxd.OutcomeOutput, ""),
	{"cancel", cancel},
	ends("calls over the limit", source(`for (;;) await tools.s.echo({})`), sandboxd.OutcomeCalls, ""),
	{"half a line", raw(greeting + `{"jsonrpc":"2.0","id":1,"method":"execute","params":{"source":"` + strings.Repeat("x", 200_000))},
	ends("console flood", source(`for (let i = 0; i < 20000; i++) console.log('x'.repeat(100)); return 1`), sandboxd.OutcomeOK, "1"),
	{"hang-up", hangUpOn(source(`await tools.s.hang({})`))},
	ends("calls of 200 KB that nobody answers", within(sandboxd.Limits{WallMS: 60},
		`await Promise.all(Array.from({length: 12}, () => tools.s.hang({x: 'x'.repeat(200_000)})))`), sandboxd.OutcomeTimeout, ""),
	ends("expression without end", within(sandboxd.Limits{CPUMS: 50}, `return /(x+x+)+y\1/.test('x'.repeat(60))`), sandboxd.OutcomeCPU, ""),
	ends("answers that are none", source(`let n = 0; for (const t of ['nonsense', 'over', 'endless']) { try { await tools.s[t]({}) } catch { n++ } } return n`),
		sandboxd.OutcomeOK, "3"),
	{"runs that nobody waits for", raw(greeting + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"execute","params":{"source":"for (;;) await tools.s.hang({})"}}`+"\n", 3))},
}

const greeting = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocol_version":"1","client":{"name":"raw"},"servers":["s"]}}` + "\n"

// cancel ends a run at a moment that is not known beforehand: before, in, or after it.
func cancel(ctx context.Context, g *gateway) error {
	ctx, stop := context.WithCancel(ctx)
	defer time.AfterFunc(rand.N(15*time.Millisecond), stop).Stop()
	defer stop()
	r, err := g.Execute(ctx, source(`for (let n = 0; n < 30; n++) await tools.s.slow({}); return 1`))
	switch {
	case errors.Is(err, context.Canceled):
		return nil // before it began, or the machine is so slow that its last words came too late
	case err != nil:
		return err
	case r.Outcome != sandboxd.OutcomeCancelled:
		return fmt.Errorf("ended as %s, %v", r.Outcome, r.Error)
	}
	return complete(r)
}

// hangUpOn is a gateway that goes away while it has a program's call in its hands.
func hangUpOn(p sandboxd.Program) func(context.Context, *gateway) error {
	return func(ctx context.Context, g *gateway) error { return hangUp(ctx, g.socket, p) }
}

func hangUp(ctx context.Context, socket string, p sandboxd.Program) error {
	called := make(chan struct{}, 1)
	c, err := sandboxd.Dial(ctx, socket, sandboxd.Options{
		Name: "gone", Servers: []string{"s"},
		Tools: func(ctx context.Context, _ sandboxd.ToolCall) (json.RawMessage, error) {
			called <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.Execute(ctx, p)
		ended <- err
	}()
	select {
	case <-called:
	case err := <-ended:
		return fmt.Errorf("the run ended before its call: %v", err)
	}
	if err := c.Close(); err != nil {
		return err
	}
	if err := <-ended; err == nil {
		return errors.New("a result came over a connection that is closed")
	}
	return nil
}

// raw is a gateway that sends bytes, reads what comes at once, and goes away.
func raw(text string) func(context.Context, *gateway) error {
	return func(ctx context.Context, g *gateway) error {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unix", g.socket)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, text); err != nil {
			return err
		}
		_, err = conn.Read(make([]byte, 1<<10))
		return err
	}
}

const largeText = 2 << 20

// answers are the results of the tools of server "s" that need no thought.
var answers = map[string]json.RawMessage{
	"rows":     rows(),
	"large":    json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("y", largeText) + `"}]}`),
	"fail":     json.RawMessage(`{"content":[{"type":"text","text":"no such thing"}],"isError":true}`),
	"nonsense": json.RawMessage(`{"answer":42}`),
	"over":     json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("y", 5<<20) + `"}]}`), // over limits.result_bytes
	"endless":  json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("y", 9<<20) + `"}]}`), // over the length of a line
}

func rows() json.RawMessage {
	var all []string
	for n := range 1000 {
		all = append(all, fmt.Sprintf(`{"n":%d,"title":"a title of some words","labels":["bug","open"],"body":"%s"}`, n, strings.Repeat("text ", 30)))
	}
	quoted, err := json.Marshal("[" + strings.Join(all, ",") + "]")
	if err != nil {
		panic(err) // a string always can be
	}
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, quoted)
}

// perform is the gateway's tool handler.
func perform(ctx context.Context, c sandboxd.ToolCall) (json.RawMessage, error) {
	switch c.Tool {
	case "echo":
		return fmt.Appendf(nil, `{"content":[],"structuredContent":%s}`, c.Arguments), nil
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "slow":
		select {
		case <-time.After(time.Millisecond):
			return json.RawMessage(`{"content":[]}`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if answer, ok := answers[c.Tool]; ok {
		return answer, nil
	}
	return nil, errors.New("the backend is down")
}
