package js_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A program is one function body: text that closes it and goes on outside must not parse, whatever it makes of
// the wrapper.
func TestWrapEscapes(t *testing.T) {
	for _, text := range []string{
		`}); globalThis.x = 1; (async function(){`,
		`})(), (async function(){`,
		`}) || (async function(){`,
		`}) ? 1 : (async function(){`,
		`}), (async function(){`,
		`})["call"](0), (async function(){`,
		`}).x = (async function(){`,
		`})().then(async function(){`,
		`}, async function(){`,
		"})`x`, (async function(){",
		`})?.x, (async function(){`,
		`}); (async function(){`,
		`})(async function(){`,
		`}`, `{`, `})`, `)`, "`", "/*", `"`, `'`, "`${", "/* */ })(); /*", "/", "(", "[", "${", "\\",
		"})\n(async function(){", "}); //", "}); /*", "});\n-->\n(async function(){", "} /* { */",
		"}); async function f(){", "}); (function(){", "}); (async () => {", "}); new (async function(){",
		"return 1 }); (async function(){ return 2", "await 1 })(); (async function(){",
	} {
		t.Run(text, func(t *testing.T) {
			out, _ := source(t, text)
			if out.Kind != "error" || !strings.HasPrefix(out.Error.Message, "SyntaxError") || out.Error.Line == 0 {
				t.Errorf("got %s, want a syntax error with a position", brief(out))
			}
		})
	}
}

func TestIntake(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"trailing comment", "return 1 // done", "ok 1"},
		{"trailing comment without line", "return 1 /* x */", "ok 1"},
		{"comment only", "// nothing", "ok null"},
		{"empty", "", "ok null"},
		{"byte order mark", "\uFEFFreturn 1", "ok 1"},
		{"CRLF", "const x = 1;\r\nreturn x;\r\n", "ok 1"},
		{"braces in strings", "return '}); (async function(){'", `ok "}); (async function(){"`},
		{"braces in a template", "return `}); (async function(){ ${1}`", `ok "}); (async function(){ 1"`},
		{"braces in a regexp", `return /[}]\)/.source`, `ok "[}]\\)"`},
		{"top-level await and return", "const x = await Promise.resolve(2); return x", "ok 2"},
		{"for await-less loop", "let s = 0; for (const i of [1,2]) s += await i; return s", "ok 3"},
		{"sloppy: undeclared name", "total = 0; for (i = 0; i < 3; i++) total += i; return total", "ok 3"},
		{"use strict is obeyed", "'use strict'; total = 0", "error 1:15 ReferenceError: total is not defined"},
		{"no arguments", "return arguments.length", "ok 0"},
		{"shadow tools", "const tools = 1; return tools", "ok 1"},
		{"input absent", "return typeof input", `ok "undefined"`},
		{"function constructor", "return (() => {}).constructor('return 7')()", "ok 7"},
		{"eval", "return eval('1 + 1')", "ok 2"},
		{"eval sees locals", "const x = 3; return eval('x')", "ok 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// goja opens the file that a source map comment names, in the program, in eval and in Function.
func TestSourceMapsAreNotRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "map.json")
	if err := os.WriteFile(file, []byte("not a source map"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"file://" + file, file, "file:///does/not/exist"} {
		comment := "\n//# sourceMappingURL=" + url
		for _, text := range []string{
			"return 1" + comment,
			"return eval(`1" + comment + "`)",
			"return new Function(`return 1" + comment + "`)()",
			"return (async () => {}).constructor(`return 1" + comment + "`)()",
		} {
			if out, _ := source(t, text); brief(out) != "ok 1" { // a map that was read would be an error
				t.Errorf("%s: %s", text, brief(out))
			}
		}
	}
}
