package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// ending is what a client says of the one program that it ran.
type ending struct {
	Began   int    `json:"began"` // handlers
	Outcome string `json:"outcome"`
	Name    string `json:"name"` // of the error
	Message string `json:"message"`
	Sent    *bool  `json:"sent"`
}

// victims run a program beside each of some daemons that mean ill.
var victims = map[string]func(t *testing.T, sockets []string) []ending{
	"go": func(t *testing.T, sockets []string) (all []ending) {
		for _, socket := range sockets {
			all = append(all, goVictim(t, socket))
		}
		return all
	},
	"typescript": func(t *testing.T, sockets []string) []ending { return endings(t, node(t, "hostile.mjs", sockets...)) },
	"python":     func(t *testing.T, sockets []string) []ending { return endings(t, python(t, "hostile.py", sockets...)) },
}

func endings(t *testing.T, command *exec.Cmd) (all []ending) {
	t.Helper()
	for _, text := range output(t, command) {
		var e ending
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func goVictim(t *testing.T, socket string) ending {
	var began atomic.Int64
	failed := func(err error) ending {
		e := ending{Began: int(began.Load()), Name: "error", Message: err.Error()}
		if closed := (*sandboxd.ClosedError)(nil); errors.As(err, &closed) {
			e.Name, e.Sent = "ClosedError", &closed.Sent
		} else if errors.As(err, new(*sandboxd.RefusedError)) {
			e.Name = "RefusedError"
		}
		return e
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := sandboxd.Dial(ctx, socket, sandboxd.Options{
		Name: "hostile",
		Tools: func(ctx context.Context, call sandboxd.ToolCall) (json.RawMessage, error) {
			began.Add(1)
			if call.Tool == "hang" {
				<-ctx.Done()
			}
			return fmt.Appendf(nil, `{"content":[{"type":"text","text":%q}]}`, call.Tool), nil
		},
		Progress: func(sandboxd.Progress) { began.Add(1_000_000) },
	})
	if err != nil {
		return failed(err)
	}
	defer c.Close()
	r, err := c.Execute(ctx, sandboxd.Program{Source: "return 1"})
	if err != nil {
		return failed(err)
	}
	return ending{Began: int(began.Load()), Outcome: string(r.Outcome)}
}

const (
	hostileRun = "01M8PZMVFRJQ18A3TT283M5NJ1"
	broke      = "the daemon broke the protocol: "
)

func toolCall(id any, n int, tool string) object {
	return object{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": object{
		"run": hostileRun, "n": n, "idempotency_key": fmt.Sprint(hostileRun, "/", n), "server": "s", "tool": tool, "arguments": object{}, "origin": "code", "trigger": "user_request",
	}}
}

// assault is what a daemon may do before it answers to the program of that id.
type assault struct {
	name       string
	do         func(w *wire, id any) error
	want       string // in the message of the error that execute gives; empty: the program ends well
	goWant     string // if it differs in Go, whose client reads past a line that is wrong, where the others hang up; -: the program ends well
	began      int    // handlers
	unanswered bool   // the daemon hangs up instead
}

var attacks = []assault{
	{name: "nothing", do: func(*wire, any) error { return nil }},
	{name: "a line of 9 MiB", want: broke + "a line is longer than 8388608 bytes", goWant: "-", do: func(w *wire, _ any) error {
		if err := send(w, strings.Repeat("x", 9<<20)); err != nil {
			return nil // it hung up before it was all there
		}
		return refused(w, nil, -32600)
	}},
	{name: "a line without end", want: "a line is longer than", goWant: "the connection is closed", unanswered: true, do: func(w *wire, _ any) error {
		for range 100 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return nil // as it should
			}
		}
		return errors.New("100 MiB were read")
	}},
	{name: "invalid UTF-8", want: broke + "a line is no JSON in UTF-8", goWant: "-", do: func(w *wire, _ any) error {
		if err := send(w, "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{\"a\":\"\xff\xfe\"}}"); err != nil {
			return err
		}
		m, err := w.read() // to id 99, or to null
		return errors.Join(err, isError(m, m["id"], -32700))
	}},
	{name: "half a line", want: "the daemon hung up in the middle of a line", goWant: "the connection is closed", unanswered: true, do: func(w *wire, _ any) error {
		_, err := w.Write([]byte(`{"jsonrpc":"2.0","id":2,"res`))
		return err
	}},
	{name: "hang-up", want: "the daemon hung up", goWant: "the connection is closed", unanswered: true, do: func(*wire, any) error { return nil }},
	{name: "answers to nothing", do: func(w *wire, id any) error {
		return errors.Join(
			w.send(object{"jsonrpc": "2.0", "id": 999, "result": object{}}), w.send(object{"jsonrpc": "2.0", "id": "x", "result": object{}}),
			w.send(object{"jsonrpc": "2.0", "id": -1, "error": object{"code": 1, "message": "no"}}), w.send(object{"jsonrpc": "2.0", "id": fmt.Sprint(id), "result": object{}}),
		)
	}},
	{name: "two answers", do: func(w *wire, id any) error {
		answer := `{"jsonrpc":"2.0","id":` + fmt.Sprint(id) + `,"result":{"outcome":"%s"}}`
		return send(w, fmt.Sprintf(answer+"\n"+answer, "ok", "twice")) // at once: the client hangs up after the first
	}},
	{name: "an error without a code", want: broke + "not a JSON-RPC 2.0 message: an error without code and message", goWant: "can't be read", do: func(w *wire, id any) error {
		return w.send(object{"jsonrpc": "2.0", "id": id, "error": "no"})
	}},
	{name: "a result that is no object", want: broke + "not a JSON-RPC 2.0 message: a result that is no object, or of no id", goWant: "cannot unmarshal", do: func(w *wire, id any) error {
		return w.send(object{"jsonrpc": "2.0", "id": id, "result": []int{}})
	}},
	{name: "a refusal", want: "no such luck", do: func(w *wire, id any) error {
		return w.send(object{"jsonrpc": "2.0", "id": id, "error": object{"code": -32602, "message": "no such luck", "data": object{"__proto__": 1}}})
	}},
	{name: "a refusal of the connection", want: "you are not wanted", unanswered: true, do: func(w *wire, _ any) error {
		return w.send(object{"jsonrpc": "2.0", "id": nil, "error": object{"code": -32000, "message": "you are not wanted"}})
	}},
	{name: "an unknown method", do: func(w *wire, _ any) error {
		err := errors.Join(w.send(object{"jsonrpc": "2.0", "id": "a", "method": "files/read", "params": object{}}), w.send(object{"jsonrpc": "2.0", "id": 7, "method": "toString"}))
		for range 2 {
			m, wrong := w.read()
			err = errors.Join(err, wrong, isError(m, m["id"], -32601))
		}
		return err
	}},
	{name: "approvals that were not announced", do: func(w *wire, _ any) error {
		return errors.Join(w.send(object{"jsonrpc": "2.0", "id": 1, "method": "approvals/request", "params": object{"id": "x"}}), refused(w, 1.0, -32601))
	}},
	{name: "an unknown notification", do: func(w *wire, _ any) error {
		return errors.Join(w.send(object{"jsonrpc": "2.0", "method": "run/ended", "params": object{}}), w.send(object{"jsonrpc": "2.0", "method": "constructor"}),
			w.send(object{"jsonrpc": "2.0", "method": "tools/cancel", "params": object{"run": "x", "n": 1}}), w.send(object{"jsonrpc": "2.0", "method": "run/progress", "params": object{"run": 1}}))
	}},
	{name: "a call of no shape", do: func(w *wire, _ any) error {
		return errors.Join(w.send(object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"run": 5}}), refused(w, 1.0, -32602))
	}},
	{name: "a call twice", began: 2, do: func(w *wire, _ any) error {
		// Which of the two is first is up to the client: it has one of them.
		err := errors.Join(w.send(toolCall(1, 1, "hang")), w.send(toolCall(2, 1, "hang")))
		m, wrong := w.read()
		err = errors.Join(err, wrong, isError(m, m["id"], -32602), w.send(object{"jsonrpc": "2.0", "method": "tools/cancel", "params": object{"run": hostileRun, "n": 1}}))
		m, wrong = w.read()
		err = errors.Join(err, wrong)
		if m["id"] == nil {
			err = errors.Join(err, fmt.Errorf("said %v", m))
		}
		err = errors.Join(err, w.send(toolCall(3, 1, "again"))) // it is over
		m, wrong = w.read()
		if m["id"] != 3.0 || m["result"] == nil {
			wrong = errors.Join(wrong, fmt.Errorf("said %v", m))
		}
		return errors.Join(err, wrong)
	}},
	{name: "two calls of one id", began: 2, do: func(w *wire, _ any) error {
		err := errors.Join(w.send(toolCall(5, 1, "a")), w.send(toolCall(5, 2, "b")))
		for range 2 {
			m, wrong := w.read()
			if m["id"] != 5.0 || m["result"] == nil {
				wrong = errors.Join(wrong, fmt.Errorf("said %v", m))
			}
			err = errors.Join(err, wrong)
		}
		return err
	}},
	{name: "10,000 calls at once", began: 1024, do: func(w *wire, _ any) error {
		sent := make(chan error, 1)
		go func() {
			for n := range 10_000 {
				if err := w.send(toolCall(n+1, n+1, "hang")); err != nil {
					sent <- err
					return
				}
			}
			sent <- nil
		}()
		for range 10_000 - 1024 {
			m, err := w.read()
			if err == nil {
				err = isError(m, m["id"], -32001)
			}
			if err != nil {
				return err
			}
		}
		return <-sent
	}},
	{name: "many small lines", do: func(w *wire, _ any) error {
		_, err := w.Write([]byte(strings.Repeat("\n\r\n", 100_000) + strings.Repeat(`{"jsonrpc":"2.0","method":"x"}`+"\n", 10_000)))
		return err
	}},
	{name: "crumbs", do: func(w *wire, _ any) error {
		for _, b := range []byte(strings.Repeat(" ", 1000) + `{"jsonrpc":"2.0","method":"x"}` + "\n") {
			if _, err := w.Write([]byte{b}); err != nil {
				return err
			}
		}
		return nil
	}},
}

