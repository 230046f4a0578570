package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestResultForms: what a program gets of a CallToolResult.
func TestResultForms(t *testing.T) {
	t.Parallel()
	const image = `{"content":[{"type":"text","text":"a cat"},{"type":"image","data":"QUJD","mimeType":"image/png"}]}`
	deep60 := strings.Repeat(`{"a":`, 60) + "7" + strings.Repeat("}", 60)
	d := daemon.Start(t, daemon.Options{})
	answer := func(raw string) tool {
		return func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(raw), nil }
	}
	for _, c := range []struct {
		name   string
		tool   tool
		source string // after `const r = …`, or `e` for what was thrown
		want   string
	}{
		{"structured", answer(`{"content":[{"type":"text","text":"no"}],"structuredContent":{"a":[1,null,true]}}`), "return r", `{"a":[1,null,true]}`},
		{"JSON object as text", answer(`{"content":[{"type":"text","text":" {\"a\": 1}\n"}]}`), "return r", `{"a":1}`},
		{"JSON array as text", answer(`{"content":[{"type":"text","text":"[1, 2]"}]}`), "return r[1]", `2`},
		{"number as text", answer(`{"content":[{"type":"text","text":"123"}]}`), "return r", `"123"`},
		{"broken JSON as text", answer(`{"content":[{"type":"text","text":"{\"a\": "}]}`), "return r", `"{\"a\": "`},
		{"plain text", answer(`{"content":[{"type":"text","text":"hello"}]}`), "return r", `"hello"`},
		{"several texts", answer(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), "return r", `"a\nb"`},
		{"no content", answer(`{"content":[]}`), "return r", `""`},
		{"image", answer(image), "return r", image},
		{"isError", answer(`{"content":[{"type":"text","text":"no such thing"}],"isError":true}`),
			"return [e instanceof ToolError, e.name, e.message, e.server, e.tool]", `[true,"ToolError","no such thing","t","x"]`},
		{"isError without a text", answer(`{"content":[],"isError":true}`), "return e.message", `"the tool failed without saying why"`},
		{"gateway error", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New("the backend is down")
		},
			"return [e instanceof ToolError, e.message]", `[true,"the backend is down"]`},
		{"no CallToolResult", answer(`{"answer":1}`), "return [e.name, e.message.includes('no CallToolResult')]", `["ToolError",true]`},
		{"array for a result", answer(`[1]`), "return [e.name, e.message.includes('no CallToolResult')]", `["ToolError",true]`},
		{"null for a result", answer(`null`), "return e.name", `"ToolError"`},
		{"lone surrogate", answer(`{"content":[],"structuredContent":{"s":"a\ud800b"}}`),
			"return [r.s, r.s.length, r.s.charCodeAt(1)]", `["a\ud800b",3,55296]`},
		{"lone surrogate in text", answer(`{"content":[{"type":"text","text":"a\ud800b"}]}`), "return r.length", `3`},
		{"line separators", answer("{\"content\":[{\"type\":\"text\",\"text\":\"a\u2028b\u2029c\\n\"}]}"),
			"return [r, r.length]", `["a\u2028b\u2029c\n",6]`},
		{"60 levels", answer(`{"content":[],"structuredContent":` + deep60 + `}`),
			"let n = 0; for (let x = r; typeof x === 'object'; x = x.a) n++; return [n, r]", `[60,` + deep60 + `]`},
		{"a key twice", answer(`{"content":[],"structuredContent":{"a":1,"a":2}}`), "return r.a", `2`},
		{"__proto__", answer(`{"content":[],"structuredContent":{"__proto__":{"polluted":1}}}`),
			"return [Object.keys(r), ({}).polluted === undefined]", `[["__proto__"],true]`},
		{"large and small numbers", answer(`{"content":[],"structuredContent":[9007199254740993,1e400,-0,0.1]}`),
			"return r.map(String)", `["9007199254740992","Infinity","0","0.1"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := connect(t, d, tools{"x": c.tool}, sandboxd.Options{})
			got := g.value(t, "let r, e; try { r = await tools.t.x({}) } catch (x) { e = x }\n"+c.source)
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestSizes is about limits whose error the program can catch.
func TestSizes(t *testing.T) {
	t.Parallel()
	const limit = 4 << 20
	texts := tools{
		"text": func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
			var in struct{ Size int }
			err := json.Unmarshal(args, &in)
			return text(strings.Repeat("x", in.Size)), err
		},
		"controls": func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return text(strings.Repeat("\x01", 2<<20)), nil // 12 MiB on the line
		},
		"message": func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New(strings.Repeat("m", 1<<20))
		},
	}
	g := connect(t, daemon.Start(t, daemon.Options{}), texts, sandboxd.Options{})
	for _, c := range []struct {
		name, source, want string
		calls              int
	}{
		{"result at the limit", fmt.Sprintf("return (await tools.t.text({Size: %d})).length", limit), fmt.Sprint(limit), 1},
		{"result over the limit", fmt.Sprintf("try { await tools.t.text({Size: %d}) } catch (e) { return [e.name, e.message] }", limit+1),
			`["ToolError","the call was carried out, but its result of 4194305 bytes is over the limit of 4194304: ask for less, in pages or with a filter"]`, 1},
		{"result over a line", "try { await tools.t.controls({}) } catch (e) { return [e.name, e.message] }",
			`["ToolError","it was carried out, but its answer can't be sent: a line is longer than 8388608 bytes"]`, 1},
		{"message of a failure", "try { await tools.t.message({}) } catch (e) { return [e.name, e.message.length < 10000, e.message.endsWith('(cut)')] }",
			`["ToolError",true,true]`, 1},
		{"arguments at the limit", "await tools.t.text({Size: 1, s: 'x'.repeat((256 << 10) - 17)}); return 1", "1", 1},
		{"arguments over the limit", "try { await tools.t.text({Size: 1, s: 'x'.repeat((256 << 10) - 16)}) } catch (e) { return [e.name, e.state, e.message] }",
			`["ToolError","not_started","tools.t.text was not called: its arguments are 262145 bytes of JSON, the limit is 262144"]`, 0},
		{"circular arguments", "const a = {}; a.a = a; try { await tools.t.text(a) } catch (e) { return [e.name, e.message] }",
			`["TypeError","tools.t.text was not called: args.a is circular: it contains itself"]`, 0},
		{"positional arguments", "try { await tools.t.text('x', 2) } catch (e) { return e.name }", `"TypeError"`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := g.run(t, sandboxd.Program{Source: c.source})
			if string(r.Value) != c.want {
				t.Errorf("got %s, %v, want %s", r.Value, r.Error, c.want)
			}
			if got := len(g.asked(r.Run)); got != c.calls || len(r.Calls) != c.calls {
				t.Errorf("%d calls reached the gateway and %d are listed, want %d", got, len(r.Calls), c.calls)
			}
		})
	}
}

// TestArguments: what a program passes is what the gateway gets, on a line that stays one.
func TestArguments(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, c := range []struct{ name, args, want string }{
		{"types", "{a: 1.5, b: [true, null, 'x'], c: {}}", `{"a":1.5,"b":[true,null,"x"],"c":{}}`},
		{"undefined", "{a: undefined, b: [undefined]}", `{"b":[null]}`},
		{"line separators", `{s: "a\u2028\n"}`, `{"s":"a\u2028\n"}`},
		{"astral", `{s: "\u{1f600}"}`, `{"s":"😀"}`},
		{"collections", "{m: new Map([['k', 1]]), s: new Set([1]), d: new Date(0)}", `{"m":{"k":1},"s":[1],"d":"1970-01-01T00:00:00.000Z"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := g.run(t, sandboxd.Program{Source: "await tools.t.echo(" + c.args + ")"})
			calls := g.asked(r.Run)
			if len(calls) != 1 || string(calls[0].Arguments) != c.want {
				t.Errorf("got %+v, %v, want %s", calls, r.Error, c.want)
			}
		})
	}
}

