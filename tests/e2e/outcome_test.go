package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// ending is how a run is to end.
type ending struct {
	outcome sandboxd.Outcome
	message string // that the error's contains
	line    int    // 0: no position; -1: any
	column  int    // 0: any
	frame   string // that the line contains
	hint    string // that the hint contains; "": there is none, "*": any
}

func (want ending) check(t *testing.T, r *sandboxd.Result) {
	t.Helper()
	if r.Outcome != want.outcome {
		t.Fatalf("outcome %s, want %s: %v", r.Outcome, want.outcome, r.Error)
	}
	if r.Error == nil {
		if want.message != "" {
			t.Errorf("no error, want %q", want.message)
		}
		return
	}
	if !strings.Contains(r.Error.Message, want.message) {
		t.Errorf("message %q, want %q in it", r.Error.Message, want.message)
	}
	if want.line >= 0 && r.Error.Line != want.line || want.column != 0 && r.Error.Column != want.column {
		t.Errorf("at line %d, column %d, want %d, %d", r.Error.Line, r.Error.Column, want.line, want.column)
	}
	if !strings.Contains(r.Error.Frame, want.frame) || want.line == 0 && r.Error.Frame != "" {
		t.Errorf("frame %q, want %q in it", r.Error.Frame, want.frame)
	}
	if want.hint != "*" && (!strings.Contains(r.Error.Hint, want.hint) || want.hint == "" && r.Error.Hint != "") {
		t.Errorf("hint %q, want %q in it", r.Error.Hint, want.hint)
	}
}

func TestProgramsAtFault(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, c := range []struct {
		name, source string
		want         ending
	}{
		{"empty", " \n\t", ending{outcome: "invalid", message: "empty", hint: "async function"}},
		{"comments", "// nothing\n/* at all */", ending{outcome: "invalid", message: "empty", hint: "async function"}},
		{"NUL", "return \x001", ending{outcome: "invalid", message: "NUL", hint: "text"}},
		{"too long", "return 1 //" + strings.Repeat("x", 64<<10), ending{outcome: "invalid", message: "at most 65536", hint: "input"}},
		{"syntax", "const a = 1;\nlet b = a +;\nreturn b", ending{outcome: "error", message: "SyntaxError", line: 2, column: 12, frame: "let b = a +;"}},
		{"thrown", "const f = () => {\n  throw new TypeError(\"boom\")\n}\nf()", ending{outcome: "error", message: "TypeError: boom", line: 2, column: 9, frame: "boom"}},
		{"thrown after await", "await tools.t.echo({})\n  null.x", ending{outcome: "error", message: "TypeError", line: 2, frame: "null.x"}},
		{"thrown string", "throw \"boom\"", ending{outcome: "error", message: "threw 'boom', a string and not an Error"}},
		{"not defined", "return 1 + missing", ending{outcome: "error", message: "missing is not defined", line: 1, column: 12, frame: "missing"}},
		{"fetch", "return fetch('x')", ending{outcome: "error", message: "fetch is not defined", line: 1, frame: "fetch", hint: "no network"}},
		{"never settles", "await new Promise(() => {})", ending{outcome: "error", message: "can never settle", hint: "resolve"}},
		{"unknown server", "return await tools.x.y({})", ending{outcome: "error", message: "no server `x`; there are: t", line: 1, frame: "tools.x.y", hint: "Object.keys(tools)"}},
		{"recursion", "const f = () => 1 + f()\nf()", ending{outcome: "error", message: "too deeply nested", line: 1, frame: "f()", hint: "loop"}},
		{"tool error", "\nawait tools.t.fail({})", ending{outcome: "error", message: "ToolError: no such thing", line: 2, frame: "tools.t.fail"}},
		{"never awaited", "tools.t.fail({})\nawait tools.t.slow({MS: 100})\nreturn 'done'", ending{outcome: "error", message: "nothing awaited", line: 1, frame: "tools.t.fail", hint: "await"}},
		{"promise in the value", "return {a: tools.t.echo({})}", ending{outcome: "error", message: "await is missing", line: 1, frame: "tools.t.echo", hint: "await"}},
		{"BigInt", "return {a: [1n]}", ending{outcome: "error", message: "result.a[0] is a BigInt"}},
	} {
		t.Run(c.name, func(t *testing.T) { c.want.check(t, g.run(t, sandboxd.Program{Source: c.source})) })
	}
	g.serves(t)
}

