package rawjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/rawjson"
)

func members(text string) ([]string, error) {
	var got []string
	c := rawjson.New([]byte(text))
	err := c.Object(func(key string) error {
		value, err := c.Value()
		got = append(got, key+"="+string(value))
		return err
	})
	if err == nil {
		err = c.End()
	}
	return got, err
}

func TestObject(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{`{}`, nil},
		{` { "a" : 1 , "b":[{"c":"]}"}] } `, []string{"a=1", `b=[{"c":"]}"}]`}},
		{`{"a\"b":"\\\"","\u0063":null}`, []string{`a"b="\\\""`, "c=null"}},
		{`{"a":-1.5e3,"b":true,"c":""}`, []string{"a=-1.5e3", "b=true", `c=""`}},
	} {
		got, err := members(tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.in, diff)
		}
	}
}

func TestObjectRefuses(t *testing.T) {
	for _, in := range []string{
		``, `[]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{"a":1}x`, `{"a":1}{}`, `{a:1}`, `{"a" 1}`, `{,}`,
		`{"a":[}`, `{"a":{]}`, `{"a":"}`, `{"a":"\"}`, `{"a":01}`, `{"a":tru}`, `{"a":1 2}`, `{"a":}`,
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a\x":1}`, `{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
	} {
		if got, err := members(in); err == nil {
			t.Errorf("%.40q was accepted as %q", in, got)
		}
	}
}

func TestArray(t *testing.T) {
	var got []string
	c := rawjson.New([]byte(` [1, {"a":[2]} ,"x", [] ]`))
	err := c.Array(func() error {
		value, err := c.Value()
		got = append(got, string(value))
		return err
	})
	if err != nil || c.End() != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1", `{"a":[2]}`, `"x"`, "[]"}, got); diff != "" {
		t.Error(diff)
	}
	stop := errors.New("stop")
	if err := rawjson.New([]byte(`[1,2]`)).Array(func() error { return stop }); err != stop {
		t.Errorf("an item's error came back as %v", err)
	}
}

func TestRest(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":1,"result":{"a":"}"}}`:   `{"a":"}"}`,
		`{"id":1,"result":[1] } `:       `[1] `,
		`{"id":1,"result":{}`:           `{`, // what is wrong shows to who walks it
		`{"id":1,"result":`:             "error",
		`{"id":1,"result":{},"more":1}`: `{},"more":1`,
	} {
		c := rawjson.New([]byte(text))
		got := "error"
		err := c.Object(func(key string) error {
			if key != "result" {
				return c.Skip()
			}
			rest, err := c.Rest("}")
			if err == nil {
				got = string(rest)
			}
			return err
		})
		if got != want || (err != nil) != (want == "error") {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// FuzzString holds AppendString and the walkers against encoding/json, for all text that is JSON.
func FuzzString(f *testing.F) {
	for _, s := range []string{`""`, `"a\u00e9\ud83d\ude00\ud800x\n\/"`, `"\ud800\u0041"`, `{"a":"\\"}`, `[1,[2,"]"]]`, `"\ud800\ud800\udc00"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		_, _ = rawjson.New(in).Value() // of any bytes: it must not panic
		if !json.Valid(in) || !utf8.Valid(in) {
			return
		}
		if bytes.Count(in, []byte("["))+bytes.Count(in, []byte("{")) < rawjson.MaxDepth {
			c := rawjson.New(in)
			value, err := c.Value()
			if err != nil || c.End() != nil || !bytes.Equal(value, bytes.Trim(in, " \t\r\n")) {
				t.Fatalf("Value of %q: %q, %v", in, value, err)
			}
		}
		var want string
		if json.Unmarshal(in, &want) != nil || bytes.TrimLeft(in, " \t\r\n")[0] != '"' {
			return
		}
		got, err := rawjson.New(in).AppendString(nil)
		if err != nil || string(got) != want {
			t.Fatalf("AppendString(%q) = %q, %v; encoding/json %q", in, got, err, want)
		}
	})
}

func BenchmarkTextOfResult(b *testing.B) {
	inner := strings.Repeat(`{"number":12,"title":"a title of some words","comments":5},`, 4000)
	text, _ := json.Marshal(map[string]any{"text": inner})
	var dst []byte
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c := rawjson.New(text)
		err := c.Object(func(string) (err error) {
			dst, err = c.AppendString(dst[:0])
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func TestCheck(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":[`, n/2) + strings.Repeat("]}", n/2) }
	wide := make([]string, 1000)
	for i := range wide {
		wide[i] = fmt.Sprintf(`"k%d":{}`, i)
	}
	for text, want := range map[string]string{
		`{"a":1,"b":{"a":[{"a":1},{"a":2}]}}`: "",
		`"x"`:                                 "",
		"{" + strings.Join(wide, ",") + "}":   "",
		deep(512):                             "",
		deep(514):                             "nested deeper than 512",
		`{"a":1,"a":2}`:                       `"a" stands twice`,
		`{"a":1,"\u0061":2}`:                  `"a" stands twice`,
		`[[{"b":{"x":1,"y":2,"x":3}}]]`:       `"x" stands twice`,
		`{} {}`:                               "the end",
	} {
		err := rawjson.Check([]byte(text))
		if got := fmt.Sprint(err); (want == "") != (err == nil) || !strings.Contains(got, want) && want != "" {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func TestControl(t *testing.T) {
	for text, want := range map[string]int{"": -1, "{\"a\":\t1}\r\n": -1, "a\x00": 1, "\x1f": 0, "é ": -1} {
		if got := rawjson.Control([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
