package js_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/js"
)

// Programs that never end, in every form that a program could try to catch the limit with.
func TestSpinning(t *testing.T) {
	for _, text := range []string{
		"for (;;);",
		"while (true) {}",
		"const f = () => { for (;;); }; f()",
		"try { for (;;); } catch {} finally { for (;;); }",
		"for (;;) try { for (;;); } catch {} finally { continue }",
		"await null; for (;;);",
		"await tools.a.x(); for (;;);",
		"const f = () => Promise.resolve().then(f); await f()",
		"for (;;) await null",
		"new Promise(() => { for (;;); })",
		"await Promise.resolve().then(() => { for (;;); })",
		"await Promise.reject(1).catch(() => { for (;;); })",
		"await { then() { for (;;); } }",
		"function* g() { for (;;) yield 1 } for (const x of g());",
		"function* g() { try { for (;;) yield 1 } finally { for (;;); } } for (const x of g());",
		"new Proxy({}, { get() { for (;;); } }).x",
		"({ get x() { for (;;); } }).x",
		"`${{ toString() { for (;;); } }}`",
		"[3, 1, 2].sort(() => { for (;;); })",
		"JSON.stringify({ toJSON() { for (;;); } })",
		"return { toJSON() { for (;;); } }",
		"return { get x() { for (;;); } }",
		"return new Proxy({}, { ownKeys() { for (;;); } })",
		"const e = new Error('x'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e",
		"throw Object.defineProperty(new Error('x'), 'stack', { get() { for (;;); } })",
		"class A { static x = (() => { for (;;); })() }",
		"eval('for (;;);')",
		"new Function('for (;;);')()",
		"await tools.a.x({ get q() { for (;;); } })",
		"setTimeout(() => { for (;;); }, 1); await new Promise(() => {})",
		"queueMicrotask(() => { for (;;); }); await new Promise(() => {})",
		"setInterval(() => {}, 0); Promise.resolve().then(function f() { return Promise.resolve().then(f) }); await new Promise(() => {})",
		"label: for (;;) { try { continue label } finally { continue label } }",
		"const o = { [Symbol.iterator]: () => ({ next: () => ({ done: false }), return() { for (;;); } }) }; for (const x of o) { for (;;); }",
		"for (const x of [1]) { try { throw 1 } catch { for (;;); } }",
		"'x'.replace(/x/g, () => { for (;;); })",
		"Array.from({ length: 1e9 }, () => { for (;;); })",
		"structuredClone({ get x() { for (;;); } })",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			out, _ := run(t, js.Program{Source: text, Limits: js.Limits{CPU: 30 * time.Millisecond}}, nil)
			if out.Kind != js.KindCPU || out.Error.Hint == "" {
				t.Error(brief(out))
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestMemory(t *testing.T) {
	live := "let a = []; for (;;) a.push({ x: [1, 2, 3], s: String(a.length) })"
	for _, c := range []struct{ name, text, want string }{
		{"objects", live, js.KindMemory},
		{"in catch", "try { " + live + " } catch {} finally { for (;;); }", js.KindMemory},
		{"typed arrays", "const a = []; for (let i = 0; i < 500; i++) a.push(new Uint8Array(5e5).fill(1))", js.KindMemory},
		{"a doubling string", "let s = 'xxxxxxxx'; for (;;) s += s", js.KindMemory},
		{"closures", "let f = () => 0; for (;;) { const g = f; const x = Array(100).fill(0); f = () => g(x) }", js.KindMemory},
		{"a map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, 'v' + i)", js.KindMemory},
		{"promises", "const p = []; for (;;) p.push(new Promise(() => {}))", js.KindMemory},
		{"garbage is not memory", "for (let i = 0; i < 400; i++) new Uint8Array(1e6).fill(1); return 1", js.KindOK},
		{"small garbage is not memory", "let n = 0; for (let i = 0; i < 1e6; i++) n += [i, i].length; return n", js.KindOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			how, kind, _ := inChild(t, js.Program{Source: c.text, Limits: js.Limits{CPU: 10 * time.Second, MemoryBytes: 64 << 20}})
			if got, _, _ := strings.Cut(kind, " "); got != c.want {
				t.Errorf("%s %s", how, kind)
			}
		})
	}
}

func TestBigInputFits(t *testing.T) {
	body := `[` + strings.Repeat(`{"id":1234567,"name":"some name","tags":["a","b"],"ok":true},`, 100_000) + `1]` // 6 MB
	out, _ := run(t, js.Program{Source: "return (await tools.a.x()).length"}, func(js.Call) js.Answer {
		return js.Answer{Form: js.Auto, Body: []byte(body)}
	})
	if brief(out) != "ok 100001" {
		t.Error(brief(out))
	}
}

// Native code has no instruction to be interrupted at: the process is given up.
func TestNativeLoops(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"join", "Array(2 ** 32 - 1).join()"},
		{"indexOf", "const a = []; a.length = 2 ** 32 - 1; a.indexOf(1)"},
		{"sort", "Array.from({ length: 3e6 }, (_, i) => (i * 7919) % 1e6 + '').sort()"},
		{"regexp", "/^(?=a)(a+)+$/.test('a'.repeat(40) + '!')"},
		{"BigInt", "2n ** (2n ** 31n)"},
		{"BigInt digits", "let n = 3n; for (let i = 0; i < 25; i++) n *= n; String(n)"},
		{"fill", "Array(1e9).fill(0)"},
		{"lastIndexOf", "Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)"},
		{"normalize", "for (;;) 'é'.repeat(2e7).normalize('NFD')"},
		{"split", "for (;;) 'ab'.repeat(5e6).split('')"},
	} {
		t.Run(c.name, func(t *testing.T) {
			how, kind, took := inChild(t, js.Program{Source: c.text, Limits: js.Limits{CPU: 100 * time.Millisecond, MemoryBytes: 256 << 20}})
			kind, _, _ = strings.Cut(kind, " ")
			if kind != js.KindCPU && kind != js.KindMemory || took > 30*time.Second {
				t.Errorf("%s %s after %v", how, kind, took)
			}
			t.Logf("%s %s after %v", how, kind, took)
		})
	}
}

