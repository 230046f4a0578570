package js_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// A type error names the expression, and what it is where that is known without running anything.
func TestReceivers(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a method that there is not", "const o = {}; o.f(1)", "o.f is not a function"},
		{"of a tool's array", "const issues = await tools.a.x({ list: [1] }); const list = issues.list; list.list()", "list.list is not a function: `list` is an array"},
		{"of a tool's object", "const r = await tools.a.x({ items: [1], total: 1 }); return r.map(x => x)", "r.map is not a function: `r` is an object with keys items, total"},
		{"of an object of one key", "const r = await tools.a.x({ items: [1] }); return r.map(x => x)", "r.map is not a function: `r` is an object with the key items"},
		{"of an object of many keys", "const r = await tools.a.x({ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1 }); r.map()", "r.map is not a function: `r` is an object with keys a, b, c, d, e, f, g, h, …"},
		{"of an empty object", "const r = await tools.a.x({}); r.map()", "r.map is not a function: `r` is an object without keys"},
		{"of what was taken apart", "const { items } = await tools.a.x({ items: { b: 1, c: 2 } }); items.map(x => x)", "items.map is not a function: `items` is an object with keys b, c"},
		{"of a part", "const r = await tools.a.x({ items: { b: 1, c: 2 } }); r.items.map(x => x)", "r.items.map is not a function: `r.items` is an object with keys b, c"},
		{"of a copy", "const r = await tools.a.x({ a: 1 }); const s = r; s.map()", "s.map is not a function: `s` is an object with the key a"},
		{"of the call itself", "(await tools.a.x({ a: 1 })).map(x => x)", "(await tools.a.x({ a: 1 })).map is not a function: `await tools.a.x({ a: 1 })` is an object with the key a"},
		{"in a callback", "await Promise.all([1].map(async n => { const r = await tools.a.x({ n }); return r.map(x => x) }))", "r.map is not a function: `r` is an object with the key n"},
		{"of input", "input.map(x => x)", "input.map is not a function: `input` is an object with the key rows"},
		{"of a string", "const s = 'abc'; s.map(c => c)", "s.map is not a function: `s` is a string"},
		{"of keys", "const rows = Object.entries({}); rows.get('a')", "rows.get is not a function: `rows` is an array"},
		{"of a Map", "const m = new Map(); m.map(x => x)", "m.map is not a function: `m` is a Map"},
		{"of Promise.all", "const x = await Promise.all([1]); x.foo()", "x.foo is not a function: `x` is an array"},
		{"of a variable that has several values", "let s = 'abc'; s = {}; s.map(c => c)", "s.map is not a function"},
		{"of a name that is two variables", "const s = 'abc'; (s => s.foo())({})", "s.foo is not a function"},
		{"of a parameter", "const f = list => list.map(x => x); f({})", "list.map is not a function"},
		{"of an element", "const rows = await tools.a.x({ a: [{ b: 1 }] }); rows.a[0].c()", "rows.a[0].c is not a function: `rows.a[0]` is an object with the key b"},
		{"in brackets", "const r = await tools.a.x({ a: 1 }); r['b c']()", "r['b c'] is not a function: `r` is an object with the key a"},
		{"a value that is called", "const f = 5; f()", "f is not a function: it is a number"},
		{"a property that is called", "const r = await tools.a.x({ total: 5 }); r.total()", "r.total is not a function: it is a number"},
		{"a method of an array that is there", "const a = [1]; a.push = 5; a.push(1)", "a.push is not a function"},
		{"over lines", "const o = {}\no\n  .f\n  ()", "o .f is not a function"},
		{"long", "const o = {}; o.f" + strings.Repeat(".call", 30) + "()", "Cannot read property 'call': `o.f` is undefined or null"},

		{"property of undefined", "const o = {}; return o.a.b", "Cannot read property 'b': `o.a` is undefined or null"},
		{"property of what a tool did not answer", "const r = await tools.a.x({ items: 1 }); return r.data.items", "Cannot read property 'items' of undefined: `r.data` is undefined, as `r` is an object with the key items"},
		{"property of a null that a tool answered", "const r = await tools.a.x({ items: null }); return r.items.length", "Cannot read property 'length' of null: `r.items` is null"},
		{"method of undefined", "const o = {}; o.a.f(1)", "Cannot read property 'f': `o.a` is undefined or null"},
		{"element of undefined", "const o = {}; return o.a[0]", "Cannot read property '0': `o.a` is undefined or null"},
		{"element by a variable", "const o = {}, i = 3; return o.a[i]", "Cannot read property '3': `o.a` is undefined or null"},
		{"in a chain", "const o = { a: {} }; return o.a.b.c.d", "Cannot read property 'c': `o.a.b` is undefined or null"},
		{"of this", "class A { m() { return this.q.r } }; return new A().m()", "Cannot read property 'r': `this.q` is undefined or null"},
		{"assignment", "let u; u.x = 1", "Cannot set property 'x': `u` is undefined or null"},
		{"taken apart", "let u = {}; const { a } = u.b", "`u.b` is undefined or null, and can't be taken apart"},
		{"for of undefined", "const o = {}; for (const x of o.rows) ;", "`o.rows` is undefined or null, and not iterable"},
		{"for of, taking apart", "const r = await tools.a.x({ rows: [{ user: null }] }); for (const { user: { login } } of r.rows) ;", "an item of `r.rows`, or its `user`, is undefined or null, and can't be taken apart"},
		{"for of what is not known, taking apart", "for (const { a } of JSON.parse('[null]')) ;", "`JSON.parse('[null]')`, or an item of `JSON.parse('[null]')` is undefined or null, and can't be taken apart"},
		{"a part that is taken apart", "const r = await tools.a.x({ user: null }); const { user: { login } } = r", "`r`'s `user` is undefined or null, and can't be taken apart"},
		{"an argument that is taken apart", "return [{ user: null }].map(({ user: { login } }) => login)", "what the function was given for `{ user: { login } }`, or its `user`, is undefined or null, and can't be taken apart"},
		{"a tool's answer without await", "const r = tools.a.x({ items: [] }); return r.items.length", "Cannot read property 'length': `r.items` is undefined or null, as `r` is a Promise: await is missing"},
		{"a helper's answer without await", "async function load() { return [1] }; const rows = load(); return rows.map(x => x)", "rows.map is not a function: `rows` is a Promise: await is missing"},
		{"an arrow's answer without await", "const load = async () => [1]; const rows = load(); for (const x of rows) ;", "rows is not iterable: it is a Promise: await is missing"},
		{"for of an object", "const r = await tools.a.x({ rows: [1, 2] }); for (const x of r) ;", "r is not iterable: it is an object with the key rows"},
		{"spread of an object", "const r = await tools.a.x({ rows: [1, 2] }); return [...r]", "r is not iterable: it is an object with the key rows"},
		{"array pattern", "const o = {}; const [a] = o", "o is not iterable"},
		{"new Map of an object", "const o = {}; new Map(o)", "o is not iterable"},
		{"no constructor", "const foo = {}; new foo.Bar()", "foo.Bar is not a constructor"},

		{"typed", "interface A { a: number }\nconst r = (await tools.a.x({ a: 1 })) as A[]\nreturn r.map((x: A) => x.a)", "r.map is not a function: `r` is an object with the key a"},
		{"lowered", "const r = await tools.a.x({ a: 1 })\nfor await (const x of r.items) ;", "Cannot read property 'Symbol(Symbol.asyncIterator)'"},
		{"fenced", "```js\nconst o = {}; o.f(1)\n```", "o.f is not a function"},

		{"a getter is not run", "const o = { get a() { throw new RangeError('ran') } }; o.b()", "o.b is not a function"},
		{"a Proxy is not asked", "const p = new Proxy({}, { get: () => 5, ownKeys() { throw new RangeError('ran') } }); p.f()", "p.f is not a function"},
		{"another's TypeError", "throw new TypeError(\"Object has no member 'x'\")", "Object has no member 'x'"},
		{"entries of undefined", "const o = {}; return Object.entries(o.rows).length", "Object.entries: `o.rows` is undefined or null"},
		{"keys of undefined, in a callback", "return [{}].map(o => Object.keys(o.rows))", "Object.keys: `o.rows` is undefined or null"},
		{"Promise.all of an object", "const r = await tools.a.x({ rows: [1] }); await Promise.all(r)", "Promise.all: r is not iterable: it is an object with the key rows"},
		{"fromEntries", "Object.fromEntries({ a: 1 })", "Object.fromEntries: { a: 1 } is not iterable"},
		{"within a built-in", "[1].map(5)", "Value is not an object: 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := run(t, js.Program{Source: c.text, Input: []byte(`{"rows":[]}`)}, nil)
			if out.Error == nil {
				t.Fatal(brief(out))
			}
			if c.name == "lowered" {
				if !strings.Contains(out.Error.Message, "undefined") || out.Error.Line != 2 {
					t.Error(brief(out))
				}
				return
			}
			if diff := cmp.Diff("TypeError: "+c.want, out.Error.Message); diff != "" {
				t.Error(diff)
			}
		})
	}
	out, _ := source(t, "globalThis.fetch('x')")
	if out.Error.Message != "TypeError: globalThis.fetch is not a function" || !strings.Contains(out.Error.Hint, "no network") {
		t.Error(brief(out), out.Error.Hint)
	}
}
