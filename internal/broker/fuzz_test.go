package broker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// results are answers of every form that a CallToolResult has, and some that are none.
var results = []string{
	`{"content":[{"type":"text","text":"a\n\"b\""},{"text":"c","type":"text"}]}`,
	`{"content":[],"structuredContent":{"a":[1, 2]}}`,
	`{"structuredContent":null,"content":[{"type":"image","data":"AA==","mimeType":"image/png"}],"_meta":{}}`,
	`{"content":[{"type":"text","text":"no such repo"}],"isError":true}`,
	`{"isError":false,"content":[{"type":"resource","text":"x"},{"type":"text","text":"\ud83d\ude00\ud800"}]}`,
	`{"content":[{"type":"text","text":"` + strings.Repeat("x", 600) + `"}]}`,
	`{"content":{}}`, `{"structuredContent":[}`, `null`, `"x"`, `{}`,
}

const resultBound = 500

// FuzzDo has a gateway that answers one call with any bytes, as a result, an error or a line. The program must get one answer or
// none, within its limits, and the account must say the same.
func FuzzDo(f *testing.F) {
	for _, text := range results {
		f.Add(byte(0), []byte(text))
	}
	f.Add(byte(1), []byte(`{"code":-1,"message":"the backend is down","data":{}}`))
	f.Add(byte(1), []byte(`{"message":""}`))
	f.Add(byte(2), []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`+"\n"+`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`))
	f.Add(byte(2), []byte("\x00"))
	f.Add(byte(2), []byte(""))
	f.Fuzz(func(t *testing.T, as byte, text []byte) {
		line := text
		switch as % 3 {
		case 0:
			line = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":%s}`, text)
		case 1:
			line = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"error":%s}`, text)
		}
		run, ended := gateway(t, line)
		if err := run.Admit(calls(1, 1, "s")); err != nil {
			t.Fatal(err)
		}
		var got []wire.Result
		var body []byte
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		do(ctx, run, calls(1, 1, "s")[0], func(r wire.Result, b []byte) {
			got, body = append(got, r), bytes.Clone(b)
		})
		if ctx.Err() != nil {
			t.Fatal("the call does not end")
		}
		<-ended
		account := run.Calls()[0]
		if len(got) == 0 {
			if account.State != sandboxd.CallUnknown {
				t.Errorf("the program got no answer, the account says %+v", account)
			}
			return
		}
		if len(got) > 1 || got[0].ID != 1 {
			t.Fatalf("the answers are %+v", got)
		}
		switch form := got[0].Form; form {
		case wire.FormJSON, wire.FormAuto:
			if len(body) > resultBound || account.State != sandboxd.CallSucceeded || account.Bytes != int64(len(body)) || account.Error != "" {
				t.Errorf("%s of %d bytes, the account says %+v", form, len(body), account)
			}
			if !utf8.Valid(body) || form == wire.FormJSON && len(body) == 0 {
				t.Errorf("%s %q", form, body)
			}
		case wire.FormFailed:
			if len(body) == 0 || len(body) > maxMessage+20 || account.State != sandboxd.CallFailed || account.Error == "" || len(account.Error) > maxNote+10 {
				t.Errorf("a failure of %d bytes, the account says %+v", len(body), account)
			}
		default:
			t.Errorf("an answer of the form %q", form)
		}
	})
}

// gateway answers the first request with a line, and hangs up.
func gateway(t *testing.T, line []byte) (run *Run, ended <-chan error) {
	t.Helper()
	ours, theirs := net.Pipe()
	peer := rpc.New(theirs, rpc.Options{
		Handle:  func(context.Context, *rpc.Request) (any, error) { return nil, nil },
		MaxLine: 1 << 20, MaxRequests: 1, WriteWait: time.Minute,
	})
	done := make(chan error, 1)
	go func() { done <- peer.Run(context.Background()) }()
	go func() {
		defer ours.Close()
		asked := bufio.NewReader(ours)
		if _, err := asked.ReadString('\n'); err == nil {
			go io.Copy(io.Discard, asked) // refusals of what it sends
			ours.Write(append(line, '\n'))
		}
	}()
	run = account(1, 1)
	run.Gateway, run.Limits.ResultBytes = peer, resultBound
	return run, done
}

// FuzzResult holds what a program gets of a CallToolResult against what encoding/json finds in it.
func FuzzResult(f *testing.F) {
	for _, text := range results {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := read(in)
		want, sure := byJSON(in)
		if !sure {
			return
		}
		if (err == nil) != (want.form != "") {
			t.Fatalf("%s: %v, by encoding/json %q", in, err, want.form)
		}
		if err == nil && (got.form != want.form || !bytes.Equal(bytes.TrimSpace(got.body), bytes.TrimSpace(want.body))) {
			t.Errorf("%s: %s %q, by encoding/json %s %q", in, got.form, got.body, want.form, want.body)
		}
	})
}

// byJSON is read by way of Go values; an answer without form is a refusal. It is sure of what is JSON, with no key twice.
func byJSON(in []byte) (a answer, sure bool) {
	if !json.Valid(in) || !utf8.Valid(in) {
		return a, false
	}
	result, ok := members(in)
	if !ok {
		return a, json.Valid(in) && bytes.TrimSpace(in)[0] != '{'
	}
	var items []json.RawMessage
	content, has := result["content"]
	if has && (json.Unmarshal(content, &items) != nil || items == nil) {
		return a, true
	}
	var text []byte
	onlyText := true
	for i, raw := range items {
		item, ok := members(raw)
		if !ok {
			return a, bytes.TrimSpace(raw)[0] != '{'
		}
		kind, okKind := quoted(item["type"])
		said, okText := quoted(item["text"])
		if !okKind || !okText || kind == "text" && item["text"] == nil {
			return a, true
		}
		onlyText = onlyText && kind == "text"
		if item["text"] != nil && i > 0 {
			text = append(text, '\n')
		}
		text = append(text, said...)
	}
	failed, isError := result["isError"]
	structured, isStructured := result["structuredContent"]
	switch {
	case isError && string(failed) != "false" && string(failed) != "null":
		return answer{wire.FormFailed, text}, true
	case isStructured && string(structured) != "null":
		return answer{wire.FormJSON, structured}, true
	case !has:
		return a, true
	case !onlyText:
		return answer{wire.FormJSON, in}, true
	}
	return answer{wire.FormAuto, text}, true
}

// quoted reads a string, or nothing; anything else is wrong.
func quoted(text json.RawMessage) (value string, ok bool) {
	ok = text == nil || text[0] == '"' && json.Unmarshal(text, &value) == nil
	return value, ok
}

// members are those of an object in which no key stands twice, and not too many.
func members(text []byte) (map[string]json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	all := make(map[string]json.RawMessage)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		if _, twice := all[key.(string)]; twice || len(all) == 60 || strings.Count(string(text), "[")+strings.Count(string(text), "{") > 500 {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		all[key.(string)] = value
	}
	return all, true
}
