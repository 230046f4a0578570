package js_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// Positions are those of the text as it was sent: line and column, the column in UTF-16 code units.
func TestPositions(t *testing.T) {
	for _, c := range []struct{ name, text, want, frame string }{
		{"throw on line 1", `throw new Error("x")`, "1:7", `throw new Error("x")`},
		{"throw on line 3", "\n\n  throw new Error('x')\n", "3:9", "  throw new Error('x')"},
		{"after text outside of the BMP", `const s = "😀é"; throw new Error(s)`, "1:24", `const s = "😀é"; throw new Error(s)`},
		{"CRLF", "let a;\r\nlet b;\r\nthrow new Error('x');\r\n", "3:7", "throw new Error('x');"},
		{"lone CR", "let a;\rthrow new Error('x')", "2:7", "throw new Error('x')"},
		{"line separator", "let a;\u2028throw new Error('x')", "2:7", "throw new Error('x')"},
		{"undefined name", "const a = 1;\nreturn nope + 1", "2:8", "return nope + 1"},
		{"property of undefined", "const o = {};\nreturn o.a.b", "2:12", "return o.a.b"},
		{"not a function", "const o = {};\no.f()", "2:4", "o.f()"},
		{"in a nested function", "function f() {\n  null.x\n}\nf()", "2:8", "  null.x"},
		{"in a callback of map", "return [1].map(x =>\n  x.y.z)", "2:7", "  x.y.z)"},
		{"after an await", "await 1;\nthrow new Error('x')", "2:7", "throw new Error('x')"},
		{"in an async helper", "async function f() {\n  await 1\n  throw new Error('x')\n}\nawait f()", "3:9", "  throw new Error('x')"},
		{"rejected promise", "await Promise.reject(\n new Error('x'))", "2:2", " new Error('x'))"},
		{"rethrown: where it was made", "try {\n  throw new Error('x')\n} catch (e) {\n  throw e\n}", "2:9", "  throw new Error('x')"},
		{"thrown string", "\nthrow 'x'", "0:0", ""},
		{"in eval: where eval is", "\neval('null.x')", "2:5", "eval('null.x')"},
		{"const assignment", "const a = 1;\na = 2", "2:1", "a = 2"},
		{"JSON.parse", "\nJSON.parse('{')", "2:11", "JSON.parse('{')"},
		{"syntax: unexpected token", "const a = 1;\nconst b = ;\nreturn", "2:11", "const b = ;"},
		{"syntax: first line", "return )", "1:8", "return )"},
		{"syntax: end of input", "if (true) {", "1:12", "if (true) {"},
		{"syntax: unclosed call", "\nfoo(1, 2", "2:9", "foo(1, 2"},
		{"syntax: unterminated string", "let a = 1\nlet s = 'abc\nreturn s", "2:13", "let s = 'abc"},
		{"syntax: after an emoji", `const s = "😀" 1`, "1:16", `const s = "😀" 1`},
		{"syntax: redeclaration", "let a = 1;\nlet a = 2", "2:5", "let a = 2"},
		{"syntax: bad regexp", "\nreturn /(/", "2:9", "return /(/"},
		{"syntax: escape", "return 1\n}); (async function(){", "2:1", "}); (async function(){"},
		{"syntax: illegal break", "\nbreak", "2:1", "break"},
		{"a tool's call site", "const x = 1\nawait tools.a.fail({})", "2:19", "await tools.a.fail({})"},
		{"a tool's call site, multi-line", "await Promise.all([\n  tools.a.ok({}),\n  tools.a.fail({}),\n])", "3:15", "  tools.a.fail({}),"},
		{"an error of a class of one's own", "class E extends Error {\n  constructor(m) { super(m); Error.captureStackTrace(this, E) }\n}\nfunction f() {\n  throw new E('x')\n}\nf()", "5:9", "  throw new E('x')"},
		{"forged stack", "const e = new Error('x')\ne.message = 'y\\n\\tat program.js:9:9(1)'\nthrow e", "1:11", "const e = new Error('x')"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := run(t, js.Program{Source: c.text}, func(call js.Call) js.Answer {
				if call.Tool == "fail" {
					return js.Answer{Form: js.Failed, Body: []byte("no")}
				}
				return js.Answer{Form: js.JSON, Body: []byte("1")}
			})
			if out.Error == nil {
				t.Fatalf("got %s", brief(out))
			}
			got := fmt.Sprintf("%d:%d", out.Error.Line, out.Error.Column)
			if diff := cmp.Diff([]string{c.want, c.frame}, []string{got, out.Error.Frame}); diff != "" {
				t.Errorf("%s\n%s", brief(out), diff)
			}
		})
	}
}

