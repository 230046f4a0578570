package js_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is mended in the tree stays what the program says, and what is no program stays none.
func TestGrammar(t *testing.T) {
	many := func(n int) string {
		return "const " + strings.Repeat("{ a: [b = 1] = [] } = {}, ", n-1) + "{ c: [d = 1] = [] } = {}; return d"
	}
	for _, c := range []struct{ name, text, want string }{
		{"a property in a pattern that declares", "const o = {}, { a: [o.b = 1] = [] } = {}", `error 1:22 SyntaxError: Expected "]" but found "."`},
		{"something else is wrong, too", "const { a: [b = 1] = [] } = {}\nreturn 1 +", "error 2:11 SyntaxError: Unexpected end of input"},
		{"twice the same name", "const { a: [b = 1] = [] } = {}; const b = 2", "error 1:39 SyntaxError: Identifier 'b' has already been declared"},
		{"an error inside of a default", "const { a: [b = 1,\n  c = nope()] = [] } = {}", "error 2:11 ReferenceError: nope is not defined"},
		{"too many to mend", many(120), "error 1:2613 SyntaxError: Invalid destructuring binding target"},
		{"the text of a function", "function f({ a: [b = `]`] = [] }) { return b }; class C { m({ a: [b = 1] = [] }) {} }; return [String(f), String(C)]",
			"ok [\"function f({ a: [b = `]`] = [] }) { return b }\",\"class C { m({ a: [b = 1] = [] }) {} }\"]"},
		{"typed", "const f = ({ a: [b = 1] = [] }: { a?: number[] } = {}): number => b; return f()", "ok 1"},
		{"a variable of that name", "function f() { let arguments = 5; return (() => arguments)() }; return f(1)", "ok 5"},
		{"in a parameter", "function f(a, b = () => arguments[0] + arguments.length) { let c = 1; return [b(), a, c] } return f(7)", "ok [8,7,1]"},
		{"in a parameter's parts", "const o = { m({ a = () => arguments.length } = {}, [b = x => () => arguments[1] + x] = [], c = () => 3) { return [a(), b(1)(), c()] } }; return o.m({}, [])", `ok [2,"1",3]`},
		{"in parameters of both", "function f(a = () => arguments[1], b, c = function (d = () => arguments[1]) { return d() }) { return [a(), c(undefined, 5)] } return f(undefined, 4)", "ok [4,5]"},
		{"a parameter of that name", "function f(arguments) { return (() => arguments)() }; return f(1)", "ok 1"},
		{"strict stays strict", "function f() { 'use strict'; return [this === undefined, (() => arguments[0])()] }; return f(2)", "ok [true,2]"},
		{"comparisons that throw where they stand", "const o = {}\nreturn 1 < o.a.b < 3", "error 2:16 TypeError: Cannot read property 'b': `o.a` is undefined or null"},
		{"comparisons of names that are not of ASCII", "const größe = 1, b = 3; return [größe < 2 < b, größe < größe < größe, (größe) < (größe < größe)]", "ok [true,true,false]"},
		{"a chain ends at its parentheses", "const o = {}; return (o.a?.b(1))(2)", "error 1:33 TypeError: o.a?.b(1) is not a function"},
		{"a chain that is deep", "const o = {}; return [o.a" + strings.Repeat("?.(1)", 300) + ", 2]", "ok [null,2]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
