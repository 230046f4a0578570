package guard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/guard"
)

// TestMain looks for what the tests left behind. Those in a bubble of synctest can't leave anything.
func TestMain(m *testing.M) {
	code := m.Run()
	for patience := time.Now().Add(10 * time.Second); code == 0; time.Sleep(10 * time.Millisecond) {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left := strings.Count(string(stacks), "net/http.(*") + strings.Count(string(stacks), "internal/guard.")
		if left == 0 {
			break
		}
		if time.Now().After(patience) {
			fmt.Printf("goroutines are left:\n%s\n", stacks)
			code = 1
		}
	}
	os.Exit(code)
}

// pipes is a network in memory, which a bubble can wait for.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// asked is one request as the judge got it.
type asked struct {
	path   string
	header http.Header
	body   string
	checks []check
}

type check struct {
	Action struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
	} `json:"action"`
}

// judge is a server that answers as the test says.
type judge struct {
	answer func(w http.ResponseWriter, r asked) // set before the first request

	mu       sync.Mutex // guards the field below
	requests []asked
}

func (j *judge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	a := asked{path: r.URL.Path, header: r.Header, body: string(body)}
	if strings.HasSuffix(r.URL.Path, "/batch") {
		var b struct{ Checks []check }
		if json.Unmarshal(body, &b) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		a.checks = b.Checks
	} else {
		a.checks = make([]check, 1)
		json.Unmarshal(body, &a.checks[0])
	}
	j.mu.Lock()
	j.requests = append(j.requests, a)
	j.mu.Unlock()
	j.answer(w, a)
}

func (j *judge) got() []asked {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]asked(nil), j.requests...)
}

// sizes is how many checks each request had.
func (j *judge) sizes() (n []int) {
	for _, r := range j.got() {
		n = append(n, len(r.checks))
	}
	return n
}

// says answers each check with what the func makes of it, after some time.
func says(after time.Duration, result func(c check, i int) string) func(http.ResponseWriter, asked) {
	return func(w http.ResponseWriter, r asked) {
		time.Sleep(after)
		var results []string
		for i, c := range r.checks {
			results = append(results, result(c, i))
		}
		text := strings.Join(results, ",")
		if strings.HasSuffix(r.path, "/batch") {
			text = `{"results":[` + text + `]}`
		}
		writeJSON(w, text)
	}
}

func writeJSON(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, text)
}

func allow(check, int) string { return `{"verdict":"allow"}` }

// byTool answers with the tool's last name.
func byTool(c check, _ int) string {
	_, word, _ := strings.Cut(c.Action.Tool, ".")
	return fmt.Sprintf(`{"verdict":%q,"reason":"as the tool says"}`, word)
}

func status(code int, header ...string) func(http.ResponseWriter, asked) {
	return func(w http.ResponseWriter, _ asked) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// serve runs a judge in memory, and returns a guard that asks it. What it starts ends with the test.
func serve(t testing.TB, j *judge, change ...func(*guard.Config)) *guard.Guard {
	t.Helper()
	p := newPipes()
	server := &http.Server{Handler: j}
	go server.Serve(p)
	t.Cleanup(func() { server.Close() })
	return at(t, p.dial, change...)
}

// at is a guard on a network in memory.
func at(t testing.TB, dial func(ctx context.Context, network, address string) (net.Conn, error), change ...func(*guard.Config)) *guard.Guard {
	t.Helper()
	c := guard.Default()
	c.URL = "http://127.0.0.1:1"
	for _, f := range change {
		f(&c)
	}
	g, err := guard.NewOver(c, dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// start is a guard on the system's network.
func start(t testing.TB, c guard.Config) *guard.Guard {
	t.Helper()
	g, err := guard.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// call is a check of a tool without more.
func call(run, tool string) guard.Check {
	return guard.Check{Run: run, Tool: tool, Args: json.RawMessage(`{}`), Trigger: guard.UserRequest}
}
