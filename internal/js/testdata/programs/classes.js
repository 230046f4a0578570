//// fields, accessors, statics
class A { static n = 0; #x = 1; y = this.#x + 1; get x() { return this.#x; } set x(v) { this.#x = v; A.n++; } static of() { return new this(); } }
const a = A.of(); a.x = 5;
return [a.x, a.y, A.n, JSON.stringify(a), Object.keys(a)];

//// inheritance and super
class Shape { constructor(n) { this.n = n; } area() { return 0; } toString() { return `${this.n}(${this.area().toFixed(1)})`; } }
class Circle extends Shape { constructor(r) { super("circle"); this.r = r; } area() { return Math.PI * this.r ** 2; } }
class Sq extends Shape { constructor(s) { super("sq"); this.s = s; } area() { return this.s ** 2; } toString() { return super.toString() + "!"; } }
return [`${new Circle(1)}`, String(new Sq(2)), new Sq(1) instanceof Shape, Object.getPrototypeOf(Sq) === Shape];

//// private methods and checks
class P { #s = 1; static is(o) { return #s in o; } #inc() { return ++this.#s; } inc() { return this.#inc(); } static #c = 0; static next() { return ++P.#c; } }
return [new P().inc(), P.is(new P()), P.is({}), P.next(), P.next()];

//// static blocks
class C { static table = {}; static { for (const [k, v] of [["a", 1], ["b", 2]]) this.table[k] = v; } }
return C.table;

//// errors of one's own
class HttpError extends Error { constructor(status, msg, opts) { super(msg, opts); this.name = "HttpError"; this.status = status; } }
try { try { null.x; } catch (e) { throw new HttpError(502, "bad", { cause: e }); } } catch (e) { return [e instanceof HttpError, e instanceof Error, e.name, e.message, e.status, e.cause instanceof TypeError, String(e), Object.prototype.toString.call(e)]; }

//// new.target and abstract classes
class Abstract { constructor() { if (new.target === Abstract) throw new TypeError("abstract"); this.made = new.target.name; } }
class Real extends Abstract {}
return [new Real().made, (() => { try { new Abstract(); } catch (e) { return e.message; } })()];

//// mixins
const Named = B => class extends B { hi() { return "hi " + this.name; } }, Aged = B => class extends B { old() { return this.age > 30; } };
class Person extends Aged(Named(Object)) { constructor(n, a) { super(); this.name = n; this.age = a; } }
const p = new Person("Ann", 31);
return [p.hi(), p.old()];

//// this, bind, call, apply
const o = { n: 1, f() { return this?.n; }, g: () => typeof this, h: function () { return [1].map(() => this.n); } };
const { f } = o;
return [o.f(), f.call({ n: 2 }), f.bind({ n: 3 })(), f.apply({ n: 4 }, []), o.h(), o.f.bind(o).name];

//// getters on literals and defineProperty
const o = { first: "A", last: "B", get full() { return `${this.first} ${this.last}`; }, set full(v) { [this.first, this.last] = v.split(" "); } };
o.full = "C D";
Object.defineProperty(o, "hidden", { value: 1 });
return [o.full, Object.keys(o), o.hidden, Object.getOwnPropertyDescriptor(o, "hidden")];

//// freeze and seal
const f = Object.freeze({ a: 1, n: { b: 1 } });
f.a = 2; f.n.b = 2;
return [f, Object.isFrozen(f), (() => { "use strict"; try { f.a = 3; } catch (e) { return e.name; } })(), delete Object.seal({ x: 1 }).x];

//// a proxy with defaults
const p = new Proxy({ a: 1 }, { get: (t, k) => k in t ? t[k] : `no ${String(k)}`, has: (t, k) => k.startsWith("a"), deleteProperty: () => true, ownKeys: () => ["a"] });
return [p.a, p.zzz, "abc" in p, "b" in p, delete p.a, Object.keys(p)];

//// a proxy that logs
const log = [], p = new Proxy([], { set(t, k, v) { log.push(`${String(k)}=${v}`); return Reflect.set(t, k, v); } });
p.push("x", "y");
return log;

//// Reflect
return [Reflect.ownKeys({ b: 1, [Symbol.for("s")]: 2, 1: 3 }).map(String), Reflect.has({ a: 1 }, "a"), Reflect.construct(Array, [3]).length, Reflect.apply(Math.max, null, [1, 3]), Reflect.getPrototypeOf([]) === Array.prototype];

//// symbols
const s = Symbol("tag"), o = { [s]: 1, a: 2 };
return [o[s], Object.keys(o), s.description, Symbol.for("x") === Symbol.for("x"), Symbol.keyFor(Symbol.for("x")), String(s), JSON.stringify(o), typeof Symbol.iterator];

//// toPrimitive, valueOf, toString
const m = { [Symbol.toPrimitive]: h => h === "number" ? 42 : h }, v = { valueOf: () => 10, toString: () => "s" };
return [+m, `${m}`, m + "", v * 2, v + 1, `${v}`, [v] + "", v > 9];

//// toStringTag and hasInstance
class T { get [Symbol.toStringTag]() { return "Tee"; } static [Symbol.hasInstance](x) { return x === 1; } }
return [String(new T()), 1 instanceof T, new T() instanceof T, Object.prototype.toString.call([]), Object.prototype.toString.call(null)];

//// species
class A extends Array { sum() { return this.reduce((a, b) => a + b, 0); } }
const a = A.from([1, 2, 3]);
return [a.map(x => x * 2).sum(), a.filter(x => x > 1) instanceof A, a.length, Array.isArray(a), a.slice(1).constructor.name];

//// closures in loops
const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i);
var gs = []; for (var j = 0; j < 3; j++) gs.push(() => j);
return [fs.map(f => f()), gs.map(g => g())];

//// hoisting
return [typeof f, typeof v, f(), (() => { try { l; let l = 1; } catch (e) { return e.name; } })()];
function f() { return "f"; }
var v = 1;

//// functions in blocks
{ function inner() { return 1; } }
if (true) { function cond() { return 2; } }
return [typeof inner, typeof cond];

//// default parameters see earlier ones
const f = (a, b = a * 2, { c = b + 1, ...r } = {}, [d = c] = []) => [a, b, c, d, r];
return [f(1), f(1, undefined, { c: 5, x: 9 }, [7]), f.length, ((...a) => a.length)(1, 2), (function () { return arguments.length; })(1, 2, 3)];

//// destructuring of everything
const { a: { b: [, second = "d"] = [] } = {}, ...rest } = { a: { b: [1] }, x: 1, y: 2 };
const [p, , q = 3, ...r] = "abcdef";
let x = 1, y = 2; [x, y] = [y, x];
const { length, [length - 1]: last } = "xyz";
return [second, rest, p, q, r, x, y, length, last];

//// labels
const out = [];
outer: for (let i = 0; i < 4; i++) { for (let j = 0; j < 4; j++) { if (j === 2) continue outer; if (i === 2) break outer; out.push(`${i}${j}`); } }
block: { out.push("in"); if (out.length) break block; out.push("never"); }
return out;

//// switch falls through
const f = x => { const o = []; switch (x) { case 1: o.push(1); case 2: o.push(2); break; default: o.push("d"); case 3: o.push(3); } return o; };
return [f(1), f(2), f(3), f(9), f("1")];

//// try, finally and return
const f = () => { try { return "try"; } finally { log.push("finally"); } }, g = () => { try { throw 1; } catch { return "c"; } finally { return "f"; } }, log = [];
const h = () => { for (const x of [1, 2]) { try { continue; } finally { log.push(x); } } };
return [f(), g(), h() ?? null, log];

//// curry, compose, pipe, memoize
const curry = f => function c(...a) { return a.length >= f.length ? f(...a) : (...b) => c(...a, ...b); };
const pipe = (...f) => x => f.reduce((v, g) => g(v), x), memo = f => { const m = {}; return n => m[n] ??= f(n); };
const fib = memo(n => n < 2 ? n : fib(n - 1) + fib(n - 2));
return [curry((a, b, c) => a + b + c)(1)(2, 3), pipe(x => x + 1, x => x * 2)(3), fib(80)];

//// Object statics
const o = { b: 1, a: 2 };
return [Object.entries(o), Object.is(NaN, NaN), Object.is(0, -0), Object.hasOwn(o, "a"), Object.assign({}, null, o, "hi"), Object.getOwnPropertyNames("ab"), "a" in o, Object.create(null) instanceof Object];

//// delete, in, optional call
const o = { a: { f: () => "called" }, n: 0 };
return [delete o.n, "n" in o, o.a?.f?.(), o.b?.f?.() ?? "none", o.a["f"]?.(), o?.["a"]?.g?.x.y.z ?? null];

//// for in order and inheritance
const base = { z: 1 }, o = Object.create(base, { own: { value: 1, enumerable: true }, no: { value: 1 } });
o[5] = 1; o.b = 1; o[1] = 1;
const keys = []; for (const k in o) keys.push(k);
return [keys, (() => { const k = []; for (const i in "ab") k.push(i); for (const i in [7, , 8]) k.push(i); return k; })()];

//// event emitter
class E { #h = {}; on(e, f) { (this.#h[e] ??= new Set()).add(f); return () => this.#h[e].delete(f); } emit(e, ...a) { return [...this.#h[e] ?? []].map(f => f(...a)); } }
const e = new E(), off = e.on("x", a => a + 1); e.on("x", a => a * 2);
const first = e.emit("x", 5); off();
return [first, e.emit("x", 5), e.emit("y")];

//// a state machine
const m = { idle: { start: "run" }, run: { pause: "idle", stop: "done" }, done: {} };
return ["start", "pause", "stop", "start", "stop", "x"].reduce((s, e) => [...s, m[s.at(-1)][e] ?? s.at(-1)], ["idle"]);

//// errors that the engine throws
const t = f => { try { f(); return "none"; } catch (e) { return e.constructor.name; } };
return [() => null.x, () => undefinedName, () => new Array(-1), () => (1).toFixed(101), () => decodeURIComponent("%"), () => "x".repeat(-1), () => { const c = 1; c = 2; }, () => new (class { constructor() { null(); } })(), () => Symbol() + "", () => [...5], () => ({}).x.y, () => JSON.parse("{"), () => new Proxy({}, null), () => { let [a] = {}; }, () => ({}) instanceof 5, () => "a" in "b"].map(t);

//// throwing other things
const t = v => { try { throw v; } catch (e) { return e; } };
return [t(1), t("s"), t(null), t({ code: 5 }), t([1])];

//// aggregate and suppressed order
try { throw new AggregateError([new Error("a"), new TypeError("b")], "both"); } catch (e) { return [e.name, e.message, e.errors.map(String), e instanceof Error]; }

//// comma, void, in, typeof of undeclared
var x = (1, 2, 3);
return [x, void 0 === undefined, typeof nope, !!document_missing()];
function document_missing() { return typeof document === "undefined"; }

//// getter on a class prototype, enumerability
class A { get g() { return 1; } m() {} static s() {} }
return [Object.keys(A.prototype), Object.getOwnPropertyNames(A.prototype).sort(), Object.getOwnPropertyNames(A).filter(n => n === "s"), A.name, A.length, typeof A];

//// function names and lengths
const a = () => {}, o = { m() {}, ["c" + 1]: function () {}, get g() { return 1; } };
return [a.name, o.m.name, o.c1.name, (function () {}).name, (class {}).name, new Function("x", "return x").name, a.bind().name, Object.getOwnPropertyDescriptor(o, "g").get.name, ((x, y = 1, z) => {}).length];

//// accessors, as they were defined once
const o = {}; o.__defineGetter__('a', () => 1); o.__defineSetter__('a', function (v) { this.v = v }); o.a = 5; return [o.a, o.v, typeof o.__lookupGetter__('a'), typeof o.__lookupSetter__('a'), o.__lookupGetter__('zz') === undefined, new Date(0).getYear(), new Date(0).toGMTString(), (() => { const d = new Date(0); d.setYear(99); return d.getFullYear() })()];

//// what a primitive's method sees, and when its key is asked for
let asked = 0;
const key = { toString() { asked++; return 'a'; } };
const out = [];
for (const name of ['__lookupGetter__', '__lookupSetter__']) for (const o of [null, undefined]) try { Object.prototype[name].call(o, key); } catch (e) { out.push(e.name); }
Object.defineProperty(String.prototype, 'toLocaleString', { configurable: true, get() { 'use strict'; out.push(typeof this); return function () { 'use strict'; return typeof this; }; } });
out.push(['a'].toLocaleString(), asked);
delete String.prototype.toLocaleString;
return out;

//// super in static fields, arguments in parameters
class Base { static n = 4; static m() { return 7; } }
class Sub extends Base { static s = super.n; static t = () => super.m(); static #p = 3; static u = this.s + Sub.#p; static async w() { return super.n; } x = 1; }
function f(a, b = () => arguments[0] + arguments.length, { c = () => arguments[1] } = {}) { let d = 1; return [b(), a, c() === undefined, d]; }
return [Sub.s, Sub.t(), Sub.u, await Sub.w(), Sub.name, Object.keys(Sub), new Sub(), f(7), f.length];

//// errors with a stack of their own
class HttpError extends Error { constructor(s, m) { super(m); this.name = 'HttpError'; this.status = s; Error.captureStackTrace(this, this.constructor); } }
const e = new HttpError(404, 'gone'), o = {};
Error.captureStackTrace(o);
return [e.stack.split('\n')[0], `${e}`, e.status, Object.keys(e), o.stack.split('\n')[0], e.stack.includes('HttpError:')];
