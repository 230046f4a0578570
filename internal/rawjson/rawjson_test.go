package rawjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/rawjson"
)

func members(text string) ([]string, error) {
	var got []string
	err := rawjson.Object([]byte(text), func(m rawjson.Member) error {
		got = append(got, m.Key+"="+string(m.Value))
		return nil
	})
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
	err := rawjson.Array([]byte(` [1, {"a":[2]} ,"x"]`), func(item []byte) error {
		got = append(got, string(item))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1", `{"a":[2]}`, `"x"`}, got); diff != "" {
		t.Error(diff)
	}
	stop := errors.New("stop")
	if err := rawjson.Array([]byte(`[1,2]`), func([]byte) error { return stop }); err != stop {
		t.Errorf("an item's error came back as %v", err)
	}
}

// FuzzString holds AppendString and the walkers against encoding/json, for all text that is JSON.
func FuzzString(f *testing.F) {
	for _, s := range []string{`""`, `"a\u00e9\ud83d\ude00\ud800x\n\/"`, `"\ud800\u0041"`, `{"a":"\\"}`, `[1,[2,"]"]]`, `"\ud800\ud800\udc00"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		end, err := rawjson.Skip(in, 0)
		if !json.Valid(in) || !utf8.Valid(in) {
			return
		}
		trimmed := bytes.TrimRight(in, " \t\r\n")
		if len(in) > 0 && !strings.ContainsRune(" \t\r\n", rune(in[0])) && bytes.Count(in, []byte("["))+bytes.Count(in, []byte("{")) < rawjson.MaxDepth {
			if err != nil || end != len(trimmed) {
				t.Fatalf("Skip(%q) = %d, %v", in, end, err)
			}
		}
		var want string
		if json.Unmarshal(in, &want) != nil || in[0] != '"' {
			return
		}
		got, err := rawjson.AppendString(nil, trimmed)
		if err != nil || string(got) != want {
			t.Fatalf("AppendString(%q) = %q, %v; encoding/json %q", in, got, err, want)
		}
	})
}

func BenchmarkSkipAndUnescape(b *testing.B) {
	inner := strings.Repeat(`{"number":12,"title":"a title of some words","comments":5},`, 4000)
	text, _ := json.Marshal(map[string]any{"text": inner})
	var dst []byte
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		err := rawjson.Object(text, func(m rawjson.Member) (err error) {
			dst, err = rawjson.AppendString(dst[:0], m.Value)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
