package js_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// The JSON form of returned values.
func TestResults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"number", "return 1.5", "ok 1.5"},
		{"integer beyond 2^53", "return 1e21", "ok 1e+21"},
		{"minus zero", "return -0", "ok 0"},
		{"NaN", "return NaN", "ok null"},
		{"infinity inside", "return [1/0, -1/0]", "ok [null,null]"},
		{"exact decimal", "return 0.7016570306969449", "ok 0.7016570306969449"},
		{"string", "return 'a\"\\\\\\n\\u0001é😀'", `ok "a\"\\\n\u0001é😀"`},
		{"the string 123", "return '123'", `ok "123"`},
		{"the string null", "return 'null'", `ok "null"`},
		{"lone surrogate", "return 'a\\ud800b'", `ok "a\ud800b"`},
		{"lone low surrogate beside a pair", "return '\\udc00😀'", `ok "\udc00😀"`},
		{"line separators are escaped", "return '\\u2028\\u2029'", `ok "\u2028\u2029"`},
		{"true", "return true", "ok true"},
		{"null", "return null", "ok null"},
		{"undefined", "return undefined", "ok null"},
		{"object", "return { b: 1, a: [true, null] }", `ok {"b":1,"a":[true,null]}`},
		{"integer keys come first", "return { b: 1, 2: 1, 1: 1 }", `ok {"1":1,"2":1,"b":1}`},
		{"undefined and functions inside", "return { a: undefined, b() {}, c: Symbol('x'), d: [undefined, () => {}] }", `ok {"d":[null,null]}`},
		{"nothing but undefined", "return { a: undefined }", `ok {}`},
		{"sparse array", "return [1, , 3]", "ok [1,null,3]"},
		{"getter", "return { get a() { return 1 } }", `ok {"a":1}`},
		{"toJSON", "return { a: { toJSON(k) { return 'json of ' + k } } }", `ok {"a":"json of a"}`},
		{"toJSON to undefined", "return { a: { toJSON() {} }, b: 1 }", `ok {"b":1}`},
		{"not enumerable", "return Object.defineProperty({}, 'a', { value: 1 })", "ok {}"},
		{"no prototype", "return Object.assign(Object.create(null), { a: 1 })", `ok {"a":1}`},
		{"own __proto__", `return JSON.parse('{"__proto__":{"x":1}}')`, `ok {"__proto__":{"x":1}}`},
		{"instance", "class P { #s = 1; x = 2; get y() { return 3 } }; return new P()", `ok {"x":2}`},
		{"date", "return new Date(0)", `ok "1970-01-01T00:00:00.000Z"`},
		{"invalid date", "return [new Date(NaN)]", "ok [null]"},
		{"map with string keys", "return new Map([['a', 1], ['b', new Map()]])", `ok {"a":1,"b":{}}`},
		{"map with other keys", "return new Map([[1, 'x'], ['b', 2]])", `ok [[1,"x"],["b",2]]`},
		{"set", "return { s: new Set([1, 'a']) }", `ok {"s":[1,"a"]}`},
		{"map in a replaced iterator", "Map.prototype[Symbol.iterator] = Map.prototype.forEach = null; return new Map([['a', 1]])", `ok {"a":1}`},
		{"typed array", "return new Uint8Array([1, 255])", "ok [1,255]"},
		{"float array", "return [new Float64Array([0.5, NaN])]", "ok [[0.5,null]]"},
		{"error", "return [new TypeError('bad')]", `ok [{"name":"TypeError","message":"bad"}]`},
		{"error with fields", "return Object.assign(new Error('bad'), { code: 7 })", `ok {"name":"Error","message":"bad","code":7}`},
		{"wrappers", "return [new Number(1), new String('a'), new Boolean(false)]", `ok [1,"a",false]`},
		{"regexp", "return /a/", "ok {}"},
		{"proxy of an array", "return new Proxy([1, 2], {})", "ok [1,2]"},
		{"proxy of an object", "return new Proxy({ a: 1 }, { get: () => 2 })", `ok {"a":2}`},
		{"shared, not circular", "const o = { a: 1 }; return [o, o]", `ok [{"a":1},{"a":1}]`},
		{"promise", "return Promise.resolve(1)", "ok 1"},
		{"tool's promise", "return tools.a.x({ n: 1 })", `ok {"n":1}`},
		{"input", "return input", "ok null"},
		{"BigInt with a toJSON", "BigInt.prototype.toJSON = function () { return String(this) }; return [1n, { a: 2n }]", `ok ["1",{"a":"2"}]`},
		{"function", "return () => 1", "error 0:0 the program returned a function, which is not data"},
		{"class", "return class A {}", "error 0:0 the program returned a class, which is not data"},
		{"symbol", "return Symbol('x')", "error 0:0 the program returned a symbol, which is not data"},
		{"BigInt", "return 1n", "error 0:0 the returned value can't be written as JSON: result is a BigInt, which JSON can't hold: use String(x) or Number(x)"},
		{"BigInt inside", "return { rows: [{ 'my id': 1n }] }", `error 0:0 the returned value can't be written as JSON: result.rows[0]["my id"] is a BigInt, which JSON can't hold: use String(x) or Number(x)`},
		{"circular", "const o = { a: [] }; o.a.push(o); return o", "error 0:0 the returned value can't be written as JSON: result.a[0] is circular: it contains itself"},
		{"promise inside", "return { rows: [Promise.resolve(1)] }", "error 0:0 await is missing at result.rows[0]: it is a Promise"},
		{"promises of map", "return [1, 2].map(async x => x)", "error 0:0 await is missing at result[0]: it is a Promise"},
		{"call inside", "return { list: tools.a.list() }", "error 1:28 await is missing at result.list: it is a Promise"},
		{"tools", "return tools", "error 0:0 the returned value can't be written as JSON: result is a part of `tools`, which is not data: call a tool and use its result"},
		{"throwing getter", "return { get a() { throw new Error('x') } }", "error 1:26 Error: x"},
		{"throwing toJSON", "return { toJSON() { throw new Error('x') } }", "error 1:27 Error: x"},
		{"deep", "let a = []; for (let i = 0; i < 2000; i++) a = [a]; return a", "error 0:0 the returned value can't be written as JSON: too deeply nested: more than 500 levels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
			if out.Value != nil && !json.Valid(out.Value) {
				t.Errorf("not JSON: %s", out.Value)
			}
		})
	}
}

