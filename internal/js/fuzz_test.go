package js_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd/internal/js"
)

// FuzzProgram holds any text to the contract of Run: one outcome, in time, well-formed.
func FuzzProgram(f *testing.F) {
	for _, text := range []string{
		"return 1", "return await tools.a.x({ n: [1, 'é', null] })", "}); x(); (async function(){", "for (;;);", "throw new Error('x')",
		"await Promise.all([1, 2].map(n => tools.a.x({ n })))", "console.log('%s', { a: [new Map([[1, 2]])] }, new Set([1]))", "const f = () => f(); f()",
		"return JSON.parse('{\"a\":[1e400,\"\\ud800\"]}')", "return structuredClone({ a: new Date(0), b: /x/g })", "setTimeout(() => {}, 1); await new Promise(() => {})",
		"class A extends Error { #x = 1; get x() { return this.#x } } throw new A('é', { cause: 1 })", "label: for (const [a, { b = 1 } = {}] of [[1]]) { continue label }",
		"return `a${`b${1}`}`.replace(/(?<n>b)/u, '$<n>')", "function* g() { yield* [1, 2] } return [...g()]", "await Promise.race([tools.a.x(), 1])", "\uFEFF// x\u2028return /[/]/.source",
		"return 2n ** 64n", "return new Proxy({}, { ownKeys: () => ['a'], get: () => 1 })", "var{..(", "`", "<!--", "#!/bin/sh", "return eval('1//# sourceMappingURL=file:///x')",
		"```ts\nconst a: number = 1\nreturn a\n```", "Here:\n```\n1\n```\n```js\n2\n```", "export default async ({ tools }) => tools.a.x()", "export { a as default }; function a() {}", "enum E { A }\nconst run = async <T,>(x: T): Promise<T> => x!",
		"async function* g() { yield* [1] } for await (const x of g()) throw new Error('é')", "const a: number = 1 }); x(); (async function(){", "}), <any>(async function(){", "const o = {}; o.a.b.map(x => x)", "if (1) 2; else try { 3 } catch {}",
		"class A { constructor(private x = 1) {} @d m() {} }", "import x from 'y'", "const { a: [b] } = await tools.a.x({}); b()", "'use strict'\nfor await (const x of []) ;", "using a = null; `${1 as any}`", "namespace N { export const a = 1 }", "#!/usr/bin/env node\n1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		limits := js.Limits{CPU: 20 * time.Millisecond, MemoryBytes: 512 << 20, Calls: 4, OutputBytes: 1000, ConsoleBytes: 200, ArgumentBytes: 500}
		e := js.New(js.Options{})
		timer := time.AfterFunc(300*time.Millisecond, func() { e.Stop("timeout", "too long") })
		defer timer.Stop()
		done := make(chan js.Outcome, 2)
		go func() {
			done <- e.Run(js.Program{Source: text, Servers: []string{"a"}, Limits: limits}, js.Host{
				Calls: func(calls []js.Call) {
					for _, c := range calls {
						e.Deliver(js.Answer{ID: c.ID, Form: js.Auto, Body: c.Args})
					}
				},
				Abandon: func(out js.Outcome) { done <- out; select {} },
			})
		}()
		select {
		case out := <-done:
			check(t, text, out)
		case <-time.After(10 * time.Second):
			t.Fatal("did not end")
		}
	})
}

func check(t *testing.T, text string, out js.Outcome) {
	if (out.Kind == js.KindOK) != (out.Error == nil) {
		t.Errorf("%s with error %v", out.Kind, out.Error)
	}
	if out.Kind == js.KindOK && !json.Valid(out.Value) {
		t.Errorf("not JSON: %q", out.Value)
	}
	if e := out.Error; e != nil && e.Line > 0 {
		lines := regexp.MustCompile("\r\n|[\n\r\u2028\u2029]").Split(text, -1)
		if e.Line > len(lines) || e.Column < 1 || e.Column > 1+len(utf16.Encode([]rune(lines[e.Line-1]))) {
			t.Errorf("%d:%d is outside of %q: %s", e.Line, e.Column, text, e.Message)
		} else if frame := strings.Trim(e.Frame, "…"); !strings.Contains(lines[e.Line-1], frame) && utf8.ValidString(text) {
			t.Errorf("line %d of %q is not %q", e.Line, text, frame)
		}
	}
	if out.Kind == js.KindCrash {
		t.Logf("crash of %q: %s", text, out.Error.Message)
	}
	size := 0
	for _, l := range out.Lines {
		size += len(l.Text)
	}
	if size > 210 {
		t.Errorf("%d bytes of console", size)
	}
}
