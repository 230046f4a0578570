package pool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// bounds are small, so that a short text goes over them.
var bounds = wire.Limits{Calls: 8, OutputBytes: 300, ConsoleBytes: 200, ArgumentBytes: 300}

// listen takes what a worker says until that is over, and why.
func listen(from io.Reader) (said []any, err error) {
	w := &Worker{
		process: &nursery.Worker{}, limits: bounds,
		conn: wire.NewConn(struct {
			io.Reader
			io.Writer
		}{from, io.Discard}),
	}
	for {
		message, err := w.Next(context.Background())
		if err != nil {
			return said, err
		}
		said = append(said, message)
	}
}

// FuzzNext is what a worker may say that its program took over: any bytes. What Next hands on must be within the limits and
// well-formed, whatever it was; why it stops must be one of the two reasons that the server knows; and how the bytes come in pieces
// must not matter.
func FuzzNext(f *testing.F) {
	for _, in := range []string{
		`{"type":"calls","calls":[{"id":1,"server":"a","tool":"b","size":2}]}` + "\n{}",
		`{"type":"calls","calls":[{"id":1,"server":"a","tool":"b","size":7},{"id":2,"server":"é","tool":"c","size":2}]}` + "\n{\"a\":1}{}",
		`{"type":"unsent","calls":[{"id":1,"server":"a","tool":"b","size":0}]}` + "\n",
		`{"type":"console","lines":[{"level":"log","size":1},{"level":"error","size":0}]}` + "\nx",
		`{"type":"console","lines":[{"level":"debug","size":3}]}` + "\n\xff\x00\xfe" + `{"type":"done","kind":"ok","size":4}` + "\nnull",
		`{"type":"done","kind":"ok","size":9,"hint":"h"}` + "\n{\"a\":[1]}",
		`{"type":"done","kind":"error","size":0,"error":{"message":"m","line":1,"column":2,"frame":"f","hint":"h"},"dropped_lines":1,"dropped_bytes":2}` + "\n",
		`{"type":"done","kind":"ok","size":2}` + "\n1",
		`{"type":"ready","report":{}}` + "\n",
		`{"type":"gate","jail":{}}` + "\n" + `{"type":"start"}` + "\n" + `{"type":"result"}` + "\n" + `{"type":"stop"}` + "\n",
		"\n", "{", "[]\n", `{"type":`,
	} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		said, err := listen(bytes.NewReader(in))
		if !errors.Is(err, io.EOF) && !errors.Is(err, wire.ErrProtocol) {
			t.Fatalf("it ends with %v, which is neither io.EOF nor wire.ErrProtocol", err)
		}
		within(t, said)
		again, why := listen(iotest.HalfReader(bytes.NewReader(in)))
		if diff := cmp.Diff(said, again); diff != "" || errors.Is(err, wire.ErrProtocol) != errors.Is(why, wire.ErrProtocol) {
			t.Errorf("in pieces it ends with %v, not %v:\n%s", why, err, diff)
		}
		again, why = listen(repeat(t, said))
		if diff := cmp.Diff(said, again); diff != "" || !errors.Is(why, io.EOF) || errors.Is(why, wire.ErrProtocol) {
			t.Errorf("said again as it was understood, it ends with %v:\n%s", why, diff)
		}
	})
}

// within holds all that one worker said against its limits.
func within(t *testing.T, said []any) {
	t.Helper()
	calls, printed := 0, 0
	for _, message := range said {
		switch m := message.(type) {
		case []wire.Call:
			for _, c := range m {
				calls++
				named(t, c, calls)
				if calls > bounds.Calls || int64(len(c.Args)) > bounds.ArgumentBytes {
					t.Errorf("call %d of %d, with arguments of %d bytes", calls, bounds.Calls, len(c.Args))
				}
				oneLine(t, c.Args)
				if len(c.Args) == 0 || c.Args[0] != '{' {
					t.Errorf("arguments are no object: %q", c.Args)
				}
			}
		case Unsent:
			for _, c := range m {
				calls++
				named(t, c, calls)
				if calls > bounds.Calls+1 {
					t.Errorf("unsent call %d of %d", calls, bounds.Calls)
				}
			}
		case []wire.Line:
			for _, l := range m {
				printed += len(l.Text) + 1
				if !utf8.ValidString(l.Text) || l.Level == "" {
					t.Errorf("console %q: %q", l.Level, l.Text)
				}
			}
		case *wire.Done:
			if m.DroppedBytes < 0 || m.DroppedLines < 0 || m.Error != nil && (m.Error.Line < 0 || m.Error.Column < 0) {
				t.Errorf("a number below 0 in %+v", m)
			}
			if m.Kind == "ok" {
				oneLine(t, m.Value)
			} else if m.Value != nil {
				t.Errorf("a run that ended as %q has the value %q", m.Kind, m.Value)
			}
			if int64(len(m.Value)) > bounds.OutputBytes {
				t.Errorf("a value of %d bytes", len(m.Value))
			}
		default:
			t.Errorf("a %T", message)
		}
	}
	if int64(printed) > bounds.ConsoleBytes {
		t.Errorf("%d bytes of console, at most %d are allowed", printed, bounds.ConsoleBytes)
	}
}