func TestFrameIsClipped(t *testing.T) {
	text := strings.Repeat("a;", 500) + "nope();" + strings.Repeat("b;", 500)
	out, _ := source(t, "var a, b; "+text)
	frame := out.Error.Frame
	if n := len([]rune(frame)); n > 202 || !strings.Contains(frame, "nope()") || !strings.HasPrefix(frame, "…") || !strings.HasSuffix(frame, "…") {
		t.Errorf("%d characters: %s", n, frame)
	}
}

// What was thrown, in words.
func TestThrown(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"error", "throw new TypeError('bad')", "TypeError: bad"},
		{"own class", "class E extends Error { name = 'E' }; throw new E('bad')", "E: bad"},
		{"no message", "throw new Error()", "Error"},
		{"string", "throw 'bad'", "threw 'bad', a string and not an Error"},
		{"number", "throw 7", "threw 7, a number and not an Error"},
		{"undefined", "throw undefined", "threw undefined, undefined and not an Error"},
		{"null", "throw null", "threw null, null and not an Error"},
		{"object", "throw { code: 1 }", "threw { code: 1 }, an object and not an Error"},
		{"symbol", "throw Symbol('s')", "threw Symbol(s), a symbol and not an Error"},
		{"cause", "throw new Error('outer', { cause: new TypeError('inner') })", "Error: outer; cause: TypeError: inner"},
		{"cause that is text", "throw new Error('outer', { cause: 'why' })", "Error: outer; cause: threw 'why', a string and not an Error"},
		{"circular cause", "const e = new Error('x'); e.cause = e; throw e", "Error: x; cause: Error: x; cause: Error: x; cause: Error: x; cause: …"},
		{"aggregate", "await Promise.any([Promise.reject(new Error('a')), Promise.reject(new Error('b'))])", "AggregateError: All promises were rejected; error 1: Error: a; error 2: Error: b"},
		{"getter that throws", "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e", "threw a value that can't be described"},
		{"proxy", "throw new Proxy({}, { get() { for (;;); } })", "threw [Proxy], a Proxy and not an Error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff("error", out.Kind); diff != "" {
				t.Fatal(diff)
			}
			if diff := cmp.Diff(c.want, out.Error.Message); diff != "" {
				t.Error(diff)
			}
		})
	}
	out, _ := source(t, "throw new Error('é'.repeat(1e6))")
	if n := len(out.Error.Message); n > 4<<10 || !strings.HasSuffix(out.Error.Message, "é […]") {
		t.Errorf("a long message has %d bytes", n)
	}
}

