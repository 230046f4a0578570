//// top three by a field
const issues = [{ id: 1, comments: 4 }, { id: 2, comments: 11 }, { id: 3, comments: 0 }, { id: 4, comments: 11 }, { id: 5, comments: 7 }];
return issues.sort((a, b) => b.comments - a.comments || a.id - b.id).slice(0, 3).map(({ id, comments }) => ({ id, comments }));

//// count by state
const rows = ["open", "closed", "open", "merged", "open", "closed"];
return rows.reduce((acc, s) => ({ ...acc, [s]: (acc[s] ?? 0) + 1 }), {});

//// group by with reduce and ||=
const rows = [{ t: "bug", n: 1 }, { t: "feat", n: 2 }, { t: "bug", n: 3 }];
const by = {};
for (const r of rows) (by[r.t] ||= []).push(r.n);
return by;

//// group by into a Map, then entries
const m = new Map();
for (const w of ["kiwi", "plum", "fig", "apple", "pear", "date"]) m.set(w.length, [...(m.get(w.length) ?? []), w]);
return [...m.entries()].sort(([a], [b]) => a - b);

//// join two listings
const users = [{ id: 1, name: "Ada" }, { id: 2, name: "Grace" }];
const orders = [{ user: 2, total: 10.5 }, { user: 1, total: 3 }, { user: 2, total: 4.25 }, { user: 9, total: 1 }];
const names = new Map(users.map(u => [u.id, u.name]));
return orders.map(o => ({ who: names.get(o.user) ?? "unknown", total: o.total }));

//// sum, mean, median, deviation
const xs = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];
const sum = xs.reduce((a, b) => a + b, 0), mean = sum / xs.length;
const sorted = xs.toSorted((a, b) => a - b), median = sorted[Math.floor(sorted.length / 2)];
const sd = Math.sqrt(xs.map(x => (x - mean) ** 2).reduce((a, b) => a + b) / xs.length);
return { sum, mean, median, sd };

//// percentiles with interpolation
const xs = Array.from({ length: 101 }, (_, i) => (i * 37) % 101).sort((a, b) => a - b);
const p = q => { const i = (xs.length - 1) * q, lo = Math.floor(i); return xs[lo] + (xs[Math.ceil(i)] - xs[lo]) * (i - lo); };
return [0.5, 0.9, 0.95, 0.99, 0.999].map(p);

//// unique values in order
return [...new Set(["b", "a", "b", "c", "a", NaN, NaN, 0, -0, "0"])].map(String);

//// unique objects by key
const rows = [{ k: "x", v: 1 }, { k: "y", v: 2 }, { k: "x", v: 3 }];
return [...new Map(rows.map(r => [r.k, r])).values()];

//// chunk into pages
const items = Array.from({ length: 10 }, (_, i) => i + 1), size = 4, pages = [];
for (let i = 0; i < items.length; i += size) pages.push(items.slice(i, i + size));
return pages;

//// flatten pages and drop nulls
return [[1, null, [2, [3]]], undefined, [4, [[5]]]].flat(Infinity).filter(x => x != null);

//// flatMap splits and keeps indices
return ["a b", "", "c"].flatMap((s, i) => s.split(" ").filter(Boolean).map(w => `${i}:${w}`));

//// partition
const [even, odd] = [1, 2, 3, 4, 5].reduce(([e, o], n) => n % 2 ? [e, [...o, n]] : [[...e, n], o], [[], []]);
return { even, odd };

//// sort by several fields
const rows = [["b", 2], ["a", 2], ["c", 1], ["a", 1]];
return rows.sort(([a, x], [b, y]) => y - x || (a < b ? -1 : a > b ? 1 : 0));

//// sort is stable
const rows = Array.from({ length: 600 }, (_, i) => ({ k: i % 3, i }));
rows.sort((a, b) => a.k - b.k);
return rows.every((r, j) => j === 0 || rows[j - 1].k < r.k || rows[j - 1].k === r.k && rows[j - 1].i < r.i);

//// default sort is by text
return [[10, 9, 1, 2, 100].sort(), [true, false, null, undefined, "b", "B", 3].sort(), [-1, -2, 0].sort()];

//// holes and undefined sort last
const a = [3, , 1, undefined, 2];
a.sort();
return [a, a.length, 4 in a, 3 in a];

//// pivot a table
const rows = [["jan", "a", 1], ["jan", "b", 2], ["feb", "a", 3]];
const out = {};
for (const [m, k, v] of rows) out[m] = { ...out[m], [k]: v };
return out;

//// invert an object
return Object.fromEntries(Object.entries({ a: 1, b: 2, c: 1 }).map(([k, v]) => [v, k]));

//// pick and omit
const o = { id: 1, secret: "x", name: "n", tags: [1] }, { secret, ...rest } = o;
const pick = (o, ...keys) => Object.fromEntries(keys.filter(k => k in o).map(k => [k, o[k]]));
return [rest, pick(o, "id", "nope", "tags")];