func named(t *testing.T, c wire.Call, n int) {
	t.Helper()
	for _, name := range []string{c.Server, c.Tool} {
		if name == "" || len(name) > wire.MaxName || !utf8.ValidString(name) {
			t.Errorf("the name %q", name)
		}
	}
	if c.ID != n {
		t.Errorf("call %d stands at place %d", c.ID, n)
	}
}

// oneLine is for JSON that goes into a message to the gateway as it is.
func oneLine(t *testing.T, text []byte) {
	t.Helper()
	if bytes.ContainsAny(text, "\r\n") || !utf8.Valid(text) {
		t.Errorf("not fit for a line: %q", text)
	}
	if err := unambiguous(text); err != nil {
		t.Errorf("%q: %v", text, err)
	}
}

// unambiguous is by encoding/json what rawjson.Check is by its own walk: one value, and no key twice in an object.
func unambiguous(text []byte) error {
	if !json.Valid(text) {
		return errors.New("no JSON")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return value(decoder, 0)
}

func value(d *json.Decoder, depth int) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	if depth == 512 {
		return errors.New("nested deeper than 512")
	}
	seen := make(map[string]bool)
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			if seen[key.(string)] {
				return fmt.Errorf("the key %q stands twice", key)
			}
			seen[key.(string)] = true
		}
		if err := value(d, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// repeat is how an honest worker would have said the same.
func repeat(t *testing.T, said []any) io.Reader {
	t.Helper()
	var out bytes.Buffer
	conn := wire.NewConn(struct {
		io.Reader
		io.Writer
	}{nil, &out})
	for _, message := range said {
		var header any
		var bodies [][]byte
		switch m := message.(type) {
		case []wire.Call:
			for i := range m {
				m[i].Size = len(m[i].Args)
				bodies = append(bodies, m[i].Args)
			}
			header = wire.Calls{Type: wire.TypeCalls, Calls: m}
		case Unsent:
			header = wire.Calls{Type: wire.TypeUnsent, Calls: m}
		case []wire.Line:
			for i := range m {
				m[i].Size = len(m[i].Text)
				bodies = append(bodies, []byte(m[i].Text))
			}
			header = wire.Console{Type: wire.TypeConsole, Lines: m}
		case *wire.Done:
			m.Type, m.Size = wire.TypeDone, len(m.Value)
			header, bodies = m, [][]byte{m.Value}
		}
		if err := conn.Write(header, bodies...); err != nil {
			t.Fatal(err)
		}
	}
	return &out
}

// FuzzTexts is a worker whose headers are right: arguments, console text and value are any bytes. Next must take of them what
// encoding/json takes and what has no key twice, and nothing else.
func FuzzTexts(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\u00e9"}]}`), []byte("hello"), []byte("null"))
	f.Add([]byte("{\n\"a\" : 1e9,\r\n \"b\":\"\"}"), []byte("\xff\x1b[2J"), []byte(`"\ud800"`))
	f.Add([]byte(`{"a":1,"\u0061":2}`), []byte(""), []byte("1 2"))
	f.Add([]byte(`{"é":{"é":1}}`), []byte("é"), []byte(" [ ] "))
	f.Add([]byte(strings.Repeat(`{"a":`, 50)+"1"+strings.Repeat("}", 50)), []byte("x"), []byte(strings.Repeat("[", 150)+strings.Repeat("]", 150)))
	f.Fuzz(func(t *testing.T, arguments, text, result []byte) {
		var stream bytes.Buffer
		fmt.Fprintf(&stream, `{"type":"calls","calls":[{"id":1,"server":"s","tool":"t","size":%d}]}`+"\n%s", len(arguments), arguments)
		fmt.Fprintf(&stream, `{"type":"console","lines":[{"level":"log","size":%d}]}`+"\n%s", len(text), text)
		fmt.Fprintf(&stream, `{"type":"done","kind":"ok","size":%d}`+"\n%s", len(result), result)
		said, err := listen(&stream)
		within(t, said)

		took := []bool{len(said) > 0, len(said) > 1, len(said) > 2}
		object := len(arguments) > 0 && arguments[0] == '{'
		for i, right := range []bool{
			object && int64(len(arguments)) <= bounds.ArgumentBytes && unambiguous(arguments) == nil,
			int64(len(text)) < bounds.ConsoleBytes,
			int64(len(result)) <= bounds.OutputBytes && unambiguous(result) == nil,
		} {
			if took[i] != right && utf8.Valid(arguments) && utf8.Valid(text) && utf8.Valid(result) {
				t.Errorf("message %d: taken %v, right %v (%v)", i, took[i], right, err)
			}
			if !right {
				break // nothing behind it was read
			}
		}
		if took[2] && utf8.Valid(result) {
			same(t, result, said[2].(*wire.Done).Value)
		}
		if took[0] && utf8.Valid(arguments) {
			same(t, arguments, said[0].([]wire.Call)[0].Args)
		}
	})
}

// same fails the test unless two texts are one value.
func same(t *testing.T, in, out []byte) {
	t.Helper()
	var want bytes.Buffer
	if err := json.Compact(&want, in); err != nil || !bytes.Equal(want.Bytes(), out) {
		t.Errorf("%q became %q (%v)", in, out, err)
	}
}