// A program that asks for what there is not is told what there is.
func TestHints(t *testing.T) {
	const servers = "await tools.<server>.<tool>({ … }), of the servers a, github"
	for _, c := range []struct{ text, message, hint string }{
		{"fetch('http://x')", "fetch is not defined", "no network; to call a tool: " + servers},
		{"const r = await fetch('http://x'); return await r.json()", "fetch is not defined", servers},
		{"new XMLHttpRequest()", "XMLHttpRequest is not defined", servers},
		{"new WebSocket('ws://x')", "WebSocket is not defined", servers},
		{"await axios.get('http://x')", "axios is not defined", servers},
		{"const fs = require('fs')", "require is not defined", "no modules"},
		{"const { readFile } = require('node:fs/promises')", "require is not defined", servers},
		{"module.exports = async () => 1", "module is not defined", "no modules"},
		{"return process.env.HOME", "process is not defined", "comes as `input`; to call a tool: " + servers},
		{"process.exit(1)", "process is not defined", "no files, environment"},
		{"const p: string = process.argv[2]; return p", "process is not defined", "no files, environment"},
		{"return Deno.readTextFile('x')", "Deno is not defined", "no files, environment"},
		{"return Bun.file('x')", "Bun is not defined", "no files, environment"},
		{"return __dirname", "__dirname is not defined", "no files, environment"},
		{"return fs.readFileSync('x')", "fs is not defined", "no files, environment"},
		{"return window.location", "window is not defined", "browser"},
		{"document.title = 'x'", "document is not defined", "browser"},
		{"localStorage.getItem('x')", "localStorage is not defined", "browser"},
		{"return Buffer.from('x')", "Buffer is not defined", "Uint8Array"},
		{"return global.x", "global is not defined", "globalThis"},
		{"new Headers()", "Headers is not defined", "no network"},
		{"new SharedArrayBuffer(8)", "SharedArrayBuffer is not defined", "one thread"},
		{"Temporal.Now", "Temporal is not defined", "use Date"},
		{"await crypto.subtle.digest('SHA-256', new Uint8Array(1))", "crypto.subtle is not available", ""},
		{"print('x')", "print is not defined", "console.log"},
		{"import fs from 'fs'", "SyntaxError: import is not available", "no modules"},
		{"import { tools } from './tools'\nreturn 1", "SyntaxError: import is not available", servers},
		{"import {\n  a,\n  b,\n} from 'x'\nreturn a", "SyntaxError: import is not available", servers},
		{"import * as gh from './servers/github'", "SyntaxError: import is not available", servers},
		{"import 'x'", "SyntaxError: import is not available", servers},
		{"const a: number = 1\nimport type { X } from 'x'", "SyntaxError: import is not available", servers},
		{"const m = await import('fs')", "SyntaxError: import is not available", "no modules"},
		{"const m = (await import('fs')).default as any", "SyntaxError: import is not available", "no modules"},
		{"return import.meta.url", "SyntaxError: import is not available", "no modules"},
		{"export * from 'x'", "SyntaxError: import is not available", "no modules"},
		{"export { a } from 'x'", "SyntaxError: import is not available", "no modules"},
		{"const s = “x”", "SyntaxError", "typographic"},
		{"const { a: [b = await 1] = [] } = {}", "SyntaxError: Invalid destructuring binding target", "on a line of its own"},
		{"const s: string = ‘x’", "SyntaxError", "typographic"},
		{"const a = 1, b = 2\n{ a: a, b: b }", "SyntaxError", "write return { … }"},
		{"{ \"a\": 1, \"b\": 2 }", "SyntaxError", "write return { … }"},
		{"```python\nfor x in y:\n  print(x)\n```", "SyntaxError", "the code fence says python"},
		{"```js\n1\n```\n```js\n2\n```", "several code fences", "one program"},
		{"const rows = [1].map(x => await tools.a.x({ x }))", "SyntaxError", "not async"},
		{"const rows = [1].map(x => await (tools.a.x({ x })))", "await is not defined", "not async"},
		{"function f() { return await tools.a.x() }", "SyntaxError", "not async"},
		{"function f() { yield 1 }", "SyntaxError", "function*"},
		{"[1].forEach(x => { if (x) break })", "Illegal break", "for…of"},
		{"const s = 'it's'", "SyntaxError", "with a backslash"},
		{"def f(x):\n  return x", "SyntaxError", "looks like Python"},
		{"for x in rows:\n  print(x)", "SyntaxError", "looks like Python"},
		{"return None", "None is not defined", "use null"},
		{"function f() {\n  return 1\n", "Unexpected end of input", "not closed"},
		{"return `a ${1}", "Unexpected end of input", "not closed"},
		{"return args.repo", "args is not defined", "`input`"},
		{"const results = [1]; return reslts.length", "reslts is not defined", "did you mean results?"},
		{"function readRows() {}; return readRow()", "readRow is not defined", "did you mean readRows?"},
		{"const x = 1; x = 2", "Assignment to constant variable", "let instead of const"},
		{"return a + 1; let a = 1", "Cannot access 'a' before initialization", "move its declaration up"},
		{"const f = () => total; f(); let total = 1", "Cannot access 'total' before initialization", "move its declaration up"},
		{"return await callTool('a', 'x', {})", "callTool is not defined", servers},
		{"return await tools('a', 'x')", "tools, or a server of it, is not a function", servers},
		{"return await tools.call('a.x')", "tools has no server `call`", servers},
		{"const { list } = tools; await list()", "tools has no server `list`", servers},
		{"for await (const x of tools.a.x()) ;", "`for await` goes through what is not iterable", "await a tool's answer first"},
		{"return new Intl.Segmenter('en')", "Intl.Segmenter is not a constructor", "Intl has NumberFormat"},
		{"return _.groupBy([], 'a')", "_ is not defined", "no modules"},
		{"return await a.list()", "a is not defined", "tools.a.<tool>"},
		{"return await tools.github2.list()", "tools has no server `github2`; there are: github, a", "Object.keys(tools)"},
	} {
		t.Run(c.text, func(t *testing.T) {
			out, _ := run(t, js.Program{Source: c.text, Servers: []string{"a", "github"}}, nil)
			if out.Error == nil || !strings.Contains(out.Error.Message, c.message) || !strings.Contains(out.Error.Hint, c.hint) || out.Error.Line == 0 {
				t.Errorf("%s, hint %q", brief(out), out.Hint)
				if out.Error != nil {
					t.Error(out.Error.Hint)
				}
			}
		})
	}
	if out, _ := source(t, "return [typeof fetch, typeof require, typeof process]"); brief(out) != `ok ["undefined","undefined","undefined"]` {
		t.Error(brief(out))
	}
	for hint, servers := range map[string][]string{
		"; to call a tool: await tools.a.<tool>({ … })":      {"a"},
		`; to call a tool: await tools["a-b"].<tool>({ … })`: {"a-b"},
		"; this run was given no servers to call tools of":   {},
		"of the servers a, b, c, d, e, f, g, h, …":           {"a", "b", "c", "d", "e", "f", "g", "h", "i"},
	} {
		out, _ := run(t, js.Program{Source: "fetch('x')", Servers: servers}, nil)
		if !strings.Contains(out.Error.Hint, hint) {
			t.Errorf("%v: hint %q", servers, out.Error.Hint)
		}
	}
}
