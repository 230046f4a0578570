//// stringify drops and keeps
return [JSON.stringify({ a: undefined, b: () => 1, c: Symbol("x"), d: NaN, e: -0, f: Infinity, g: null, h: [undefined, () => 1] }), JSON.stringify(undefined) ?? "undefined", JSON.stringify(null)];

//// indentation
return [JSON.stringify({ a: [1, { b: 2 }], c: {}, d: [] }, null, 2), JSON.stringify([1, [2]], null, "--"), JSON.stringify({ a: 1 }, null, 99).length, JSON.stringify([[]], null, "\t")];

//// replacer function and list
return [JSON.stringify({ a: 1, b: "x", c: [1, "y"] }, (k, v) => typeof v === "number" ? v + 1 : v), JSON.stringify({ a: 1, b: { a: 2, c: 3 } }, ["b", "a"]), JSON.stringify({ 1: 1, a: 2 }, [1, "a", "a"])];

//// toJSON
class Money { constructor(n) { this.n = n; } toJSON(k) { return `${k}:$${this.n}`; } }
return JSON.stringify({ p: new Money(5), l: [new Money(1)], d: new Date(0) });

//// reviver
return [JSON.parse('{"d":"2024-01-01T00:00:00Z","n":[1,2]}', (k, v) => k === "d" ? new Date(v).getTime() : Array.isArray(v) ? v.length : v), JSON.parse("[1,2,3]", (k, v) => v === 2 ? undefined : v).length];

//// bad texts throw
return ["", "{", "{a:1}", "[1,]", "'x'", "01", "1.", "+1", "NaN", "nul", '"\t"', '{"a":1,}', "[1 2]", "\u00a01", '"\\x41"', "1e", "undefined"].map(t => { try { JSON.parse(t); return t; } catch (e) { return e.name; } }).every(x => x === "SyntaxError");

//// numbers of every form
return JSON.parse("[0,-0,1e5,1E-2,123456789012345678901234567890,0.1,1e400,-1e-400]").map(x => Object.is(x, -0) ? "-0" : String(x));

//// keys that trap
const o = JSON.parse('{"__proto__":{"x":1},"constructor":2,"a":1,"a":3,"10":1,"2":1,"":0}');
return [Object.keys(o), o.a, Object.hasOwn(o, "__proto__"), ({}).x === undefined, o[""]];

//// escapes both ways
return [JSON.stringify("\u2028\u0007\"\\/\n\ud800é😀\u007f"), JSON.parse('"\\u00e9\\ud83d\\ude00\\/\\b"'), JSON.stringify({ "a\"b": 1 })];

//// deep copies
const a = { d: new Date(0), u: undefined, n: [1, [2]] }, b = JSON.parse(JSON.stringify(a));
b.n[1][0] = 9;
return [a.n, b, typeof b.d];

//// cycles throw
const a = { n: 1 }; a.self = a;
try { JSON.stringify(a); } catch (e) { return e.name; }

//// cycles kept out by a WeakSet
const a = { n: 1, kids: [{ n: 2 }] }; a.kids[0].up = a;
const seen = new WeakSet();
return JSON.stringify(a, (k, v) => { if (typeof v === "object" && v) { if (seen.has(v)) return "[cycle]"; seen.add(v); } return v; });

//// jsonl
const text = '{"a":1}\n\n{"a":2}\nbroken\n{"a":3}';
const out = [], bad = [];
text.split("\n").forEach((l, i) => { if (!l.trim()) return; try { out.push(JSON.parse(l).a); } catch { bad.push(i + 1); } });
return { out, bad };

//// stable stringify
const stable = v => Array.isArray(v) ? `[${v.map(stable)}]` : v && typeof v === "object" ? `{${Object.keys(v).sort().map(k => JSON.stringify(k) + ":" + stable(v[k]))}}` : JSON.stringify(v);
return stable({ b: [1, { d: 1, c: 2 }], a: null });

//// wrapped primitives
return JSON.stringify([new Number(3), new String("x"), new Boolean(false), Object(1).valueOf(), Object("s")]);

//// text inside text
const outer = JSON.stringify({ payload: JSON.stringify({ a: "q\"q" }) });
return [outer, JSON.parse(JSON.parse(outer).payload).a];

//// maps and sets become empty objects
return JSON.stringify({ m: new Map([[1, 2]]), s: new Set([1]), w: new WeakMap(), r: /x/g, e: new Error("x"), t: new Uint8Array(2), b: new ArrayBuffer(2) });

//// getters and prototypes
class A { x = 1; get y() { return 2; } }
const o = Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true }, hidden: { value: 2 } });
return [JSON.stringify(new A()), JSON.stringify(o), JSON.stringify({ get z() { return 3; } })];

//// flatten to dotted paths and back
const flat = (o, p = "") => Object.entries(o).flatMap(([k, v]) => v && typeof v === "object" ? flat(v, p + k + ".") : [[p + k, v]]);
const f = flat({ a: { b: 1, c: [5, { d: 6 }] }, e: null }), back = {};
for (const [p, v] of f) p.split(".").reduce((o, k, i, ks) => i === ks.length - 1 ? (o[k] = v) : (o[k] ??= {}), back);
return [f, back];

//// deep merge
const merge = (a, b) => { for (const [k, v] of Object.entries(b)) a[k] = v && typeof v === "object" && !Array.isArray(v) ? merge({ ...a[k] }, v) : v; return a; };
return merge({ a: { x: 1, y: 2 }, l: [1] }, { a: { y: 3, z: 4 }, l: [2, 3], n: null });

//// deep equality
const eq = (a, b) => a === b || (a !== a && b !== b) || !!a && !!b && typeof a === "object" && typeof b === "object" && Object.keys(a).length === Object.keys(b).length && Object.keys(a).every(k => eq(a[k], b[k]));
return [eq({ a: [1, { b: NaN }] }, { a: [1, { b: NaN }] }), eq([1], { 0: 1 }), eq({ a: 1 }, { a: 1, b: 2 }), eq(null, {})];

//// a schema check
const schema = { id: "number", name: "string", tags: "array" }, t = v => Array.isArray(v) ? "array" : v === null ? "null" : typeof v;
return [{ id: 1, name: "n", tags: [] }, { id: "1", tags: null }].map(o => Object.entries(schema).filter(([k, w]) => t(o[k]) !== w).map(([k, w]) => `${k}: want ${w}, got ${t(o[k])}`));
