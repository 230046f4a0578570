package js_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

func TestCalls(t *testing.T) {
	for _, c := range []struct{ name, text, calls, want string }{
		{"no argument", "return await tools.a.x()", "1 a.x {}", "ok {}"},
		{"undefined", "return await tools.a.x(undefined)", "1 a.x {}", "ok {}"},
		{"names in brackets", "await tools.a['resolve-library-id'](); await tools['b'].f()", "1 a.resolve-library-id {}\n2 b.f {}", "ok {}"},
		{"names differing in case", "await tools.a.Get(); await tools.a.get()", "1 a.Get {}\n2 a.get {}", "ok {}"},
		{"undefined fields are dropped", "await tools.a.x({ a: undefined, b: [undefined], c: null })", `1 a.x {"b":[null],"c":null}`, `ok {"b":[null],"c":null}`},
		{"dates and maps", "await tools.a.x({ d: new Date(0), m: new Map([['k', 1]]), s: new Set([1]) })", `1 a.x {"d":"1970-01-01T00:00:00.000Z","m":{"k":1},"s":[1]}`, `ok {"d":"1970-01-01T00:00:00.000Z","m":{"k":1},"s":[1]}`},
		{"an instance", "class A { x = 1 }; await tools.a.x(new A())", `1 a.x {"x":1}`, `ok {"x":1}`},
		{"one batch", "return (await Promise.all([tools.a.x({ n: 1 }), tools.b.y({ n: 2 })])).map(r => r.n)", "1 a.x {\"n\":1}\n2 b.y {\"n\":2}", "ok [1,2]"},
		{"a function as a value", "const f = tools.a.x; return [await f({ n: 1 }), f === tools.a.x, f.name, typeof f]", `1 a.x {"n":1}`, `ok [{"n":1},true,"x","function"]`},
		{"methods of array", "return await Promise.all([{ n: 1 }].map(x => tools.a.x(x)))", `1 a.x {"n":1}`, `ok [{"n":1}]`},
		{"keys", "const k = []; for (const s in tools) k.push(s); return [k, Object.keys(tools), Object.keys({ ...tools }), 'a' in tools, 'z' in tools]", "", `ok [["a","b"],["a","b"],["a","b"],true,false]`},
		{"optional server", "return tools.nope?.x() ?? 'none'", "", `ok "none"`},
		{"awaiting tools", "return typeof (await tools) + typeof (await tools.a)", "", `ok "objectobject"`},
		{"stringify makes no call", "return JSON.stringify(tools.a) + `${tools.a}`", "", `ok "{}[object Object]"`},
		{"symbols", "return [typeof tools.a[Symbol.iterator], typeof tools[Symbol.toPrimitive]]", "", `ok ["undefined","undefined"]`},
		{"unknown server", "await tools.github.list()", "", "error 1:13 tools has no server `github`; there are: a, b"},
		{"a string", "await tools.a.x('q')", "", "error 1:16 TypeError: tools.a.x takes one object of named arguments, such as tools.a.x({ name: value }); it was given a string"},
		{"an array", "await tools.a['x-y']([])", "", `error 1:21 TypeError: tools.a["x-y"] takes one object of named arguments, such as tools.a["x-y"]({ name: value }); it was given an array`},
		{"null", "await tools.a.x(null)", "", "error 1:16 TypeError: tools.a.x takes one object of named arguments, such as tools.a.x({ name: value }); it was given null"},
		{"two", "await tools.a.x({}, 1)", "", "error 1:16 TypeError: tools.a.x takes one object of named arguments, such as tools.a.x({ name: value }); it was given 2 arguments"},
		{"a promise", "await tools.a.x(tools.b.y())", "1 b.y {}", "error 1:16 TypeError: tools.a.x takes one object of named arguments, such as tools.a.x({ name: value }); it was given a Promise: await is missing"},
		{"a promise inside", "await tools.a.x({ q: Promise.resolve(1) })", "", "error 1:16 TypeError: tools.a.x was not called: await is missing at args.q: it is a Promise"},
		{"BigInt", "await tools.a.x({ q: [{ id: 1n }] })", "", "error 1:16 TypeError: tools.a.x was not called: args.q[0].id is a BigInt, which JSON can't hold: use String(x) or Number(x)"},
		{"circular", "const o = {}; o.o = o; await tools.a.x(o)", "", "error 1:39 TypeError: tools.a.x was not called: args.o is circular: it contains itself"},
		{"a getter that throws", "try { await tools.a.x({ get q() { throw 7 } }) } catch (e) { return e }", "", "ok 7"},
		{"mistakes reject, catchably", "return tools.a.x('q').catch(e => e.name)", "", `ok "TypeError"`},
		{"thousand levels", "let o = {}; for (let i = 0; i < 2000; i++) o = { o }; try { await tools.a.x(o) } catch (e) { return e.message }", "", `ok "tools.a.x was not called: too deeply nested: more than 500 levels"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, h := source(t, c.text)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
			if c.name == "a promise" { // its inner call was made and sent before the mistake was seen
				return
			}
			if diff := cmp.Diff(c.calls, strings.Join(h.calls, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAnnouncedTools: names as the daemon writes them down.
func TestAnnouncedTools(t *testing.T) {
	const names = "context7\n\tresolve-library-id\tresolve_library_id\tresolveLibraryId\n\tthen\n\ttoString\n\tget\n" +
		"my-hub\tmy_hub\tmyHub\n" + "x\n\ta-b\n\ta.b\n\ta_b\n"
	for _, c := range []struct{ name, text, calls, want string }{
		{"an alias", "await tools.context7.resolve_library_id({ n: 1 })", `1 context7.resolve-library-id {"n":1}`, `ok {"n":1}`},
		{"in capitals", "await tools.context7.resolveLibraryId()", `1 context7.resolve-library-id {}`, `ok {}`},
		{"the same function", "const c = tools.context7; return [c.resolve_library_id === c['resolve-library-id'], c.resolveLibraryId === c['resolve-library-id'], c.resolve_library_id.name]",
			"", `ok [true,true,"resolve-library-id"]`},
		{"a server's alias", "await tools.my_hub.f(); return [tools.my_hub === tools['my-hub'], tools.myHub === tools['my-hub'], 'my_hub' in tools]",
			"1 my-hub.f {}", "ok [true,true,true]"},
		{"a part of a name", "await tools.context7.resolve()", "1 context7.resolve {}", "ok {}"},
		{"two names as one", "await tools.context7['resolve-library-id\\tresolve_library_id'](); return 'get\\n\\tx' in tools.context7", `1 context7.resolve-library-id	resolve_library_id {}`, "ok false"},
		{"not like a prototype", "await tools.context7.Resolve_library_id()", "1 context7.Resolve_library_id {}", "ok {}"},
		{"names win", "await tools.x.a_b(); await tools.x['a-b'](); await tools.x['a.b']()", "1 x.a_b {}\n2 x.a-b {}\n3 x.a.b {}", "ok {}"},
		{"servers", "const k = []; for (const s in tools) k.push(s); return [k, Object.keys({ ...tools }), 'x' in tools, 'y' in tools, tools.y]",
			"", `ok [["context7","my-hub","plain","x"],["context7","my-hub","plain","x"],true,false,null]`},
		{"tools", "const k = []; for (const n in tools.context7) k.push(n); return [k, Object.keys({ ...tools.context7 }), Object.entries(tools.x).map(([n, f]) => n + typeof f)]",
			"", `ok [["resolve-library-id","get"],["resolve-library-id","get"],["a-bfunction","a.bfunction","a_bfunction"]]`},
		{"in", "const c = tools.context7; return ['get' in c, 'resolveLibraryId' in c, 'nope' in c, 'then' in c, Object.hasOwn(c, 'nope'), 'nope' in tools.plain, 'nope' in tools.my_hub]",
			"", "ok [true,true,false,false,false,true,true]"},
		{"tools that are not known", "return [Object.keys(tools.plain), Object.keys(tools.myHub)]", "", "ok [[],[]]"},
		{"spread and call", "const { get } = { ...tools.context7 }; await get({ n: 1 })", `1 context7.get {"n":1}`, `ok {"n":1}`},
		{"awaiting", "return typeof (await tools.context7) + `${tools.context7}`", "", `ok "object[object Object]"`},
		{"a name that was not announced", "await tools.context7.nope()", "1 context7.nope {}", "ok {}"},
		{"hostile", "Object.prototype.get = Object.prototype['resolve-library-id'] = () => 'mine'; Array.prototype[Symbol.iterator] = null; String.prototype.split = null; await tools.context7.resolve_library_id()",
			"1 context7.resolve-library-id {}", "ok {}"},
		{"no prototype", "Object.setPrototypeOf(tools, { evil: 1 }); return [Object.keys(tools).length, tools.evil, delete tools.x, (tools.x = 1, typeof tools.x)]", "", `ok [4,1,false,"object"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, h := run(t, js.Program{Source: c.text, Servers: []string{"context7", "my-hub", "plain", "x"}, Names: names}, nil)
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.calls, strings.Join(h.calls, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer js.Answer
		text   string
		want   string
	}{
		{"JSON", js.Answer{Form: js.JSON, Body: []byte(` {"a": [1, "x"]} `)}, "return await tools.a.x()", `ok {"a":[1,"x"]}`},
		{"JSON string", js.Answer{Form: js.JSON, Body: []byte(`"123"`)}, "return await tools.a.x()", `ok "123"`},
		{"not JSON", js.Answer{Form: js.JSON, Body: []byte("{\n\"a\":}")}, "return await tools.a.x()", "error 1:23 ToolError: tools.a.x answered with text that is not JSON: Unexpected token '}' in JSON at position 6 (line 2 column 5)"},
		{"auto object", js.Answer{Form: js.Auto, Body: []byte(`  {"a":1}`)}, "return (await tools.a.x()).a", "ok 1"},
		{"auto array", js.Answer{Form: js.Auto, Body: []byte(`[1]`)}, "return (await tools.a.x())[0]", "ok 1"},
		{"auto text", js.Answer{Form: js.Auto, Body: []byte(`hello`)}, "return await tools.a.x()", `ok "hello"`},
		{"auto number stays text", js.Answer{Form: js.Auto, Body: []byte(`123`)}, "return await tools.a.x()", `ok "123"`},
		{"auto quoted stays text", js.Answer{Form: js.Auto, Body: []byte(`"x"`)}, "return await tools.a.x()", `ok "\"x\""`},
		{"auto broken JSON is text", js.Answer{Form: js.Auto, Body: []byte(`{"a":1} and more`)}, "return await tools.a.x()", `ok "{\"a\":1} and more"`},
		{"auto empty", js.Answer{Form: js.Auto}, "return await tools.a.x()", `ok ""`},
		{"own __proto__", js.Answer{Form: js.JSON, Body: []byte(`{"__proto__":{"admin":true},"constructor":1}`)}, "const r = await tools.a.x(); return [r.admin, Object.keys(r), Object.getPrototypeOf(r) === Object.prototype]", `ok [null,["__proto__","constructor"],true]`},
		{"then is data", js.Answer{Form: js.JSON, Body: []byte(`{"then":1}`)}, "return await tools.a.x()", `ok {"then":1}`},
		{"lone surrogate", js.Answer{Form: js.JSON, Body: []byte(`"\ud800\u00e9"`)}, "const r = await tools.a.x(); return [r.length, r.charCodeAt(0), r]", `ok [2,55296,"\ud800é"]`},
		{"surrogate pair", js.Answer{Form: js.JSON, Body: []byte(`"\ud83d\ude00"`)}, "return await tools.a.x() === '😀'", "ok true"},
		{"1e400", js.Answer{Form: js.JSON, Body: []byte(`[1e400,-1e400,-0,1e-400]`)}, "const r = await tools.a.x(); return r.map(String).concat(Object.is(r[2], -0))", `ok ["Infinity","-Infinity","0","0",true]`},
		{"U+2028", js.Answer{Form: js.Auto, Body: []byte("[\"\u2028\"]")}, "return (await tools.a.x())[0].charCodeAt(0)", "ok 8232"},
		{"not UTF-8", js.Answer{Form: js.Auto, Body: []byte("a\xffb")}, "return await tools.a.x()", `ok "a�b"`},
		{"60 levels", js.Answer{Form: js.JSON, Body: []byte(strings.Repeat("[", 60) + strings.Repeat("]", 60))}, "let r = await tools.a.x(), n = 0; while (r) { r = r[0]; n++ } return n", "ok 60"},
		{"a million levels", js.Answer{Form: js.JSON, Body: []byte(strings.Repeat("[", 1e6))}, "try { await tools.a.x() } catch (e) { return e.message.slice(-47) }", `ok "levels deep at position 500 (line 1 column 501)"`},
		{"failed", js.Answer{Form: js.Failed, Body: []byte("no such issue")}, "return await tools.a.x()", "error 1:23 ToolError: no such issue"},
		{"failed, caught", js.Answer{Form: js.Failed, Body: []byte("no")}, "try { await tools.a.x() } catch (e) { return [e instanceof ToolError, e instanceof Error, e.name, e.message, e.server, e.tool, e.state, Object.prototype.toString.call(e)] }", `ok [true,true,"ToolError","no","a","x","failed","[object Error]"]`},
		{"invalid", js.Answer{Form: js.Invalid, Body: []byte("missing required field `owner`")}, "await tools.a.x()", "error 1:16 ToolError: tools.a.x was not called: missing required field `owner`"},
		{"invalid, caught", js.Answer{Form: js.Invalid, Body: []byte("no")}, "try { await tools.a.x() } catch (e) { return [e instanceof ToolError, e.message, e.server, e.tool, e.state] }", `ok [true,"tools.a.x was not called: no","a","x","denied"]`},
		{"blocked", js.Answer{Form: js.Blocked, Tool: "a.x", Rule: "no drops", Reason: "never"}, "\nawait tools.a.x()", "denied 2:16 ToolBlocked: tools.a.x was refused: never (rule \"no drops\")"},
		{"blocked, caught", js.Answer{Form: js.Blocked, Tool: "a.x", Rule: "r", Reason: "never"}, "try { await tools.a.x() } catch (e) { return [e instanceof ToolBlocked, e instanceof ToolError, e.name, e.tool, e.rule, e.reason] }", `ok [true,false,"ToolBlocked","a.x","r","never"]`},
		{"blocked, wrapped", js.Answer{Form: js.Blocked, Reason: "never"}, "try { await tools.a.x() } catch (e) { throw new Error('lost', { cause: e }) }", "error 1:45 Error: lost; cause: ToolBlocked: tools.a.x was refused: never"},
		{"blocked, rethrown", js.Answer{Form: js.Blocked, Reason: "never"}, "try { await tools.a.x() } catch (e) { throw e }", "denied 1:22 ToolBlocked: tools.a.x was refused: never"},
		{"blocked, forged", js.Answer{Form: js.JSON, Body: []byte("1")}, "throw new ToolBlocked('me')", "error 1:7 ToolBlocked: me"},
		{"subclass of ToolError", js.Answer{Form: js.JSON, Body: []byte("1")}, "class E extends ToolError {}; const e = new E('x'); return [e instanceof E, e instanceof ToolError, e.message]", `ok [true,true,"x"]`},
		{"unknown id is ignored", js.Answer{ID: 77, Form: js.JSON, Body: []byte("1")}, "return await Promise.race([tools.a.x(), new Promise(r => setTimeout(r, 5, 'late'))])", `ok "late"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := run(t, js.Program{Source: c.text}, func(js.Call) js.Answer { return c.answer })
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCallLimit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		sent       int
		unsent     int
		want       string
	}{
		{"never a prefix", "return (await Promise.all(Array.from({ length: 23 }, (_, n) => tools.a.x({ n })))).length", 0, 17,
			"calls 1:73 tools.a.x would be call 17 of this run; the limit is 16. None of the calls waiting with it was sent"},
		{"just enough", "return (await Promise.all(Array.from({ length: 16 }, (_, n) => tools.a.x({ n })))).length", 16, 0, "ok 16"},
		{"one by one", "for (;;) await tools.a.x()", 16, 1, "calls 1:25 tools.a.x would be call 17 of this run; the limit is 16. None of the calls waiting with it was sent"},
		{"uncatchable", "for (;;) try { await tools.a.x() } catch {} finally { continue }", 16, 1, "calls 1:31 tools.a.x would be call 17 of this run; the limit is 16. None of the calls waiting with it was sent"},
		{"in a native loop", "await Promise.all(Array(50).fill({}).map(tools.a.x.bind(null)).map(p => p.catch(() => 1)))", 0, 0, "error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, h := run(t, js.Program{Source: c.text, Limits: js.Limits{Calls: 16}}, nil)
			if c.want == "error" { // map gives three arguments: each call is refused, none counts
				if out.Kind != "ok" || len(h.calls) != 0 {
					t.Error(brief(out))
				}
				return
			}
			if diff := cmp.Diff(c.want, brief(out)); diff != "" {
				t.Error(diff)
			}
			if len(h.calls) != c.sent || len(out.Unsent) != c.unsent {
				t.Errorf("%d sent, %d unsent; want %d, %d", len(h.calls), len(out.Unsent), c.sent, c.unsent)
			}
		})
	}
	out, _ := run(t, js.Program{Source: "await tools.a.x()", Limits: js.Limits{Calls: -1}}, nil)
	if out.Kind != js.KindCalls {
		t.Errorf("a negative limit: %s", brief(out))
	}
}

func TestArgumentLimit(t *testing.T) {
	text := "try { await tools.a.x({ s: 'x'.repeat(200) }) } catch (e) { return [e.name, e.state, e.message, (await tools.a.x({ n: 1 })).n] }"
	out, h := run(t, js.Program{Source: text, Limits: js.Limits{ArgumentBytes: 100}}, nil)
	want := `ok ["ToolError","not_started","tools.a.x was not called: its arguments are 208 bytes of JSON, the limit is 100",1]`
	if diff := cmp.Diff(want, brief(out)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`1 a.x {"n":1}`}, h.calls); diff != "" {
		t.Error(diff)
	}
}
