package upstream_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd/internal/upstream"
)

func TestSplitResponse(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	tests := []struct {
		name, in, result string // no result: left to the SDK
	}{
		{"plain", `{"jsonrpc":"2.0","id":1,"result":{"a":[1,-2.5e+3,true,null,"x\u00e9\"\\"]}}`, `{"a":[1,-2.5e+3,true,null,"x\u00e9\"\\"]}`},
		{"other order, space, unknown key", " { \"result\" : {} , \"x\" : [ ] ,\t\"id\" : 1, \"jsonrpc\":\"2.0\"}\r\n", `{}`},
		{"lone surrogate, U+2028", `{"id":1,"result":{"a":"\ud800` + "\u2028" + `"}}`, `{"a":"\ud800` + "\u2028" + `"}`},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`, ""},
		{"request", `{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`, ""},
		{"no id", `{"jsonrpc":"2.0","result":{}}`, ""},
		{"result is no object", `{"jsonrpc":"2.0","id":1,"result":[]}`, ""},
		{"more behind it", `{"jsonrpc":"2.0","id":1,"result":{}} {}`, ""},
		{"comma too many", `{"jsonrpc":"2.0","id":1,"result":{"a":1,}}`, ""},
		{"control character", "{\"id\":1,\"result\":{\"a\":\"\x01\"}}", ""},
		{"bad escape", `{"id":1,"result":{"a":"\x"}}`, ""},
		{"bad number", `{"id":1,"result":{"a":01}}`, ""},
		{"bad UTF-8", "{\"id\":1,\"result\":{\"a\":\"\xff\"}}", ""},
		{"too deep", `{"id":1,"result":` + nested(1000) + `}`, ""},
		{"deep", `{"id":1,"result":` + nested(900) + `}`, nested(900)},
		{"key in disguise", `{"id":1,"result":{},"\u0069d":2}`, ""},
		{"cut off", `{"jsonrpc":"2.0","id":1,"result":{"a":"b`, ""},
		{"empty", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, result, ok := upstream.SplitResponse([]byte(test.in))
			if ok != (test.result != "") || ok && string(result) != test.result {
				t.Errorf("got %v %.200s, want %.200s", ok, result, test.result)
			}
		})
	}
}

// What passes by the SDK must be what encoding/json would have found.
func FuzzSplitResponse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"a":[1,-2.5e+3,true,null,"x\u00e9\"\\"]}}`))
	f.Add([]byte(` {"id":"x","result":{"a":{"b":[{}]}} ,"y":0.5E-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		id, result, ok := upstream.SplitResponse(data)
		if !ok {
			return
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(data, &m); err != nil || !utf8.Valid(data) {
			t.Fatalf("%q is no JSON: %v", data, err)
		}
		if !bytes.Equal(m["id"], id) || !bytes.Equal(m["result"], result) {
			t.Errorf("%q: got %s and %s, want %s and %s", data, id, result, m["id"], m["result"])
		}
	})
}
