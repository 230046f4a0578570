package js_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// specimen is long enough to become lazy objects.
var specimen = `{
	"row": {"id": 7, "title": "one é", "n": -1.5, "ok": true, "no": null, "tags": ["a", "b"], "user": {"login": "u", "id": 1}},
	"rows": [
		{"id": 3, "k": "c", "in": {"v": 1}}, {"id": 1, "k": "a", "in": {"v": 2}}, {"id": 2, "k": "b", "in": {"v": 3}}, {"k": "d", "id": 4}
	],
	"ints": {"b": 1, "10": 2, "2": 3, "01": 4, "-1": 5, "4294967294": 6, "4294967295": 7, "a": 8, "0": 9},
	"twice": {"x": 1, "y": 2, "x": 3},
	"names": {"__proto__": {"evil": true}, "constructor": 1, "toString": 2, "hasOwnProperty": 3, "length": 4, "then": 5, "toJSON": 6, "": 7, "a b": 8, "é": 9, "😀": 10},
	"numbers": {"zero": 0, "minus": -0, "big": 12345678901234567890, "long": 123456789012, "tiny": 5e-324, "exp": 1E+2, "half": 0.5, "cents": 1.10},
	"strings": {"empty": "", "esc": "\"\\\/\b\f\n\r\t\u0041", "wide": "\u2028é😀", "pair": "\ud83d\ude00", "line": "a\nb"},
	"lists": [[], [1, 2.5, "x", null, true, [3, [4]]], [{"a": 1}, {"a": 2}]],
	"nothing": {},
	"like": {"0": "x", "1": "y", "length": 2},
	"pad": "` + strings.Repeat("x", 2048) + `"
}`

// shown is a value as text, with the order of its names, and whatever about it is not usual.
const shown = `const shown = (() => {
	const show = (x, depth = 0) => {
		if (x === null || typeof x !== "object" && typeof x !== "function")
			return typeof x === "string" ? JSON.stringify(x) : Object.is(x, -0) ? "-0" : typeof x === "bigint" ? x + "n" : String(x);
		if (typeof x === "function") return "function " + x.name;
		if (depth > 6) return "…";
		let s = "";
		const proto = Object.getPrototypeOf(x);
		if (proto !== (Array.isArray(x) ? Array.prototype : Object.prototype)) s += proto === null ? "(no prototype)" : "(" + Object.keys(proto) + ")";
		if (Object.isFrozen(x)) s += "(frozen)";
		else if (Object.isSealed(x)) s += "(shut)";
		else if (!Object.isExtensible(x)) s += "(fixed)";
		if (x instanceof Error) return s + x.name + ": " + x.message;
		if (x instanceof Map) return s + "Map" + show([...x], depth + 1);
		if (x instanceof Set) return s + "Set" + show([...x], depth + 1);
		const parts = [];
		for (const k of Object.getOwnPropertyNames(x)) {
			const d = Object.getOwnPropertyDescriptor(x, k);
			if (Array.isArray(x) && k === "length") { parts.push("#" + x.length); continue; }
			parts.push((d.writable ? "" : "!") + (d.enumerable ? "" : "~") + (d.configurable ? "" : "=") + k + ":" + ("value" in d ? show(d.value, depth + 1) : "[" + (d.get ? "get" : "") + (d.set ? "set" : "") + "]"));
		}
		return s + (Array.isArray(x) ? "[" : "{") + parts.join(",") + (Array.isArray(x) ? "]" : "}");
	};
	return x => show(x);
})();
`

// Each of these does the same to a value that came as JSON, which is lazy, as to what goja's own JSON.parse makes of
// the same text.
//
//go:embed testdata/lazy.txt
var checks string

var alike = strings.Split(strings.TrimSpace(checks), "\n")

func TestLazyIsOrdinary(t *testing.T) {
	if len(alike) < 160 {
		t.Errorf("%d checks", len(alike))
	}
	for _, check := range alike {
		t.Run(check, func(t *testing.T) {
			want := ordinarily(t, check)
			if diff := cmp.Diff(want, lazily(t, check)); diff != "" {
				t.Errorf("lazy: %s", diff)
			}
			if diff := cmp.Diff(want, atOnce(t, check)); diff != "" {
				t.Errorf("at once: %s", diff)
			}
		})
	}
}

