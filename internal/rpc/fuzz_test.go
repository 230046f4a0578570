package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"github.com/sandboxd/sandboxd/internal/rpc"
)

const (
	lineBound   = 100 << 10 // above the 64 KiB from which a line is paid for
	memoryBound = 1 << 20
	sentinel    = `"the end of it 3f9c"` // an id that no input has by chance
)

// message is what encoding/json says of a line: its members, if it is one object whose keys are all different.
type message map[string]json.RawMessage

// understood reads a line as JSON-RPC 2.0 asks, by encoding/json and not by the code under test. It returns nil where that is not
// sure: for what is no JSON, goes deeper than a cursor goes, or has a result, which nobody walks.
func understood(line []byte) message {
	if !json.Valid(line) || !utf8.Valid(line) || deeper(line, 512) || unambiguous(line) != nil {
		return nil
	}
	var m message
	if json.Unmarshal(line, &m) != nil || m == nil {
		return nil
	}
	return m
}

func deeper(line []byte, most int) bool {
	return bytes.Count(line, []byte("{"))+bytes.Count(line, []byte("[")) > most
}

// unambiguous refuses a key that stands twice in the outermost object.
func unambiguous(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("no object")
	}
	seen := make(map[any]bool)
	for d.More() {
		key, err := d.Token()
		if err != nil || seen[key] {
			return fmt.Errorf("the key %q: %v", key, err)
		}
		seen[key] = true
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return err
		}
	}
	return nil
}

// kinds of a line, by the specification and docs/protocol.md.
const (
	refusal      = "a refusal"
	request      = "a request"
	notification = "a notification"
	response     = "a response"
)

func (m message) kind() string {
	var method string
	id, hasID := m["id"]
	hasID = hasID && string(id) != "null"
	_, hasMethod := m["method"]
	_, hasResult := m["result"]
	_, hasError := m["error"]
	known := 0
	for _, name := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
		if _, ok := m[name]; ok {
			known++
		}
	}
	switch {
	case known < len(m), string(m["jsonrpc"]) != `"2.0"`, hasMethod && (hasResult || hasError), hasResult && hasError,
		!hasMethod && !hasResult && !hasError, hasMethod && (json.Unmarshal(m["method"], &method) != nil || method == "" || len(method) > 64),
		hasMethod && m["method"][0] != '"', hasID && (len(id) > 64 || !strings.ContainsAny(string(id[:1]), `"-0123456789`)):
		return refusal
	case !hasMethod:
		return response
	case !hasID:
		return notification
	}
	return request
}

// FuzzLine sends one line to a peer. What kind of message it is must be what encoding/json says; a request gets one answer, with
// its id and no other; nothing else reaches the handler; and the memory of a long line comes back.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1]}}`,
		`{"jsonrpc":"2.0","id":"x\"y","method":"fail"}`,
		`{"jsonrpc":"2.0","method":"told","params":[1]}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`,
		`{"jsonrpc":"2.0","result":{},"id":-1.5e3}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x","data":[]}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"m\u0065thod":"\u0065cho"}`,
		`{"jsonrpc":"2.0","id":1,"method":"echo","method":"echo"}`,
		`{"jsonrpc":"2.0","id":1,"method":"echo","result":1}`, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":\"\xff\"}",
		`{"id":1}`, `[]`, "\x00", "{", `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 65) + `,"method":"echo"}`,
	} {
		f.Add([]byte(line), false)
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"echo"}`), true)
	f.Fuzz(func(t *testing.T, line []byte, long bool) {
		if bytes.ContainsAny(line, "\r\n") {
			return
		}
		if long { // white space, which means nothing, up to a length that is paid for
			line = append(bytes.Repeat([]byte(" "), 70<<10), line...)
		}
		m := understood(line)
		var first string // answered before the end of it is read
		_ = json.Unmarshal(m["method"], &first)
		handled, told, memory := &atomic.Int32{}, &atomic.Int32{}, semaphore.NewWeighted(memoryBound)
		ours, theirs := net.Pipe()
		_, ended := start(t, theirs, rpc.Options{
			MaxLine: lineBound, MaxRequests: 4, Memory: memory, First: first,
			Handle: func(_ context.Context, r *rpc.Request) (any, error) {
				if r.Method != "last" {
					handled.Add(1)
					agree(t, m, r.Method, r.Params)
				}
				return 7, nil
			},
			Notified: func(method string, params json.RawMessage) { told.Add(1); agree(t, m, method, params) },
		})
		go fmt.Fprintf(ours, "%s\n"+`{"jsonrpc":"2.0","id":`+sentinel+`,"method":"last"}`+"\n", line)
		answers := read(t, ours)
		ours.Close()
		<-ended
		if !memory.TryAcquire(memoryBound) {
			t.Error("the memory of the line is not given back")
		}
		if m == nil || len(line) > lineBound {
			if len(answers) > 1 {
				t.Errorf("one line got the answers %s", answers)
			}
			return
		}
		want := map[string][3]int{refusal: {1, 0, 0}, request: {1, 1, 0}, notification: {0, 0, 1}, response: {0, 0, 0}}[m.kind()]
		if got := [3]int{len(answers), int(handled.Load()), int(told.Load())}; got != want {
			t.Errorf("%s got %d answers, and was handled %d and told %d times", m.kind(), got[0], got[1], got[2])
		}
		for _, a := range answers {
			mine := bytes.Equal(a.ID, m["id"])
			if !mine && (m.kind() == request || string(a.ID) != "null") || (a.Error == nil) != (m.kind() == request) {
				t.Errorf("%s with the id %s got the answer %+v", m.kind(), m["id"], a)
			}
		}
	})
}

