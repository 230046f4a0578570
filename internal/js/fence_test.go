package js_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// Models answer in Markdown, whatever they were asked for. Seen in Cloudflare's agents and in Executor.
func TestFences(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"js", "```js\nreturn 1\n```", "ok 1"},
		{"no label", "```\nreturn 1\n```", "ok 1"},
		{"a label of no language", "```tool_code\nreturn 1\n```", "ok 1"},
		{"the label of another language", "```python\nreturn 1\n```", "ok 1"},
		{"attributes", "```js title=\"top.js\" {1}\nreturn 1\n```", "ok 1"},
		{"a space before the label", "``` js\nreturn 1\n```", "ok 1"},
		{"capitals", "```TypeScript\nconst a: number = 1; return a\n```", "ok 1"},
		{"four backticks", "````js\nreturn '```'\n````", "ok \"```\""},
		{"indented", "  ```js\n  return 1\n  ```", "ok 1"},
		{"byte order mark", "\uFEFF```js\nreturn 1\n```", "ok 1"},
		{"CRLF", "```js\r\nreturn 1\r\n```\r\n", "ok 1"},
		{"not closed", "```js\nreturn 1", "ok 1"},
		{"closed behind the code", "```js\nreturn 1```", "ok 1"},
		{"closed behind a template", "```js\nreturn `1````", "ok \"1\""},
		{"on one line", "```return 1```", "ok 1"},
		{"on one line with a label", "```js return 1```", "ok 1"},
		{"blank lines around", "\n\n```js\n\nreturn 1\n\n```\n\n", "ok 1"},
		{"prose before", "Here is the program:\n\n```js\nreturn 1\n```", "ok 1"},
		{"prose with an apostrophe", "Here's the program:\n```js\nreturn 1\n```", "ok 1"},
		{"prose with code in it", "I call `tools.a.x` here.\n```js\nreturn 1\n```", "ok 1"},
		{"prose that parses: a label", "Program:\n```js\nreturn 1\n```", "ok 1"},
		{"prose that parses: a name", "Answer\n```js\nreturn `a${1}`\n```", `ok "a1"`},
		{"prose after", "```js\nreturn 1\n```\nThis returns one, doesn't it?", "ok 1"},
		{"a trailing expression in it", "```js\nconst a = 1\na + 1\n```", "ok 2"},
		{"export default in it", "```ts\nexport default async (): Promise<number> => 1\n```", "ok 1"},
		{"backticks in it", "```js\nconst a = `x${`y`}`\nreturn a\n```", `ok "xy"`},
		{"a shell fence before", "First `npm i`:\n```bash\nnpm i\n```\nthen\n```js\nreturn 1\n```", "ok 1"},
		{"its output after", "```js\nreturn 1\n```\nOutput:\n```json\n{\"a\": 1}\n```", "ok 1"},
		{"one without a label among others", "```sh\nls\n```\n```\nreturn 1\n```\n```text\n1\n```", "ok 1"},
		{"two programs", "```js\nreturn 1\n```\nor\n```js\nreturn 2\n```", "error 6:1 SyntaxError: the text has several code fences, and more than one may be the program"},
		{"two of no label", "```\nreturn 1\n```\n```\nreturn 2\n```", "error 5:1 SyntaxError: the text has several code fences, and more than one may be the program"},

		{"no fence: in a string", "const md = \"```js\\nreturn 2\\n```\"; return md.length", "ok 18"},
		{"no fence: escaped in a template", "return `\\`\\`\\`js\nreturn 2\n\\`\\`\\``.length", "ok 18"},
		{"no fence: in a comment", "/*\n```js\nreturn 2\n```\n*/\nreturn 1", "ok 1"},
		{"no fence: in a comment of TypeScript", "/*\n```js\nreturn 2\n```\n*/\nconst a: number = 1\nreturn a", "ok 1"},
		{"no fence: in a comment of a program that does not parse", "/*\n```js\nreturn 2\n```\n*/\nconst a = ;", "error 6:11 SyntaxError: Unexpected token ;"},
		{"no fence: in line comments", "// ```js\n// return 2\n// ```\nreturn 1", "ok 1"},
		{"no fence: in a template that it breaks", "const md = `\n```js\nreturn 2\n```\n`; return md", "error 5:13 SyntaxError: Unexpected end of input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Lines are read once, however many fences they may be. What is left is too deeply nested, or no program.
func TestManyFences(t *testing.T) {
	for _, text := range []string{strings.Repeat("```\n", 15_000), strings.Repeat("`", 60_000), strings.Repeat("/*\n```\n", 8_000), "x\n" + strings.Repeat("```js x```\n", 5_000)} {
		how, kind, took := inChild(t, js.Program{Source: text, Limits: js.Limits{CPU: 5 * time.Second, MemoryBytes: 256 << 20}})
		if kind, _, _ = strings.Cut(kind, " "); kind != "error" && kind != "ok" {
			t.Errorf("%.20q…: %s %s after %v", text, how, kind, took)
		}
	}
}
