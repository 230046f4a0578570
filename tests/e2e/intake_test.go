package e2e_test

import (
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestIntake sends programs as models write them, one of each kind that was seen to fail elsewhere; internal/js has
// the kinds in full.
func TestIntake(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, c := range []struct{ name, source, want string }{
		{"fence with prose around", "Here's the program:\n\n```ts\nconst r: { a: number } = await tools.t.echo({a: 1});\nreturn r.a\n```\n\nIt calls a tool.", "1"},
		{"backticks in strings stay", "return \"```js\\nx\\n```\" + `\\`\\`\\``", "\"```js\\nx\\n``````\""},
		{"export default", "export default async () => {\n  return (await tools.t.echo({a: 1})).a\n}", "1"},
		{"lone function", "async function main() {\n  return (await tools.t.echo({a: 1})).a\n}", "1"},
		{"IIFE", "(async () => {\n  return (await tools.t.echo({a: 1})).a\n})()", "1"},
		{"types", "interface A { a: number }\nenum E { X = 'x' }\nconst a = { a: 1 } satisfies A as A;\nconst f = <T,>(v: T): T => v!;\nreturn [f<number>(a.a), E.X]", `[1,"x"]`},
		{"trailing expression", "const rows = [1, 2];\nrows.map(n => ({\n  n,\n}));", `[{"n":1},{"n":2}]`},
		{"trailing assignment", "result = await tools.t.echo({a: 1})", `{"a":1}`},
		{"await and return at the top", "const r: any = await tools.t.echo({a: 1});\nif (r.a) return 'yes';\nreturn 'no'", `"yes"`},
		{"async generator and for await", "async function* pages() { for (let p = 1; p < 4; p++) yield await tools.t.echo({p}) }\nconst all = [];\nfor await (const {p} of pages()) all.push(p);\nreturn all", "[1,2,3]"},
		{"CRLF text with $ and m", "return 'a\\r\\nb'.match(/^.*$/gm)", `["a","","b"]`},
		{"letters of any script", "return ['né', '1'].map(s => /^\\p{L}+$/u.test(s))", "[true,false]"},
		{"word boundaries", "return 'né'.split(/\\b/)", `["n","é"]`},
		{"long quoted string", "return /\"(?:[^\"\\\\]|\\\\.)*\"/.exec('\"' + 'a'.repeat(20000) + '\"')[0].length", "20002"},
		{"named groups", "return [...'a=1;b=2'.matchAll(/(?<k>\\w)=(?<v>\\d)/g)].map(m => ({ ...m.groups }))", `[{"k":"a","v":"1"},{"k":"b","v":"2"}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := g.value(t, c.source); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	for _, c := range []struct {
		name, source string
		want         ending
	}{
		{"shell", "ls -la", ending{outcome: "invalid", message: "shell command", hint: "async function"}},
		{"shell in a fence", "```bash\ngit status\n```", ending{outcome: "invalid", message: "shell command", hint: "async function"}},
		{"JSON object", `{"code": "return 1"}`, ending{outcome: "invalid", message: "JSON object", hint: "input"}},
		{"quoted string", `"return 1"`, ending{outcome: "invalid", message: "quoted string", hint: "quotation marks"}},
		{"empty fence", "```js\n// later\n```", ending{outcome: "invalid", message: "empty", hint: "async function"}},
		{"import", "import fs from 'fs'\nreturn 1", ending{outcome: "error", message: "import is not available", line: 1, frame: "import fs", hint: "await tools.t.<tool>"}},
		{"dynamic import", "const fs: any = await import('fs')", ending{outcome: "error", message: "import is not available", line: 1, frame: "import('fs')", hint: "await tools.t.<tool>"}},
		{"require", "const fs = require('fs')", ending{outcome: "error", message: "require is not defined", line: 1, frame: "require", hint: "await tools.t.<tool>"}},
		{"process", "\nreturn process.env.HOME", ending{outcome: "error", message: "process is not defined", line: 2, frame: "process", hint: "await tools.t.<tool>"}},
		{"fetch, typed", "const r: Response = await fetch('x')", ending{outcome: "error", message: "fetch is not defined", line: 1, frame: "fetch", hint: "no network"}},
		{"syntax error of fenced TypeScript", "Sure:\n```ts\ninterface A {\n  a: number\n}\nconst a: A = { a: 1 }\nconst b: number = ;\n```", ending{outcome: "error", message: "SyntaxError", line: 7, column: 19, frame: "const b: number = ;"}},
		{"thrown in fenced TypeScript", "```ts\ntype A = number\n\nconst f = (a: A): never => {\n  throw new Error(`a is ${a}`)\n}\nf(1)\n```", ending{outcome: "error", message: "Error: a is 1", line: 5, column: 9, frame: "throw new Error"}},
		{"tool in a lowered program", "async function* g() { yield 1 }\nfor await (const x of g())\n  await tools.t.fail({})", ending{outcome: "error", message: "no such thing", line: 3, frame: "tools.t.fail"}},
		{"limit in a fence", "```js\nlet n = 0;\nwhile (true) Math.max(n++, 1)\n```", ending{outcome: "cpu", message: "CPU", line: 3, frame: "while (true)", hint: "loop"}},
		{"quotation marks", "const s: string = “x”", ending{outcome: "error", message: "SyntaxError", line: 1, column: 19, frame: "“x”", hint: "typographic"}},
		{"receiver", "const issues = await tools.t.echo({items: []})\nreturn issues.map(i => i.id)", ending{outcome: "error", message: "issues.map is not a function: `issues` is an object with the key items", line: 2, frame: "issues.map"}},
		{"property of undefined", "const r = await tools.t.echo({items: []})\nreturn r.data.length", ending{outcome: "error", message: "Cannot read property 'length' of undefined: `r.data` is undefined", line: 2, frame: "r.data.length"}},
		{"two programs", "```js\nreturn 1\n```\n```js\nreturn 2\n```", ending{outcome: "error", message: "several code fences", line: 5, frame: "return 2", hint: "one program"}},
		{"wrapper", "const a: number = 1 }); x(); (async function(){", ending{outcome: "error", message: "SyntaxError: Unexpected token }", line: 1, column: 21, frame: "}); x();"}},
		{"TypeScript too deep for a parser", "const a: number = " + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000), ending{outcome: "error", message: "too deeply nested", hint: "*"}},
		{"a chain too long for a parser", "const a: number = x" + strings.Repeat("``", 30_000), ending{outcome: "error", message: "too deeply nested", hint: "*"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.check(t, g.run(t, sandboxd.Program{Source: c.source, Limits: &sandboxd.Limits{CPUMS: 1500}}))
		})
	}
	t.Run("only logged", func(t *testing.T) {
		r := g.run(t, sandboxd.Program{Source: "console.log(await tools.t.echo({a: 1}))"})
		if r.Outcome != "ok" || string(r.Value) != "null" || len(r.Console) != 1 || !strings.Contains(r.Hint, "use return") {
			t.Errorf("%s %s, console %v, hint %q", r.Outcome, r.Value, r.Console, r.Hint)
		}
	})
	g.serves(t)
}