func TestOutputLimit(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"return 'x'.repeat(98)", "ok"},
		{"return 'x'.repeat(99)", "the returned value is 101 bytes of JSON, the limit is 100"},
		{"return Array(1000).fill('x'.repeat(1000))", "the returned value is 1003001 bytes of JSON, the limit is 100"},
	} {
		out, _ := run(t, js.Program{Source: c.text, Limits: js.Limits{OutputBytes: 100}}, nil)
		if c.want == "ok" && out.Kind == "ok" {
			continue
		}
		if out.Kind != js.KindOutput || out.Error.Message != c.want || out.Error.Hint == "" {
			t.Errorf("%s: %s", c.text, brief(out))
		}
	}
}

func TestNoValueHint(t *testing.T) {
	for text, want := range map[string]string{
		"console.log(1)":              "it only logged",
		"const a = await tools.a.x()": "the program returned nothing",
		"return 1":                    "",
		"console.log(1); return 2":    "",
	} {
		out, _ := source(t, text)
		if out.Kind != "ok" || !strings.Contains(out.Hint, want) || want == "" && out.Hint != "" {
			t.Errorf("%s: %s, hint %q", text, brief(out), out.Hint)
		}
	}
}

func TestInput(t *testing.T) {
	for _, c := range []struct{ input, text, want string }{
		{`{"a":[1,"é"]}`, "return input.a[1]", `ok "é"`},
		{`null`, "return input", "ok null"},
		{`"text"`, "input = input.toUpperCase(); return input", `ok "TEXT"`},
		{`{`, "return 1", "error 0:0 the run's input is not JSON: Unexpected end of JSON input"},
	} {
		out, _ := run(t, js.Program{Source: c.text, Input: []byte(c.input)}, nil)
		if diff := cmp.Diff(c.want, brief(out)); diff != "" {
			t.Error(diff)
		}
	}
}
