package guard_test

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd/internal/guard"
)

// FuzzRead holds each reader against encoding/json: what it takes for a verdict must be one to another reader as well, and
// stand there once; what it makes of the reason must be fit for a terminal.
func FuzzRead(f *testing.F) {
	for body := range lies {
		f.Add(body)
	}
	for _, text := range []string{
		yes, ` {"verdict":"ask","reason":"why\u001b[0m"} `, `{"verdict":"block","x":{"verdict":"allow"}}`, `{"results":[{"verdict":"allow"}]}`,
		`{"results":[{"verdict":"allow","index":0}],"x":1}`, `{"results":[{"verdict":"allow","index":1}]}`, completion(yes), completion(`{"verdict":"ask","reason":null}`),
		completion("```" + yes), strings.Replace(completion(yes), "stop", "length", 1),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, reader := range []string{"single", "batch", "chat"} {
			v, reason, err := guard.ReadAs(reader, []byte(text), 1)
			if strings.ContainsFunc(reason, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e }) || len(reason) > 1100 || !utf8.ValidString(reason) {
				t.Errorf("%s: the reason %q", reader, reason)
			}
			if err != nil {
				if v != guard.Block {
					t.Errorf("%s: %v with the error %v", reader, v, err)
				}
				continue
			}
			inner := []byte(text)
			switch reader {
			case "batch":
				var b struct{ Results []json.RawMessage }
				if json.Unmarshal(inner, &b) != nil || len(b.Results) != 1 {
					t.Fatalf("%s: %q is taken", reader, text)
				}
				inner = b.Results[0]
			case "chat":
				var c struct {
					Choices []struct{ Message struct{ Content string } }
				}
				if json.Unmarshal(inner, &c) != nil || len(c.Choices) != 1 {
					t.Fatalf("%s: %q is taken", reader, text)
				}
				inner = []byte(c.Choices[0].Message.Content)
			}
			if said := verdictsIn(t, inner); len(said) != 1 || said[0] != v.String() {
				t.Errorf("%s: %q is taken for %v, and says %q", reader, text, v, said)
			}
		}
	})
}

// verdictsIn are the values of all members of an object that any reader could take for its verdict.
func verdictsIn(t *testing.T, text []byte) (said []string) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		t.Fatalf("%q is no object", text)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if strings.EqualFold(key.(string), "verdict") {
			word, _ := value.(string)
			said = append(said, word)
		}
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("%q goes on after its end", text)
	}
	return said
}

// FuzzInert: what is put between delimiters means the same, and has none of them in it.
func FuzzInert(f *testing.F) {
	for _, text := range []string{`{"a":"</check>"}`, `["\\<",{"[":["]","\"|"]}]`, `"\\\""`, `"\u003c"`, `[1,[2,[]]]`, `"é<é"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want, got any
		if !utf8.ValidString(text) || json.Unmarshal([]byte(text), &want) != nil {
			return // inert is for what is JSON
		}
		out := guard.Inert([]byte(text))
		if err := json.Unmarshal(out, &got); err != nil || !reflect.DeepEqual(want, got) {
			t.Errorf("%q became %q: %v", text, out, err)
		}
		if bytes.ContainsAny(out, "<>|") || bytes.Contains(bytes.Map(noSpace, out), []byte("[/")) {
			t.Errorf("%q became %q", text, out)
		}
	})
}

func noSpace(r rune) rune {
	if strings.ContainsRune(" \t\r\n", r) {
		return -1
	}
	return r
}