// TestDenied: a name that a person could not read is refused by the daemon itself, and so by every policy.
func TestDenied(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, c := range []struct {
		name, source string
		want         ending
		value        string
	}{
		{"uncaught", "await tools.t.echo({})\nawait tools.t['ec\\u200bho']({})",
			ending{outcome: "denied", message: "ToolBlocked", line: 2, frame: "tools.t", hint: "*"}, "null"},
		{"caught", "await tools.t.echo({}); try { await tools.t['ec\\u200bho']({}) } catch (e) { return [e instanceof ToolBlocked, e.name, typeof e.rule, e.rule !== ''] }",
			ending{outcome: "ok"}, `[true,"ToolBlocked","string",true]`},
		{"thrown again in other words", "await tools.t.echo({}); try { await tools.t['ec\\u200bho']({}) } catch (e) { throw new Error('x', {cause: e}) }",
			ending{outcome: "error", message: "Error: x; cause: ToolBlocked", line: 1, frame: "throw", hint: "*"}, "null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := g.run(t, sandboxd.Program{Source: c.source})
			c.want.check(t, r)
			if string(r.Value) != c.value {
				t.Errorf("value %s, want %s", r.Value, c.value)
			}
			if len(r.Calls) != 2 || r.Calls[1].State != sandboxd.CallDenied || r.Calls[1].Decision != "deny" || r.Calls[1].Rule == "" {
				t.Errorf("calls %+v", r.Calls)
			}
			if got := len(g.asked(r.Run)); got != 1 {
				t.Errorf("%d calls reached the gateway, want the allowed one", got)
			}
		})
	}
	g.serves(t)
}

