package js_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Types are stripped, and not checked. Seen in Cloudflare's agents #959 and in UTCP.
func TestTypeScript(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"annotations", "const a: number = 1; let b: string | null = null; function f(x: number, y?: string): number[] { return [x] } return f(a)", "ok [1]"},
		{"interface", "interface Issue { id: number; labels?: { name: string }[] } const i: Issue = { id: 1 }; return i", `ok {"id":1}`},
		{"type", "type Id<T extends string = 'a'> = { [K in T]?: number } | undefined; const i: Id = { a: 1 }; return i", `ok {"a":1}`},
		{"enum", "enum State { Open = 'open', Closed = 'closed' } return [State.Open, State.Closed]", `ok ["open","closed"]`},
		{"enum of numbers", "enum E { A, B = 5, C } return [E.A, E.C, E[5]]", `ok [0,6,"B"]`},
		{"const enum", "const enum E { A = 1 << 3 } return E.A", "ok 8"},
		{"as", "return (await tools.a.x({ n: 1 }) as { n: number }).n", "ok 1"},
		{"as const", "return [1, 2] as const", "ok [1,2]"},
		{"as unknown as", "return 1 as unknown as string", "ok 1"},
		{"satisfies", "return { a: 1 } satisfies Record<string, number>", `ok {"a":1}`},
		{"not null", "const m = new Map<string, number>([['a', 1]]); return m.get('a')! + 1", "ok 2"},
		{"generic function", "function id<T>(x: T): T { return x } return id<number>(1)", "ok 1"},
		{"generic arrow", "const id = <T,>(x: T): T => x; return id<number>(1)", "ok 1"},
		{"generic call", "return new Map<string, number[]>().size", "ok 0"},
		{"type predicate", "const ok = (x: unknown): x is string => typeof x === 'string'; return ['a', 1].filter(ok)", `ok ["a"]`},
		{"overloads", "function f(a: number): string;\nfunction f(a: any) { return 'x' + a }\nreturn f(1)", `ok "x1"`},
		{"class", "abstract class A { private n = 1; protected constructor(public readonly m: number) {} abstract f(): void } class B extends A { f(): void {} constructor() { super(2) } } return new B()", `ok {"m":2,"n":1}`},
		{"index signature", "const c: { [key: string]: number } = {}; c['a'] = 1; return c", `ok {"a":1}`},
		{"declare", "declare const tools: any; declare function f(): void; return 1", "ok 1"},
		{"this parameter", "function f(this: { a: number }) { return this.a } return f.call({ a: 1 })", "ok 1"},
		{"optional chain and assertion", "const o: any = {}; return o.a?.b!.c ?? 1", "ok 1"},
		{"catch clause", "try { throw new Error('x') } catch (e: unknown) { return (e as Error).message }", `ok "x"`},
		{"tuple and template types", "type T = [a: string, b?: `x${string}`]; const v: T = ['a']; return v", `ok ["a"]`},
		{"decorator", "const seen: string[] = []; function log(v: any, c: any) { seen.push(c.name) } class A { @log f() {} } return seen", `ok ["f"]`},
		{"return and await at the top", "const n: number = await Promise.resolve(1); if (n) return n; return 2", "ok 1"},
		{"a trailing expression", "const rows: number[] = [1, 2];\nrows.map(n => ({\n  n,\n}))", `ok [{"n":1},{"n":2}]`},
		{"a lone function", "interface X { a: number }\nasync function main(): Promise<X> { return { a: 1 } }", `ok {"a":1}`},
		{"a lone function beside an enum", "enum E { A = 1 }\nconst main = async (): Promise<E> => E.A", "ok 1"},
		{"nothing behind an enum", "const a = 1\nenum E { A = 1 }", "ok null"},
		{"use strict", "'use strict'\nconst a: number = 1\nb = a", "error 3:5 ReferenceError: b is not defined"},
		{"sloppy", "b = 1 as number; return b", "ok 1"},
		{"closing script tag in a string", "const a: string = '</script>'; return a", `ok "</script>"`},
		{"regexp and characters", "const a: RegExp = /é[^x]/u; return [a.source, '\\u00e9é😀']", `ok ["é[^x]","éé😀"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What goja has no syntax for is written in other words. The results are node's.
func TestLowering(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"async generator", "async function* g() { yield 1; const x = yield 2; return x } const i = g(); return [await i.next(), await i.next(), await i.next(7), await i.next()]",
			`ok [{"value":1,"done":false},{"value":2,"done":false},{"value":7,"done":true},{"done":true}]`},
		{"the last code point, which goja's parser fails on", "return ['\\u{10FFFF}'.codePointAt(0), /^\\u{10FFFF}$/u.test('\\u{10FFFF}')]", "ok [1114111,true]"},
		{"yield awaits", "async function* g() { yield Promise.resolve(1) } for await (const x of g()) return x", "ok 1"},
		{"yield*", "async function* g() { const r = yield* [1, Promise.resolve(2)]; yield r ?? 'end' } const out = []; for await (const x of g()) out.push(x); return out", `ok [1,2,"end"]`},
		{"yield* of async", "async function* h() { yield 1; return 2 } async function* g() { yield yield* h() } const out = []; for await (const x of g()) out.push(x); return out", "ok [1,2]"},
		{"method", "const o = { async *g() { yield this.n }, n: 1 }; for await (const x of o.g()) return x", "ok 1"},
		{"class method", "class A { static async *g(n) { for (let i = 0; i < n; i++) yield i } } const out = []; for await (const x of A.g(3)) out.push(x); return out", "ok [0,1,2]"},
		{"arguments and this", "async function* g() { yield [this.a, arguments.length] } for await (const x of g.call({ a: 1 }, 1, 2)) return x", "ok [1,2]"},
		{"for await of promises, in order", "const out = []; for await (const x of [new Promise(r => setTimeout(r, 5, 'slow')), 'now', Promise.resolve('then')]) out.push(x); return out", `ok ["slow","now","then"]`},
		{"for await of calls, one after the other", "const out = []; for await (const x of [1, 2, 3].map(n => tools.a.x({ n }))) out.push(x.n); return out", "ok [1,2,3]"},
		{"paging by a generator", "async function* pages() { for (let page = 1; page <= 3; page++) yield await tools.a.x({ page }) }\nlet sum = 0; for await (const { page } of pages()) sum += page; return sum", "ok 6"},
		{"break calls return", "const seen = []; async function* g() { try { yield 1; yield 2 } finally { seen.push('closed') } } for await (const x of g()) break; return seen", `ok ["closed"]`},
		{"throw in the body calls return", "const seen = []; async function* g() { try { yield 1 } finally { seen.push('closed') } } try { for await (const x of g()) throw new Error('x') } catch (e) { seen.push(e.message) } return seen", `ok ["closed","x"]`},
		{"throw in the generator", "async function* g() { yield 1; throw new Error('x') } const seen = []; try { for await (const x of g()) seen.push(x) } catch (e) { seen.push(e.message) } return seen", `ok [1,"x"]`},
		{"rejected item", "const seen = []; try { for await (const x of [1, Promise.reject(new Error('x'))]) seen.push(x) } catch (e) { seen.push(e.message) } return seen", `ok [1,"x"]`},
		{"next without waiting keeps its order", "async function* g() { yield 1; yield 2; yield 3 } const i = g(); return (await Promise.all([i.next(), i.next(), i.next()])).map(r => r.value)", "ok [1,2,3]"},
		{"labels", "outer: for await (const a of [1, 2]) { for await (const b of [1, 2]) { if (b === 2) continue outer; if (a === 2) return [a, b] } }", "ok [2,1]"},
		{"uncaught, with its place", "async function* g() {\n  yield 1\n  throw new Error('here')\n}\nfor await (const x of g()) ;", "error 3:9 Error: here"},
		{"helpers are no globals", "async function* g() {} return Object.getOwnPropertyNames(globalThis).filter(n => n.startsWith('__') && !n.startsWith('__proto'))", "ok []"},
		{"names of helpers are the program's", "const __await = 1, __forAwait = 2; for await (const x of [3]) return [__await, __forAwait, x]", "ok [1,2,3]"},
		{"plain for await is not for of", "const out = []; for (const x of [Promise.resolve(1)]) out.push(x instanceof Promise); return out", "ok [true]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
