package js_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A function that is declared in a block is seen outside of it, as Annex B of the standard has it for sloppy code. The
// results are node's.
func TestFunctionsInBlocks(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"in a block", "{ function f() { return 1 } } return f()", "ok 1"},
		{"in a branch", "const out = [typeof f];\nif (true) {\n  out.push(f());\n  function f() { return 1 }\n}\nreturn [...out, f()]", `ok ["undefined",1,1]`},
		{"in a branch that is not taken", "if (false) { function f() { return 1 } } return typeof f", `ok "undefined"`},
		{"its name", "{ function f() { return f.name } } return f()", `ok "f"`},
		{"in try and catch", "try { function f() { return 1 } throw 1 } catch (e) { function g() { return 2 } } return [f(), g()]", "ok [1,2]"},
		{"in a loop", "for (const x of [1, 2]) { function f() { return x } } return f()", "ok 2"},
		{"in a function in a call", "return [1].map(() => { { function f() { return 7 } } return f() })", "ok [7]"},
		{"deep", "{ { { function f() { return 1 } } } } return f()", "ok 1"},
		{"beside a variable", "var f = 0; { function f() { return 1 } } return typeof f", `ok "function"`},
		{"beside a function", "function f() { return 0 } { function f() { return 1 } } return f()", "ok 1"},
		{"used in its block only", "const out = []; for (const x of [1, 2]) { function f() { return x } out.push(f) } return out.map(g => g())", "ok [1,2]"},
		{"under a let", "let f = 0; { function f() { return 1 } } return f", "ok 0"},
		{"under a let of a block", "{ let f = 0; { function f() {} } { f } } return typeof f", `ok "undefined"`},
		{"under a parameter", "return (f => { { function f() {} } return f })(5)", "ok 5"},
		{"under a const of a loop", "for (const f of [1]) { { function f() {} } f } return typeof f", `ok "undefined"`},
		{"generators and async functions stay", "{ async function f() {} function* g() {} } return [typeof f, typeof g]", `ok ["undefined","undefined"]`},
		{"named arguments: the standard's, V8 differs", "return (function () { { function arguments() {} } return typeof arguments })(1)", `ok "object"`},
		{"strict", "'use strict'; { function f() {} } return typeof f", `ok "undefined"`},
		{"in a strict function", "return (() => { 'use strict'; { function f() {} } return typeof f })()", `ok "undefined"`},
		{"in a class", "class A { m() { { function f() {} } return typeof f } } return new A().m()", `ok "undefined"`},
		{"in TypeScript", "if (true) {\n  function f(x: number): number { return x }\n}\nreturn f(3)", "ok 3"},
		{"an error in it has its place", "if (true) {\n  function f() { null.x }\n}\nf()", "error 2:23 TypeError: Cannot read property 'x' of null: `null` is null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