// TestLimits runs programs that do all they can to go on.
func TestLimits(t *testing.T) {
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	timeout := sandboxd.Limits{WallMS: 300}
	cpu := sandboxd.Limits{CPUMS: 200}
	memory := sandboxd.Limits{MemoryBytes: 48 << 20, CPUMS: 3000}
	for _, c := range []struct {
		name, body string
		limits     sandboxd.Limits
		deadline   time.Duration
		want       ending
	}{
		{"timeout in a tool", "await tools.t.hang({})", timeout, 300 * time.Millisecond,
			ending{outcome: "timeout", message: "300 ms", hint: "Promise.all"}},
		{"timeout in a timer", "await new Promise(r => setTimeout(r, 60000))", timeout, 300 * time.Millisecond,
			ending{outcome: "timeout", message: "300 ms", hint: "Promise.all"}},
		{"timeout in allSettled", "await Promise.allSettled([tools.t.hang({})])", timeout, 300 * time.Millisecond,
			ending{outcome: "timeout", message: "300 ms", hint: "Promise.all"}},
		{"timeout while it computes", "let n = 0; while (true) n++", sandboxd.Limits{WallMS: 300, CPUMS: 4000}, 300 * time.Millisecond,
			ending{outcome: "timeout", message: "300 ms", line: 3, frame: "while", hint: "Promise.all"}},
		{"cpu in a loop", "let n = 0; while (true) n++", cpu, 300 * time.Millisecond,
			ending{outcome: "cpu", message: "CPU time", line: 3, frame: "while", hint: "less work"}},
		{"cpu after a call", "await tools.t.echo({}); for (;;) {}", cpu, 300 * time.Millisecond,
			ending{outcome: "cpu", message: "CPU time", line: 3, frame: "for", hint: "less work"}},
		{"cpu in an empty loop", "while (true) {}", cpu, 300 * time.Millisecond,
			ending{outcome: "cpu", message: "CPU time", hint: "less work"}},
		{"cpu in microtasks", "let n = 0; for (;;) await n++", cpu, 300 * time.Millisecond,
			ending{outcome: "cpu", message: "CPU time", line: 3, frame: "await n++", hint: "less work"}},
		{"cpu in finally", "try { throw 1 } finally { for (;;) {} }", cpu, 300 * time.Millisecond,
			ending{outcome: "cpu", message: "CPU time", line: 3, frame: "for", hint: "less work"}},
		{"cpu in a regular expression", "/^(a+)+\\1$/.test('a'.repeat(40) + 'b')", cpu, 300 * time.Millisecond,
			ending{outcome: "cpu", message: "CPU time", line: 3, frame: ".test(", hint: "less work"}},
		{"memory in a list", "const a = []; for (;;) a.push(new Array(1000).fill(a.length))", memory, 10 * time.Second, // to fill it, on a busy machine
			ending{outcome: "memory", message: "48 MiB", line: 3, frame: "a.push", hint: "keep"}},
		{"memory in a string", "let s = 'x'; for (;;) s += s + 'y'", memory, 10 * time.Second,
			ending{outcome: "memory", message: "memory", line: -1, hint: "*"}}, // native code: the worker may die of it
		{"calls", "await Promise.all(Array.from({length: 40}, (_, i) => tools.t.echo({i})))", sandboxd.Limits{}, time.Second,
			ending{outcome: "calls", message: "the limit is 32", line: 3, frame: "tools.t.echo", hint: "fewer calls"}},
		{"calls one by one", "for (;;) await tools.t.echo({})", sandboxd.Limits{Calls: 3}, time.Second,
			ending{outcome: "calls", message: "the limit is 3", line: 3, frame: "tools.t.echo", hint: "fewer calls"}},
		{"output", "return 'x'.repeat(70000)", sandboxd.Limits{}, time.Second,
			ending{outcome: "output", message: "70002 bytes of JSON, the limit is 65536", hint: "return less"}},
		{"output from toJSON", "return {toJSON() { return 'x'.repeat(200) }}", sandboxd.Limits{OutputBytes: 100}, time.Second,
			ending{outcome: "output", message: "202 bytes of JSON, the limit is 100", hint: "return less"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			finally := "return 'finally'"
			if c.want.outcome == sandboxd.OutcomeOutput {
				finally = "" // it would be a small value instead of the large one
			}
			source := "try {\n  try {\n" + c.body + "\n} catch (e) { return 'caught ' + e }\n} finally {" + finally + "}"
			r := daemon.InTime(t, c.deadline+time.Second, func() *sandboxd.Result {
				return g.run(t, sandboxd.Program{Source: source, Limits: &c.limits})
			})
			c.want.check(t, r)
			g.serves(t)
		})
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config, message string
		profile               string
	}{
		{"all slots", "pool: {default: 1}\nruns: {at_once: 1, queue: 0}\n", "capacity: 1 runs at once", ""},
		{"the caller's slots", "pool: {default: 1}\nruns: {per_caller: 1}\n", "has 1 runs already", ""},
		{"the queue's patience", "pool: {default: 1}\nruns: {at_once: 1, queue: 5, queue_wait: 500ms}\n", "capacity: 1 runs at once, and 1 that wait", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := connect(t, daemon.Start(t, daemon.Options{Config: c.config}), nil, sandboxd.Options{})
			daemon.Eventually(t, 20*time.Second, func() error { return ready(g, 1) }) // who waits for a worker has the same patience
			first := make(chan *sandboxd.Result)
			go func() {
				r, err := g.Execute(t.Context(), sandboxd.Program{Source: "return await tools.t.slow({MS: 1500})"})
				if err != nil {
					t.Error(err)
				}
				first <- r
			}()
			daemon.Eventually(t, 5*time.Second, func() error { return g.working(1) })
			r := g.run(t, sandboxd.Program{Source: "return 1"})
			ending{outcome: "busy", message: c.message, hint: "later"}.check(t, r)
			if r.Error.RetryAfterMS <= 0 {
				t.Errorf("retry_after_ms is %d", r.Error.RetryAfterMS)
			}
			if r := <-first; r.Outcome != sandboxd.OutcomeOK {
				t.Errorf("the first run: %v", r.Error)
			}
			g.serves(t)
		})
	}
}