// body makes statements of a check: an expression is what it returns.
func body(check string) string {
	if strings.Contains(check, "return ") && !strings.HasPrefix(check, "(") || strings.HasPrefix(check, "try ") || strings.HasSuffix(check, "}") && strings.Contains(check, ";") {
		return check
	}
	if statements, last, ok := cutLast(check, "; "); ok && !strings.HasPrefix(check, "(") {
		return statements + "; return " + last
	}
	return "return " + check
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 && !strings.Contains(s[i:], ")") {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

func ordinarily(t *testing.T, check string) string {
	t.Helper()
	vm := goja.New()
	vm.Set("text", specimen)
	v, err := vm.RunString(shown + "const v = JSON.parse(text); shown((function () { " + body(check) + " })())")
	if err != nil {
		t.Fatal(err)
	}
	return v.String()
}

func lazily(t *testing.T, check string) string {
	t.Helper()
	return checked(t, check, "")
}

// atOnce has a word that could be syntax by which programs can tell.
func atOnce(t *testing.T, check string) string {
	t.Helper()
	return checked(t, check, " // super")
}

func checked(t *testing.T, check, end string) string {
	t.Helper()
	text := shown + "const v = await tools.a.x(); return shown((function () { " + body(check) + " })())" + end
	out, _ := run(t, program(text), specimenAnswer)
	return unquoted(t, out)
}

func program(text string) js.Program {
	return js.Program{Source: text, Limits: js.Limits{OutputBytes: 1 << 20}}
}

func specimenAnswer(js.Call) js.Answer { return js.Answer{Form: js.JSON, Body: []byte(specimen)} }

func unquoted(t *testing.T, out js.Outcome) (s string) {
	t.Helper()
	if err := json.Unmarshal(out.Value, &s); err != nil {
		t.Fatal(brief(out))
	}
	return s
}

// The differences that are left: the words of three errors, and a loop over an object that gets another prototype
// meanwhile. docs/javascript.md tells of them.
func TestLazyDiffers(t *testing.T) {
	for _, c := range []struct{ check, lazy, ordinary string }{
		{`try { v.row() } catch (e) { return e }`, `()TypeError: Dynamic object is not callable`, `()TypeError: Not a function: [object Object]`},
		{`try { return 1 instanceof v.row } catch (e) { return e }`,
			`()TypeError: Expecting a function in instanceof check, but got a dynamic object`,
			`()TypeError: Expecting a function in instanceof check, but got [object Object]`},
		{`"use strict"; Object.freeze(Object.prototype); try { v.row.toString = 1 } catch (e) { return e }`,
			`()TypeError: 'set' on proxy: trap returned falsish for property 'toString'`, `()TypeError: Cannot assign to read only property 'toString'`},
		{`const ks = []; for (const k in v.rows[0].in) { ks.push(k); Object.setPrototypeOf(v.rows[0].in, { more: 1 }) } return ks`, `[0:"v",#1]`, `[0:"v",1:"more",#2]`},
	} {
		t.Run(c.check, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.lazy, c.ordinary}, []string{lazily(t, c.check), ordinarily(t, c.check)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Objects that came as JSON are memory as any others, and those that nothing holds are none.
func TestLazyMemory(t *testing.T) {
	const text = "const text = JSON.stringify({ rows: Array.from({ length: 2000 }, (_, i) => ({ i, name: 'name ' + i, in: { a: i, b: [i] } })) });\n"
	for _, c := range []struct{ name, text, want string }{
		{"held untouched", "const all = []; for (;;) all.push(JSON.parse(text + ' '))", js.KindMemory},
		{"held, read", "const all = []; for (;;) { const v = JSON.parse(text); v.rows.forEach(r => r.in.b[0] + r.name); all.push(v) }", js.KindMemory},
		{"held, changed", "const all = []; for (;;) { const v = JSON.parse(text); v.rows.forEach(r => { r.x = 1 }); all.push(v) }", js.KindMemory},
		{"one row of each held", "const all = []; for (;;) all.push(JSON.parse(text + ' ').rows[0])", js.KindMemory},
		{"held, ordinary", "const all = []; for (;;) all.push(JSON.parse(text)) // super", js.KindMemory},
		{"not held", "let n = 0; for (let i = 0; i < 300; i++) n += JSON.parse(text).rows.reduce((n, r) => n + r.in.b[0], 0); return n", js.KindOK},
		{"not held, changed", "for (let i = 0; i < 100; i++) JSON.parse(text).rows.forEach(r => { r.x = 1 }); return 1", js.KindOK},
		{"all names different", "for (let i = 0; i < 3000; i++) JSON.parse(`{\"a${i}\":{\"b${i}\":1}}` + ' '.repeat(3000)); return 1", js.KindOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			how, kind, _ := inChild(t, js.Program{Source: text + c.text, Limits: js.Limits{CPU: 20 * time.Second, MemoryBytes: 64 << 20}})
			if got, _, _ := strings.Cut(kind, " "); got != c.want {
				t.Errorf("%s %s", how, kind)
			}
		})
	}
}

// Programs that have syntax by which they could tell get ordinary objects.
func TestTellsApart(t *testing.T) {
	for text, lazy := range map[string]bool{
		"": true, "Symbol();": true, "`#${v.row.id}`;": true, "'#1';": true, "class A { x = '#1' };": true, "`#a`;": true, "// extends": true,
		"class A extends Error {};": false, "({ m() { super.m() } });": false, "eval('1');": false, "Function('1');": false,
		"class A { #x = 1 };": false, "class A { #$ = 1 };": false, "class A { #é = 1 };": false, "class A { #\\u0061 = 1 };": false,
	} {
		check := text + "\ntry { v.row() } catch (e) { return e.message.startsWith('Dynamic') }"
		if got := lazily(t, check); got != strconv.FormatBool(lazy) {
			t.Errorf("%s: lazy: %s", text, got)
		}
	}
}

// What is ours and not goja's does the same with lazy objects as with ordinary ones.
func TestLazyOurs(t *testing.T) {
	for _, text := range []string{
		"console.log(v); console.log('%s %o %j', v.row, v.rows, v.ints)",
		"console.table(v.rows); console.table(v.ints); console.dir(v.names)",
		"const c = structuredClone(v); c.row.id = 0; console.log(c, v.row.id, c.rows[0] === v.rows[0])",
		"v.row.self = v.row; const c = structuredClone(v.row); console.log(c.self === c, c)",
		"console.log(Object.keys(structuredClone(v.ints)))",
		"try { await tools.b.y(v.rows) } catch (e) { console.log(e.message) }",
		"throw v.row",
		"Promise.reject(v.row); await tools.b.y({})",
	} {
		t.Run(text, func(t *testing.T) {
			var told [2]string
			for i, end := range []string{"", " // super"} {
				p := program("const v = await tools.a.x(); " + text + end)
				p.Limits.ConsoleBytes = 1 << 16
				out, h := run(t, p, specimenAnswer)
				told[i] = brief(out) + "\n" + logged(h.lines)
			}
			if diff := cmp.Diff(told[1], told[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Results and arguments that hold what came as JSON.
func TestLazyResults(t *testing.T) {
	deep := "let d = JSON.parse('{\"a\":'.repeat(300) + 'null' + '}'.repeat(300) + ' '.repeat(2048)); let w = d; for (let i = 0; i < %d; i++) w = { w };"
	for _, c := range []struct{ text, want string }{
		{"return v.row", `ok {"id":7,"title":"one é","n":-1.5,"ok":true,"no":null,"tags":["a","b"],"user":{"login":"u","id":1}}`},
		{"return v.ints", `ok {"0":9,"2":3,"10":2,"4294967294":6,"b":1,"01":4,"-1":5,"4294967295":7,"a":8}`},
		{"return [v.twice, v.numbers, v.nothing]", `ok [{"x":3,"y":2},{"zero":0,"minus":0,"big":12345678901234567000,"long":123456789012,"tiny":5e-324,"exp":100,"half":0.5,"cents":1.1},{}]`},
		{"return v.strings", `ok {"empty":"","esc":"\"\\/\b\f\n\r\tA","wide":"\u2028é😀","pair":"😀","line":"a\nb"}`},
		{"return v.strings.wide", `ok "\u2028é😀"`},
		{"v.row.tags.push(1); delete v.rows[0].id; return [v.row.tags, v.rows[0], v.rows[1]]", `ok [["a","b",1],{"k":"c","in":{"v":1}},{"id":1,"k":"a","in":{"v":2}}]`},
		{"v.row.tags.push(new Map([['k', v.rows[3]]])); return { row: v.row }", `ok {"row":{"id":7,"title":"one é","n":-1.5,"ok":true,"no":null,"tags":["a","b",{"k":{"k":"d","id":4}}],"user":{"login":"u","id":1}}}`},
		{"v.row.tags.push(v.row); return v", "error 0:0 the returned value can't be written as JSON: result.row.tags[2] is circular: it contains itself"},
		{"v.row.user.x = 1n; return [v]", "error 0:0 the returned value can't be written as JSON: result[0].row.user.x is a BigInt, which JSON can't hold: use String(x) or Number(x)"},
		{"v.row.user.x = Promise.resolve(1); return v", "error 0:0 await is missing at result.row.user.x: it is a Promise"},
		{"Object.prototype.toJSON = function () { return Object.keys(this).length }; return v.row", "ok 7"},
		{"await tools.b.y(v.row); return 1", "ok 1"},
		{"return await tools.b.y({ rows: [v.rows[3]] })", `ok {"rows":[{"k":"d","id":4}]}`},
		{fmt.Sprintf(deep, 100) + "return JSON.stringify(w).length", "ok 2404"},
		{fmt.Sprintf(deep, 199) + "return w.w.w !== d", "ok true"},
		{fmt.Sprintf(deep, 201) + "return w", "error 0:0 the returned value can't be written as JSON: too deeply nested: more than 500 levels"},
	} {
		t.Run(c.text, func(t *testing.T) {
			out, _ := run(t, program("const v = await tools.a.x(); "+c.text), func(call js.Call) js.Answer {
				if call.Server == "a" {
					return specimenAnswer(call)
				}
				return js.Answer{Form: js.JSON, Body: call.Args}
			})
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
	const text = "const v = await tools.a.x(); return [v, v, v]"
	for _, text := range []string{text, text + " // super"} {
		out, _ := run(t, js.Program{Source: text, Limits: js.Limits{OutputBytes: 2500}}, specimenAnswer)
		if want := "the returned value is 8596 bytes of JSON, the limit is 2500"; out.Kind != js.KindOutput || out.Error.Message != want {
			t.Error(brief(out))
		}
	}
}
