package js_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// TestSortsByNumber: sorting by a number that can be read unseen gives what calling the function gives, and where anybody could
// see the difference the function is called. `calls` counts what the program sees of it.
func TestSortsByNumber(t *testing.T) {
	const rows = "const rows = [{n: 3, id: 'a'}, {n: 1, id: 'b'}, {n: 3, id: 'c'}, {n: -1, id: 'd'}, {n: 2.5, id: 'e'}]; "
	for _, c := range []struct{ name, source, want string }{
		{"descending", rows + "return rows.sort((a, b) => b.n - a.n).map(r => r.id).join('')", `"acebd"`},
		{"ascending", rows + "return rows.sort((x, y) => x.n - y.n).map(r => r.id).join('')", `"dbeac"`},
		{"in place", rows + "const s = rows.sort((a, b) => b.n - a.n); return [s === rows, rows[0].id]", `[true,"a"]`},
		{"toSorted", rows + "const s = rows.toSorted(function (a, b) { return a['n'] - b['n'] }); return [s === rows, s[0].id, rows[0].id, s.length]", `[false,"d","a",5]`},
		{"numbers", "return [3, 1, 2, 10, -0, 0, 1.5].sort((a, b) => a - b)", `[0,0,1,1.5,2,3,10]`},
		{"deep", "const r = [{a: {b: 2}}, {a: {b: 1}}]; return r.sort((x, y) => x.a.b - y.a.b)[0].a.b", `1`},
		{"infinite", "return [1, Infinity, -Infinity, Infinity].sort((a, b) => b - a).map(String)", `["Infinity","Infinity","1","-Infinity"]`},
		{"tool's answer", "const r = await tools.a.list(); return r.sort((a, b) => b.n - a.n).map(x => x.id)", `["y","z","x"]`},
		{"tool's answer, changed", "const r = await tools.a.list(); r[0].n = 9; return r.sort((a, b) => b.n - a.n).map(x => x.id)", `["x","y","z"]`},
		{"accessor", rows + "let calls = 0; Object.defineProperty(rows[1], 'n', {get() { calls++; return 7 }}); rows.sort((a, b) => b.n - a.n); return [rows[0].id, calls > 0]", `["b",true]`},
		{"accessor of a class", "let calls = 0; class R { constructor(v) { this.v = v } get n() { calls++; return this.v } }; const r = [new R(1), new R(2), new R(3)]; return [r.sort((a, b) => b.n - a.n)[0].v, calls > 3]", `[3,true]`},
		{"inherited", "const p = {n: 5}; const r = [{n: 1}, Object.create(p)]; return r.sort((a, b) => b.n - a.n)[0].n", `5`},
		{"Proxy", "let calls = 0; const r = [{n: 1}, new Proxy({n: 2}, {get(t, k) { calls++; return t[k] }})]; return [r.sort((a, b) => b.n - a.n)[0].n, calls > 0]", `[2,true]`},
		{"valueOf", "let calls = 0; const v = n => ({valueOf() { calls++; return n }}); return [[v(1), v(2)].sort((a, b) => b - a).map(Number), calls > 2]", `[[2,1],true]`},
		{"strings that are numbers", "return ['10', '9', '1'].sort((a, b) => a - b)", `["1","9","10"]`},
		{"dates", "return [new Date(2), new Date(1)].sort((a, b) => a - b).map(Number)", `[1,2]`},
		{"BigInt", "return [3n, 1n].sort((a, b) => a < b ? -1 : 1).map(String)", `["1","3"]`},
		{"undefined and holes", "return [3, , undefined, 1].sort((a, b) => a - b).length", `4`},
		{"missing", "return [{n: 2}, {}, {n: 1}].sort((a, b) => a.n - b.n).length", `3`},
		{"null", "try { [{n: 2}, null].sort((a, b) => a.n - b.n) } catch (e) { return e.name }", `"TypeError"`},
		{"frozen", "try { Object.freeze([2, 1]).sort((a, b) => a - b) } catch (e) { return e.name }", `"TypeError"`},
		{"typed array", "return [...new Uint8Array([3, 1, 2]).sort((a, b) => b - a)]", `[3,2,1]`},
		{"a method of their own", "return ({sort: f => typeof f}).sort((a, b) => a - b)", `"function"`},
		{"the function is the same", "const f = (a, b) => a - b; let g; ({sort(f) { g = f }}).sort((a, b) => a - b); return [g(5, 3), g.length, g.name]", `[2,2,""]`},
		{"another function after it", "({sort() {}}).sort((a, b) => a - b); return [1, 3, 2].sort(() => 0)", `[1,3,2]`},
		{"other names", "const a = {n: 0}; return [{n: 1}, {n: 2}].sort((x, y) => a.n - y.n).length", `2`},
		{"two numbers", rows + "return rows.sort((a, b) => b.n - a.n || a.id.localeCompare(b.id)).map(r => r.id).join('')", `"acebd"`},
		{"defaults", "return [1, 2, 3].sort((a, b = 0) => b - a)", `[3,2,1]`},
		{"names beyond ASCII", "return [{é: 1}, {é: 2}].sort((a, b) => b.é - a.é)[0]", `{"é":2}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := run(t, js.Program{Source: c.source, Servers: []string{"a"}, Limits: js.Limits{Calls: 9}}, func(js.Call) js.Answer {
				return js.Answer{Form: js.JSON, Body: []byte(`[{"n":1,"id":"x"},{"n":3,"id":"y"},{"n":2.5,"id":"z"}]`)}
			})
			if diff := cmp.Diff(c.want, string(out.Value)); diff != "" {
				t.Errorf("%s\n%s", diff, brief(out))
			}
		})
	}
}