//// deep get with a path
const get = (o, path, d) => path.split(/[.[\]]+/).filter(Boolean).reduce((x, k) => x?.[k], o) ?? d;
const o = { a: [{ b: { c: 42 } }], n: null };
return [get(o, "a[0].b.c"), get(o, "a[1].b.c", "none"), get(o, "n.x", 0)];

//// diff of two lists
const a = ["x", "y", "z"], b = ["y", "z", "w"], sa = new Set(a), sb = new Set(b);
return { added: b.filter(x => !sa.has(x)), removed: a.filter(x => !sb.has(x)), kept: a.filter(x => sb.has(x)) };

//// tree from a flat list
const flat = [{ id: 1, p: null }, { id: 2, p: 1 }, { id: 3, p: 1 }, { id: 4, p: 2 }];
const build = p => flat.filter(n => n.p === p).map(n => ({ id: n.id, kids: build(n.id) }));
return build(null);

//// walk a tree without recursion
const tree = { v: 1, c: [{ v: 2, c: [{ v: 4 }] }, { v: 3 }] }, out = [], queue = [tree];
while (queue.length) { const { v, c = [] } = queue.shift(); out.push(v); queue.push(...c); }
return out;

//// moving average
const xs = [1, 2, 3, 4, 5, 6], w = 3;
return xs.map((_, i) => i < w - 1 ? null : xs.slice(i - w + 1, i + 1).reduce((a, b) => a + b) / w);

//// cumulative sum
let t = 0;
return [5, -2, 7].map(x => (t += x));

//// histogram with buckets
const buckets = { "0-9": 0, "10-19": 0, "20+": 0 };
for (const n of [3, 12, 25, 19, 9, 20]) buckets[n < 10 ? "0-9" : n < 20 ? "10-19" : "20+"]++;
return buckets;

//// integer-like keys come first and ascend
const o = {};
for (const k of ["b", "10", "a", "9", "-1", "01", "1.5", "4294967295", "4294967294"]) o[k] = 1;
return Object.keys(o);

//// matrix transpose and product
const a = [[1, 2, 3], [4, 5, 6]], t = a[0].map((_, j) => a.map(r => r[j]));
const mul = (x, y) => x.map(r => y[0].map((_, j) => r.reduce((s, v, k) => s + v * y[k][j], 0)));
return [t, mul(a, t)];

//// memory of seen ids while paging
const pages = [[1, 2], [2, 3], [], [9]], seen = new Set();
let calls = 0;
for (const p of pages) { calls++; if (!p.length) break; p.forEach(id => seen.add(id)); }
return { calls, seen: [...seen] };

//// rank with ties
const s = [["a", 90], ["b", 85], ["c", 90], ["d", 70]].sort((x, y) => y[1] - x[1]);
let rank = 0, last = null;
return s.map(([n, v], i) => { if (v !== last) { rank = i + 1; last = v; } return [rank, n]; });

//// with, toSpliced, toReversed leave the original
const a = [1, 2, 3, 4];
return [a.with(1, 9), a.toSpliced(1, 2, "x"), a.toReversed(), a.with(-1, 0), a];

//// at, findLast, findLastIndex
const a = [5, 12, 50, 130, 44];
return [a.at(-1), a.at(9) ?? null, a.findLast(x => x > 45), a.findLastIndex(x => x > 200)];

//// copyWithin, fill, lastIndexOf, includes
return [[1, 2, 3, 4, 5].copyWithin(0, 3), Array(3).fill(0), [1, 2, 1].lastIndexOf(1), [NaN].includes(NaN), [NaN].indexOf(NaN)];

//// splice with every kind of argument
const a = [1, 2, 3, 4, 5];
return [a.splice(-2, 1), a.splice(1, 0, "x", "y"), a.splice(4), a];

//// every, some on nothing
return [[].every(x => false), [].some(x => true), Math.max(), Math.min(), [].reduce((a, b) => a, "init")].map(String);

//// reduce of nothing throws
try { [].reduce((a, b) => a + b); } catch (e) { return e.name; }

//// array-likes and iterables to arrays
return [Array.from("añ😀"), Array.from({ length: 2, 0: "x" }), Array.from(new Map([[1, 2]])), Array.of(7), Array.from([1, 2], x => x * 2)];

//// length truncates and grows
const a = [1, 2, 3];
a.length = 1; a[3] = "x";
return [a.length, JSON.stringify(a), Object.keys(a)];

//// arrays to text
return [String([1, [2, [3, null]], undefined]), [1, 2].join(), [null, undefined, 1].join("-"), [] + "", [[]] + ""];

//// concat spreads arrays only
return [[1].concat(2, [3], [[4]], "5"), [].concat({ length: 1, 0: "x", [Symbol.isConcatSpreadable]: true })];
