package js_test

import (
	"encoding/json"
	"testing"
	"time"

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
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		limits := js.Limits{CPU: 20 * time.Millisecond, MemoryBytes: 512 << 20, Calls: 4, OutputBytes: 1000, ConsoleBytes: 200, ArgumentBytes: 500}
		e := js.New(js.Options{Seed: [32]byte{1}})
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
