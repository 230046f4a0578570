package js_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// Reasonable recursion runs; endless recursion is an error, whatever carries it. "died" is Go's own stack bound,
// where goja does not count: the process ends with a reason on stderr.
func TestRecursion(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a deep tree", "const f = n => n ? 1 + f(n - 1) : 0; return f(1900)", "ended ok"},
		{"a deep tree, by map", "const f = n => n ? [0].map(() => f(n - 1))[0] + 1 : 0; return f(600)", "ended ok"},
		{"a deep await", "const f = async n => n ? 1 + await f(n - 1) : 0; return await f(900)", "ended ok"},
		{"functions", "const f = () => f(); f()", "ended error"},
		{"mutual", "const f = () => g() + 1, g = () => f() + 1; f()", "ended error"},
		{"caught", "const f = () => { try { f() } catch { } finally { f() } }; f()", "ended error"},
		{"getters", "const o = { get x() { return this.x } }; o.x", "ended error"},
		{"setters", "const o = { set x(v) { this.x = v } }; o.x = 1", "ended error"},
		{"toString", "const o = { toString() { return `${o}` } }; `${o}`", "ended error"},
		{"valueOf", "const o = { valueOf() { return +o } }; +o", "ended error"},
		{"proxy", "const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x", "ended error"},
		{"proxy of proxies", "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x", "any"},
		{"sort", "const f = () => [2, 1].sort(f); f()", "ended error"},
		{"map", "const f = () => [1].map(f); f()", "ended error"},
		{"reduce", "const f = () => [1, 2].reduce(f); f()", "ended error"},
		{"replace", "const f = () => 'a'.replace('a', f); f()", "ended error"},
		{"replace by regexp", "const f = () => 'a'.replace(/a/g, f); f()", "ended error"},
		{"toJSON", "const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)", "ended error"},
		{"toJSON of the result", "return { toJSON() { return { a: { toJSON: this.toJSON } } } }", "ended error"},
		{"reviver", "const f = () => JSON.parse('[1]', f); f()", "ended error"},
		{"generators", "function* g() { yield* g() } [...g()]", "any error"},
		{"iterators", "const o = { [Symbol.iterator]() { return [...o] } }; [...o]", "ended error"},
		{"constructors", "class A { constructor() { new A() } } new A()", "ended error"},
		{"class fields", "class A { x = new A() } new A()", "ended error"},
		{"bind", "let f = () => f(); f = f.bind(); f()", "ended error"},
		{"deep bind", "let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(); f()", "any"},
		{"apply", "const f = () => f.apply(); f()", "ended error"},
		{"Reflect", "const f = () => Reflect.apply(f, null, []); f()", "ended error"},
		{"hasInstance", "const o = { [Symbol.hasInstance]() { return 1 instanceof o } }; 1 instanceof o", "ended error"},
		{"eval", "const f = () => eval('f()'); f()", "ended error"},
		{"template tags", "const f = () => f``; f()", "ended error"},
		{"async functions", "const f = async () => { await f() }; await f()", "ended error"},
		{"then", "const o = { then(r) { r(o) } }; await o", "ended cpu"},
		{"default arguments", "const f = (x = f()) => x; f()", "ended error"},
		{"JSON text", "JSON.parse('['.repeat(1e6))", "ended error"},
		{"stringify", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)", "any"},
		{"flat", "const a = []; a.push(a); a.flat(Infinity)", "any error"},
		{"join", "let a = []; for (let i = 0; i < 3e5; i++) a = [a]; a.join()", "any"},
		{"eval of parentheses", "eval('('.repeat(1e6))", "any error"},
		{"eval of a long sum", "eval('1' + '+1'.repeat(1e5))", "any"},
		{"regexp of groups", "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))", "any"},
		{"inspect", "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; console.log(o)", "ended ok"},
		{"clone", "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; structuredClone(o)", "ended error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			how, kind, took := inChild(t, js.Program{Source: c.text, Limits: js.Limits{CPU: 2 * time.Second, MemoryBytes: 256 << 20}})
			kind, _, _ = strings.Cut(kind, " ")
			wantHow, wantKind, _ := strings.Cut(c.want, " ")
			if wantHow != "any" && how != wantHow || wantKind != "" && kind != wantKind || took > 30*time.Second {
				t.Errorf("%s %s after %v, want %s", how, kind, took, c.want)
			}
			t.Logf("%s %s after %v", how, kind, took)
		})
	}
}

