//// map keeps order and identity
const k = {}, m = new Map([[k, 1], ["k", 2], [NaN, 3]]);
m.set(-0, "zero").delete("k"); m.set("k", 4);
return [m.get(k), m.get({}) ?? null, m.get(NaN), m.get(0), [...m.keys()].map(String), m.size];

//// set algebra by hand
const a = new Set([1, 2, 3]), b = new Set([3, 4]);
return { union: [...new Set([...a, ...b])], inter: [...a].filter(x => b.has(x)), diff: [...a].filter(x => !b.has(x)), sub: [...b].every(x => a.has(x)) };

//// changing a map while it is walked
const m = new Map([[1, 1], [2, 2], [3, 3]]), seen = [];
for (const [k] of m) { seen.push(k); if (k === 1) m.delete(2); if (k === 3) m.set(4, 4); }
return seen;

//// an lru cache
class LRU { #m = new Map(); constructor(n) { this.n = n; } get(k) { if (!this.#m.has(k)) return; const v = this.#m.get(k); this.#m.delete(k); this.#m.set(k, v); return v; } set(k, v) { this.#m.delete(k); this.#m.set(k, v); if (this.#m.size > this.n) this.#m.delete(this.#m.keys().next().value); } keys() { return [...this.#m.keys()]; } }
const c = new LRU(2); c.set("a", 1); c.set("b", 2); c.get("a"); c.set("c", 3);
return [c.keys(), c.get("b") ?? null];

//// a counter class over Map
class Counter extends Map { add(k) { return this.set(k, (this.get(k) ?? 0) + 1); } top(n) { return [...this].sort((a, b) => b[1] - a[1]).slice(0, n); } }
return [..."mississippi"].reduce((c, l) => c.add(l), new Counter()).top(2);

//// weak collections
const w = new WeakMap(), k = {};
w.set(k, 1);
return [w.get(k), w.has({}), (() => { try { w.set("x", 1); } catch (e) { return e.name; } })(), new WeakSet([k]).has(k)];

//// a graph, breadth first
const g = { a: ["b", "c"], b: ["d"], c: ["d"], d: ["e"], e: [] }, dist = new Map([["a", 0]]), q = ["a"];
for (const n of q) for (const m of g[n]) if (!dist.has(m)) { dist.set(m, dist.get(n) + 1); q.push(m); }
return Object.fromEntries(dist);

//// topological order
const deps = { app: ["db", "log"], db: ["log"], log: [], web: ["app"] }, out = [], mark = {};
const visit = n => { if (mark[n] === 2) return; if (mark[n]) throw new Error("cycle"); mark[n] = 1; deps[n].forEach(visit); mark[n] = 2; out.push(n); };
Object.keys(deps).forEach(visit);
return out;

//// dijkstra
const g = { A: { B: 7, C: 3 }, B: { D: 2 }, C: { B: 1, D: 8 }, D: {} }, d = { A: 0 }, todo = new Set(Object.keys(g));
while (todo.size) { const u = [...todo].reduce((a, b) => (d[a] ?? Infinity) <= (d[b] ?? Infinity) ? a : b); todo.delete(u); for (const [v, w] of Object.entries(g[u])) d[v] = Math.min(d[v] ?? Infinity, d[u] + w); }
return d;

//// a heap
class Heap { a = []; push(v) { this.a.push(v); let i = this.a.length - 1; while (i && this.a[(i - 1) >> 1] > this.a[i]) { [this.a[i], this.a[(i - 1) >> 1]] = [this.a[(i - 1) >> 1], this.a[i]]; i = (i - 1) >> 1; } } pop() { const t = this.a[0], l = this.a.pop(); if (this.a.length) { this.a[0] = l; let i = 0; for (;;) { let m = i; for (const c of [2 * i + 1, 2 * i + 2]) if (this.a[c] < this.a[m]) m = c; if (m === i) break; [this.a[i], this.a[m]] = [this.a[m], this.a[i]]; i = m; } } return t; } }
const h = new Heap(); [5, 3, 8, 1, 9, 2].forEach(x => h.push(x));
return Array.from({ length: 6 }, () => h.pop());

//// a linked list with an iterator
class List { constructor(...v) { this.head = v.reduceRight((n, v) => ({ v, n }), null); } *[Symbol.iterator]() { for (let c = this.head; c; c = c.n) yield c.v; } }
const [a, ...r] = new List(1, 2, 3);
return [a, r, Math.max(...new List(4, 9))];

//// typed arrays clamp and wrap
return [[...new Uint8Array([256, -1, 1.9])], [...new Uint8ClampedArray([300, -5, 1.5, 2.5])], [...new Int16Array([40000])], [...new Float32Array([0.1])], [...new BigInt64Array([2n ** 63n])].map(String)];

//// views over one buffer
const b = new ArrayBuffer(8), v = new DataView(b), u = new Uint8Array(b);
v.setUint16(0, 0x1234); v.setInt32(2, -2, true); v.setFloat32(4, 1.5);
return [[...u], v.getInt16(0), v.getUint8(1), u.subarray(1, 3).length, b.slice(2, 4).byteLength];

//// typed arrays as arrays
const t = Float64Array.from([3, 1, 2]);
return [[...t.map(x => x * 2)], [...t.toSorted()], t.indexOf(1), t.join("|"), [...t.slice(-2)], t.reduce((a, b) => a + b), Object.keys(t), JSON.stringify(t), [...new Uint8Array([10, 9, 1]).sort()]];

//// base64 by hand
const abc = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const enc = s => { let o = ""; for (let i = 0; i < s.length; i += 3) { const n = (s.charCodeAt(i) << 16) | ((s.charCodeAt(i + 1) || 0) << 8) | (s.charCodeAt(i + 2) || 0); o += abc[n >> 18] + abc[(n >> 12) & 63] + (i + 1 < s.length ? abc[(n >> 6) & 63] : "=") + (i + 2 < s.length ? abc[n & 63] : "="); } return o; };
return ["", "a", "ab", "abc", "hello"].map(enc);

//// utf-8 by hand
const bytes = s => [...encodeURIComponent(s).matchAll(/%(..)|(.)/g)].map(m => m[1] ? parseInt(m[1], 16) : m[2].charCodeAt(0));
return bytes("aé€😀");

//// structuredClone keeps types
const o = { d: new Date(5), m: new Map([["k", new Set([1])]]), r: /x/gi, a: [1, , 3], n: NaN, b: 1n }; o.self = o;
const c = structuredClone(o);
return [c.self === c, c.d.getTime(), [...c.m.get("k")], String(c.r), 1 in c.a, String(c.n), typeof c.b, c.m !== o.m];

//// Map from entries and back
const o = { a: 1, b: 2 }, m = new Map(Object.entries(o));
return [Object.fromEntries([...m].map(([k, v]) => [k.toUpperCase(), v * 2])), [...m.values()], m.has("a"), [...m.entries()][1]];

//// forEach arguments
const out = [];
new Map([["k", "v"]]).forEach((v, k, m) => out.push(v, k, m.size));
new Set(["s"]).forEach((v, k) => out.push(v, k));
[9].forEach(function (v, i) { out.push(v, i, this.t); }, { t: 1 });
return out;

//// permutations and combinations
const perms = a => a.length < 2 ? [a] : a.flatMap((x, i) => perms([...a.slice(0, i), ...a.slice(i + 1)]).map(p => [x, ...p]));
const combos = (a, k) => k === 0 ? [[]] : a.flatMap((x, i) => combos(a.slice(i + 1), k - 1).map(c => [x, ...c]));
return [perms([1, 2, 3]), combos(["a", "b", "c"], 2)];

//// cartesian product and power set
const prod = (...l) => l.reduce((a, b) => a.flatMap(x => b.map(y => [...x, y])), [[]]);
return [prod([1, 2], ["a"], [true, false]), [1, 2, 3].reduce((s, x) => [...s, ...s.map(t => [...t, x])], [[]]).length];

//// binary search
const a = Array.from({ length: 50 }, (_, i) => i * 3), find = x => { let l = 0, r = a.length; while (l < r) { const m = (l + r) >>> 1; if (a[m] < x) l = m + 1; else r = m; } return a[l] === x ? l : -1; };
return [0, 147, 75, 76].map(find);

//// union find
const p = [...Array(6).keys()], f = x => p[x] === x ? x : (p[x] = f(p[x]));
for (const [a, b] of [[0, 1], [2, 3], [1, 3]]) p[f(a)] = f(b);
return Object.values(p.reduce((o, _, i) => { (o[f(i)] ??= []).push(i); return o; }, {}));

//// a trie
const t = {};
for (const w of ["car", "cart", "dog"]) { let n = t; for (const c of w) n = n[c] ??= {}; n.$ = w; }
const all = n => Object.entries(n).flatMap(([k, v]) => k === "$" ? [v] : all(v));
return all(t.c);
