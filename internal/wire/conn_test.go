package wire_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/wire"
)

// stream reads from one buffer and writes to another.
type stream struct {
	io.Reader
	io.Writer
}

func reader(text string) *wire.Conn { return wire.NewConn(stream{strings.NewReader(text), io.Discard}) }

func TestRoundTrip(t *testing.T) {
	var pipe bytes.Buffer
	conn := wire.NewConn(stream{&pipe, &pipe})
	long := bytes.Repeat([]byte("x\n"), 100_000)
	sent := wire.Calls{Type: wire.TypeCalls, Calls: []wire.Call{
		{ID: 1, Server: "a", Tool: "b", Size: 2}, {ID: 2, Server: "c", Tool: "d", Size: len(long)}, {ID: 3, Server: "e", Tool: "f", Size: 3},
	}}
	if err := conn.Write(sent, []byte("{}"), long, []byte("\n{}")); err != nil {
		t.Fatal(err)
	}
	kind, line, err := conn.Header()
	if err != nil || kind != wire.TypeCalls {
		t.Fatalf("header: %q, %v", kind, err)
	}
	var got wire.Calls
	if err := wire.Decode(line, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sent, got); diff != "" {
		t.Error(diff)
	}
	for i, want := range []string{"{}", string(long), "\n{}"} {
		body, err := conn.Body(got.Calls[i].Size, 1<<20)
		if err != nil || string(body) != want {
			t.Errorf("body %d: %d bytes, %v", i, len(body), err)
		}
	}
	if conn.Buffered() {
		t.Error("something is left")
	}
	if _, _, err := conn.Header(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestHeaderRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       error
	}{
		{"not JSON", "hello\n", wire.ErrProtocol},
		{"NUL", "\x00\n", wire.ErrProtocol},
		{"not an object", "[]\n", wire.ErrProtocol},
		{"type of a wrong type", `{"type":1}` + "\n", wire.ErrProtocol},
		{"too long", `{"type":"` + strings.Repeat("x", wire.MaxHeader) + "\"}\n", wire.ErrProtocol},
		{"without end", strings.Repeat("x", 10*wire.MaxHeader), wire.ErrProtocol},
		{"deep", strings.Repeat("[", 100_000) + "\n", wire.ErrProtocol},
		{"cut", `{"type":"ca`, io.ErrUnexpectedEOF},
		{"cut when long", strings.Repeat("x", 10_000), io.ErrUnexpectedEOF},
		{"nothing", "", io.EOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := reader(tt.text).Header(); !errors.Is(err, tt.want) {
				t.Errorf("error is %v, want %v", err, tt.want)
			}
		})
	}
}

func TestHeaderTakesTheLongest(t *testing.T) {
	text := `{"type":"done","hint":"`
	text += strings.Repeat("x", wire.MaxHeader-len(text)-3) + `"}` + "\n"
	kind, line, err := reader(text).Header()
	if err != nil || kind != wire.TypeDone || len(line) != wire.MaxHeader-1 {
		t.Errorf("%q, %d bytes, %v", kind, len(line), err)
	}
}

func TestBodyRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    int
		want error
	}{
		{"negative", -1, wire.ErrProtocol},
		{"over the bound", 11, wire.ErrProtocol},
		{"more than comes", 10, io.ErrUnexpectedEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := reader("12345").Body(tt.n, 10); !errors.Is(err, tt.want) {
				t.Errorf("error is %v, want %v", err, tt.want)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, text := range []string{`{"type":"done","extra":1}`, `{"type":"done"} {}`, `{"type":"done"}x`, `{"size":"1"}`, `{"size":1e99}`, ``} {
		if err := wire.Decode([]byte(text), &wire.Done{}); !errors.Is(err, wire.ErrProtocol) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzWorkerMessage decodes what a worker may send, as the daemon does.
func FuzzWorkerMessage(f *testing.F) {
	f.Add([]byte(`{"type":"calls","calls":[{"id":1,"server":"a","tool":"b","size":2}]}` + "\n{}"))
	f.Add([]byte(`{"type":"done","kind":"ok","size":1}` + "\n1"))
	f.Add([]byte(`{"type":"console","lines":[{"level":"log","size":1}]}` + "\nx"))
	f.Fuzz(func(t *testing.T, in []byte) {
		conn := reader(string(in))
		for range 100 {
			kind, line, err := conn.Header()
			if err != nil {
				return
			}
			size := 0
			switch kind {
			case wire.TypeCalls:
				var m wire.Calls
				if wire.Decode(line, &m) != nil {
					return
				}
				for _, c := range m.Calls {
					size += c.Size
				}
			case wire.TypeDone:
				var m wire.Done
				if wire.Decode(line, &m) != nil {
					return
				}
				size = m.Size
			}
			if body, err := conn.Body(size, 1000); err == nil && len(body) != size {
				t.Fatalf("%d bytes of %d", len(body), size)
			}
		}
	})
}
