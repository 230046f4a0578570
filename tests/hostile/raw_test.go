package hostile_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
)

// raw is a gateway that writes its bytes by hand.
type raw struct {
	t    *testing.T
	conn *net.UnixConn
	in   *bufio.Reader
}

// message is whatever the daemon says.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// dial connects without a word.
func (s *stage) dial(t *testing.T) *raw {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: s.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &raw{t, conn, bufio.NewReaderSize(conn, 64<<10)}
}

// greeted connects and introduces itself, with one server.
func (s *stage) greeted(t *testing.T) *raw {
	t.Helper()
	r := s.dial(t)
	r.send(greeting)
	r.result("0")
	return r
}

const greeting = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocol_version":"1","client":{"name":"raw"},"servers":["s"]}}`

// write writes bytes as they are; a daemon that hung up is no failure.
func (r *raw) write(text string) error {
	r.t.Helper()
	if err := r.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		r.t.Fatal(err)
	}
	_, err := io.WriteString(r.conn, text)
	if err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		r.t.Fatal(err)
	}
	return err
}

func (r *raw) send(line string) {
	r.t.Helper()
	if err := r.write(line + "\n"); err != nil {
		r.t.Fatal(err)
	}
}

// execute asks for a run with wall_ms 1000, unless params has limits.
func (r *raw) execute(id int, source string, more ...string) {
	r.t.Helper()
	text, err := json.Marshal(source)
	if err != nil {
		r.t.Fatal(err)
	}
	members := append([]string{`"source":` + string(text)}, more...)
	if !strings.Contains(strings.Join(more, ""), `"limits"`) {
		members = append(members, `"limits":{"wall_ms":1000}`)
	}
	r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"execute","params":{%s}}`, id, strings.Join(members, ",")))
}

func (r *raw) read() message {
	r.t.Helper()
	m, err := r.next(patience)
	if err != nil {
		r.t.Fatalf("read from daemon: %v", err)
	}
	return m
}

func (r *raw) next(wait time.Duration) (message, error) {
	var m message
	if err := r.conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return m, err
	}
	line, err := r.in.ReadBytes('\n')
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(line, &m)
}

// until reads until a message fits.
func (r *raw) until(fits func(message) bool) message {
	r.t.Helper()
	for {
		if m := r.read(); fits(m) {
			return m
		}
	}
}

// answer reads until the answer to a request comes.
func (r *raw) answer(id string) message {
	r.t.Helper()
	return r.until(func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

func (r *raw) result(id string) json.RawMessage {
	r.t.Helper()
	m := r.answer(id)
	if m.Error != nil {
		r.t.Fatalf("answer to %s: error %d: %s", id, m.Error.Code, m.Error.Message)
	}
	return m.Result
}

// refusal reads an error answer and compares it.
func (r *raw) refusal(id string, code int, text string) {
	r.t.Helper()
	m := r.answer(id)
	if m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, text) {
		r.t.Fatalf("answer to %s: %s, want error %d with %q", id, sprint(m), code, text)
	}
}

// run reads the answer to an execute.
func (r *raw) run(id string) sandboxd.Result {
	r.t.Helper()
	var result sandboxd.Result
	if err := json.Unmarshal(r.result(id), &result); err != nil {
		r.t.Fatal(err)
	}
	return result
}

// call reads until the daemon asks for a tool call, and returns its id.
func (r *raw) call() (id string, call sandboxd.ToolCall) {
	r.t.Helper()
	m := r.until(func(m message) bool {
		if m.Method == "" {
			r.t.Fatalf("an answer where a call was due: %s", sprint(m))
		}
		return m.Method == "tools/call"
	})
	if err := json.Unmarshal(m.Params, &call); err != nil {
		r.t.Fatal(err)
	}
	return string(m.ID), call
}

// reply answers a call.
func (r *raw) reply(id, result string) {
	r.t.Helper()
	r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

// closed waits until the daemon hangs up.
func (r *raw) closed() {
	r.t.Helper()
	for {
		_, err := r.next(patience)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
			return
		case err != nil:
			r.t.Fatalf("the daemon does not hang up: %v", err)
		}
	}
}

// alive fails unless the connection still answers.
func (r *raw) alive() {
	r.t.Helper()
	r.send(`{"jsonrpc":"2.0","id":"alive","method":"status"}`)
	r.result(`"alive"`)
}

const pong = `{"content":[{"type":"text","text":"pong"}]}`

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
