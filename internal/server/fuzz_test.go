package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/pool"
	"github.com/sandboxd/sandboxd/internal/profile"
	"github.com/sandboxd/sandboxd/internal/rpc"
)

const (
	introduction = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocol_version":"1","client":{"name":"x"},"servers":["s","t"]}}` + "\n"
	lastID       = `"the end of it 8c1e"` // that no input has by chance
	lastRequest  = `{"jsonrpc":"2.0","id":` + lastID + `,"method":"status"}` + "\n"
)

// FuzzSession is a gateway that sends any lines, before or after it introduced itself. Each answer must be one of JSON-RPC, with a
// code of docs/protocol.md or a complete result; the session must serve what comes next; and when it has ended, nothing of it is
// left: no slot, no memory, no goroutine. Workers can't be born here, so that a run that is right ends as busy.
func FuzzSession(f *testing.F) {
	execute := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"execute","params":{` + params + `}}`
	}
	for _, lines := range []string{
		strings.TrimSpace(introduction),
		`{"jsonrpc":"2.0","id":1,"method":"status"}`,
		`{"jsonrpc":"2.0","id":1,"method":"cancel","params":{"token":"a"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"cancel","params":{"run":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"approvals/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"approvals/decide","params":{"id":"A","approve":true,"scope":"run","reason":"x"}}`,
		execute(`"source":"return 1"`),
		execute(`"source":"return 1","profile":"large","input":{"a":[1]},"servers":["s"],"token":"a","progress":true,"console":true,"traceparent":"00"`),
		execute(`"source":"return 1","limits":{"wall_ms":1,"cpu_ms":1,"memory_bytes":20000000,"calls":1,"concurrent_calls":1,"output_bytes":1,` +
			`"console_bytes":1,"source_bytes":100,"argument_bytes":1,"result_bytes":1}`),
		execute(`"source":" // nothing"`), execute(`"source":"\u0000"`), execute(`"source":"/* "`), execute(`"source":"x","limits":{"calls":-1}`),
		execute(`"source":"x","servers":["admin"]`), execute(`"source":"x","limits":null,"input":null`),
		execute(`"source":"a"`) + "\n" + `{"jsonrpc":"2.0","method":"cancel","params":{"token":""}}` + "\n" + execute(`"source":"b"`),
		strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"execute","params":{"source":"x"}}`+"\n", 140),
		`{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, "\x00", "[]", `{"jsonrpc":"2.0","id":1,"method":"execute","params":` + strings.Repeat(`{"a":`, 600),
	} {
		f.Add([]byte(lines), true)
		f.Add([]byte(lines), false)
	}
	s := withoutWorkers(f)
	f.Fuzz(func(t *testing.T, lines []byte, introduced bool) {
		before := runtime.NumGoroutine()
		ours, theirs := socketpair(t)
		ended := make(chan struct{})
		go func() { defer close(ended); s.session(context.Background(), theirs) }()
		text := slices.Concat([]byte(introduction), lines, []byte("\n"+lastRequest))
		if !introduced {
			text = text[len(introduction):]
		}
		wrote := make(chan struct{})
		go func() { defer close(wrote); ours.Write(text) }()
		answers := takeAnswers(t, ours)
		<-wrote
		ours.Close()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("the session does not end")
		}
		if most := bytes.Count(text, []byte("\n")); answers > most {
			t.Errorf("%d lines got %d answers", most, answers)
		}
		s.nothingLeft(t, before)
	})
}

// withoutWorkers is a server whose workers can't be born.
func withoutWorkers(f testing.TB) *Server {
	f.Helper()
	profiles, err := profile.Load("")
	if err != nil {
		f.Fatal(err)
	}
	var kinds []pool.Kind
	for name := range profiles {
		kinds = append(kinds, pool.Kind{Name: name})
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	none := func(context.Context, nursery.Spec) (*nursery.Worker, error) {
		return nil, errors.New("there are none here")
	}
	nothing, err := policy.Parse("nothing", []byte("version: 1\n"))
	if err != nil {
		f.Fatal(err)
	}
	s, err := New(Parts{
		Config: config.Default(), Profiles: profiles, Pool: pool.New(none, kinds, 1, log), Policy: nothing, Version: "fuzz", Log: log,
	})
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func socketpair(t *testing.T) (ours, theirs *net.UnixConn) {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*net.UnixConn
	for i, fd := range pair {
		file := os.NewFile(uintptr(fd), "socketpair")
		conn, err := net.FileConn(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = conn.(*net.UnixConn)
	}
	return ends[0], ends[1]
}

// codes are those of docs/protocol.md that a gateway can get here.
var codes = []int{rpc.CodeParse, rpc.CodeInvalidRequest, rpc.CodeUnknownMethod, rpc.CodeInvalidParams, rpc.CodeRefused, rpc.CodeBusy, rpc.CodeVersion}

// takeAnswers reads up to the answer to the last request, and counts.
func takeAnswers(t *testing.T, conn net.Conn) (n int) {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		n++
		var a struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  json.RawMessage `json:"result"`
			Error   *rpc.Error      `json:"error"`
		}
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		switch err := d.Decode(&a); {
		case err != nil || a.Version != "2.0" || a.ID == nil || (a.Result == nil) == (a.Error == nil):
			t.Fatalf("the answer %q: %v", lines.Bytes(), err)
		case a.Error != nil && (!slices.Contains(codes, a.Error.Code) || a.Error.Message == "" || len(a.Error.Message) > 2000):
			t.Errorf("the error %+v", a.Error)
		case bytes.Contains(a.Result, []byte(`"outcome"`)):
			checkRefused(t, a.Result)
		}
		if string(a.ID) == lastID {
			return n
		}
	}
	t.Fatalf("no answer to the last request: %v", lines.Err())
	return n
}

// checkRefused holds the result of a run without a worker against the protocol: complete, and no secrets of the pool in it.
func checkRefused(t *testing.T, text []byte) {
	t.Helper()
	var r sandboxd.Result
	if err := rpc.Decode(text, &r); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	switch r.Outcome {
	case sandboxd.OutcomeInvalid, sandboxd.OutcomeBusy, sandboxd.OutcomeCancelled:
	default:
		t.Errorf("ended as %s", text)
	}
	if r.Error == nil || r.Error.Kind != r.Outcome || r.Error.Message == "" || string(r.Value) != "null" || r.Run == "" ||
		r.Console == nil || r.Calls == nil || len(r.Calls) > 0 || r.Stats.Warm || r.Isolation.Verified {
		t.Errorf("the result %s", text)
	}
}

// nothingLeft waits until the server is as if no gateway had ever come.
func (s *Server) nothingLeft(t *testing.T, goroutines int) {
	t.Helper()
	var why string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if why = s.left(goroutines); why == "" {
			return
		}
	}
	t.Error(why)
}

func (s *Server) left(goroutines int) string {
	if now := runtime.NumGoroutine(); now > goroutines {
		return fmt.Sprintf("%d goroutines are left", now-goroutines)
	}
	if !s.memory.TryAcquire(s.config.Gateways.Memory) {
		return "memory of messages is not given back"
	}
	s.memory.Release(s.config.Gateways.Memory)
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	if x := s.slots; x.running != 0 || x.owed != 0 || len(x.queue) != 0 || len(x.callers) != 0 {
		return fmt.Sprintf("slots: %d running, %d owed, %d waiting, callers %v", x.running, x.owed, len(x.queue), x.callers)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != 0 {
		return fmt.Sprintf("%d connections are counted", s.open)
	}
	return ""
}
