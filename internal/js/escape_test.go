package js

import (
	"strings"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// FuzzWrap holds any text to what build must guarantee: a text that is accepted is the body of one function, as it
// stands and as esbuild writes it. The witness is another wrapper: an escape from one function does not fit two.
func FuzzWrap(f *testing.F) {
	for _, text := range []string{
		"return 1", "}); x(); (async function(){", "const a: number = 1 }); x(); (async function(){", "}), <any>(async function(){", "}) as any; (async function(){",
		"} /* */ async function f() {", "}; type A = {", "}); declare function f(x: {", "}); enum E { A } (async function(){", "for await (const x of y) {} }); (async function(){",
		"}); var __x = 1; (async function(){", "export default 1", "```\n})\n```", "<T,>() => {", "}); interface A { x(): {", "/*", "*/ }); /*", "`", "${", "@d class {", "async function* g(){",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 500 || strings.Count(text, "(")+strings.Count(text, "[")+strings.Count(text, "{") > 100 {
			return // what is deep dies of Go's stack, which is another test's
		}
		s := newSource(text, fence{end: len(text)})
		if _, bad := s.read(); bad != nil {
			if bad.offset > len(text)+len(suffix) || bad.offset < -1-len(prefix) {
				t.Errorf("%q: a fault at %d", text, bad.offset)
			}
			return
		}
		s.wrapped = "(async()=>{" + s.code + "\n})()"
		lowered := s.lowered != nil
		s.lowered = nil
		if lowered {
			if bad := s.lower(false); bad != nil {
				t.Fatalf("%q was accepted, and is no body of an arrow function: %s", text, bad.message)
			}
		}
		tree, err := parser.ParseFile(nil, "", s.compiled(), 0, parser.WithDisableSourceMaps)
		if err != nil {
			t.Fatalf("%q was accepted, and is no body of an arrow function: %v", text, err)
		}
		for i, statement := range tree.Body {
			if lowered && i < len(tree.Body)-1 && isHelper(statement) {
				continue
			}
			call, ok := expression(statement).(*ast.CallExpression)
			if !ok || i < len(tree.Body)-1 {
				t.Fatalf("%q was accepted, and escapes", text)
			}
			if _, ok := call.Callee.(*ast.ArrowFunctionLiteral); !ok {
				t.Fatalf("%q was accepted, and escapes", text)
			}
		}
	})
}
