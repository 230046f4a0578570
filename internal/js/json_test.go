package js_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// told tells of every text what JSON.parse makes of it, and what JSON.stringify makes of that. White space behind a text
// makes it long enough to be lazy.
const told = shown + `
const tell = text => {
	try {
		const v = JSON.parse(text);
		const first = JSON.stringify(v); // before anything is made
		const all = shown(v);
		return [all, first, JSON.stringify(v)];
	} catch (e) {
		return e.name;
	}
};
const tellAll = texts => JSON.stringify(texts.map(tell));
`

func tellOurs(t *testing.T, texts []string) (told []any) {
	t.Helper()
	p := js.Program{Source: toldProgram, Limits: js.Limits{OutputBytes: 64 << 20, CPU: time.Minute, MemoryBytes: 1 << 30}}
	out, _ := run(t, p, func(js.Call) js.Answer {
		body, _ := json.Marshal(texts)
		return js.Answer{Form: js.JSON, Body: body}
	})
	return decoded(t, brief(out), out.Value)
}

const toldProgram = told + "return JSON.parse(tellAll(await tools.a.x()))"

func tellGoja(t *testing.T, texts []string) []any {
	t.Helper()
	vm := goja.New()
	vm.Set("texts", texts)
	v, err := vm.RunString(told + "tellAll(texts)")
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, "", []byte(v.String()))
}

func decoded(t *testing.T, otherwise string, text []byte) (v []any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, otherwise)
	}
	return v
}

const padding = "                                                                " // 64

func lazyText(text string) string { return text + strings.Repeat(padding, 32) }

// compare holds texts against goja's own JSON, lazy and at once.
func compare(t *testing.T, texts []string) {
	t.Helper()
	var long []string
	for _, text := range texts {
		long = append(long, lazyText(text))
	}
	want := tellGoja(t, texts)
	for name, got := range map[string][]any{"at once": tellOurs(t, texts), "lazy": tellOurs(t, long)} {
		for i := range texts {
			if diff := cmp.Diff(want[i], got[i]); diff != "" {
				t.Errorf("%s, %.300q: %s", name, texts[i], diff)
			}
		}
	}
}

func TestParse(t *testing.T) {
	names := func(n int, value string) string {
		var members []string
		for i := range n {
			members = append(members, fmt.Sprintf(`"k%d":%s`, i, value))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	texts := []string{
		`{}`, `[]`, `""`, `0`, `-0`, `1`, `-1`, `null`, `true`, `false`, ` { } `, "\t\r\n[ ]", `[{}]`, `{"":{}}`, `{"a":[]}`,
		`12345678`, `123456789`, `536870911`, `536870912`, `-12345678`, `9007199254740993`, `123456789012345678901`, `1e3`, `1E+3`, `1e-7`, `1.0`, `1.50`,
		`0.1`, `0.000001`, `0.0000001`, `5e-324`, `1.7976931348623157e308`, `100000000000000000000`, `1e21`, `123456789.123456`, `-1.5`, `-0.0`, `0e5`,
		`""`, `"a"`, `"\u0041\n\"\\\/\b\f\r\t"`, `"é"`, "\"\u2028\"", `"\u2028"`, `"😀"`, `"\ud83d\ude00"`, `"\u0000"`, `"\u007f"`, "\"\u007f\"", `"a\u00e9b"`,
		`{"a":1,"a":2}`, `{"a":1,"b":2,"a":3,"b":{"a":4}}`, `[{"a":1,"b":2},{"b":1,"a":2},{"a":1},{"a":1,"b":2,"c":3},{"b":1}]`,
		`{"b":1,"2":2,"1":3,"-1":4,"01":5,"1.5":6,"4294967294":7,"4294967295":8,"4294967296":9,"0":10}`, `[{"1":1,"0":2,"1":3}]`,
		`{"__proto__":null}`, `{"__proto__":{"a":1},"__proto__":2}`, `{"constructor":{"prototype":{"x":1}},"toString":1,"valueOf":2,"hasOwnProperty":3,"toJSON":4}`,
		`{"a\u0062":1,"ab":2}`, `{"é":1,"\u00e9":2}`, "{\"\u2028\":1}", `{"\n":1,"\"":2,"\\":3}`, `{"\ufffd":1}`, `{"a":{"a":{"a":{"a":[{"a":1}]}}}}`,
		names(63, "1"), names(64, "{}"), names(65, `{"x":[1]}`), names(200, `"v"`), "[" + names(70, "1") + "," + names(3, "1") + "," + names(70, "2") + "]",
		names(70, "1")[:len(names(70, "1"))-1] + `,"k3":"again","k69":"again"}`,
		`{"` + strings.Repeat("n", 127) + `":1,"` + strings.Repeat("m", 126) + `":2,"` + strings.Repeat("m", 5000) + `":[{"a":1}]}`,
		`[[1,[2,[3,{"a":[4]}]]],[],[[]]]`, strings.Repeat(`[`, 400) + strings.Repeat(`]`, 400), strings.Repeat(`{"a":`, 400) + `1` + strings.Repeat(`}`, 400),
		// What is no JSON.
		``, ` `, `{`, `}`, `[`, `]`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `{"a" 1}`, `{a:1}`, `{'a':1}`, `{1:1}`,
		`"`, `"a`, `"\`, `"\u`, `"\u00`, `"\u00g0"`, `"\x41"`, `"\U0041"`, "\"\n\"", "\"\x00\"", "\"\t\"", `'a'`, `tru`, `truex`, `nul`, `nullx`, `falsy`, `undefined`, `NaN`, `Infinity`, `-Infinity`,
		`-`, `+1`, `.5`, `1.`, `1.e5`, `1e`, `1e+`, `01`, `-01`, `00`, `0x1`, `1_000`, `1 1`, `{} {}`, `[] x`, "\ufeff{}", `{"a":1}}`, `[1]]`, `/* */ 1`, `1 // one`, "\v1", "\u00a01", `{"a":1,"b"}`, `{"a"::1}`, `{"a":,}`, `{"a":1;"b":2}`,
	}
	for _, text := range texts {
		if want := json.Valid([]byte(text)); want != (tellValid(t, text)) {
			t.Errorf("%.100q: encoding/json says it is valid: %v", text, want)
		}
	}
	compare(t, texts)
}

