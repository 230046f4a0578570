package broker

import (
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/wire"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct{ name, in, form, body string }{
		{"text", `{"content":[{"type":"text","text":"a\n\"b\""}]}`, wire.FormAuto, "a\n\"b\""},
		{"several texts", `{"content":[{"type":"text","text":"a"},{"text":"b","type":"text","annotations":{"x":[1]}}]}`, wire.FormAuto, "a\nb"},
		{"an empty text first", `{"content":[{"type":"text","text":""},{"type":"text","text":"b"}]}`, wire.FormAuto, "\nb"},
		{"nothing", `{"content":[]}`, wire.FormAuto, ""},
		{"structured", `{"content":[{"type":"text","text":"{}"}],"structuredContent":{"a":[1, 2]}}`, wire.FormJSON, `{"a":[1, 2]}`},
		{"structured is null", `{"content":[{"type":"text","text":"x"}],"structuredContent":null}`, wire.FormAuto, "x"},
		{"structured alone", `{"structuredContent":{"a":1}}`, wire.FormJSON, `{"a":1}`},
		{"image", `{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}`, wire.FormJSON, `{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}`},
		{"text and image", `{"content":[{"type":"text","text":"x"},{"type":"image"}],"_meta":{}}`, wire.FormJSON, `{"content":[{"type":"text","text":"x"},{"type":"image"}],"_meta":{}}`},
		{"failed", `{"content":[{"type":"text","text":"no such repo"}],"isError":true}`, wire.FormFailed, "no such repo"},
		{"failed with structure", `{"content":[{"type":"text","text":"no"}],"structuredContent":{"code":1},"isError":true}`, wire.FormFailed, "no"},
		{"failed without a word", `{"isError":true,"content":[]}`, wire.FormFailed, ""},
		{"not failed", `{"content":[],"isError":false}`, wire.FormAuto, ""},
		{"failed, oddly", `{"content":[],"isError":"yes"}`, wire.FormFailed, ""}, // in doubt it failed
		{"surrogates", `{"content":[{"type":"text","text":"\ud83d\ude00 \\ud800"}]}`, wire.FormAuto, "😀 \\ud800"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got.form != tt.form || string(got.body) != tt.body {
				t.Errorf("%s %q, want %s %q", got.form, got.body, tt.form, tt.body)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for in, want := range map[string]string{
		``:                                       "the text ends",
		`null`:                                   "'{' should stand",
		`[]`:                                     "'{' should stand",
		`{}`:                                     `neither "content" nor "structuredContent"`,
		`{"content":null}`:                       "'[' should stand",
		`{"content":{}}`:                         "'[' should stand",
		`{"content":["x"]}`:                      "'{' should stand",
		`{"content":[{"type":"text"}]}`:          `a text without "text"`,
		`{"content":[{"type":1}]}`:               "where a string should stand",
		`{"content":[{"type":"text","text":1}]}`: "where a string should stand",
		`{"content":[],"content":[]}`:            `"content" stands twice`,
		`{"content":[],"isError":true`:           "the text ends",
	} {
		if _, err := read([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"}],"isError":true}`))
	f.Add([]byte(`{"structuredContent":{"a":[{}]},"content":[]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := read(in)
		if err == nil && got.form == "" {
			t.Error("no form")
		}
	})
}
