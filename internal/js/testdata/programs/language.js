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
