package js_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// features is the table of docs/javascript.md: what each edition of ECMAScript brought, a program that takes it, and that
// program's outcome in node or, where we refuse it, ours. How it comes to work is found out by the test.
var features = []struct{ edition, name, program, want string }{
	{"ES2015", "let, const", "let a = 1; { let a = 2; const b = a } return a", "ok 1"},
	{"ES2015", "arrow functions", "return [1, 2].map(x => x * 2)", "ok [2,4]"},
	{"ES2015", "classes, super, static", "class A { static s() { return 1 } m() { return 2 } } class B extends A { m() { return super.m() + 1 } } return [A.s(), new B().m()]", "ok [1,3]"},
	{"ES2015", "subclasses of built-ins", "class E extends Error {} class L extends Array {} return [new E('x') instanceof E, L.of(1, 2).length]", "ok [true,2]"},
	{"ES2015", "template literals, tags", "const t = (s, ...v) => s.raw.join() + v; return `${1 + 1}` + t`a${1}b`", `ok "2a,b1"`},
	{"ES2015", "destructuring, defaults", "const { a, b: [c = 3] } = { a: 1, b: [] }; return [a, c]", "ok [1,3]"},
	{"ES2015", "default, rest and spread", "const f = (a = 1, ...r) => [a, r.length]; return f(...[undefined, 2, 3])", "ok [1,2]"},
	{"ES2015", "for-of, iterators", "const o = { *[Symbol.iterator]() { yield 1; yield 2 } }; let s = 0; for (const x of o) s += x; return s", "ok 3"},
	{"ES2015", "generators", "function* g() { const x = yield 1; yield x * 2 } const i = g(); return [i.next().value, i.next(4).value]", "ok [1,8]"},
	{"ES2015", "Map, Set, WeakMap, WeakSet", "const k = {}; return [new Map([[1, 2]]).get(1), new Set([1, 1]).size, new WeakMap([[k, 1]]).get(k), new WeakSet([k]).has(k)]", "ok [2,1,1,true]"},
	{"ES2015", "Symbol", "const s = Symbol('x'); return [{ [s]: 1 }[s], Symbol.for('a') === Symbol.for('a')]", "ok [1,true]"},
	{"ES2015", "Promise", "return await Promise.all([1, Promise.resolve(2), new Promise(r => r(3))])", "ok [1,2,3]"},
	{"ES2015", "Proxy, Reflect", "const p = new Proxy({}, { get: (t, k) => k }); return [p.x, Reflect.ownKeys({ a: 1 })]", `ok ["x",["a"]]`},
	{"ES2015", "typed arrays, DataView", "const d = new DataView(new ArrayBuffer(4)); d.setInt16(0, 258); return [d.getUint8(1), [...new Uint8Array([257])]]", "ok [2,[1]]"},
	{"ES2015", "String: includes, repeat, normalize, codePointAt, raw", "return ['abc'.includes('b'), 'x'.repeat(2), 'e\\u0301'.normalize().length, '😀'.codePointAt(0), String.raw`\\n`]", `ok [true,"xx",1,128512,"\\n"]`},
	{"ES2015", "Array: from, of, find, fill, entries", "return [Array.from('ab'), Array.of(7), [1, 2].find(x => x > 1), [0].fill(1), [...['a'].entries()]]", `ok [["a","b"],[7],2,[1],[[0,"a"]]]`},
	{"ES2015", "Number and Math", "return [Number.isInteger(1), Number.EPSILON > 0, Math.sign(-2), Math.trunc(1.5), Math.hypot(3, 4), Math.clz32(1)]", "ok [true,true,-1,1,5,31]"},
	{"ES2015", "Object: assign, is, computed and shorthand names", "const a = 1, k = 'b'; return [Object.assign({ a }, { [k]: 2, c() {} }), Object.is(NaN, NaN)]", `ok [{"a":1,"b":2},true]`},
	{"ES2015", "binary, octal, code point escapes", "return [0b11, 0o17, '\\u{61}']", `ok [3,15,"a"]`},
	{"ES2015", "RegExp flags u and y", "const y = /a/y; y.lastIndex = 1; return [/^.$/u.test('😀'), y.test('ba')]", "ok [true,true]"},
	{"ES2015", "new.target", "function F() { return new.target === F } return [typeof new F(), (function () { return new.target })()]", `ok ["object",null]`},
	{"ES2015", "tail calls", "'use strict'; const f = n => n ? f(n - 1) : 'end'; return f(1e5)", "error too deeply nested: more than 2000 calls inside each other (Maximum call stack size exceeded)"},
	{"ES2015", "modules: import", "import fs from 'fs'; return fs", "error SyntaxError: import is not available"},
	{"ES2015", "modules: export", "export default async () => 1", "ok 1"},
	{"ES2016", "**", "let x = 2; x **= 3; return x ** 2", "ok 64"},
	{"ES2016", "Array: includes", "return [NaN].includes(NaN)", "ok true"},
	{"ES2017", "async functions", "const f = async x => (await x) + 1; return await f(Promise.resolve(1))", "ok 2"},
	{"ES2017", "Object: entries, values, getOwnPropertyDescriptors", "const o = { a: 1 }; return [Object.entries(o), Object.values(o), Object.getOwnPropertyDescriptors(o).a.writable]", `ok [[["a",1]],[1],true]`},
	{"ES2017", "String: padStart, padEnd", "return ['1'.padStart(3, '0'), 'a'.padEnd(2) + '|']", `ok ["001","a |"]`},
	{"ES2017", "trailing commas in calls", "const f = (a, b,) => a + b; return f(1, 2,)", "ok 3"},
	{"ES2017", "shared memory", "return new SharedArrayBuffer(8)", "error ReferenceError: SharedArrayBuffer is not defined"},
	{"ES2017", "Atomics", "return Atomics.load(new Int32Array(1), 0)", "error ReferenceError: Atomics is not defined"},
	{"ES2018", "for await, async generators", "async function* g() { yield 1; yield 2 } const out = []; for await (const x of g()) out.push(x); return out", "ok [1,2]"},
	{"ES2018", "Symbol.asyncIterator", "const o = { async *[Symbol.asyncIterator]() { yield 1 } }; for await (const x of o) return x", "ok 1"},
	{"ES2018", "object rest and spread", "const { a, ...r } = { a: 1, b: 2, ...{ c: 3 } }; return r", `ok {"b":2,"c":3}`},
	{"ES2018", "Promise: finally", "let n = 0; await Promise.resolve().finally(() => n++); return n", "ok 1"},
	{"ES2018", "RegExp: named groups, look-behind, flag s", "return [/(?<y>\\d)/.exec('a1').groups.y, /(?<=a)b/.test('ab'), /a.b/s.test('a\\nb')]", `ok ["1",true,true]`},
	{"ES2018", "RegExp: \\p{…}", "return 'aé1Ω'.match(/\\p{L}/gu)", `ok ["a","é","Ω"]`},
	{"ES2019", "Array: flat, flatMap", "return [[1, [2]].flat(), [1, 2].flatMap(x => [x, x])]", "ok [[1,2],[1,1,2,2]]"},
	{"ES2019", "Object: fromEntries", "return Object.fromEntries(new Map([['a', 1]]))", `ok {"a":1}`},
	{"ES2019", "String: trimStart, trimEnd", "return ' a '.trimStart() + '|' + ' a '.trimEnd()", `ok "a | a"`},
	{"ES2019", "catch without a name", "try { throw 1 } catch { return 'caught' }", `ok "caught"`},
	{"ES2019", "stable sort", "return [[1, 'b'], [0, 'x'], [1, 'a']].sort((a, b) => a[0] - b[0]).map(r => r[1]).join('')", `ok "xba"`},
	{"ES2019", "Symbol: description", "return Symbol('d').description", `ok "d"`},
	{"ES2019", "well-formed JSON.stringify", `return JSON.stringify("\ud800")`, `ok "\"\\ud800\""`},
	{"ES2020", "?. and ??", "const o = { a: null }; return [o?.a?.b ?? 'none', o.f?.()]", `ok ["none",null]`},
	{"ES2020", "BigInt", "return [String(2n ** 64n), typeof 1n]", `ok ["18446744073709551616","bigint"]`},
	{"ES2020", "String: matchAll", "return [...'a1b2'.matchAll(/\\d/g)].map(m => m.index)", "ok [1,3]"},
	{"ES2020", "Promise: allSettled", "return (await Promise.allSettled([1, Promise.reject(2)])).map(r => r.status)", `ok ["fulfilled","rejected"]`},
	{"ES2020", "globalThis", "globalThis.a = 1; return a", "ok 1"},
	{"ES2020", "import()", "return await import('fs')", "error SyntaxError: import is not available"},
	{"ES2020", "import.meta", "return import.meta.url", "error SyntaxError: import is not available"},
	{"ES2021", "String: replaceAll", "return 'a.a'.replaceAll('.', '-')", `ok "a-a"`},
	{"ES2021", "Promise: any, AggregateError", "try { await Promise.any([Promise.reject(1)]) } catch (e) { return [e.name, e.errors] }", `ok ["AggregateError",[1]]`},
	{"ES2021", "??=, ||=, &&=", "let a = null, b = 0, c = 1; a ??= 1; b ||= 2; c &&= 3; return [a, b, c]", "ok [1,2,3]"},
	{"ES2021", "numeric separators", "return 1_000", "ok 1000"},
	{"ES2021", "WeakRef", "const o = {}; return new WeakRef(o).deref() === o", "ok true"},
	{"ES2021", "FinalizationRegistry", "const r = new FinalizationRegistry(() => {}); return r.register({}, 1) === undefined", "ok true"},
	{"ES2022", "class fields, private names, static blocks", "class A { #x = 1; y = 2; static z; static { A.z = 3 } get x() { return this.#x } static is(o) { return #x in o } } return [new A().x, new A().y, A.z, A.is({})]", "ok [1,2,3,false]"},
	{"ES2022", "top-level await", "return await 1", "ok 1"},
	{"ES2022", "at", "return [[1, 2].at(-1), 'ab'.at(-1)]", `ok [2,"b"]`},
	{"ES2022", "Object: hasOwn", "return Object.hasOwn({ a: 1 }, 'a')", "ok true"},
	{"ES2022", "Error: cause", "return new Error('a', { cause: 'b' }).cause", `ok "b"`},
	{"ES2022", "RegExp: flag d", "return /b(c)/d.exec('abc').indices", "ok [[1,3],[2,3]]"},
	{"ES2023", "Array: toSorted, toReversed, toSpliced, with", "const a = [2, 1]; return [a.toSorted(), a.toReversed(), a.toSpliced(0, 1), a.with(0, 9), a]", "ok [[1,2],[1,2],[1],[9,1],[2,1]]"},
	{"ES2023", "Array: findLast, findLastIndex", "return [[1, 2, 3].findLast(x => x < 3), [1].findLastIndex(x => x > 1)]", "ok [2,-1]"},
	{"ES2023", "hashbang", "#!/usr/bin/env node\nreturn 1", "ok 1"},
	{"ES2023", "symbols as WeakMap keys", "const s = Symbol(); return new WeakMap([[s, 1]]).get(s)", "ok 1"},
	{"ES2024", "Object.groupBy, Map.groupBy", "const odd = x => x % 2 ? 'odd' : 'even'; return [Object.groupBy([1, 2, 3], odd), Map.groupBy([1, 2], odd).get('even')]", `ok [{"odd":[1,3],"even":[2]},[2]]`},
	{"ES2024", "Promise: withResolvers", "const { promise, resolve } = Promise.withResolvers(); resolve(1); return await promise", "ok 1"},
	{"ES2024", "RegExp: flag v", "return 'a1é'.match(/[\\p{L}--[a-z]]/v)[0]", `ok "é"`},
	{"ES2024", "String: isWellFormed, toWellFormed", `return ["\ud800".isWellFormed(), "a\ud800".toWellFormed().charCodeAt(1)]`, "ok [false,65533]"},
	{"ES2024", "ArrayBuffer: resize", "const b = new ArrayBuffer(2, { maxByteLength: 4 }); b.resize(4); return b.byteLength", "ok 4"},
	{"ES2024", "ArrayBuffer: transfer", "const b = new ArrayBuffer(2), c = b.transfer(3); return [b.byteLength, c.byteLength]", "ok [0,3]"},
	{"ES2025", "iterator helpers", "return [1, 2, 3, 4].values().filter(x => x % 2).map(x => x * 10).toArray()", "ok [10,30]"},
	{"ES2025", "Iterator.from", "return Iterator.from({ next: () => ({ done: false, value: 1 }) }).take(2).toArray()", "ok [1,1]"},
	{"ES2025", "Set: union, intersection, difference, isSubsetOf", "const a = new Set([1, 2]), b = new Set([2, 3]); return [[...a.union(b)], [...a.intersection(b)], [...a.difference(b)], a.isSubsetOf(b)]", "ok [[1,2,3],[2],[1],false]"},
	{"ES2025", "RegExp.escape", "return new RegExp(RegExp.escape('a.b')).test('axb')", "ok false"},
	{"ES2025", "RegExp: (?i:…)", "return [/a(?i:b)c/.test('aBc'), /a(?i:b)c/.test('aBC')]", "ok [true,false]"},
	{"ES2025", "RegExp: a name in two alternatives", "return /(?<n>a)|(?<n>b)/.exec('b').groups.n", `ok "b"`},
	{"ES2025", "Promise.try", "return await Promise.try(x => x + 1, 1)", "ok 2"},
	{"ES2025", "Float16Array, Math.f16round", "return [new Float16Array([1.337])[0], Math.f16round(5.5)]", "ok [1.3369140625,5.5]"},
	{"ES2025", "JSON modules", "import data from './x.json' with { type: 'json' }; return data", "error SyntaxError: import is not available"},
	{"ES2026", "Array.fromAsync", "return await Array.fromAsync([Promise.resolve(1), 2])", "ok [1,2]"},
	{"ES2026", "Error.isError", "return [Error.isError(new TypeError()), Error.isError({})]", "ok [true,false]"},
	{"ES2026", "Math.sumPrecise", "return Math.sumPrecise([1e20, 0.1, -1e20])", "ok 0.1"},
	{"ES2026", "Uint8Array: base64 and hex", "return [new Uint8Array([1, 255]).toBase64(), [...Uint8Array.fromHex('01ff')]]", `ok ["Af8=",[1,255]]`},
	{"ES2026", "Map: getOrInsert, getOrInsertComputed", "const m = new Map(); return [m.getOrInsert('a', 1), m.getOrInsertComputed('b', k => k + k)]", `ok [1,"bb"]`},
	{"ES2026", "Iterator.concat", "return Iterator.concat([1], [2]).toArray()", "ok [1,2]"},
	{"ES2026", "JSON.parse: source texts", "return JSON.parse('1e3', (k, v, { source }) => source)", `ok "1e3"`},
	{"ES2026", "JSON.rawJSON", "return JSON.stringify({ a: JSON.rawJSON('1.0') })", `ok "{\"a\":1.0}"`},
	{"later", "using, await using", "const out = []; { using a = { [Symbol.dispose]() { out.push('closed') } }; out.push('open') } return out", `ok ["open","closed"]`},
	{"later", "DisposableStack", "const out = [], s = new DisposableStack(); s.defer(() => out.push(1)); s.dispose(); return out", "ok [1]"},
	{"later", "decorators", "const log = []; const d = (v, c) => { log.push(c.name) }; class A { @d m() {} } return log", `ok ["m"]`},
	{"later", "Temporal", "return Temporal.Now.instant()", "error ReferenceError: Temporal is not defined"},
	{"later", "ShadowRealm", "return new ShadowRealm()", "error ReferenceError: ShadowRealm is not defined"},
	{"Annex B", "functions in blocks, seen outside", "if (true) { function f() { return 1 } } return f()", "ok 1"},
	{"Annex B", "escape, unescape", "return [escape('ä'), unescape('%E4')]", `ok ["%E4","ä"]`},
	{"Annex B", "__proto__", "return { __proto__: { a: 1 } }.a", "ok 1"},
	{"Annex B", "__defineGetter__, __lookupGetter__", "const o = {}; o.__defineGetter__('a', () => 1); return [o.a, typeof o.__lookupGetter__('a')]", `ok [1,"function"]`},
	{"Annex B", "String: anchor, bold and the like", "return 'x'.bold()", `ok "<b>x</b>"`},
	{"Annex B", "Date: getYear, toGMTString", "return [new Date(0).getYear(), new Date(0).toGMTString()]", `ok [70,"Thu, 01 Jan 1970 00:00:00 GMT"]`},
	{"Annex B", "RegExp.$1", "/(a)/.test('a'); return RegExp.$1", `ok "a"`},
	{"Annex B", "with, octal literals", "with ({ a: 1 }) { return [a, 010] }", "ok [1,8]"},
	{"ECMA-402", "Intl", "return new Intl.NumberFormat('en-US').format(1234.5)", `ok "1,234.5"`},
	{"ECMA-402", "toLocaleString", "return (1234.5).toLocaleString('en-US')", `ok "1,234.5"`},
	{"ECMA-402", "localeCompare with options", "return 'a2'.localeCompare('a10', undefined, { numeric: true })", "ok -1"},
}