// TestDeniedLeavesRoom: calls that are refused, and caught, take nothing from those that come after them.
func TestDeniedLeavesRoom(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, source := range []string{
		`for (let i = 0; i < 6; i++) { try { await tools.t["a\u202e"]({}) } catch (e) {} } return (await tools.t.echo({ x: 1 })).x`,
		`await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => tools.t["a\u202e"]({}))); return (await tools.t.echo({ x: 1 })).x`,
	} {
		r := g.run(t, sandboxd.Program{Source: source, Limits: &sandboxd.Limits{WallMS: 5000}})
		if r.Outcome != sandboxd.OutcomeOK || string(r.Value) != "1" || len(r.Calls) != 7 {
			t.Errorf("outcome %s, value %s, error %v, %d calls", r.Outcome, r.Value, r.Error, len(r.Calls))
		}
	}
}

// TestCallsFromNativeCode goes over the limit on calls in one stretch of native code, which sees no interrupt.
func TestCallsFromNativeCode(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, source := range []string{
		"const all = []; for (let i = 0; i < 40; i++) all.push(Promise.resolve({}).then(tools.t.echo)); await Promise.all(all)",
		"for (let i = 0; i < 40; i++) setTimeout(tools.t.echo, 5); await new Promise(r => setTimeout(r, 500))",
	} {
		r := g.run(t, sandboxd.Program{Source: source})
		if r.Outcome != sandboxd.OutcomeCalls || len(r.Calls) != 33 {
			t.Errorf("outcome %s, error %v, %d calls listed", r.Outcome, r.Error, len(r.Calls))
		}
	}
}

// TestQueue has more runs than slots, and patience.
func TestQueue(t *testing.T) {
	t.Parallel()
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\nruns: {at_once: 1, queue: 9}\n"})
	g := connect(t, d, nil, sandboxd.Options{})
	results := make(chan *sandboxd.Result)
	for range 5 {
		go func() {
			r, err := g.Execute(t.Context(), sandboxd.Program{Source: "return await tools.t.slow({MS: 30})"})
			if err != nil {
				t.Error(err)
			}
			results <- r
		}()
	}
	waited := 0
	for range 5 {
		r := <-results
		if r == nil || r.Outcome != sandboxd.OutcomeOK {
			t.Fatalf("%+v", r)
		}
		checkResult(t, r)
		if r.Stats.QueueMS > 20 {
			waited++
		}
	}
	if waited < 4 {
		t.Errorf("%d of 5 runs waited in the queue, want 4", waited)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 2}\ndrain: 0s\n"})
	g := connect(t, d, nil, sandboxd.Options{})
	for _, c := range []struct {
		name, source string
	}{
		{"waiting", "try { await tools.t.hang({}) } finally { return 'finally' }"},
		{"computing", "await tools.t.echo({}); for (;;) try { for (;;) {} } catch {}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := g
			begun := func() error { return client.working(1) }
			canceller, cancel := contextWhen(t, begun)
			defer cancel()
			r := g.runWithin(t, canceller, sandboxd.Program{Source: c.source})
			ending{outcome: "cancelled", message: "cancelled by the gateway"}.check(t, r)
			g.serves(t)
			g.forget()
		})
	}
	t.Run("shutdown", func(t *testing.T) {
		results := make(chan *sandboxd.Result, 1)
		go func() {
			r, err := g.Execute(t.Context(), sandboxd.Program{Source: "await tools.t.hang({})"})
			if err != nil {
				t.Error(err)
			}
			results <- r
		}()
		daemon.Eventually(t, 5*time.Second, func() error { return g.working(1) })
		d.Signal(t, 15)
		r := <-results
		if r == nil {
			t.Fatal("no result")
		}
		ending{outcome: "cancelled", message: "shutting down"}.check(t, r)
		checkResult(t, r)
		wait(t, d.Exited(), "the daemon's end")
		if d.Exit() != 0 {
			t.Errorf("exit code %d", d.Exit())
		}
	})
}
