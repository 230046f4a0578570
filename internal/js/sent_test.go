package js_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// A stack that a program logs has the same places, and no frames of the wrapper.
func TestStacksAsSent(t *testing.T) {
	const body = "function f() {\n  throw new Error('here')\n}\ntry { [1].map(f) } catch (e) { console.log(e.stack); console.error('caught', e.stack, 'x') }"
	want := func(line int) string {
		stack := fmt.Sprintf("Error: here\n\tat f (program.js:%d:9)\n\tat map (native)\n\tat program.js:%d:14\n", line+1, line+3)
		return "log|" + stack + "\nerror|caught " + stack + " x"
	}
	for text, line := range map[string]int{
		body:                                     1,
		"Text\n\n```js\n" + body + "\n```":       4,
		"interface A {\n}\n" + body:              3,
		"\nfor await (const x of []) ;\n" + body: 3,
	} {
		_, h := source(t, text)
		got := strings.ReplaceAll(logged(h.lines), "program.js:"+strconv.Itoa(line+3)+":11", "program.js:"+strconv.Itoa(line+3)+":14") // esbuild knows the name's place
		if diff := cmp.Diff(want(line), got); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
	_, h := source(t, "console.log('a\\n\\tat program.js:9:9(1)\\n\\tat x\\n b\\tat program.js:1:1')")
	if got := logged(h.lines); got != "log|a\n\tat x\n b\tat program.js:1:1" {
		t.Errorf("%q", got)
	}
}

// Every kind of error has its place in the text as it was sent: as it stands, in a fence below prose, with types, and
// lowered. The mark «» stands before the place that is meant, and is taken out.
func TestPositionsAsSent(t *testing.T) {
	ways := []struct{ name, before, after string }{
		{"plain", "const first = 1\n", ""},
		{"fenced", "Here's what I do:\n\n```js\n\nconst first = 1\n", "\n```\nDone."},
		{"CRLF", "const first = 1\r\n\r\n", "\r\n"},
		{"typed", "interface A {\n  a: number\n}\ntype B = A | undefined\nenum E { X = 1 }\nconst first: number = 1\n", ""},
		{"typed in a fence, with characters of four bytes", "😀 → below\n```ts\ntype B = '😀';\nconst first: string = '😀' as B; ", "\n```"},
		{"lowered", "async function* pages() {\n  yield 1\n}\nfor await (const p of pages()) p\n", ""},
		{"exported", "export const first = 1\nexport default async () => {\n", "\n}"},
	}
	for _, c := range []struct {
		name, code, message string
		kind                string
	}{
		{"thrown", "throw «»new Error('here')", "Error: here", "error"},
		{"thrown in a function", "function f() {\n  const x = 1\n  throw «»new RangeError('here')\n}\nf()", "RangeError: here", "error"},
		{"thrown after an await", "await null\n\tthrow «»new Error('here')", "Error: here", "error"},
		{"thrown in a callback", ";[1, 2].forEach(n => {\n  if (n > 1) throw «»new Error('here')\n})", "Error: here", "error"},
		{"rejected", "await Promise.reject(\n  «»new Error('here'))", "Error: here", "error"},
		{"not defined", "const x = 1 +\n  «»nope", "nope is not defined", "error"},
		{"property of undefined", "const o = {}\nreturn [o.a.«»b]", "TypeError", "error"},
		{"a tool that fails", "const x = 1\nawait tools.a.«»fail({})", "ToolError", "error"},
		{"a tool that is refused", "const x = 1\nawait tools.a.«»blocked({})", "ToolBlocked", "denied"},
		{"wrong arguments", "await tools.a.«»x('q')", "takes one object", "error"},
		{"never awaited", "const x = 1\ntools.a.«»x({})\nreturn 'done'", "not awaited", "error"},
		{"await is missing", "return { a: tools.a.«»x({}) }", "await is missing", "error"},
		{"too many calls", "for (let i = 0; i < 9; i++)\n  await tools.a.«»x({})", "the limit is", "calls"},
		{"CPU", "let n = 0\nwhile (n >= 0) «»n += Math.max(1, 2)", "CPU time", "cpu"},
		{"too deep", "const f = n => {\n  return 1 + «»f(n + 1)\n}\nf(0)", "too deeply nested", "error"},
		{"syntax", "const x = 1\nconst y = «»;", "SyntaxError", "error"},
		{"syntax: not closed", "if (first) {«»", "SyntaxError", "error"},
		{"syntax: declared twice", "const x = 1\nconst «»x = 2", "SyntaxError", "error"},
		{"syntax: quotation marks", "const x = «»“x”", "SyntaxError", "error"},
		{"syntax: await is missing", "function g() {\n  return await «»first\n}", "SyntaxError", "error"},
		{"import", "const m = await «»import('fs')", "import is not available", "error"},
	} {
		for _, way := range ways {
			t.Run(c.name+"/"+way.name, func(t *testing.T) {
				if strings.Contains(c.name, "not closed") && way.after != "" {
					return
				}
				text := way.before + c.code + way.after
				before, after, _ := strings.Cut(text, "«»")
				text = before + after
				limits, tries := js.Limits{Calls: 5, CPU: time.Minute}, 1
				if c.kind == "cpu" { // on a busy machine a program may not stop within its grace, and has no place then
					limits.CPU, tries = 300*time.Millisecond, 5
				}
				var out js.Outcome
				for ; tries > 0 && (out.Error == nil || out.Error.Line == 0); tries-- {
					out, _ = run(t, js.Program{Source: text, Limits: limits}, func(call js.Call) js.Answer {
						switch call.Tool {
						case "fail":
							return js.Answer{Form: js.Failed, Body: []byte("no")}
						case "blocked":
							return js.Answer{Form: js.Blocked, Rule: "r"}
						}
						return js.Answer{Form: js.JSON, Body: []byte("1")}
					})
				}
				if out.Error == nil || out.Kind != c.kind || !strings.Contains(out.Error.Message, c.message) {
					t.Fatalf("%s, want %s %s", brief(out), c.kind, c.message)
				}
				lines := strings.Split(strings.ReplaceAll(text, "\r", ""), "\n")
				line := strings.Count(before, "\n")
				if diff := cmp.Diff(lines[line], out.Error.Frame); diff != "" || out.Error.Line != line+1 {
					t.Fatalf("line %d, want %d: %s\n%s", out.Error.Line, line+1, out.Error.Message, diff)
				}
				// A call's place is its name or the bracket behind it, that of an expression its begin or its operator.
				column := 1
				for _, r := range before[strings.LastIndex(before, "\n")+1:] {
					if column++; r > 0xFFFF {
						column++
					}
				}
				if d := out.Error.Column - column; (d < -8 || d > 8) && c.kind != "cpu" {
					t.Errorf("column %d, want about %d: %s", out.Error.Column, column, out.Error.Message)
				}
			})
		}
	}
}
