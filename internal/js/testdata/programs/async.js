//// all keeps order
const slow = (v, ms) => new Promise(r => setTimeout(r, ms, v));
return await Promise.all([slow("a", 6), slow("b", 2), "c", slow("d", 4)]);

//// allSettled
const r = await Promise.allSettled([1, Promise.reject(new Error("no")), Promise.resolve(3)]);
return r.map(x => x.status === "fulfilled" ? x.value : x.reason.message);

//// any and race
const slow = (v, ms) => new Promise(r => setTimeout(r, ms, v));
return [await Promise.any([Promise.reject(1), slow("any", 3)]), await Promise.race([slow("late", 9), slow("early", 1)])];

//// any of none
try { await Promise.any([Promise.reject(1), Promise.reject(2)]); } catch (e) { return [e.name, e.errors]; }

//// all fails with the first
try { await Promise.all([new Promise((_, n) => setTimeout(n, 5, "slow")), new Promise((_, n) => setTimeout(n, 1, "fast"))]); } catch (e) { return e; }

//// order of microtasks and timers
const log = [];
setTimeout(() => log.push("timeout"), 0);
Promise.resolve().then(() => log.push("micro1")).then(() => log.push("micro2"));
queueMicrotask(() => log.push("queued"));
(async () => { log.push("sync"); await null; log.push("after await"); })();
log.push("end");
await new Promise(r => setTimeout(r, 5));
return log;

//// await of a thenable
const t = { then(ok) { ok("thenable"); } };
return [await t, await Promise.resolve(t), await (async () => t)()];

//// finally passes values through
const log = [];
const v = await Promise.resolve(1).finally(() => { log.push("f"); return 9; });
const w = await Promise.reject(new Error("x")).finally(() => log.push("g")).catch(e => e.message);
return [v, w, log];

//// retry with back-off
let n = 0;
const flaky = async () => { if (++n < 3) throw new Error(`try ${n}`); return "ok"; };
const retry = async (f, k) => { const errors = []; for (let i = 0; i < k; i++) try { return { v: await f(), errors }; } catch (e) { errors.push(e.message); await new Promise(r => setTimeout(r, 1)); } throw new Error("gave up"); };
return await retry(flaky, 5);

//// a pool of two at a time
let running = 0, most = 0;
const job = async i => { most = Math.max(most, ++running); await new Promise(r => setTimeout(r, 2)); running--; return i * i; };
const pool = async (items, n, f) => { const out = [], it = items.entries(); await Promise.all(Array.from({ length: n }, async () => { for (const [i, x] of it) out[i] = await f(x); })); return out; };
return [await pool([1, 2, 3, 4, 5], 2, job), most];

//// a timeout by race
const within = (p, ms) => Promise.race([p, new Promise((_, no) => setTimeout(() => no(new Error("timeout")), ms))]);
return [await within(Promise.resolve("in time"), 5), await within(new Promise(r => setTimeout(r, 50)), 2).catch(e => e.message)];

//// sequence by reduce
const out = [];
await [3, 1, 2].reduce((p, n) => p.then(() => new Promise(r => setTimeout(() => { out.push(n); r(); }, n))), Promise.resolve());
return out;

//// forEach does not wait
const out = [];
[1, 2].forEach(async n => { await null; out.push(n); });
const before = out.length;
for (const n of [3]) { await null; await null; out.push(n); }
return [before, out];

//// map of async needs all
const p = [1, 2].map(async n => n * 2);
return [p[0] instanceof Promise, await Promise.all(p)];

//// async errors are caught
const f = async () => { throw new RangeError("r"); };
const out = [];
try { await f(); } catch (e) { out.push(e.name); }
await f().catch(e => out.push(e.message));
await f().then(() => out.push("no"), e => out.push("second argument"));
return out;

//// a generator
function* range(a, b, s = 1) { for (let i = a; i < b; i += s) yield i; }
return [[...range(0, 5)], Math.max(...range(1, 9, 3)), Array.from(range(0, 3), x => x ** 2)];

//// generators talk both ways
function* g() { const a = yield 1; try { const b = yield a + 1; return b; } catch (e) { yield `caught ${e}`; } finally { yield "cleanup"; } }
const i = g();
return [i.next(), i.next(10), i.throw("E"), i.next(), i.next(), i.next()].map(({ value, done }) => [value ?? null, done]);

//// return closes a generator
const log = [];
function* g() { try { yield 1; yield 2; } finally { log.push("closed"); } }
for (const x of g()) break;
const [a] = g();
return [a, log, g().return(7)];

//// yield star
function* inner() { const x = yield "i"; return x * 2; }
function* outer() { const r = yield* inner(); yield r; yield* [7, 8]; yield* "ab"; }
const g = outer();
return [g.next().value, g.next(21).value, [...g]];