func tellValid(t *testing.T, text string) bool {
	_, failed := tellOurs(t, []string{text})[0].(string)
	return !failed
}

// TestParseMutated compares documents that a generator made, and made wrong.
func TestParseMutated(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 500 {
		text := document(rnd, 0)
		texts = append(texts, text)
		if wrong := mutated(rnd, text); !overflows(wrong) {
			texts = append(texts, wrong)
		}
	}
	compare(t, texts)
}

// document makes JSON text with names and shapes that come again.
func document(rnd *rand.Rand, depth int) string {
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	space := func() string { return pick("", "", "", " ", "\n  ") }
	kinds := 8
	if depth > 4 {
		kinds = 6
	}
	switch rnd.IntN(kinds) {
	case 0:
		return pick("0", "-0", "1", "-5", "42", "3.25", "1e3", "123456789012", "0.1", "1.10", "-1.5e-8", "99999999", "100000000")
	case 1:
		return pick("true", "false", "null")
	case 2, 3:
		return pick(`""`, `"a"`, `"open"`, `"é"`, `"\n"`, `"\u0041\/"`, `"a \"quoted\" word"`, `"😀"`, "\"\u2028\"", `"`+strings.Repeat("text ", rnd.IntN(9))+`"`)
	case 4, 7:
		var items []string
		for range rnd.IntN(5) {
			items = append(items, space()+document(rnd, depth+1)+space())
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var members []string
	for range rnd.IntN(6) {
		name := pick(`"id"`, `"id"`, `"title"`, `"user"`, `"a"`, `"b"`, `"1"`, `"0"`, `"10"`, `"__proto__"`, `"é"`, `"\u0061"`, `""`, `"toString"`, `"x y"`)
		members = append(members, space()+name+space()+":"+space()+document(rnd, depth+1)+space())
	}
	if len(members) > 0 && rnd.IntN(3) == 0 { // rows
		one := "{" + strings.Join(members, ",") + "}"
		return "[" + strings.Join([]string{one, one, "{}", one, strings.Replace(one, `"id"`, `"other"`, 1)}, ",") + "]"
	}
	return "{" + strings.Join(members, ",") + "}"
}

func mutated(rnd *rand.Rand, text string) string {
	at := rnd.IntN(len(text) + 1)
	for !utf8.RuneStart((text + " ")[at]) {
		at--
	}
	switch rest := text[at:]; rnd.IntN(3) {
	case 0: // cut
		return text[:at]
	case 1: // a character more
		return text[:at] + string(`{}[]",:0-.e\ntu x`[rnd.IntN(17)]) + rest
	default: // one less
		_, size := utf8.DecodeRuneInString(rest)
		return text[:at] + rest[size:]
	}
}

// overflows tells of JSON with a number like 1e400, for which goja's own JSON.parse throws.
func overflows(text string) bool {
	var v any
	return json.Valid([]byte(text)) && json.Unmarshal([]byte(text), &v) != nil
}

func unmarshaled(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// FuzzJSON holds what a program sees of any text against goja's own JSON.parse and against encoding/json.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		specimen, `{"a":[1,-0,1e400,"\ud800",{"a":1,"a":2}]}`, "[\"\xff\"]", `[{"1":1,"0":2}]`, strings.Repeat("[", 600), `{"\ud800":1,"\ufffd":2}`, `[1e-400,"\u2028"]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text := strings.ToValidUTF8(string(body), "\uFFFD")
		got := tellOurs(t, []string{text, lazyText(text)})
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Fatalf("lazy differs: %s", diff)
		}
		_, refused := got[0].(string)
		deep := strings.Count(text, "[")+strings.Count(text, "{") > 500
		if valid := json.Valid([]byte(text)); valid == refused && !deep {
			t.Fatalf("refused: %v; encoding/json says it is valid: %v", refused, valid)
		}
		if refused {
			return
		}
		if overflows(text) || strings.Contains(strings.ToLower(text), `\ud`) {
			return // where goja and encoding/json lose what ours keeps
		}
		if diff := cmp.Diff(unmarshaled(t, text), unmarshaled(t, got[0].([]any)[1].(string))); diff != "" {
			t.Fatalf("encoding/json differs: %s", diff)
		}
		if diff := cmp.Diff(tellGoja(t, []string{text})[0], got[0]); diff != "" {
			t.Fatal(diff)
		}
	})
}
