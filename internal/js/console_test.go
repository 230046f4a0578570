package js_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

func TestConsole(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"levels", "console.log(1); console.info(2); console.warn(3); console.error(4); console.debug(5)", "log|1\ninfo|2\nwarn|3\nerror|4\ndebug|5"},
		{"strings are bare", "console.log('a', 'b\\nc')", "log|a b\nc"},
		{"values", "console.log(1, -0, 1n, true, null, undefined, Symbol('s'))", "log|1 0 1n true null undefined Symbol(s)"},
		{"nested strings", `console.log(['a', "it's", 'say "x"', 'n\n'])`, `log|[ 'a', "it's", 'say "x"', 'n\n' ]`},
		{"object", "console.log({ a: 1, 'b-c': { d: [] }, e() {} })", "log|{ a: 1, 'b-c': { d: [] }, e: [Function: e] }"},
		{"instance", "class P { x = 1 }; console.log(new P(), Object.create(null))", "log|P { x: 1 } [Object: null prototype] {}"},
		{"depth", "console.log({ a: { b: { c: { d: { e: { f: 1 } } } } } })", "log|{ a: { b: { c: { d: { e: [Object] } } } } }"},
		{"circular", "const o = { a: 1 }; o.o = o; console.log(o)", "log|{ a: 1, o: [Circular] }"},
		{"getter is not run", "console.log({ get a() { for (;;); } })", "log|{ a: [Getter] }"},
		{"toString is not run", "console.log({ toString() { for (;;); } })", "log|{ toString: [Function: toString] }"},
		{"proxy is not asked", "console.log(new Proxy({}, { ownKeys() { for (;;); } }))", "log|[Proxy]"},
		{"collections", "console.log(new Map([['a', { b: 1 }]]), new Set([1]), new WeakMap())", "log|Map(1) { 'a' => { b: 1 } } Set(1) { 1 } WeakMap {}"},
		{"promise", "console.log(Promise.resolve(1), new Promise(() => {}))", "log|Promise { <fulfilled> } Promise { <pending> }"},
		{"date, regexp, error", "console.log(new Date(0), /a/g, new TypeError('bad'), [new Date(NaN)])", "log|1970-01-01T00:00:00.000Z /a/g TypeError: bad [ Invalid Date ]"},
		{"typed array", "console.log(new Uint8Array([1, 2]), new ArrayBuffer(3))", "log|Uint8Array [ 1, 2 ] ArrayBuffer { 3 bytes }"},
		{"holes", "console.log([1, , 3])", "log|[ 1, <empty>, 3 ]"},
		{"many items", "console.log(Array(1000).fill(0).length, Array(103).fill(1))", "log|1000 [ " + strings.Repeat("1, ", 100) + "… 3 more ]"},
		{"tools", "console.log(tools)", "log|[tools: a, b]"},
		{"format", "console.log('%s is %d and %i, %j%%', 'x', 1.5, 2, { a: 1 }, 'rest')", "log|x is 1.5 and 2, { a: 1 }% rest"},
		{"format, nothing to fill", "console.log('100%', '%s')", "log|100% %s"},
		{"assert", "console.assert(1, 'no'); console.assert(0, 'yes', 1)", "error|Assertion failed: yes 1"},
		{"group", "console.group('g'); console.log('a\\nb'); console.groupEnd(); console.log('c')", "log|g\nlog|  a\n  b\nlog|c"},
		{"count", "console.count(); console.count('x'); console.count(); console.countReset(); console.count()", "log|default: 1\nlog|x: 1\nlog|default: 2\nlog|default: 1"},
		{"table", "console.table([{ a: 1, b: 'x' }, { a: 22 }])", "log|(index)  a   b\n0        1   'x'\n1        22"},
		{"table of plain values", "console.table(['x', 2])", "log|(index)  Values\n0        'x'\n1        2"},
		{"dir and trace", "console.dir({ a: 1 }, {}); console.trace('t')", "log|{ a: 1 }\ndebug|Trace: t"},
		{"destructured", "const { log } = console; log('x')", "log|x"},
		{"nothing", "console.log()", "log|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, h := source(t, c.text)
			if out.Kind != "ok" {
				t.Fatal(brief(out))
			}
			if diff := cmp.Diff(c.want, logged(h.lines)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConsoleLimit(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		lines            int
		bytes            int64
	}{
		{"within", "console.log('x'.repeat(99))", "log|" + strings.Repeat("x", 99), 0, 0},
		{"cut", "console.log('x'.repeat(120)); console.log('y')", "log|" + strings.Repeat("x", 96) + "…", 1, 24 + 2},
		{"cut at a rune", "console.log('é'.repeat(60))", "log|" + strings.Repeat("é", 48) + "…", 0, 24},
		{"empty lines count", "for (let i = 0; i < 150; i++) console.log('')", strings.Repeat("log|\n", 99) + "log|", 50, 50},
		{"a flood", "for (let i = 0; i < 1e4; i++) console.log('xxxxxxxxx')", strings.Repeat("log|xxxxxxxxx\n", 9) + "log|xxxxxxxxx", 9990, 99900},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, h := run(t, js.Program{Source: c.text, Limits: js.Limits{ConsoleBytes: 100}}, nil)
			if out.Kind != "ok" {
				t.Fatal(brief(out))
			}
			if diff := cmp.Diff(c.want, logged(h.lines)); diff != "" {
				t.Error(diff)
			}
			if out.DroppedLines != c.lines || out.DroppedBytes != c.bytes {
				t.Errorf("dropped %d lines, %d bytes; want %d, %d", out.DroppedLines, out.DroppedBytes, c.lines, c.bytes)
			}
		})
	}
}

// What was logged before an ending of any kind is told, in order, and while a long computation still runs.
func TestConsoleIsHandedOver(t *testing.T) {
	var early atomic.Int64
	out := ended(js.New(js.Options{}), js.Program{
		Source: "console.log(1); for (const end = Date.now() + 150; Date.now() < end; ); console.log(2); for (;;);",
		Limits: js.Limits{CPU: 300 * time.Millisecond},
	}, js.Host{Console: func(lines []js.Line) { early.Add(int64(len(lines))) }})
	if out.Kind != js.KindCPU || early.Load() != 2 || len(out.Lines) != 0 {
		t.Errorf("%s: %d lines early, %d at the end", brief(out), early.Load(), len(out.Lines))
	}
}
