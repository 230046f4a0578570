package js_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// What ECMAScript and the web's standards say; where node 20 has it, what node gives.
func TestLibrary(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		// ECMAScript
		{"Object.groupBy", "const g = Object.groupBy(['a', 'b', 'a'], (x, i) => x + (i > 1)); return [Object.getPrototypeOf(g), g]", `ok [null,{"afalse":["a"],"bfalse":["b"],"atrue":["a"]}]`},
		{"Object.groupBy, keys", "const s = Symbol(); const g = Object.groupBy([s, 1, null, '__proto__', '\\ud800'], x => x); return [g[s].length, Object.keys(g).length, g['\\ud800'].length, g.__proto__]", `ok [1,4,1,["__proto__"]]`},
		{"Object.groupBy of nothing", "Object.groupBy(null, x => x)", "error 1:15 TypeError: Object.groupBy takes an iterable, it was given null"},
		{"Map.groupBy", "const k = {}; const m = Map.groupBy([1, 2, 3], x => x > 1 ? k : -0); return [m.get(k), Object.is([...m.keys()][0], 0)]", `ok [[2,3],true]`},
		{"groupBy closes", "let closed = 0; try { Object.groupBy({ [Symbol.iterator]: () => ({ next: () => ({ value: 1 }), return() { closed++; return {} } }) }, () => { throw 1 }) } catch {} return closed", "ok 1"},
		{"Promise.withResolvers", "const { promise, resolve, reject } = Promise.withResolvers(); resolve(1); reject(2); return await promise", "ok 1"},
		{"Promise.try", "return [await Promise.try((a, b) => a + b, 1, 2), await Promise.try(() => { throw 3 }).catch(e => e)]", "ok [3,3]"},
		{"Promise.try of a subclass", "class P extends Promise {} const p = P.try(() => 1); return [p instanceof P, await p]", "ok [true,1]"},
		{"Array.fromAsync", "return await Array.fromAsync([1, Promise.resolve(2)], async (x, i) => x * 10 + i)", "ok [10,21]"},
		{"Array.fromAsync, array-like", "return await Array.fromAsync({ length: 2, 0: Promise.resolve('a') })", `ok ["a",null]`},
		{"Array.fromAsync, asynchronous", "async function* g() { yield 1; yield 2 } return await Array.fromAsync(g())", "ok [1,2]"},
		{"Array.fromAsync, by hand", "let n = 0; return await Array.fromAsync({ [Symbol.asyncIterator]: () => ({ next: async () => ({ done: n === 2, value: n++ }) }) })", "ok [0,1]"},
		{"Array.fromAsync closes", "let closed = 0; const it = { [Symbol.iterator]() { return this }, next: () => ({ value: Promise.reject(new Error('x')) }), return() { closed++; return {} } }; try { await Array.fromAsync(it) } catch (e) { return [e.message, closed] }", `ok ["x",1]`},
		{"Array.fromAsync of nothing", "await Array.fromAsync(null)", "error 1:22 TypeError: null is not iterable"},
		{"async iteration agrees", "async function* g() { yield 1 } const it = g(); return [it[Symbol.asyncIterator]() === it, typeof Symbol.asyncIterator, Symbol.asyncIterator.description]", `ok [true,"symbol","Symbol.asyncIterator"]`},
		{"using", "const log = []; { using a = { [Symbol.dispose]() { log.push('a') } }; await using b = { async [Symbol.asyncDispose]() { log.push('b') } }; log.push('in') } return log", `ok ["in","b","a"]`},
		{"sumPrecise", "return [Math.sumPrecise([0.1, 0.2, 0.3]), Math.sumPrecise([1e308, 1e308, -1e308]), Object.is(Math.sumPrecise([]), -0), Object.is(Math.sumPrecise([0, -0]), 0), String(Math.sumPrecise([1 / 0, -1 / 0]))]", `ok [0.6,1e+308,true,true,"NaN"]`},
		{"f16round", "return [1.337, 65519, 65520, 5.960464477539063e-8, 2.98e-8, -0.1].map(Math.f16round).map(String)", `ok ["1.3369140625","65504","Infinity","5.960464477539063e-8","0","-0.0999755859375"]`},
		{"isWellFormed", "return ['a', '\\ud83d\\ude00', '\\ud83d', '\\ude00\\ud83d'].map(s => s.isWellFormed())", "ok [true,true,false,false]"},
		{"toWellFormed", "return ['a\\ud83d', '\\ude00b\\ud83d\\ude00'].map(s => s.toWellFormed())", "ok [\"a\ufffd\",\"\ufffdb😀\"]"},
		{"getOrInsert", "const m = new Map([['a', 1]]), k = {}, w = new WeakMap(); return [m.getOrInsert('a', 2), m.getOrInsert('b', 3), m.getOrInsertComputed('c', x => x + '!'), w.getOrInsert(k, 4), w.getOrInsertComputed(k, () => 5), m.size]", `ok [1,3,"c!",4,4,3]`},
		{"getOrInsert of no Map", "Map.prototype.getOrInsert.call(new WeakMap(), {}, 1)", "error 1:31 TypeError: Method Map.prototype.has called on incompatible receiver [object WeakMap]"},
		{"toSorted and its like", "const a = [3, 1, 2]; return [a.toSorted(), a.toReversed(), a.with(0, 9), a.toSpliced(1, 1), a, a.findLast(x => x > 1), a.at(-1)]", "ok [[1,2,3],[2,1,3],[9,1,2],[3,2],[3,1,2],2,2]"},
		{"Set methods", "const a = new Set([1, 2]), b = new Set([2, 3]); return [a.union(b), a.intersection(b), a.difference(b), a.symmetricDifference(b), a.isDisjointFrom(b)]", "ok [[1,2,3],[2],[1],[1,3],false]"},
		{"bytes", "return [Uint8Array.fromBase64('aGk=').toHex(), Uint8Array.fromHex('6869').toBase64(), new Uint8Array(2).setFromHex('ff')]", `ok ["6869","aGk=",{"read":2,"written":1}]`},
		{"Error.isError", "return [Error.isError(new TypeError()), Error.isError({ __proto__: Error.prototype }), Error.isError(new DOMException())]", "ok [true,false,true]"},
		{"WeakRef", "const o = {}, r = new WeakRef(o); return [r.deref() === o, String(r)]", `ok [true,"[object WeakRef]"]`},
		{"WeakRef of a primitive", "new WeakRef(1)", "error 1:1 TypeError: a number can't be referred to weakly"},
		{"FinalizationRegistry", "const r = new FinalizationRegistry(() => {}), t = {}; r.register({}, 1, t); return [r.unregister(t), r.unregister(t)]", "ok [true,false]"},

		// iterator helpers
		{"map, filter, take", "return [1, 2, 3, 4].values().map((x, i) => x * i).filter(x => x % 2 === 0).take(2).toArray()", "ok [0,2]"},
		{"drop, flatMap", "return new Set(['ab', 'c']).values().drop(1).flatMap(x => [x, x]).toArray()", `ok ["c","c"]`},
		{"flatMap of a string", "[1].values().flatMap(() => 'ab').toArray()", "error 1:41 TypeError: a string is not an iterable or an iterator"},
		{"reduce, some, every, find", "const v = () => [1, 2, 3].values(); return [v().reduce((a, b) => a + b), v().reduce((a, b) => a + b, 10), v().some(x => x > 2), v().every(x => x > 2), v().find(x => x > 1), v().find(x => x > 9)]", "ok [6,16,true,false,2,null]"},
		{"forEach", "const log = []; [5, 6].values().forEach((x, i) => log.push(x + i)); return log", "ok [5,7]"},
		{"of generators", "function* g() { try { for (let n = 0; ; n++) yield n } finally { log.push('closed') } } const log = []; log.push(...g().take(2)); return log", `ok ["closed",0,1]`},
		{"returned", "return [1].values().map(x => x)", "error 0:0 the program returned an iterator, which is not data"},
		{"generators are disposed of", "const log = []; function* g() { try { yield 1 } finally { log.push('closed') } } { using it = g(); it.next() } return log", `ok ["closed"]`},
		{"lazy", "let n = 0; const it = [1, 2, 3].values().map(x => (n++, x)); const before = n; it.next(); return [before, n]", "ok [0,1]"},
		{"Iterator.from", "let n = 0; return Iterator.from({ next: () => ({ done: n > 1, value: n++ }) }).map(x => x + 1).toArray()", "ok [1,2]"},
		{"Iterator.from a string", "return Iterator.from('aé').toArray()", `ok ["a","é"]`},
		{"Iterator.concat", "return Iterator.concat([1], new Set([2]), 'x'.matchAll(/x/g)).map(x => x[0] ?? x).toArray()", `ok [1,2,"x"]`},
		{"extends Iterator", "class C extends Iterator { n = 0; next() { return { done: this.n > 2, value: this.n++ } } } return [new C().map(x => x * 2).toArray(), new C() instanceof Iterator, [].values() instanceof Iterator]", "ok [[0,2,4],true,true]"},
		{"abstract", "new Iterator()", "error 1:1 TypeError: Iterator is abstract: extend it, or use Iterator.from"},
		{"closing", "const log = []; const it = { __proto__: Iterator.prototype, next: () => ({ value: 1 }), return() { log.push('r'); return {} } }; it.find(x => x); it.some(() => true); it.take(1).toArray(); try { it.map(() => { throw 1 }).next() } catch {} const h = it.map(x => x); h.next(); h.return(); h.return(); return log.length", "ok 5"},
		{"closed by a bad argument", "const log = []; const it = { __proto__: Iterator.prototype, next: () => ({ value: 1 }), return() { log.push('r'); return {} } }; for (const f of [i => i.map(1), i => i.take(-1), i => i.drop(NaN)]) try { f(it) } catch (e) { log.push(e.name) } return log", `ok ["r","TypeError","r","RangeError","r","RangeError"]`},
		{"running", "let h; h = [1].values().map(() => h.next()); h.next()", "error 1:41 TypeError: Generator is already running"},
		{"what it looks like", "const h = [].values().map(x => x); return [String(h), Object.keys(h), h[Symbol.iterator]() === h, Iterator.prototype[Symbol.toStringTag], Iterator.prototype.map.name, Iterator.prototype.map.length]", `ok ["[object Iterator Helper]",[],true,"Iterator","map",1]`},
		{"with everything patched", "const bad = () => { throw 'patched' }; Array.prototype[Symbol.iterator] = Array.prototype.push = Function.prototype.call = Function.prototype.apply = Reflect.get = Object.defineProperty = Map.prototype.set = Map.prototype.get = bad; function* g() { yield 1 } return [g().map(x => x).toArray(), Object.groupBy(g(), x => x), Map.groupBy(g(), x => x).size]", `ok [[1],{"1":[1]},1]`},

		// URL
		{"URL", "const u = new URL('../b?x=1&y=%20#h', 'https://me:pw@ex.com:8080/a/c'); return [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash]", `ok ["https://me:pw@ex.com:8080/b?x=1&y=%20#h","https://ex.com:8080","https:","me","pw","ex.com:8080","ex.com","8080","/b","?x=1&y=%20","#h"]`},
		{"URL is what JSON has of it", "return { u: new URL('https://é.com') }", `ok {"u":"https://xn--9ca.com/"}`},
		{"no URL", "try { new URL('x y') } catch (e) { return [e instanceof TypeError, e.code, e.message] }", `ok [true,"ERR_INVALID_URL","Invalid URL: 'x y'"]`},
		{"relative to what is none", "new URL('a', 'b')", "error 1:1 TypeError: Invalid URL: 'a' relative to 'b'"},
		{"too long", "const u = new URL('http://h/'); const log = []; for (const f of [() => new URL('http://h/' + 'x'.repeat(2 ** 20)), () => { u.hash = 'x'.repeat(2 ** 20 + 1) }, () => u.searchParams.append('a', 'x'.repeat(2 ** 20))]) try { f() } catch (e) { log.push(e.message) } return [log, u.href]", `ok [["a URL has at most 1 MiB","a URL has at most 1 MiB","a URL has at most 1 MiB"],"http://h/"]`},
		{"canParse and parse", "return [URL.canParse('x'), URL.canParse('x', 'a:/'), URL.parse('x'), URL.parse('a:b').href]", `ok [false,true,null,"a:b"]`},
		{"setters", "const u = new URL('http://h/a?b#c'); u.protocol = 'https'; u.port = '8080'; u.pathname = 'x y'; u.search = 'q=é'; u.hash = ''; u.origin = 'z'; return u.href", `ok "https://h:8080/x%20y?q=%C3%A9"`},
		{"searchParams", "const u = new URL('http://h/?a=1&b=2&a=3'); const p = u.searchParams; p.append('c', 'x y'); p.delete('b'); p.set('a', '9'); const before = u.href; u.search = '?z=1'; return [before, p === u.searchParams, p.get('z'), [...p]]", `ok ["http://h/?a=9&c=x+y",true,"1",[["z","1"]]]`},
		{"URLSearchParams", "return [String(new URLSearchParams('?a=1&b=%2B+%zz&=&c')), String(new URLSearchParams({ x: 1, y: [2, 3] })), String(new URLSearchParams([['p', 'q'], new Set(['r', 's'])])), String(new URLSearchParams(new Map([['m', 'n']]))), String(new URLSearchParams(new URLSearchParams('k=v')))]", `ok ["a=1&b=%2B+%25zz&=&c=","x=1&y=2%2C3","p=q&r=s","m=n","k=v"]`},
		{"URLSearchParams, the rest", "const p = new URLSearchParams('b=1&a=2&b=3'); p.sort(); return [String(p), p.has('a', '2'), p.has('a', '3'), p.getAll('b'), p.get('x'), p.size, [...p.keys()], [...p.values()], String(p.entries())]", `ok ["a=2&b=1&b=3",true,false,["1","3"],null,3,["a","b","b"],["2","1","3"],"[object URLSearchParams Iterator]"]`},
		{"URLSearchParams, forEach", "const log = []; new URLSearchParams('a=1').forEach((v, k, p) => log.push(v, k, p.size)); return log", `ok ["1","a",1]`},
		{"URLSearchParams of no pairs", "new URLSearchParams([['a']])", "error 1:1 TypeError: URLSearchParams: each query pair must be an iterable [name, value] tuple"},
		{"arguments are wanted", "new URLSearchParams().append('a')", "error 1:29 TypeError: 2 arguments required, but only 1 present"},
		{"not called on another", "Object.getOwnPropertyDescriptor(URL.prototype, 'href').get.call({})", "error 1:64 TypeError: Cannot read private member #url from an object whose class did not declare it"},
		{"a subclass", "class U extends URL { get tld() { return this.hostname.split('.').at(-1) } } return new U('http://a.org').tld", `ok "org"`},
		{"logged", "console.log(new URL('a:b'), [new URLSearchParams('x=1')], new (class extends URL {})('c:d'), Object.create(URL.prototype))", "log|URL { href: 'a:b' } [ URLSearchParams { 'x=1' } ] URL { href: 'c:d' } URL {}"},
		{"nothing to be seen inside", "const u = new URL('a:b'); u.searchParams; return [Reflect.ownKeys(u), Reflect.ownKeys(u.searchParams)]", "ok [[],[]]"},

		// text
		{"TextEncoder", "return [new TextEncoder().encode('aé€😀\\ud800'), new TextEncoder().encoding, new TextEncoder().encode()]", `ok [[97,195,169,226,130,172,240,159,152,128,239,191,189],"utf-8",[]]`},
		{"encodeInto", "const b = new Uint8Array(4); return [new TextEncoder().encodeInto('aé€', b), b, new TextEncoder().encodeInto('😀x', b.subarray(0, 3))]", `ok [{"read":2,"written":3},[97,195,169,0],{"read":0,"written":0}]`},
		{"TextDecoder", "const d = (...b) => new TextDecoder().decode(new Uint8Array(b)); return [d(0xc3, 0xa9), d(0xef, 0xbb, 0xbf, 65), d(0xff, 65), d(0xe2, 0x82), d(0xf0, 0x9f, 65), d(0xc0, 0x80), d(0xed, 0xa0, 0x80)]", "ok [\"é\",\"A\",\"\ufffdA\",\"\ufffd\",\"\ufffdA\",\"\ufffd\ufffd\",\"\ufffd\ufffd\ufffd\"]"},
		{"fatal", "try { new TextDecoder('utf8', { fatal: true }).decode(new Uint8Array([0xff])) } catch (e) { return [e.name, e.code] }", `ok ["TypeError","ERR_ENCODING_INVALID_ENCODED_DATA"]`},
		{"stream", "const d = new TextDecoder(), s = { stream: true }; return [d.decode(new Uint8Array([0xe2, 0x82]), s), d.decode(new Uint8Array([0xac, 65]), s), d.decode(new Uint8Array([0xf0]), s), d.decode(), d.decode(new Uint8Array([66]))]", "ok [\"\",\"€A\",\"\",\"\ufffd\",\"B\"]"},
		{"ignoreBOM", "return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 65])).length", "ok 2"},
		{"utf-16", "const d = new TextDecoder('utf-16le'); return [d.decode(new Uint8Array([65, 0, 0x3d, 0xd8, 0, 0xde])), d.decode(new Uint8Array([0xff, 0xfe, 66, 0])), d.decode(new Uint8Array([65])), d.decode(new Uint8Array([0, 0xd8])), new TextDecoder('utf-16be').decode(new Uint8Array([0, 65]))]", "ok [\"A😀\",\"B\",\"\ufffd\",\"\ufffd\",\"A\"]"},
		{"latin1", "const d = new TextDecoder('Latin1'); return [d.encoding, d.decode(new Uint8Array([0x80, 0xe9, 0x81]))]", `ok ["windows-1252","€é` + "\u0081" + `"]`},
		{"of other views", "const b = new Uint8Array([1, 65, 66, 67]).buffer; return [new TextDecoder().decode(b.slice(1)), new TextDecoder().decode(new DataView(b, 1, 2)), new TextDecoder().decode(new Uint16Array([0x4241]))]", `ok ["ABC","AB","AB"]`},
		{"decode what is no bytes", "new TextDecoder().decode({})", "error 1:25 TypeError: TextDecoder.decode takes an ArrayBuffer or a view of one, it was given an object"},
		{"no such encoding", "new TextDecoder('klingon')", "error 1:1 RangeError: TextDecoder knows no encoding 'klingon': there are utf-8, utf-16le, utf-16be and windows-1252"},
		{"atob and btoa", "return [btoa('é\\0'), atob(' aGk '), atob('aGk='), btoa(''), atob('') , btoa(12)]", `ok ["6QA=","hi","hi","","","MTI="]`},
		{"atob of what is none", "return ['a', 'aGk==', 'a=Gk', 'ä'].map(s => { try { return atob(s) } catch (e) { return e.name } })", `ok ["InvalidCharacterError","InvalidCharacterError","InvalidCharacterError","InvalidCharacterError"]`},
		{"btoa beyond Latin-1", "btoa('€')", "error 1:5 InvalidCharacterError: btoa: the text has characters beyond Latin-1: encode it first, with new TextEncoder().encode(text).toBase64()"},

		// events
		{"EventTarget", "const log = []; const t = new EventTarget(), f = e => log.push(e.type, e.target === t); t.addEventListener('x', f); t.addEventListener('x', f); t.addEventListener('x', { handleEvent: () => log.push('o') }, { once: true }); t.dispatchEvent(new Event('x')); t.removeEventListener('x', f); t.dispatchEvent(new Event('x')); return log", `ok ["x",true,"o"]`},
		{"preventDefault", "const t = new EventTarget(); t.addEventListener('x', e => { e.preventDefault(); e.stopImmediatePropagation() }); t.addEventListener('x', () => { throw 1 }); return [t.dispatchEvent(new Event('x', { cancelable: true })), t.dispatchEvent(new Event('x'))]", "ok [false,true]"},
		{"AbortController", "const c = new AbortController(), log = []; c.signal.onabort = () => log.push('on'); c.signal.addEventListener('abort', () => log.push('l')); c.abort(); c.abort('again'); try { c.signal.throwIfAborted() } catch (e) { log.push(e.name, e instanceof DOMException, e.code) } return log", `ok ["on","l","AbortError",true,20]`},
		{"AbortSignal", "const c = new AbortController(), any = AbortSignal.any([c.signal, AbortSignal.timeout(1e6)]); c.abort('why'); return [any.aborted, any.reason, AbortSignal.abort(1).reason, any instanceof EventTarget]", `ok [true,"why",1,true]`},
		{"AbortSignal.timeout", "const s = AbortSignal.timeout(1); return await new Promise(r => s.addEventListener('abort', () => r(s.reason.name)))", `ok "TimeoutError"`},
		{"a listener with a signal", "const c = new AbortController(), t = new EventTarget(); let n = 0; t.addEventListener('x', () => n++, { signal: c.signal }); t.dispatchEvent(new Event('x')); c.abort(); t.dispatchEvent(new Event('x')); return n", "ok 1"},
		{"no constructor", "new AbortSignal()", "error 1:1 TypeError: Illegal constructor: use new AbortController().signal, AbortSignal.timeout or AbortSignal.any"},
		{"a class of events", "class E extends EventTarget { n = 1; go() { return this.dispatchEvent(new Event('go')) } } const e = new E(); e.addEventListener('go', () => e.n++); e.go(); return e.n", "ok 2"},
		{"DOMException", "const e = new DOMException('m', 'DataCloneError'); console.log(e); return [String(e), e.code, e instanceof Error, Object.keys(e)]", `ok ["DataCloneError: m",25,true,[]]`},
		{"DOMException, logged and thrown", "console.log(new DOMException('m', 'AbortError'), new DOMException())", "log|AbortError: m Error"},
		{"stacks have the program's frames", "try {\n  new URL('x')\n} catch (e) { console.log(e.stack) }", "log|TypeError: Invalid URL: 'x'\n\tat parse (native)\n\tat program.js:2:3\n"},

		// randomness, clocks, timers
		{"randomUUID", "const u = [crypto.randomUUID(), crypto.randomUUID()]; return [u[0] !== u[1], u.every(x => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(x))]", "ok [true,true]"},
		{"getRandomValues", "const a = new Uint32Array(8); return [crypto.getRandomValues(a) === a, new Set(a).size]", "ok [true,8]"},
		{"getRandomValues of floats", "crypto.getRandomValues(new Float64Array(1))", "error 1:23 TypeMismatchError: crypto.getRandomValues takes a typed array of integers, it was given a typed array"},
		{"getRandomValues of too many", "crypto.getRandomValues(new Uint8Array(65537))", "error 1:23 QuotaExceededError: crypto.getRandomValues fills at most 65536 bytes at once"},
		{"crypto.subtle", "await crypto.subtle.digest('SHA-1', new Uint8Array(1))", "error 1:14 Error: crypto.subtle is not available: a program has no cryptography; crypto.randomUUID and crypto.getRandomValues are there"},
		{"performance", "const t = performance.now(); await new Promise(r => setTimeout(r, 5)); return [performance.now() - t >= 4, Math.abs(performance.timeOrigin - Date.now()) < 6e4]", "ok [true,true]"},
		{"setImmediate", "const log = []; setTimeout(() => log.push('t'), 20); clearImmediate(setImmediate(() => log.push('no'))); await new Promise(r => setImmediate((a, b) => { log.push(a + b); r() }, 1, 2)); return log", "ok [3]"},
		{"too many timers", "for (let i = 0; i < 10001; i++) setTimeout(() => {}, 1e6)", "error 1:43 RangeError: more than 10000 timers at once: wait for some of them first"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, h := source(t, c.text)
			got := brief(out)
			if strings.HasPrefix(c.want, "log|") {
				got = logged(h.lines)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Parts are made when a program can name them, in whatever way it does, and are there as built-ins are.
func TestPartsAreThere(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"by name", "return typeof URL", `ok "function"`},
		{"by a name with an escape", `return typeof \u0055RL`, `ok "function"`},
		{"by the global object", "return [typeof globalThis['U' + 'RL'], 'at' + 'ob' in globalThis]", `ok ["function",true]`},
		{"by this", "return (function () { return typeof this['U' + 'RL'] })()", `ok "function"`},
		{"by eval", "return eval('type' + 'of UR' + 'L')", `ok "function"`},
		{"by Function", "return (() => {}).constructor('return new UR' + 'L(\"a:b\").href')()", `ok "a:b"`},
		{"one is made once", "return [globalThis['U' + 'RL'] === eval('UR' + 'L'), eval('UR' + 'LSearchParams') === new (eval('UR' + 'L'))('a:b').searchParams.constructor]", "ok [true,true]"},
		{"a property as others are", "URL; const d = Object.getOwnPropertyDescriptor(globalThis, 'URL'); return [d.writable, d.enumerable, d.configurable, d.value === URL]", "ok [true,false,true,true]"},
		{"assigned to", "globalThis['at' + 'ob'] = 1; return eval('at' + 'ob')", "ok 1"},
		{"with its parts gone", "delete globalThis.DataView; globalThis.Uint8Array = 1; try { eval('Text' + 'Encoder') } catch (e) { return e.name }", `ok "TypeError"`},
		{"shadowed", "const URL = 1, crypto = { x: 2 }; return [URL, crypto.x]", "ok [1,2]"},
		{"in TypeScript", "const u: URL = new URL('a:b'); return u.href as string", `ok "a:b"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// All that is random comes from one seed.
func TestRandomIsSeeded(t *testing.T) {
	text := "return [crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)), Math.random()]"
	one := func(seed int64) string {
		return brief(js.New(js.Options{}).Run(js.Program{Source: text, Seed: seed}, js.Host{}))
	}
	if first, again, other := one(1), one(1), one(2); first != again || first == other {
		t.Error(first, again, other)
	}
}