func send(w *wire, text string) error {
	_, err := w.Write([]byte(text + "\n"))
	return err
}

// refused reads a client's error.
func refused(w *wire, id any, code float64) error {
	m, err := w.read()
	if err != nil {
		return err
	}
	return isError(m, id, code)
}

func isError(m object, id any, code float64) error {
	if e, _ := m["error"].(object); m["id"] != id || e["code"] != code {
		return fmt.Errorf("the client said %v, want error %v to %v", m, code, id)
	}
	return nil
}

func TestHostileDaemon(t *testing.T) {
	for language, victim := range victims {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			var sockets []string
			var attacked []chan error
			for _, a := range attacks {
				done := make(chan error, 1)
				attacked = append(attacked, done)
				sockets = append(sockets, listen(t, func(conn net.Conn) { done <- attack(conn, a.do, a.unanswered) }))
			}
			for i, e := range victim(t, sockets) {
				t.Run(attacks[i].name, func(t *testing.T) { attacks[i].judge(t, language, e, attacked[i]) })
			}
		})
	}
}

// listen plays a daemon for one connection, and returns its socket.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(daemon.Dir(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		if conn, err := l.Accept(); err == nil {
			defer conn.Close()
			serve(conn)
		}
	}()
	return l.Addr().String()
}

// judge holds what a client says against what the attack should have done to it.
func (a assault) judge(t *testing.T, language string, e ending, attacked chan error) {
	want := a.want
	switch {
	case language != "go" || a.goWant == "":
	case a.goWant == "-":
		want = ""
	default:
		want = a.goWant
	}
	select {
	case err := <-attacked:
		if err != nil {
			t.Errorf("the attack: %v", err)
		}
	case <-time.After(patience):
		t.Error("the client went, and the connection did not end")
	}
	switch {
	case want == "" && e.Outcome != "ok", want != "" && !strings.Contains(e.Message, want):
		t.Errorf("it ended as %+v, want %q", e, want)
	case e.Name == "ClosedError" && (e.Sent == nil || !*e.Sent):
		t.Errorf("the request counts as not sent: %+v", e)
	}
	// Go's handlers begin in their own time: some of the last may not have when the client is closed.
	if most := a.began; e.Began != most && !(language == "go" && most > 100 && e.Began < most) {
		t.Errorf("%d handlers began, want %d", e.Began, most)
	}
}

