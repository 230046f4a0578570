package nursery

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// stream is a worker's end that only speaks.
type stream struct{ io.Reader }

func (stream) Write(p []byte) (int, error) { return len(p), nil }

// FuzzReady is a worker that says any bytes where READY is due. They are a report only if they are one line that is a report and
// nothing else, to the last byte; a report that is taken is the same when an honest worker says it.
func FuzzReady(f *testing.F) {
	report, err := json.Marshal(jail.Report{Seccomp: "kill, 1 filter", Landlock: 7, Rlimits: []string{"fsize=0"}, Proved: []string{"open"}})
	if err != nil {
		f.Fatal(err)
	}
	honest := slices.Concat([]byte(`{"type":"ready","report":`), report, []byte("}\n"))
	for _, said := range [][]byte{
		honest, slices.Concat(honest, honest), slices.Concat(honest, []byte("x")), honest[:len(honest)-1], nil, []byte("\n"),
		[]byte(`{"type":"ready","report":null}` + "\n"), []byte(`{"type":"ready"}` + "\n"), []byte(`{"type":"ready","report":{"more":1}}` + "\n"),
		[]byte(`{"type":"done","kind":"ok","size":0}` + "\n"), []byte(`{"type":"ready","report":{}} {}` + "\n"), []byte("READY\n"),
	} {
		f.Add(said)
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		got, err := ready(wire.NewConn(stream{bytes.NewReader(said)}))
		if err != nil {
			if got != nil {
				t.Errorf("a report with the error %v", err)
			}
			return
		}
		line, rest, ended := bytes.Cut(said, []byte("\n"))
		if !ended || len(rest) > 0 && len(line) < 2<<10 { // behind a longer line the rest is not read ahead, but by the daemon
			t.Errorf("%q was taken for a report", said)
		}
		text, err := json.Marshal(wire.Ready{Type: wire.TypeReady, Report: reported(t, *got)})
		if err != nil {
			t.Fatal(err)
		}
		again, err := ready(wire.NewConn(stream{bytes.NewReader(append(text, '\n'))}))
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	})
}

func reported(t *testing.T, r jail.Report) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