// Parsers are held to the limits as programs are.
func TestSlowToParse(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"comparisons that may be types", "const a: number = " + strings.Repeat("a<", 5000) + "c"},
		{"infer", "type T = " + strings.Repeat("(infer U extends ", 30) + "D"},
	} {
		t.Run(c.name, func(t *testing.T) {
			how, kind, took := inChild(t, js.Program{Source: c.text, Limits: js.Limits{CPU: 100 * time.Millisecond, MemoryBytes: 256 << 20}})
			if kind, _, _ = strings.Cut(kind, " "); kind != js.KindCPU || took > 30*time.Second {
				t.Errorf("%s %s after %v", how, kind, took)
			}
		})
	}
}

func TestStop(t *testing.T) {
	for _, text := range []string{"for (;;);", "await new Promise(r => setTimeout(r, 1e6))", "await tools.a.never()", "for (;;) await null",
		"try { await tools.a.never() } finally { for (;;); }"} {
		t.Run(text, func(t *testing.T) {
			e := js.New(js.Options{})
			time.AfterFunc(20*time.Millisecond, func() { e.Stop("timeout", "ran longer than 20ms"); e.Stop("cancelled", "second") })
			out := ended(e, js.Program{Source: text, Servers: []string{"a"}}, js.Host{Calls: func([]js.Call) {}})
			if out.Kind != "timeout" || out.Error.Message != "ran longer than 20ms" {
				t.Error(brief(out))
			}
		})
	}
}

func TestStopBeforeRun(t *testing.T) {
	e := js.New(js.Options{})
	e.Stop("cancelled", "gone")
	if out := e.Run(js.Program{Source: "return 1"}, js.Host{}); out.Kind != "cancelled" {
		t.Error(brief(out))
	}
}

func TestRunsOnce(t *testing.T) {
	e := js.New(js.Options{})
	e.Run(js.Program{Source: "return 1"}, js.Host{})
	if out := e.Run(js.Program{Source: "return 2"}, js.Host{}); out.Kind != js.KindCrash {
		t.Error(brief(out))
	}
}

// Where an interrupted program was.
func TestInterruptedAt(t *testing.T) {
	var out js.Outcome
	for range 5 { // on a busy machine it may not stop within its grace, and has no place then
		out, _ = run(t, js.Program{Source: "let n = 0;\nfunction spin() {\n  for (;;) Math.max(n++, 1);\n}\nspin();", Limits: js.Limits{CPU: 20 * time.Millisecond}}, nil)
		if out.Kind == js.KindCPU && out.Error.Line == 3 {
			return
		}
	}
	t.Error(brief(out))
}