// lacking are the features that we do not have, and what becomes of their programs.
var lacking = map[string]string{
	"ArrayBuffer: resize":         "error TypeError: b.resize is not a function",
	"ArrayBuffer: transfer":       "error TypeError: b.transfer is not a function",
	"Float16Array, Math.f16round": "error ReferenceError: Float16Array is not defined",

	"symbols as WeakMap keys":  "error TypeError: WeakMap is not a constructor",
	"JSON.parse: source texts": "error TypeError: Value is not object coercible",
	"DisposableStack":          "error ReferenceError: DisposableStack is not defined",
}

const docs = "../../docs/javascript.md"

// Each row of the table is a program that is run, so that the table can't say what is not so.
func TestFeatures(t *testing.T) {
	var b strings.Builder
	b.WriteString("| edition | feature | how | program |\n|---|---|---|---|\n")
	for _, f := range features {
		out, _ := run(t, js.Program{Source: f.program}, nil)
		got := out.Kind + " " + string(out.Value)
		if out.Error != nil {
			got = out.Kind + " " + out.Error.Message
		}
		want := f.want
		if outcome, ok := lacking[f.name]; ok {
			want = outcome
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %s: %s", f.edition, f.name, diff)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.edition, cell(f.name), how(f.program, f.want, got), "`` "+cell(strings.ReplaceAll(f.program, "\n", "⏎"))+" ``")
	}
	compareBlock(t, "features", b.String())
}

// how a program comes by its answer: goja's own doing, or that of the engine around it, or a lowered text.
func how(program, want, got string) string {
	switch {
	case strings.HasPrefix(got, "error "):
		return "refused: " + cell(strings.TrimPrefix(got, "error "))
	case got != want:
		return "differs: " + cell(got)
	case strings.HasPrefix(program, "#!"), strings.HasPrefix(program, "export "): // read without esbuild
		return "supplied"
	}
	vm := goja.New()
	v, err := vm.RunString("(async function () {" + program + "\n})()")
	if err != nil {
		return "lowered"
	}
	vm.Set("main", v)
	if _, err := vm.RunString("var value; main.then(v => { value = JSON.stringify(v === undefined ? null : v) }, () => {})"); err != nil {
		return "supplied"
	}
	if "ok "+vm.Get("value").String() == got {
		return "supported"
	}
	return "supplied"
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// The differences from node are listed for people too.
func TestDifferencesAreDocumented(t *testing.T) {
	var names []string
	for name := range differs {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "- %s (%s)\n", differs[name], name)
	}
	compareBlock(t, "differences", b.String())
}

// compareBlock holds a generated block of docs/javascript.md against what it should be, or writes it under -update.
func compareBlock(t *testing.T, name, want string) {
	t.Helper()
	begin, end := "<!-- "+name+": begin, written by go test ./internal/js -update -->\n", "<!-- "+name+": end -->\n"
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), begin)
	got, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no block %q", docs, name)
	}
	if *update {
		if err := os.WriteFile(docs, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", docs, diff)
	}
}
