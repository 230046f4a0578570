//// defaults of arrays inside of patterns
const first = ({ items: [first = null, ...rest] = [] } = {}) => [first, rest];
const { data: { edges: [{ node = "none" } = {}] = [] } = {} } = {};
const deep = ({ x: [a = 1, { y: [b = 2, ...c] = [], ...r } = {}] = [] } = {}, [d = a] = [], { e: [g = d] = [] } = {}) => [a, b, c, r, d, g];
return [first(), first({ items: [1, 2] }), node, deep(), deep({ x: [9, { y: [8, 7, 6], z: 1 }] }, [5], { e: [4] }), deep.length, String(first)];

//// defaults of arrays in loops, methods and catch
const out = [];
for (const { a: [b = "none"] = [] } of [{ a: ["x"] }, {}, { a: [] }]) out.push(b);
class A { z = 7; m({ p: [q = this.z, f = (() => { return [1, 2].map(n => n * 2); })()] = [] } = {}) { return [q, f]; } }
try { throw { errors: [] }; } catch ({ errors: [e = (1)] = [] }) { out.push(e); }
var { c: [{ d: [v = /]/.source] = [] } = {}] = [] } = {};
return [out, new A().m(), v, [{}, { p: [2] }].map(({ p: [z = 3] = [] }) => z)];

//// comparisons in a row go from the left
const a = 1, b = 2, c = 3, o = { true: 1 };
return [1 < 2 < 3, 3 > 2 > 1, a < b < c, (a < b) < c, a < (b < c), 3 > (2) > 1, ((3)) > ((2)) > ((1)), 5 > 4 > 3 > 2 === false,
  "a" in { a: 1 } in o, [] instanceof Array in o, 3 > [1, 2].map(x => x > (1 > 0)).length > 1, 0 < -5 < 10, 3 > 2 >= 1];

//// arrow functions use the arguments of the function around them
const join = (f) => function () { const later = () => f.apply(this, arguments); return later(); };
function add() { return [1, 2].map(x => arguments[0] + x); }
class A { constructor() { this.n = (() => arguments.length)(); } m() { const out = []; for (let i = 0; i < 2; i++) out.push(() => arguments[0] + i); return out.map(f => f()); } }
async function later() { "use strict"; return (() => { const g = () => arguments[1]; return g(); })(); }
return [join((a, b) => a + b)(1, 2), add(5), new A(1, 2).n, new A().m(7), await later(1, 2), (() => { const arguments_ = 1; return arguments_; })()];

//// calls in optional chains
const o = {}, b = null, f = { g: () => null, h: () => () => 5 };
return [1, o.b?.()?.(), o.b?.(2)?.(3), o.b?.c()?.(), b?.()?.(), b?.x()(), f.g?.()?.(1), f.h?.(2)?.(3), f.g?.()?.x.y(), f.h()?.(), 4,
  "a" + (o.b?.(2)?.(3) ?? "z") + Math.max(1, o.b?.(2)?.(3) ?? 7), o.b?.map(x => x)?.filter(Boolean)?.length, [o.b?.find(x => x)?.name?.toUpperCase?.()]];

//// entries with holes
return [Object.fromEntries([[, 1], ["a", 2], ["b", ,]]), Object.fromEntries([["k"]]), Object.fromEntries(new Map([["m", 1]]))];