//// lazy pipelines
const take = function* (n, it) { for (const x of it) { if (n-- <= 0) return; yield x; } }, map = function* (f, it) { for (const x of it) yield f(x); };
const nat = { *[Symbol.iterator]() { for (let i = 0; ; i++) yield i; } };
return [...take(5, map(x => x * x, nat))];

//// a tree walked by a generator
const t = { v: 4, l: { v: 2, l: { v: 1 }, r: { v: 3 } }, r: { v: 6 } };
const walk = function* (n) { if (n) { yield* walk(n.l); yield n.v; yield* walk(n.r); } };
return [...walk(t)];

//// an iterator by hand
const it = { from: 1, to: 4, [Symbol.iterator]() { let c = this.from, t = this.to; return { next: () => c <= t ? { value: c++, done: false } : { value: undefined, done: true }, return() { closed = true; return {}; } }; } };
let closed = false;
const [x] = it;
return [[...it], x, closed, Math.min(...it)];

//// an async generator over pages
const pages = { 1: { items: ["a", "b"], next: 2 }, 2: { items: ["c"], next: null } };
async function* all() { for (let p = 1; p; ) { const { items, next } = await Promise.resolve(pages[p]); yield* items; p = next; } }
const out = [];
for await (const x of all()) out.push(x);
return out;

//// for await over promises and iterables
const out = [];
for await (const x of [Promise.resolve(1), 2, new Promise(r => setTimeout(r, 1, 3))]) out.push(x);
for await (const c of "hi") out.push(c);
return out;

//// an async iterator by hand
const src = { [Symbol.asyncIterator]() { let n = 0; return { next: async () => n < 3 ? { value: n++, done: false } : { done: true }, return: async () => { log.push("returned"); return {}; } }; } };
const log = [];
for await (const x of src) { log.push(x); if (x === 1) break; }
return log;

//// async generators finish and throw
async function* g() { try { yield 1; yield 2; } finally { log.push("fin"); } }
const log = [];
for await (const x of g()) { log.push(x); break; }
const i = g(); await i.next();
try { await i.throw(new Error("t")); } catch (e) { log.push(e.message); }
return log;

//// interval until done
let n = 0;
return await new Promise(r => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); r(n); } }, 1); });

//// debounce
const calls = [], deb = (f, ms) => { let t; return (...a) => { clearTimeout(t); t = setTimeout(f, ms, ...a); }; };
const f = deb(x => calls.push(x), 3);
f(1); f(2); f(3);
await new Promise(r => setTimeout(r, 15));
return calls;

//// a mutex
let chain = Promise.resolve();
const log = [], lock = f => (chain = chain.then(f, f));
await Promise.all([1, 2, 3].map(n => lock(async () => { log.push(`in ${n}`); await null; log.push(`out ${n}`); })));
return log;

//// a deferred
const d = {}; d.promise = new Promise((y, n) => Object.assign(d, { y, n }));
setTimeout(() => d.y("later"), 1);
return await d.promise;

//// promise identity and state
const p = Promise.resolve(1);
return [Promise.resolve(p) === p, p.then() === p, await new Promise((y, n) => { y(1); n(2); y(3); }), Object.prototype.toString.call(p), typeof p.then];

//// resolving with oneself rejects
let r; const p = new Promise(y => (r = y));
r(p);
try { await p; } catch (e) { return e.name; }

//// executor that throws
return [await new Promise(() => { throw new Error("in executor"); }).catch(e => e.message), await Promise.resolve().then(() => { throw 5; }).catch(x => x + 1)];

//// async methods and arrows
const o = { async m() { return this.v; }, v: 7, a: async x => x + 1 };
class A { static async s() { return "s"; } async *g() { yield 1; } }
const out = [await o.m(), await o.a(1), await A.s()];
for await (const x of new A().g()) out.push(x);
return out;

//// nested awaits in expressions
const f = async x => x;
return { s: (await f(1)) + (await f(2)) * (await f(3)), a: [await f(1), ...(await f([2, 3]))], c: (await f(true)) ? await f("y") : "n", t: `${await f("t")}`, o: { [await f("k")]: await f("v") } };

//// await in loops, conditions and catch
let i = 0; const out = [];
while (await Promise.resolve(i < 3)) { out.push(i); i++; }
try { throw 1; } catch (e) { out.push(await Promise.resolve(e + 10)); } finally { out.push(await "fin"); }
return out;

//// the error of any
try { await Promise.any([]) } catch (e) { return [e.message, e.errors, String(e), e.stack.split('\n')[0], e instanceof AggregateError] }

//// the error of any, of a class of promises
class P extends Promise { }
const p = P.any([P.reject(1), P.reject(2)]);
try { await p; } catch (e) { return [p instanceof P, e.message, e.errors, Object.keys(e), Promise.any.length, Promise.any.name]; }