// agree fails the test unless a handler sees what encoding/json does.
func agree(t *testing.T, m message, method string, params json.RawMessage) {
	if !utf8.ValidString(method) || !utf8.Valid(params) {
		t.Errorf("%q with %q is no UTF-8", method, params)
	}
	if m == nil { // then a strict handler must see it, too
		var none struct{}
		if json.Valid(params) || rpc.Decode(params, &none) != nil {
			return
		}
		t.Errorf("%s: params %q are decoded, and are no JSON", method, params)
		return
	}
	var want string
	if json.Unmarshal(m["method"], &want) != nil || want != method || !bytes.Equal(m["params"], params) {
		t.Errorf("the handler sees %q with %q, it was sent %s with %q", method, params, m["method"], m["params"])
	}
}

type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *rpc.Error      `json:"error"`
}

// read returns the answers before the sentinel's, each of which must be whole.
func read(t *testing.T, conn net.Conn) (answers []answer) {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		var a answer
		if err := d.Decode(&a); err != nil || a.Version != "2.0" || (a.Result == nil) == (a.Error == nil) {
			t.Fatalf("the answer %q: %v", lines.Bytes(), err)
		}
		if a.Error != nil && (a.Error.Message == "" || a.Error.Code > -32000 || a.Error.Code < -32768 || len(a.Error.Message) > 1000) {
			t.Errorf("the error %+v", a.Error)
		}
		if string(a.ID) == sentinel {
			return answers
		}
		answers = append(answers, a)
	}
	t.Fatalf("no answer to the last request: %v", lines.Err())
	return nil
}

// FuzzAnswer sends bytes where an answer to a call is due. The call must end, once, with that answer or with a reason.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"error":"x"}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`))
	f.Add([]byte(`{"id":1.0,"jsonrpc":"2.0","result":[[]}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":0}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not allowed"}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		memory := semaphore.NewWeighted(memoryBound)
		ours, theirs := net.Pipe()
		p, ended := start(t, theirs, rpc.Options{MaxLine: lineBound, Memory: memory})
		go func() {
			defer ours.Close()
			asked := bufio.NewReader(ours)
			if _, err := asked.ReadString('\n'); err == nil {
				go io.Copy(io.Discard, asked) // refusals
				ours.Write(append(in, '\n'))
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		r, err := p.Call(ctx, "x", nil)
		switch {
		case err != nil:
			if ctx.Err() != nil {
				t.Error("the call did not end")
			}
		case r.Err != nil:
			if r.Result != nil || r.Err.Message == "" {
				t.Errorf("an error %+v, and the result %q", r.Err, r.Result)
			}
		case len(r.Result) == 0 || !utf8.Valid(r.Result) || !bytes.Contains(in, r.Result) || bytes.ContainsAny(r.Result, "\r\n"):
			t.Errorf("the result %q", r.Result)
		}
		if m := understood(bytes.TrimRight(in, "\r\n")); m != nil && m.kind() == response && string(m["id"]) == "1" {
			want := m["result"]
			if err != nil || want != nil && (r.Err != nil || !bytes.Equal(bytes.TrimSpace(r.Result), bytes.TrimSpace(want))) || want == nil && r.Err == nil {
				t.Errorf("%s became %q, %v, %v", in, r.Result, r.Err, err)
			}
		}
		r.Release()
		<-ended
		if !memory.TryAcquire(memoryBound) {
			t.Error("the memory of the answer is not given back")
		}
	})
}