// TestInput: any JSON, as it was sent.
// TestAmbiguousArguments: what two readers could understand differently reaches none.
func TestAmbiguousArguments(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	r := g.run(t, sandboxd.Program{Source: `try { await tools.t.echo({s: "a\ud800b"}) } catch (e) { return [e.name, e.message] }`})
	want := `["ToolError","tools.t.echo was not called: the arguments have half of a surrogate pair, at byte 7: readers would not agree on it; use toWellFormed()"]`
	if string(r.Value) != want || len(g.asked(r.Run)) != 0 {
		t.Errorf("got %s, %v, want %s", r.Value, r.Error, want)
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, in := range []string{`null`, `"123"`, `{"a":[1,"ä\ud800"]}`, `0`, `false`, `[]`} {
		r := g.run(t, sandboxd.Program{Source: "return input", Input: json.RawMessage(in)})
		if string(r.Value) != in {
			t.Errorf("input %s came back as %s, %v", in, r.Value, r.Error)
		}
	}
	_, err := g.Execute(t.Context(), sandboxd.Program{Source: "return 1", Input: json.RawMessage(`"` + strings.Repeat("x", 4<<20) + `"`)})
	if err == nil || !strings.Contains(err.Error(), "input: 4194306 bytes are over") {
		t.Errorf("too long an input: %v", err)
	}
	g.serves(t)
}

// TestRequestsRefused: what is wrong with the request is an error of Execute, and names the field.
func TestRequestsRefused(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, c := range []struct {
		name    string
		program sandboxd.Program
		want    string
	}{
		{"profile", sandboxd.Program{Profile: "nope"}, `profile: there is no "nope"; there are: default, large, strict`},
		{"raised limit", sandboxd.Program{Limits: &sandboxd.Limits{Calls: 33}}, "limits.calls: 33 is over the 32"},
		{"negative limit", sandboxd.Program{Limits: &sandboxd.Limits{WallMS: -1}}, "limits.wall_ms: -1 is below 0"},
		{"too little memory", sandboxd.Program{Limits: &sandboxd.Limits{MemoryBytes: 1 << 20}}, "limits.memory_bytes: 1048576 is under"},
		{"long token", sandboxd.Program{Token: strings.Repeat("x", 129)}, "token"},
		{"a server twice", sandboxd.Program{Servers: []string{"t", "t"}}, "servers[1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.program.Source = "return 1"
			_, err := g.Execute(t.Context(), c.program)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
	g.serves(t)
}
