package js_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The value of a program that does not say return. Seen in goose #6266 and Cloudflare's agents.
func TestLastValue(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"expression", "const a = 1\na + 1", "ok 2"},
		{"with a semicolon", "const a = 1; a + 1;", "ok 2"},
		{"with a comment behind", "const a = 1; a + 1 // done", "ok 2"},
		{"empty statements behind", "1 + 1;;;", "ok 2"},
		{"name", "const rows = [1]\nrows", "ok [1]"},
		{"call over lines", "const rows = [1, 2];\nrows.map(r => ({\n  r,\n}));", `ok [{"r":1},{"r":2}]`},
		{"awaited call", "await tools.a.x({ n: 1 })", `ok {"n":1}`},
		{"call that is not awaited", "tools.a.x({ n: 1 })", `ok {"n":1}`},
		{"assignment", "let a; a = { n: 1 }", `ok {"n":1}`},
		{"assignment to an undeclared name", "result = [1]", "ok [1]"},
		{"object in parentheses", "const a = 1;\n({ a })", `ok {"a":1}`},
		{"array", "[1, 2]", "ok [1,2]"},
		{"template", "const n = 2;\n`${n} issues`", `ok "2 issues"`},
		{"conditional", "const n = 2; n > 1 ? 'many' : 'one'", `ok "many"`},
		{"sequence", "1, 2", "ok 2"},
		{"JSON.stringify", "JSON.stringify({ a: 1 })", `ok "{\"a\":1}"`},
		{"chain of promises", "Promise.resolve(1).then(n => n + 1)", "ok 2"},
		{"rejected", "\nPromise.reject(new Error('x'))", "error 2:16 Error: x"},
		{"if and else", "const n = 2\nif (n > 1) { const m = n; m * 2 } else 'one'", "ok 4"},
		{"else if", "if (false) 1; else if (false) 2; else { 3 }", "ok 3"},
		{"try", "try { await tools.a.x({ n: 1 }) } catch (e) { 'failed' } finally { 'not this' }", `ok {"n":1}`},
		{"catch", "try { null.x } catch (e) { 'failed' }", `ok "failed"`},

		{"a return on every path stays", "if (1) { return 'a' } else { return 'b' }\n'not this'", `ok "a"`},
		{"an early return stays", "if (!input) return 'none'\n'some'", `ok "none"`},
		{"a return at the end stays", "const a = [3, 1]; a.sort(); return a.length", "ok 2"},
		{"declaration", "const a = 1", "ok null"},
		{"loop", "let n = 0; for (const x of [1, 2]) n += x", "ok null"},
		{"switch", "switch (1) { case 1: 'a' }", "ok null"},
		{"block", "{ 1 }", "ok null"},
		{"undefined", "undefined", "ok null"},
		{"console.log", "console.log(1)", "ok null"},
		{"function in a variable", "const f = { g() {} }\nf.g", "error 0:0 the program returned a function, which is not data"},
		{"use strict", "'use strict'\nconst a = 1\na", "ok 1"},

		{"function", "function main() { return 1 }", "ok 1"},
		{"async function", "async function main() { return (await tools.a.x({ n: 1 })).n }", "ok 1"},
		{"function without a name", "(function () { return 1 })", "ok 1"},
		{"arrow", "async () => { return 1 }", "ok 1"},
		{"arrow in parentheses", "(async () => 1);", "ok 1"},
		{"arrow behind helpers", "const k = 1;\nasync () => { return k }", "ok 1"},
		{"function in a const", "const main = async () => { return 1 };", "ok 1"},
		{"function and helpers", "async function main() { return helper() }\nfunction helper() { return K }\nconst K = 1, L = `a`, M = [K]; class C {}", "ok 1"},
		{"functions that call each other and one that calls them", "const a = n => n ? b(n - 1) : 0\nconst b = n => a(n)\nfunction run() { return a(3) }", "ok 0"},
		{"two functions that nothing names", "function a() { return 1 }\nfunction b() { return 2 }", "ok null"},
		{"function beside a call", "function main() { return 1 }\nconst x = tools.a.x()\nawait x", "ok {}"},
		{"function that is called", "async function main() { return 1 }\nmain()", "ok 1"},
		{"function that is awaited", "async function main() { return 1 }\nawait main();", "ok 1"},
		{"called with a catch", "async function main() { throw new Error('x') }\nmain().catch(e => e.message)", `ok "x"`},
		{"generator", "function* g() { yield 1 }", "ok null"},
		{"parameters", "async function main(tools, input, other) { return [typeof tools, typeof input, typeof other, arguments.length] }", `ok ["object","undefined","undefined",3]`},
		{"parameters taken apart", "export default async ({ tools, console }) => [typeof tools.a, typeof console.log]", `ok ["object","function"]`},
		{"default parameters", "(n = 1) => n", "ok 1"},

		{"IIFE", "(async () => { return 1 })()", "ok 1"},
		{"IIFE of a function", "(async function main() { return 1 })();", "ok 1"},
		{"IIFE with a bang", "!function () { return 1 }()", "ok false"},
		{"IIFE awaited", "await (async () => { return 1 })()", "ok 1"},
		{"IIFE with a catch", "(async () => { throw new Error('x') })().catch(e => e.message)", `ok "x"`},

		{"export default arrow", "export default async () => { return 1 }", "ok 1"},
		{"export default function", "export default function () { return 1 }", "ok 1"},
		{"export default named function", "const K = 1\nexport default async function main() { return helper() }\nfunction helper() { return K }", "ok 1"},
		{"export default behind its const", "const main = async () => 1;\nexport default main;", "ok 1"},
		{"export default before its const", "export default main\nfunction main() { return K }\nconst K = 1", "ok 1"},
		{"export default over lines", "export\n  default\n  async () => 1", "ok 1"},
		{"export default value", "export default { total: [1, 2].length }", `ok {"total":2}`},
		{"export default awaited value", "export default await tools.a.x({ n: 1 })", `ok {"n":1}`},
		{"export as default", "async function main() { return 1 }\nexport { main as default };", "ok 1"},
		{"named exports", "export const K = 1; export function helper() { return K }\nexport default () => helper()", "ok 1"},
		{"only a named export", "export async function run() { return 1 }", "ok 1"},
		{"export of types", "export interface A { a: number }\nexport type B = A\nexport default (): B => ({ a: 1 })", `ok {"a":1}`},
		{"export list", "const a = 1\nfunction b() {}\nexport { a, b }\na", "ok 1"},
		{"export in a string", "const s = 'export default 1'\ns", `ok "export default 1"`},
		{"export twice", "export default 1\nexport default 2", "error 2:1 SyntaxError: Identifier '$$main' has already been declared"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
