package policy_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/policy"
)

func TestArguments(t *testing.T) {
	for _, c := range []struct{ text, json string }{
		{` { "b" : [ 1 , 2.50 , true , null ] , "a" : { } } `, `{"b":[1,2.5,true,null],"a":{}}`},
		{`{"a":1.0,"b":1e0,"c":-0,"d":1E400e0}`, ``},
		{`{"a":1.0,"b":1e0,"c":-0,"d":-0.0,"e":100e-2}`, `{"a":1,"b":1,"c":0,"d":0,"e":1}`},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`}, // what any reader of JavaScript's numbers sees
		{`{"a":9007199254740991,"b":-9007199254740991}`, `{"a":9007199254740991,"b":-9007199254740991}`},
		{`{"a":1e21,"b":1e-7,"c":123456789012345680000}`, `{"a":1e+21,"b":1e-7,"c":123456789012345680000}`},
		{`{"\u0061":"\u00e9\ud83d\ude00\/\b"}`, `{"a":"é😀/\b"}`},
		{`{"a":"<&>\u2028"}`, `{"a":"<&>\u2028"}`},
		{`{}`, `{}`},
	} {
		got, err := policy.ReadArguments([]byte(c.text))
		if c.json == "" {
			if err == nil {
				t.Errorf("%s: read as %s", c.text, got.JSON)
			}
			continue
		}
		if err != nil || string(got.JSON) != c.json {
			t.Errorf("%s: %s, %v; want %s", c.text, got.JSON, err, c.json)
		}
	}
	got, err := policy.ReadArguments([]byte(`{"i":3,"f":0.1,"big":9007199254740993,"list":[{"x":"y"}]}`))
	want := map[string]any{"i": int64(3), "f": 0.1, "big": float64(1 << 53), "list": []any{map[string]any{"x": "y"}}}
	if err != nil || !reflect.DeepEqual(got.Value, want) {
		t.Errorf("%#v, %v; want %#v", got.Value, err, want)
	}
}

func TestArgumentsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                         "no JSON",
		`{"a":1`:                   "no JSON, at byte 6",
		`{"a":1} {}`:               "no JSON, at byte 9",
		`[]`:                       "no object",
		`null`:                     "no object",
		`"x"`:                      "no object",
		`{"a":1,"a":2}`:            `"a" stands twice`,
		`{"x":{"a":1,"\u0061":1}}`: `"a" stands twice`,
		`{"a":1e400}`:              "1e400 is too large",
		`{"a":"\ud800"}`:           "half of a surrogate pair, at byte 6",
		`{"a":"\ud800\u0041"}`:     "half of a surrogate pair",
		`{"a":"\udc00\ud800"}`:     "half of a surrogate pair",
		`{"\ud83dx":1}`:            "half of a surrogate pair, at byte 2",
		"{\"a\":\"\xff\"}":         "not UTF-8, at byte 6",
		"{\"a\":\"\xed\xa0\x80\"}": "not UTF-8, at byte 6", // a surrogate, encoded as if it were a character
		strings.Repeat(`{"a":`, 65) + `1` + strings.Repeat(`}`, 65): "nest more than 64",
	} {
		if got, err := policy.ReadArguments([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %s, %v; want %s", text, got.JSON, err, want)
		}
	}
	if _, err := policy.ReadArguments([]byte(`{"a":"\\ud800 \\\ud83d\ude00"}`)); err != nil {
		t.Errorf("an escaped backslash before ud800: %v", err)
	}
}

// FuzzArguments: what is read is JSON that reads as the same value everywhere, and reading it again changes nothing.
func FuzzArguments(f *testing.F) {
	for _, text := range []string{`{"a":[1,-2.5e-3,"\ud83d\ude00",{"b":null}]}`, `{"\\":"\\\\ud800"}`, `{"a":1,"a":1}`, `{"a":12345678901234567890}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := policy.ReadArguments(text)
		if err != nil {
			return
		}
		var sent, judged any
		if err := json.Unmarshal(text, &sent); err != nil {
			t.Fatalf("%q is no JSON: %v", text, err)
		}
		if err := json.Unmarshal(got.JSON, &judged); err != nil || !reflect.DeepEqual(sent, judged) {
			t.Errorf("%q became %q (%v)", text, got.JSON, err)
		}
		if !reflect.DeepEqual(floats(got.Value), judged) {
			t.Errorf("%q is judged as %v", got.JSON, got.Value)
		}
		again, err := policy.ReadArguments(got.JSON)
		if err != nil || !bytes.Equal(again.JSON, got.JSON) || again.Hash() != got.Hash() {
			t.Errorf("%q, read again, is %q, %v", got.JSON, again.JSON, err)
		}
	})
}

// floats is a value as encoding/json would have it.
func floats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		all := map[string]any{}
		for name, inner := range v {
			all[name] = floats(inner)
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i, inner := range v {
			all[i] = floats(inner)
		}
		return all
	case int64:
		return float64(v)
	case float64:
		if v == 0 {
			return math.Abs(v)
		}
	}
	return v
}