// attack greets one client, waits for its program, does something to it, and answers.
func attack(conn net.Conn, do func(*wire, any) error, unanswered bool) error {
	w := newWire(conn)
	hello, err := w.read()
	if err != nil {
		return err
	}
	welcome := object{"protocol_version": "1", "server": object{"name": "hostile"}, "profiles": []any{}}
	if err := w.send(object{"jsonrpc": "2.0", "id": hello["id"], "result": welcome}); err != nil {
		return err
	}
	program, err := w.read()
	if err != nil {
		return err
	}
	if err := do(w, program["id"]); err != nil || unanswered {
		return err
	}
	_ = w.send(object{"jsonrpc": "2.0", "id": program["id"], "result": object{"outcome": "ok"}}) // an error: it has hung up
	for {
		if _, err := w.read(); err != nil {
			return nil
		}
	}
}

// TestStrangeWelcome: what is no welcome is no connection.
func TestStrangeWelcome(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"another version": {`{"jsonrpc":"2.0","id":1,"result":{"protocol_version":"2","server":{"name":"x"},"profiles":[]}}`, `protocol version 2`},
		"nothing in it":   {`{"jsonrpc":"2.0","id":1,"result":{}}`, "protocol version"},
		"refused":         {`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"user 7 is not an allowed caller"}}`, "user 7 is not an allowed caller"},
		"no JSON":         {`HTTP/1.1 400 Bad Request`, ""},
	} {
		for language, victim := range victims {
			t.Run(name+"/"+language, func(t *testing.T) {
				t.Parallel()
				socket := listen(t, func(conn net.Conn) {
					w := newWire(conn)
					_, _ = w.read() // which is its business
					_ = send(w, c.answer)
				})
				if e := victim(t, []string{socket})[0]; e.Outcome != "" || !strings.Contains(e.Message, c.want) || e.Message == "" {
					t.Errorf("it ended as %+v", e)
				}
			})
		}
	}
}
