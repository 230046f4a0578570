package js_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

const (
	notSent = " was not awaited; it was not sent"
	unknown = " was not awaited; its outcome is unknown"
)

// What the program does not see itself: calls and rejections that nothing awaited, promises that nothing settles.
func TestNotAwaited(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"fire and forget", "tools.a.write({})\nreturn 1", "error 1:14 the program returned while the call tools.a.write (line 1)" + notSent},
		{"in forEach", "[1, 2].forEach(async n => { await tools.a.write({ n }) })\nreturn 'done'", "error 1:48 the program returned while the call tools.a.write (line 1)" + notSent},
		{"with a catch of its own", "tools.a.write().catch(() => {}); return 1", "error 1:14 the program returned while the call tools.a.write (line 1)" + notSent},
		{"made by a getter of the result", "return { get a() { tools.a.write(); return 1 } }", "error 1:33 the program returned while the call tools.a.write (line 1)" + notSent},
		{"in flight", "tools.a.slow()\nawait tools.a.ok()\nreturn 1", "error 1:13 the program returned while the call tools.a.slow (line 1)" + unknown},
		{"in flight, in a helper", "const f = async () => { await tools.a.slow() }\nf(); await tools.a.ok()", "error 1:43 the program returned while the call tools.a.slow (line 1)" + unknown},
		{"loser of a race", "return await Promise.race([tools.a.slow(), tools.a.ok()])", "ok 1"},
		{"race lost before it began", "return await Promise.race([tools.a.slow(), 1])", "error 1:40 the program returned while the call tools.a.slow (line 1)" + notSent},
		{"failed, not awaited", "tools.a.fail(); await tools.a.ok(); return 'done'", "error 1:13 a promise that nothing awaited was rejected: ToolError: no"},
		{"blocked, not awaited", "tools.a.block(); await tools.a.ok(); return 'done'", "denied 1:14 a promise that nothing awaited was rejected: ToolBlocked: tools.a.block was refused: why"},
		{"rejected helper", "(async () => { throw new Error('x') })(); return 1", "error 1:22 a promise that nothing awaited was rejected: Error: x"},
		{"Promise.reject", "Promise.reject(7); return 1", "error 0:0 a promise that nothing awaited was rejected: threw 7, a number and not an Error"},
		{"handled later", "const p = Promise.reject(new Error('x')); await tools.a.ok(); try { await p } catch { return 'late' }", `ok "late"`},
		{"handled by allSettled", "return (await Promise.allSettled([tools.a.fail(), tools.a.ok()])).map(r => r.status)", `ok ["rejected","fulfilled"]`},
		{"one of many fails", "await Promise.all([tools.a.ok(), tools.a.fail(), tools.a.fail()])", "error 1:46 ToolError: no"},
		{"main's own error comes first", "Promise.reject(new Error('x')); throw new Error('y')", "error 1:39 Error: y"},
		{"microtask throws", "queueMicrotask(() => { throw new Error('x') }); await tools.a.ok(); return 1", "error 1:30 a promise that nothing awaited was rejected: Error: x"},
		{"timer throws", "setTimeout(() => { throw new Error('x') }, 1); await new Promise(r => setTimeout(r, 100))", "error 1:26 Error: x"},
		{"never settles", "await new Promise(() => {})", neverSettles},
		{"never settles, after a call", "await tools.a.ok(); await new Promise(() => {})", neverSettles},
		{"never settles, a thenable", "await { then() {} }", neverSettles},
		{"never settles, all", "await Promise.allSettled([new Promise(() => {})])", neverSettles},
		{"microtasks drain before the end", "let x = 0; Promise.resolve().then(() => { x = 1 }); await null; await null; return x", "ok 1"},
		{"a timer is left at the end", "setTimeout(() => {}, 1e6); setInterval(() => {}, 1e6); return 1", "ok 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := run(t, js.Program{Source: c.text}, func(call js.Call) js.Answer {
				switch call.Tool {
				case "slow":
					return js.Answer{ID: -1}
				case "fail":
					return js.Answer{Form: js.Failed, Body: []byte("no")}
				case "block":
					return js.Answer{Form: js.Blocked, Reason: "why"}
				}
				return js.Answer{Form: js.JSON, Body: []byte("1")}
			})
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const neverSettles = "error 0:0 can never settle: the program awaits a promise, and no call or timer is left that could settle it"

// Every call is told, whatever the ending.
func TestCallsLeftBehind(t *testing.T) {
	out, h := run(t, js.Program{Source: "await tools.a.x(); tools.a.y(); await tools.a.z(); tools.b.w(); return 1"}, func(call js.Call) js.Answer {
		if call.Tool == "y" {
			return js.Answer{ID: -1}
		}
		return js.Answer{Form: js.JSON, Body: []byte("1")}
	})
	if diff := cmp.Diff([]js.Call{{ID: 4, Server: "b", Tool: "w"}}, out.Unsent); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]js.Call{{ID: 2, Server: "a", Tool: "y"}}, out.Pending); diff != "" {
		t.Error(diff)
	}
	if len(h.calls) != 3 {
		t.Errorf("sent %v", h.calls)
	}
}

