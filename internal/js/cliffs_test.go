package js_test

import (
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/js"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// What the tree is rewritten to must do what stood there before, whatever a program does. The values are node's.
func TestGrowing(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"strings", "let s = ''; for (let i = 0; i < 500; i++) s += 'ab'; return [s.length, s.slice(-3), s === 'ab'.repeat(500)]", `ok [1000,"bab",true]`},
		{"two ends of one string", "let s = 'x'.repeat(300); s += 'y'; let a = s, b = s; a += '1'; b += '2'; a += '3'; return [s.slice(-2), a.slice(-3), b.slice(-2)]", `ok ["xy","y13","y2"]`},
		{"an older string grows again", "let s = 'x'.repeat(300); const old = []; for (const c of 'abcd') { s += c; old.push(s) } let t = old[0]; t += 'Z'; return [t.slice(-2), ...old.map(o => o.slice(-2))]", `ok ["aZ","xa","ab","bc","cd"]`},
		{"by turns", "let a = '', b = '', c = '', d = '', e = ''; for (let i = 0; i < 400; i++) { a += 'a'; b += 'b'; c += 'c'; d += 'd'; e += 'e' } return [a, b, c, d, e].every((s, i) => s === 'abcde'[i].repeat(400))", `ok true`},
		{"UTF-16", "let s = ''; for (let i = 0; i < 300; i++) s += i % 2 ? 'é' : '😀x'; return [s.length, s.slice(-4), s.codePointAt(0)]", `ok [600,"😀xé",128512]`},
		{"ASCII, then not", "let s = 'a'.repeat(400); s += 'b'; s += 'é'; s += 'c'; const t = s; s += 'd'; return [t.slice(-3), s.slice(-3), t.length]", `ok ["béc","écd",403]`},
		{"surrogates meet", "let s = 'é'.repeat(400); s += '\\ud83d'; s += '\\ude00'; return [s.length, s.slice(-2)]", `ok [402,"😀"]`},
		{"a string from outside", "let s = input; s += 'x'; s += input; return s.length", `ok 601`},
		{"a key of a map", "let s = 'k'.repeat(300); const m = new Map(); s += '1'; m.set(s, 1); s += '2'; m.set(s, 2); return [m.get('k'.repeat(300) + '1'), m.get('k'.repeat(300) + '12'), m.size]", `ok [1,2,2]`},
		{"undefined, null, numbers, booleans", "let s = 'x'.repeat(300); s += undefined; s += null; s += 1.5; s += true; s += -0; s += 1e21; s += 10n; return s.slice(300)", `ok "undefinednull1.5true01e+2110"`},
		{"not a string on the left", "let a = ''; a = 5; a += 2; let b = ''; b = [1]; b += 'x'; let c = ''; c = 1n; c += 2n; let d; d += 'x'; return [a, b, String(c), d]", `ok [7,"1x","3","undefinedx"]`},
		{"objects", "const log = []; const o = n => ({ valueOf() { log.push('v' + n); return n }, toString() { log.push('s' + n); return 's' } }); let s = 'a'; s += o(1); s += o(2) + ''; let t = ''; t = o(3); t += 'x'; return [s, t, log]", `ok ["a12","3x",["v1","v2","v3"]]`},
		{"the left side is read first", "let s = 'a'; const f = () => { s = 'z'; return 'b' }; s += f() + ''; return s", `ok "ab"`},
		{"symbol", "let s = 'a'; try { s += Symbol('x') } catch (e) { return [e.name, s] }", `ok ["TypeError","a"]`},
		{"constant", "const s = ''; let n = 0; try { s += (n++, 'x') } catch (e) { return [e.name, n, s] }", `ok ["TypeError",1,""]`},
		{"before its declaration", "try { s += 'x'; let s = '' } catch (e) { return e.name }", `ok "ReferenceError"`},
		{"not declared", "try { nope += 'x' } catch (e) { return e.message }", `ok "nope is not defined"`},
		{"global", "total = ''; for (let i = 0; i < 3; i++) total += 'x'; return globalThis.total", `ok "xxx"`},
		{"value of the assignment", "let s = 'a'; const t = (s += 'b'); return [s, t]", `ok ["ab","ab"]`},
		{"s = s + a + b", "let s = ''; for (let i = 0; i < 300; i++) s = s + i + ','; return [s.length, s.slice(-8)]", `ok [1090,"298,299,"]`},
		{"s = s + a + b, numbers first", "let s = ''; s = 1; s = s + 2 + 'x'; return s", `ok "3x"`},
		{"s = s + a + b in order", "const log = []; const f = x => (log.push(x), x); let s = 'a'; s = s + f('b') + (s = 'z', f('c')); return [s, log]", `ok ["abc",["b","c"]]`},
		{"template", "let s = ''; for (let i = 0; i < 300; i++) s = `${s}${i},`; return [s.length, s.slice(-4)]", `ok [1090,"299,"]`},
		{"templates in each other", "let s = ''; for (let i = 0; i < 3; i++) { " + nestedTemplates(60) + " } return s", `ok "x"`},
		{"template with an object", "let s = { toString() { return 'o' } }; s = `${s}-${1}`; return s", `ok "o-1"`},
		{"template with a symbol", "let s = Symbol(); try { s = `${s}x` } catch (e) { return e.name }", `ok "TypeError"`},
		{"reduce", "return ['a', 'b', 'c'].reduce((s, r) => s + r + '\\n', '')", `ok "a\nb\nc\n"`},
		{"reduce with a body", "return [1, 2].reduce(function (s, r) { if (r > 1) return s + r; return r + s }, '')", `ok "12"`},
		{"members", "class W { #p = ''; out = ''; add(x) { this.out += x; this.#p += x; return this } get p() { return this.#p } } const w = new W().add('a').add('b'); const o = { s: '', 'k k': '' }; o.s += 'x'; o['k k'] += 'y'; return [w.out, w.p, o]", `ok ["ab","ab",{"s":"x","k k":"y"}]`},
		{"members: getter and setter once each", "const log = []; const o = { get s() { log.push('get'); return 'a' }, set s(v) { log.push('set ' + v) } }; o.s += 'b'; return log", `ok ["get","set ab"]`},
		{"members: the object is evaluated once", "let n = 0; const o = { s: 'a' }; const f = () => (n++, o); f().s += 'b'; return [n, o.s]", `ok [1,"ab"]`},
		{"members: the object changes on the right", "let o = { s: 'a' }; const first = o; o.s += (o = { s: 'z' }, 'b'); return [first.s, o.s]", `ok ["ab","z"]`},
		{"members of undefined", "let o; try { o.s += 'x' } catch (e) { return e.name }", `ok "TypeError"`},
		{"frozen, strict", "'use strict'; const o = Object.freeze({ s: 'a' }); try { o.s += 'b' } catch (e) { return [e.name, o.s] }", `ok ["TypeError","a"]`},
		{"with", "const seen = []; const p = new Proxy({}, { has(_, k) { seen.push(String(k)); return false } }); let s = 'a'; with (p) { s += 'b' } return [s, seen]", `ok ["ab",["s"]]`},
		{"eval", "let s = 'a'; eval(\"s += 'b'\"); s += 'c'; return s", `ok "abc"`},
		{"generator", "function* g() { let s = ''; while (true) s += yield s } const i = g(); i.next(); i.next('a'); return i.next('b').value", `ok "ab"`},
		{"await", "let s = ''; for (const x of ['a', 'b']) s += await Promise.resolve(x); return s", `ok "ab"`},
		{"our functions are not in reach", "let s = ''; s += 'x'; return [arguments.length, Object.keys(globalThis).filter(k => k.startsWith(' ')), String(arguments.callee).includes(String.fromCharCode(32) + 'append(')]", `ok [0,[],false]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			input := `"` + string(make300()) + `"`
			out, _ := run(t, js.Program{Source: c.text, Input: []byte(input)}, nil)
			if brief(out) != c.want {
				t.Errorf("got  %s\nwant %s", brief(out), c.want)
			}
		})
	}
}

// nestedTemplates are assignments of s, each within the next: an expression that stood in two places each time would be
// there more often than there are atoms.
func nestedTemplates(n int) string {
	text := "s = `${s}x`"
	for range n {
		text = "s = `${s}${" + text + "}`"
	}
	return "s = ''; " + text
}

func make300() []byte {
	b := make([]byte, 300)
	for i := range b {
		b[i] = 'x'
	}
	return b
}

func TestSpreadArrays(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"all kinds", "const a = [1, 2]; return [[...a], [...a, 3], [0, ...a], [0, ...a, 3, ...a], [...[]], [...'é😀'], [...new Set(a)], [...new Map([[1, 2]])]]", `ok [[1,2],[1,2,3],[0,1,2],[0,1,2,3,1,2],[],["é","😀"],[1,2],[[1,2]]]`},
		{"a copy", "const a = [1]; const b = [...a]; b.push(2); a.push(3); return [a, b]", `ok [[1,3],[1,2]]`},
		{"in order", "const a = [1]; return [...a, a.push(2), ...a]", `ok [1,2,1,2]`},
		{"holes", "const b = [...[1, , 3]]; return [b.length, 1 in b, [...[1], , 2].length]", `ok [3,true,3]`},
		{"iterator of its own", "let n = 0; const a = [1, 2]; a[Symbol.iterator] = function* () { n++; yield 9 }; return [[...a, 0], n]", `ok [[9,0],1]`},
		{"iterator as a getter", "let n = 0; const a = [1, 2]; Object.defineProperty(a, Symbol.iterator, { get() { n++; return function* () { yield 9 } } }); return [[...a], n]", `ok [[9],1]`},
		{"the prototype's iterator is replaced", "const a = [1, 2]; Array.prototype[Symbol.iterator] = function* () { yield 7 }; return [[...a].length, [...a][0]]", `ok [1,7]`},
		{"next is replaced", "const proto = Object.getPrototypeOf([][Symbol.iterator]()); const next = proto.next; let n = 0; proto.next = function () { n++; return next.call(this) }; const b = [...[1, 2]]; return [b.length, n]", `ok [2,3]`},
		{"accessor on an array", "const a = [1, 2]; Object.defineProperty(a, 0, { get() { return 5 } }); return [...a]", `ok [5,2]`},
		{"throws on the way", "let closed = 0; const it = { [Symbol.iterator]() { return { next() { throw new Error('no') }, return() { closed++ } } } }; try { [...it] } catch (e) { return [e.message, closed] }", `ok ["no",0]`},
		{"not iterable", "return [...5]", "error 1:12 TypeError: 5 is not iterable: it is a number"},
		{"of undefined", "const o = {}; return [1, ...o.x]", "error 1:29 TypeError: `o.x` is undefined or null, and not iterable"},
		{"as a pattern", "let a, b; [a, ...b] = [1, 2, 3]; return [a, b]", `ok [1,[2,3]]`},
		{"subclass", "class A extends Array {} const a = A.from([1, 2]); const b = [...a]; return [b instanceof A, b]", `ok [false,[1,2]]`},
		{"yield", "function* g(a) { return [...a, yield 1, ...a] } const a = [1], i = g(a); i.next(); a.push(2); return i.next(9).value", `ok [1,9,1,2]`},
		{"what came as JSON", "const rows = JSON.parse('[{\"a\":1},{\"a\":2}]'); return [...rows, ...rows].map(r => r.a)", `ok [1,2,1,2]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := source(t, c.text); brief(out) != c.want {
				t.Errorf("got  %s\nwant %s", brief(out), c.want)
			}
		})
	}
}

