package rawjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd/internal/rawjson"
)

// FuzzCheck holds Check, and the walkers that it is made of, against encoding/json's tokens: for any text that is JSON, it must
// find the same keys standing twice and the same depth.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		`{"a":1,"b":{"a":[{"a":1},{"a":2}]}}`, `{"a":1,"\u0061":2}`, `[[{"b":{"x":1,"y":2,"x":3}}]]`, `{"\ud800":1,"\ud801":2}`,
		`{"":{},"":[]}`, `{} {}`, `"x"`, ` [ 1 , -2.5e+3 , true , null , "\"\\\/" ] `, `{"é":1,"\u00e9":1}`, "{\"a\nb\":1}", "[]\x00",
		strings.Repeat("[", 512) + strings.Repeat("]", 512), strings.Repeat(`{"a":`, 512) + "[]" + strings.Repeat("}", 512),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := rawjson.Check(text)
		if !json.Valid(text) || !utf8.Valid(text) {
			return // Check is for what is JSON; of anything else, it must return
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if want := unambiguous(d, 0); (err == nil) != (want == nil) {
			t.Errorf("%q: %v, by encoding/json %v", text, err, want)
		}
		if rawjson.Control(text) >= 0 {
			t.Errorf("%q: a control character at %d in what is JSON", text, rawjson.Control(text))
		}
	})
}

// unambiguous walks one value: no key may stand twice in an object, and nothing deeper than MaxDepth.
func unambiguous(d *json.Decoder, depth int) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	if depth == rawjson.MaxDepth {
		return errors.New("too deep")
	}
	seen := make(map[json.Token]bool)
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil || seen[key] {
				return fmt.Errorf("the key %q: %v", key, err)
			}
			seen[key] = true
		}
		if err := unambiguous(d, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// FuzzControl holds the eight bytes at a time against one byte at a time.
func FuzzControl(f *testing.F) {
	f.Add([]byte("{\"a\":\t1}\r\n"))
	f.Add([]byte("\x80\x1f12345678\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		want := bytes.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' })
		if got := rawjson.Control(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	})
}

// FuzzAppendString holds what a string stands for, behind text that is there already, against encoding/json.
func FuzzAppendString(f *testing.F) {
	for _, text := range []string{`""`, `"plain text of more than eight bytes"`, `"\"\\\/\b\f\n\r\t\u0041é😀\ud83d\ude00"`, `"\ud800\u0041\udc00"`, `"1234567\n"`, `"open`, `"\x"`, `"\u12`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := rawjson.New(text).AppendString([]byte("before"))
		var want string
		if json.Unmarshal(text, &want) != nil || !utf8.Valid(text) {
			return // of what is no JSON it must return
		}
		if err != nil || string(got) != "before"+want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	})
}