func TestTimers(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"order", "const o = []; setTimeout(() => o.push('b'), 10); setTimeout(() => o.push('a'), 1); setTimeout(() => o.push('c'), 10); await new Promise(r => setTimeout(r, 20)); return o.join('')", `ok "abc"`},
		{"arguments", "return await new Promise(r => setTimeout((a, b) => r(a + b), 1, 2, 3))", "ok 5"},
		{"default delay", "return await new Promise(r => setTimeout(r, undefined, 'x'))", `ok "x"`},
		{"clear", "let n = 0; clearTimeout(setTimeout(() => n++, 1)); clearTimeout(undefined); await new Promise(r => setTimeout(r, 5)); return n", "ok 0"},
		{"interval", "let n = 0; return await new Promise(r => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); r(n) } }, 1) })", "ok 3"},
		{"not a function", "setTimeout('x', 1)", "error 1:11 TypeError: setTimeout takes a function, it was given a string"},
		{"queueMicrotask", "const o = []; queueMicrotask(() => o.push(1)); o.push(0); await null; return o", "ok [0,1]"},
		{"the clock goes on", "const t = Date.now(); await new Promise(r => setTimeout(r, 30)); return Date.now() - t >= 29", "ok true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStructuredClone(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"deep", "const a = { x: [1, { y: null }] }, b = structuredClone(a); b.x[1].y = 2; return [a, b]", `ok [{"x":[1,{"y":null}]},{"x":[1,{"y":2}]}]`},
		{"cycle", "const a = {}; a.a = a; const b = structuredClone(a); return b.a === b && b !== a", "ok true"},
		{"shared", "const s = {}, b = structuredClone([s, s]); return b[0] === b[1]", "ok true"},
		{"collections", "const b = structuredClone(new Map([['k', new Set([1])]])); return [b instanceof Map, b.get('k') instanceof Set, b]", `ok [true,true,{"k":[1]}]`},
		{"date, regexp, error", "const [d, r, e] = structuredClone([new Date(5), /a/gi, new RangeError('x')]); return [+d, String(r), e instanceof RangeError, e.message]", `ok [5,"/a/gi",true,"x"]`},
		{"typed arrays", "const a = new Uint8Array([1, 2]), b = structuredClone(a); a[0] = 9; return [b, b.constructor.name, structuredClone(new ArrayBuffer(4)).byteLength]", `ok [[1,2],"Uint8Array",4]`},
		{"holes", "const b = structuredClone([1, , 3]); return [b.length, 1 in b]", "ok [3,false]"},
		{"primitives", "return [structuredClone('x'), structuredClone(null), String(structuredClone(1n))]", `ok ["x",null,"1"]`},
		{"prototype is lost", "class A { x = 1 }; const b = structuredClone(new A()); return [b.constructor === Object, b]", `ok [true,{"x":1}]`},
		{"function", "structuredClone({ f() {} })", "error 1:16 DataCloneError: a function can't be cloned"},
		{"tools", "structuredClone(tools)", "error 1:16 DataCloneError: a part of `tools` can't be cloned"},
		{"deep", "let a = []; for (let i = 0; i < 5000; i++) a = [a]; try { structuredClone(a) } catch (e) { return e.name }", `ok "RangeError"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRepeatable: the same seed and time, the same answer.
func TestRepeatable(t *testing.T) {
	text := "return [Math.random(), Date.now(), new Date().toISOString(), new Date(2020, 0, 1).toISOString(), Object.getOwnPropertyNames(globalThis).join()]"
	one := func(seed int64) string {
		out, _ := run(t, js.Program{Source: text, Seed: seed, Now: time.UnixMilli(1e12), Still: true}, nil)
		return brief(out)
	}
	first, again, other := one(1), one(1), one(1<<53-1)
	if first != again || first == other {
		t.Error(first, again, other)
	}
	if !strings.Contains(first, `,1000000000000,"2001-09-09T01:46:40.000Z","2020-01-01T00:00:00.000Z",`) {
		t.Error(first)
	}
}

// TestStillClock: what moves a clock that stands still.
func TestStillClock(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"by itself", "let n = 0; for (let i = 0; i < 1e6; i++) n += i; return Date.now() - 1e12", "ok 0"},
		{"while a tool works", "const t = Date.now(); await tools.a.slow(); return Date.now() - t", "ok 0"},
		{"a timer", "await new Promise(r => setTimeout(r, 30)); return [Date.now(), +new Date()].map(t => t - 1e12)", "ok [30,30]"},
		{"a loop that waits", "for (const end = Date.now() + 2000; Date.now() < end; ); return Date.now() - 1e12", "ok 2000"},
		{"timers, by its time", "const o = []; setTimeout(() => o.push('b'), 40); for (let i = 0; i < 3e6; i++); setTimeout(() => o.push('a'), 20); await new Promise(r => setTimeout(r, 50)); return o.join('')", `ok "ab"`},
		{"timers of one moment", "const o = []; for (const n of [3, 1, 2]) setTimeout(() => o.push(n), 5); await new Promise(r => setTimeout(r, 5)); return o", "ok [3,1,2]"},
		{"an interval", "const o = []; await new Promise(r => { const id = setInterval(() => { o.push(Date.now() - 1e12); if (o.length === 3) { clearInterval(id); r() } }, 7) }); return o", "ok [7,14,21]"},
		{"a callback that takes long", "setTimeout(() => { for (const end = Date.now() + 100; Date.now() < end; ); }, 5); await new Promise(r => setTimeout(r, 10)); return Date.now() - 1e12", "ok 105"},
		{"console.time", "console.time('x'); await tools.a.slow(); console.timeEnd('x'); return 1", "ok 1"},
		{"Date without new", "return Date()", `ok "Sun Sep 09 2001 01:46:40 GMT+0000 (Coordinated Universal Time)"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, h := run(t, js.Program{Source: c.text, Now: time.UnixMilli(1e12), Still: true, Limits: js.Limits{CPU: time.Minute}}, func(js.Call) js.Answer {
				time.Sleep(5 * time.Millisecond)
				return js.Answer{Form: js.JSON, Body: []byte("1")}
			})
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
			if c.name == "console.time" && logged(h.lines) != "log|x: 0.010ms" {
				t.Error(logged(h.lines))
			}
		})
	}
}