func TestArrayEnds(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"shift", "const a = [1, 2, 3]; return [a.shift(), a.shift(), a, a.length, a.shift(), a.shift(), a.length]", `ok [1,2,[],1,3,null,0]`},
		{"shift of a long one", "const a = Array.from({ length: 300 }, (_, i) => i); let n = 0; for (let i = 0; i < 250; i++) { n += a.shift(); if (i % 3 === 0) a.push(1000) } return [n, a.length, a[0], a[a.length - 1], a.indexOf(1000)]", `ok [31125,134,250,1000,50]`},
		{"shift and pop", "const a = Array.from({ length: 200 }, (_, i) => i); let s = 0; while (a.length) { s += a.shift(); s -= a.pop() ?? 0 } return s", `ok -10000`},
		{"unshift", "const a = [3]; return [a.unshift(1, 2), a, a.unshift(), a.length]", `ok [3,[1,2,3],3,3]`},
		{"unshift and others", "const a = []; for (let i = 0; i < 200; i++) a.unshift(i); a.push('e'); a.length = 199; return [a[0], a[198], a.length, a.shift(), a.splice(0, 2), a.concat([1]).length, a.slice(-1), a.sort((x, y) => x - y)[0]]", `ok [199,1,199,199,[198,197],197,[1],1]`},
		{"holes", "const a = [, 1, , 2]; const f = a.shift(); a.unshift(0); return [f === undefined, a.length, 0 in a, 1 in a, 2 in a, 3 in a]", `ok [true,4,true,true,false,true]`},
		{"a hole that a count hides", "const a = [1, 2, 3]; a.pop(); delete a[0]; return [a.shift() === undefined, a]", `ok [true,[2]]`},
		{"holes see the prototype", "Array.prototype[1] = 'p'; const a = [0, , 2]; a.shift(); const r = [a[0], Object.hasOwn(a, 0)]; delete Array.prototype[1]; return r", `ok ["p",true]`},
		{"setter on the prototype", "let seen; Object.defineProperty(Array.prototype, 1, { set(v) { seen = v }, configurable: true }); const a = [7]; a.unshift(8); const r = [seen, a.length, Object.hasOwn(a, 1)]; delete Array.prototype[1]; return r", `ok [7,2,false]`},
		{"not an array", "const o = { 0: 'a', 1: 'b', length: 2 }; const f = Array.prototype.shift.call(o); Array.prototype.unshift.call(o, 'z'); return [f, o]", `ok ["a",{"0":"z","1":"b","length":2}]`},
		{"null", "try { Array.prototype.shift.call(null) } catch (e) { return e.name }", `ok "TypeError"`},
		{"frozen", "const a = Object.freeze([1]); const r = []; for (const f of ['shift', 'unshift']) try { a[f](1) } catch (e) { r.push(e.name) } return [r, a]", `ok [["TypeError","TypeError"],[1]]`},
		{"not extensible", "const a = Object.preventExtensions([1, 2]); a.shift(); try { a.unshift(0, 0) } catch (e) { return [e.name, a.length] }", `ok ["TypeError",1]`},
		{"length can't change", "const a = [1, 2]; Object.defineProperty(a, 'length', { writable: false }); try { a.shift() } catch (e) { return [e.name, a.length] }", `ok ["TypeError",2]`},
		{"proxy", "const log = []; const p = new Proxy([1, 2], { set(t, k, v) { log.push(k); t[k] = v; return true } }); p.shift(); p.unshift(5); return log", `ok ["0","length","1","0","length"]`},
		{"subclass", "class A extends Array {} const a = A.from([1, 2]); a.unshift(0); return [a.shift(), a.length, a instanceof A]", `ok [0,2,true]`},
		{"while it is iterated", "const a = Array.from({ length: 200 }, (_, i) => i); let n = 0; a.forEach(() => { n++; a.shift() }); return [n, a.length]", `ok [100,100]`},
		{"what came as JSON", "const q = JSON.parse('[' + '{\"a\":1},'.repeat(300) + '{\"a\":2}]'); let n = 0; while (q.length) n += q.shift().a; q.unshift({ a: 3 }); return [n, q]", `ok [302,[{"a":3}]]`},
		{"names", "return ['shift', 'unshift'].map(k => [Array.prototype[k].name, Array.prototype[k].length])", `ok [["shift",0],["unshift",1]]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := source(t, c.text); brief(out) != c.want {
				t.Errorf("got  %s\nwant %s", brief(out), c.want)
			}
		})
	}
}

// Programs that take minutes in goja end within the limit on CPU time.
func TestNoCliffs(t *testing.T) {
	if raceDetector {
		skip.Because(t, "the race detector makes all of it slow")
	}
	for _, c := range cliffs {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := source(t, c.text); out.Kind != js.KindOK {
				t.Error(brief(out))
			}
		})
	}
}

// A prefix that a program keeps does not keep the rest: 200 short strings that each began a long one.
func TestPrefixesAreSmall(t *testing.T) {
	out, _ := run(t, js.Program{
		Source: "const keep = []; for (let i = 0; i < 200; i++) { let s = ''; while (s.length < 2e5) { if (s.length < 1100) keep[i] = s; s += 'x'.repeat(500) } } return keep.length",
		Limits: js.Limits{MemoryBytes: 24 << 20, CPU: time.Minute},
	}, nil)
	if out.Kind != js.KindOK {
		t.Error(brief(out))
	}
}

var cliffs = []struct{ name, text string }{
	{"append-10k", "let s = ''; for (let i = 0; i < 10000; i++) s += 'row ' + i + ',some text here,' + i * 2 + '\\n'; return s.length"},
	{"append-100k", "let s = ''; for (let i = 0; i < 100000; i++) s += 'row ' + i + ',some text here,' + i * 2 + '\\n'; return s.length"},
	{"append-unicode", "let s = ''; for (let i = 0; i < 50000; i++) s += 'größe ' + i + '\\n'; return s.length"},
	{"reduce-string", "return Array.from({ length: 20000 }, (_, i) => 'row number ' + i + '\\n').reduce((s, r) => s + r, '').length"},
	{"template", "let s = ''; for (let i = 0; i < 20000; i++) s = `${s}row number ${i}\\n`; return s.length"},
	{"unshift", "const a = []; for (let i = 0; i < 20000; i++) a.unshift(i); return a.length"},
	{"spread", "let r = []; for (let i = 0; i < 5000; i++) r = [...r, i]; return r.length"},
	{"reduce-spread", "return Array.from({ length: 5000 }, (_, i) => i).reduce((r, x) => [...r, x], []).length"},
	{"shift-100k", "const a = Array.from({ length: 100000 }, (_, i) => i); let n = 0; while (a.length) n += a.shift(); return n"},
	{"queue", "const q = Array.from({ length: 100000 }, (_, i) => i); let n = 0; while (q.length) { const x = q.shift(); n++; if (x % 3 === 0 && x > 0) q.push(x - 1) } return n"},
}