// What goja panics on must not take the process, and what it gets silently wrong by default must be right.
func TestAbuse(t *testing.T) {
	for _, c := range []struct{ name, text, kind string }{
		{"comparator shrinks the array", "const a = Array.from({ length: 100 }, (_, i) => -i); a.sort((x, y) => { a.length = 0; return x - y })", ""},
		{"asUintN", "BigInt.asUintN(2 ** 53 - 1, -1n)", ""},
		{"repeat", "'x'.repeat(2 ** 40)", "error"},
		{"repeat, caught", "try { 'x'.repeat(2 ** 40) } catch (e) { return e.name }", "ok"},
		{"padEnd", "'x'.padEnd(2 ** 40)", "error"},
		{"array length", "Array(-1)", "error"},
		{"huge typed array", "new Uint8Array(2 ** 53)", ""},
		{"proxy revoked", "const { proxy, revoke } = Proxy.revocable([], {}); revoke(); return proxy", "error"},
		{"revoked proxy in an array", "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return [proxy]", "error"},
		{"console of a revoked proxy", "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); console.log(proxy, [proxy]); return 1", "ok"},
		{"prototype of everything gone", "for (const k of Object.getOwnPropertyNames(Object.prototype)) try { delete Object.prototype[k] } catch {}; return { a: [1, new Map([['k', 1]])] }", "ok"},
		{"globals gone", "for (const k of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[k] } catch {}; return 1", "ok"},
		{"globals gone, then an error", "delete globalThis.Error; delete globalThis.TypeError; throw null", "error"},
		{"Promise replaced", "Promise.prototype.then = () => { throw 1 }; globalThis.Promise = null; return await tools.a.x({ n: 1 })", "ok"},
		{"Array.prototype.toJSON", "Array.prototype.toJSON = () => { throw new Error('x') }; return [1]", "error"},
		{"setter on Object.prototype", "Object.defineProperty(Object.prototype, 'a', { set() { throw 1 } }); return 1", "ok"},
		{"error with a hostile name", "const e = new Error(); e.name = { toString() { throw 1 } }; throw e", "error"},
		{"error of errors", "const e = new AggregateError([]); e.errors = [e, e]; throw e", "error"},
		{"toString returns an object", "const e = new Error(); e.message = { toString: () => ({}) }; throw e", "error"},
		{"console replaced", "console.log = null; globalThis.console = 1; return 1", "ok"},
		{"reject main through a thenable", "return { then(_, no) { no(new Error('x')) } }", "error"},
		{"resolve main twice", "return { then(yes, no) { yes(1); no(2); throw 3 } }", "ok"},
		{"a program of 64 KiB", strings.Repeat("var a = 1;\n", 6000) + "return a", "ok"},
		{"one long line", "return [" + strings.Repeat("1,", 30000) + "].length", "ok"},
		{"bytes that are not UTF-8", "return 'a\xff'", ""},
		{"NUL", "return 'a\x00'", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if out.Kind == "" || c.kind != "" && out.Kind != c.kind {
				t.Errorf("%s, want %s", brief(out), c.kind)
			}
		})
	}
}

// Fixed in goja once, or wrong in it by default and set right here.
func TestRegressions(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"return in try with a closure over an inner let", "let log = []; const f = () => { try { for (let i = 0; i < 1; i++) { const g = () => i; return g() } } finally { log.push('f') } }; return [f(), log]", `ok [0,["f"]]`},
		{"repeat of a non-ASCII string", `return "★".repeat(3)`, `ok "★★★"`},
		{"repeat of nothing", `return ["".repeat(2 ** 40), "ab".repeat(0), "abc".padStart(5, "é")]`, `ok ["","","ééabc"]`},
		{"ownKeys with non-ASCII keys", "return Object.keys(new Proxy({ é: 1 }, { ownKeys: () => ['é'] }))", `ok ["é"]`},
		{"braces in a regexp", "try { return new RegExp('{0,4096}') } catch (e) { return e.name }", `ok "SyntaxError"`},
		{"lastIndex after replace", "const r = /a/g; 'aaa'.replace(r, 'b'); return r.lastIndex", "ok 0"},
		{"this in an arrow beside rest", "return (function (...r) { return (() => this.x + r.length)() }).call({ x: 1 }, 1, 2)", "ok 3"},
		{"nested destructuring defaults", "const [[a = 1, [b = 2] = []] = []] = []; return [a, b]", "ok [1,2]"},
		{"split of nothing", `return "".split("#", 2)`, `ok [""]`},
		{"WeakMap set twice", "const w = new WeakMap(), k = {}; w.set(k, 1); w.set(k, 2); return w.get(k)", "ok 2"},
		{"typed array filter with an offset", "return new Uint8Array(new Uint8Array([1, 2, 3, 4]).buffer, 1).filter(x => x > 2)", "ok [3,4]"},
		{"exact double", "return String(0.7016570306969449)", `ok "0.7016570306969449"`},
		{"rest of nothing", "const [a, ...r] = []; return r", "ok []"},
		{"broken pattern", "var{..(", "error 1:7 SyntaxError: Unexpected character '('"},
		{"optional call", "let a; return a?.() ?? 'none'", `ok "none"`},
		{"numeric method names", "return { 1() { return 2 } }[1]()", "ok 2"},
		{"the backtracking cap", `return /^"(?:[^"\\]|\\.)*"$/.test('"' + 'x'.repeat(20000) + '"')`, "ok true"},
		{"the backtracking cap, lookbehind", `return /(?<=a)"(?:[^"\\]|\\.)*"$/.test('a"' + 'x'.repeat(20000) + '"')`, "ok true"},
		{"JSON.parse: own __proto__", `return Object.keys(JSON.parse('{"__proto__":1}'))`, `ok ["__proto__"]`},
		{"JSON.parse: duplicate keys", `return JSON.parse('{"a":1,"b":2,"a":3}')`, `ok {"a":3,"b":2}`},
		{"JSON.parse: 1e400", `return String(JSON.parse('1e400'))`, `ok "Infinity"`},
		{"JSON.parse: reviver", `return JSON.parse('{"a":[1,2],"b":3}', (k, v) => k === 'b' ? undefined : typeof v === 'number' ? v * 2 : v)`, `ok {"a":[2,4]}`},
		{"JSON.parse: leading zero", `JSON.parse('[01]')`, "error 1:11 SyntaxError: Unexpected token '1' in JSON at position 2 (line 1 column 3)"},
		{"JSON.parse: minus and zero", `return [JSON.parse('-0.5'), JSON.parse('0'), JSON.parse('10'), JSON.parse('-10')]`, "ok [-0.5,0,10,-10]"},
		{"JSON.parse: negative leading zero", `JSON.parse('-01')`, "error 1:11 SyntaxError: Unexpected token '1' in JSON at position 2 (line 1 column 3)"},
		{"JSON.parse: trailing comma", `JSON.parse('[1,]')`, "error 1:11 SyntaxError: Unexpected token ']' in JSON at position 3 (line 1 column 4)"},
		{"JSON.parse: text after", `JSON.parse('1 x')`, "error 1:11 SyntaxError: Unexpected token 'x' in JSON at position 2 (line 1 column 3)"},
		{"JSON.parse: nothing", `JSON.parse('')`, "error 1:11 SyntaxError: Unexpected end of JSON input"},
		{"JSON.parse: undefined", `JSON.parse(undefined)`, "error 1:11 SyntaxError: JSON.parse was given undefined"},
		{"JSON.parse: control character", `JSON.parse('"a\nb"')`, "error 1:11 SyntaxError: Unexpected token '\\n' in JSON at position 2 (line 1 column 3)"},
		{"JSON.parse: bad escape", `JSON.parse('"\\u00g0"')`, "error 1:11 SyntaxError: Unexpected token 'u' in JSON at position 2 (line 1 column 3)"},
		{"JSON.parse: not a word", `JSON.parse('nul')`, "error 1:11 SyntaxError: Unexpected end of JSON input"},
		{"circular stringify", "const o = {}; o.o = o; JSON.stringify(o)", "error 1:38 TypeError: Converting circular structure to JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
