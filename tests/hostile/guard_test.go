package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// liar is a guard that does as a test says, and knows which calls it allowed in so many words.
type liar struct {
	mu      sync.Mutex // guards the fields below
	answer  func(l *liar, w http.ResponseWriter, r *http.Request, checks []string)
	allowed map[string]bool // by their arguments
	strayed int             // requests to where a redirect pointed
}

// newLiar is one at a socket, which allows all.
func newLiar(t *testing.T) (l *liar, socket string) {
	t.Helper()
	socket = filepath.Join(daemon.Dir(t), "g")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	l = &liar{answer: honestly, allowed: make(map[string]bool)}
	server := &http.Server{Handler: l}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return l, socket
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	type check struct {
		Action struct{ Args json.RawMessage }
	}
	var body struct {
		check
		Checks []check
	}
	text, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(text, &body) != nil {
		http.Error(w, "no check", http.StatusBadRequest)
		return
	}
	if body.Checks == nil {
		body.Checks = []check{body.check}
	}
	var checks []string
	for _, c := range body.Checks {
		checks = append(checks, string(c.Action.Args))
	}
	l.mu.Lock()
	answer := l.answer
	if strings.HasPrefix(r.URL.Path, "/elsewhere") {
		l.strayed++
	}
	l.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	answer(l, w, r, checks)
}

func (l *liar) does(answer func(*liar, http.ResponseWriter, *http.Request, []string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer = answer
	clear(l.allowed)
}

// has says whether a call was allowed.
func (l *liar) has(args string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.allowed[args]
}

func honestly(l *liar, w http.ResponseWriter, r *http.Request, checks []string) {
	l.mu.Lock()
	for _, c := range checks {
		l.allowed[c] = true
	}
	l.mu.Unlock()
	io.WriteString(w, allowing(`{"verdict":"allow"}`, len(checks), together(r)))
}

func together(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/batch") }

// allowing is an answer of so many verdicts.
func allowing(verdict string, n int, together bool) string {
	if !together {
		return verdict
	}
	return `{"results":[` + strings.TrimSuffix(strings.Repeat(verdict+",", n), ",") + `]}`
}

// says answers each check with a text.
func ruling(verdict string) func(*liar, http.ResponseWriter, *http.Request, []string) {
	return func(_ *liar, w http.ResponseWriter, r *http.Request, checks []string) {
		io.WriteString(w, allowing(verdict, len(checks), together(r)))
	}
}

// with allows all, by an answer that is none.
func with(spoil func(w http.ResponseWriter, r *http.Request, text string)) func(*liar, http.ResponseWriter, *http.Request, []string) {
	return func(_ *liar, w http.ResponseWriter, r *http.Request, checks []string) {
		spoil(w, r, allowing(`{"verdict":"allow"}`, len(checks), together(r)))
	}
}

func hangUp(w http.ResponseWriter) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		conn.Close()
	}
}

// status answers with another one than 200, and a body that allows.
func status(code int, header ...string) func(*liar, http.ResponseWriter, *http.Request, []string) {
	return with(func(w http.ResponseWriter, r *http.Request, text string) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		if code != http.StatusNoContent {
			io.WriteString(w, text)
		}
	})
}

// recorder is a gateway that knows what it was asked for.
type recorder struct {
	*sandboxd.Client
	mu    sync.Mutex
	calls []sandboxd.ToolCall
}

// recorded connects one to a daemon.
func recorded(t *testing.T, d *daemon.Daemon) *recorder {
	t.Helper()
	r := &recorder{}
	r.Client = d.Dial(t, sandboxd.Options{Name: "recorder", Servers: []string{"s"}, Tools: func(_ context.Context, c sandboxd.ToolCall) (json.RawMessage, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls = append(r.calls, c)
		return json.RawMessage(pong), nil
	}})
	return r
}

func (r *recorder) seen() []sandboxd.ToolCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

func (r *recorder) execute(t *testing.T, p sandboxd.Program) *sandboxd.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	result, err := r.Execute(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// reload has the daemon read its policy, and has it ask a guard again that was down.
func (s *stage) reload(t *testing.T) {
	t.Helper()
	conn, err := net.Dial("unix", s.Admin)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":1,"method":"policy/reload"}`)
	answer := make([]byte, 4096)
	if n, err := conn.Read(answer); err != nil || !bytes.Contains(answer[:n], []byte(`"result"`)) {
		t.Fatalf("reload: %v: %s", err, answer[:n])
	}
}

// storm makes 32 calls at once, and tells by whom they were refused.
const storm = `
const all = await Promise.allSettled(Array.from({length: 32}, (_, x) => tools.s.echo({x, pad: 'x'.repeat(x)})))
const by = {}
for (const a of all) { const rule = a.reason?.rule ?? a.reason?.name ?? 'made'; by[rule] = (by[rule] ?? 0) + 1 }
return by`

// TestGuards are judges that are slow, lie, or break off. What no clear verdict allowed is not sent.
func TestGuards(t *testing.T) {
	t.Parallel()
	l, socket := newLiar(t)
	s := newStage(t, "guard: {url: 'unix://"+socket+"', timeout: 1s, on_unavailable: block}\n", "-")
	for _, a := range []struct {
		name   string
		answer func(*liar, http.ResponseWriter, *http.Request, []string)
	}{
		{"in capitals", ruling(`{"verdict":"ALLOW"}`)},
		{"with a space", ruling(`{"verdict":"allow "}`)},
		{"another word", ruling(`{"verdict":"allowed"}`)},
		{"true", ruling(`{"verdict":true}`)},
		{"a list", ruling(`{"verdict":["allow"]}`)},
		{"twice", ruling(`{"verdict":"block","verdict":"allow"}`)},
		{"another name", ruling(`{"Verdict":"allow"}`)},
		{"two names", ruling(`{"verdict":"allow","Verdict":"block"}`)},
		{"nothing", ruling(``)},
		{"null", ruling(`null`)},
		{"empty objects", ruling(`{}`)},
		{"an answer too many", with(func(w http.ResponseWriter, r *http.Request, _ string) {
			io.WriteString(w, allowing(`{"verdict":"allow"}`, 33, true))
		})},
		{"an answer too few", func(_ *liar, w http.ResponseWriter, r *http.Request, checks []string) {
			io.WriteString(w, allowing(`{"verdict":"allow"}`, len(checks)-1, true))
		}},
		{"two answers", with(func(w http.ResponseWriter, _ *http.Request, text string) { io.WriteString(w, text+text) })},
		{"huge", with(func(w http.ResponseWriter, r *http.Request, text string) {
			io.WriteString(w, strings.TrimSuffix(text, "}")+`,"pad":"`+strings.Repeat("x", 2<<20)+`"}`)
		})},
		{"endless", with(func(w http.ResponseWriter, r *http.Request, text string) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
					return
				}
			}
		})},
		{"huge header", with(func(w http.ResponseWriter, _ *http.Request, text string) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
			io.WriteString(w, text)
		})},
		{"dripping", with(func(w http.ResponseWriter, r *http.Request, text string) {
			for i := range len(text) {
				io.WriteString(w, text[i:i+1])
				w.(http.Flusher).Flush()
				select {
				case <-time.After(200 * time.Millisecond):
				case <-r.Context().Done():
					return
				}
			}
		})},
		{"silent", with(func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() })},
		{"redirects", status(http.StatusTemporaryRedirect, "Location", "/elsewhere")},
		{"created", status(http.StatusCreated)},
		{"no content", status(http.StatusNoContent)},
		{"an error that allows", status(http.StatusInternalServerError)},
		{"busy for ever", status(http.StatusServiceUnavailable, "Retry-After", "999999999999999999999")},
		{"HTML", status(http.StatusOK, "Content-Type", "text/html")},
		{"said to be compressed", status(http.StatusOK, "Content-Encoding", "gzip")},
		{"half an answer", with(func(w http.ResponseWriter, _ *http.Request, text string) {
			w.Header().Set("Content-Length", fmt.Sprint(len(text)+1))
			io.WriteString(w, text)
		})},
		{"hangs up", with(func(w http.ResponseWriter, _ *http.Request, _ string) { hangUp(w) })},
	} {
		s.attack(t, a.name, func(t *testing.T) {
			l.does(a.answer)
			s.reload(t)
			g := recorded(t, s.Daemon)
			got := g.execute(t, sandboxd.Program{Source: storm})
			if string(got.Value) != `{"guard":32}` || len(g.seen()) > 0 {
				t.Errorf("the run ended as %s; %d calls reached the gateway", sprint(got), len(g.seen()))
			}
			l.does(honestly)
			s.reload(t)
		})
	}
	if l.strayed > 0 {
		t.Errorf("%d redirects were followed", l.strayed)
	}
	s.attack(t, "dies in the middle", func(t *testing.T) { diesInTheMiddle(t, s, l) })
	s.attack(t, "allows some", func(t *testing.T) { allowsSome(t, s, l) })
	s.calm(t)
	s.reload(t) // lets go of the connection that waits for the next check
	s.Rest(t, s.pool)
	daemon.NoMore(t, s.Goroutines(t), newStage(t, "", "-").Goroutines(t))
}

// diesInTheMiddle allows what is in the first request that comes, and breaks off in the answer to the next ones.
func diesInTheMiddle(t *testing.T, s *stage, l *liar) {
	var once sync.Once
	l.does(func(l *liar, w http.ResponseWriter, r *http.Request, checks []string) {
		first := false
		once.Do(func() { first = true })
		if first {
			honestly(l, w, r, checks)
			return
		}
		text := allowing(`{"verdict":"allow"}`, len(checks), together(r))
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		io.WriteString(w, text[:len(text)/2])
		w.(http.Flusher).Flush()
		hangUp(w)
	})
	s.reload(t)
	g := recorded(t, s.Daemon)
	got := g.execute(t, sandboxd.Program{Source: storm})
	seen := g.seen()
	for _, c := range seen {
		if !l.has(string(c.Arguments)) {
			t.Errorf("sent, and not allowed: %s", c.Arguments)
		}
	}
	if n := len(l.allowed); len(seen) != n || n == 0 || n == 32 || len(got.Calls) != 32 {
		t.Errorf("%d were allowed, and %d sent; the run ended as %s", n, len(seen), sprint(got))
	}
	l.does(honestly)
	s.reload(t)
}

// allowsSome gives each check of a batch another verdict: each call must get its own.
func allowsSome(t *testing.T, s *stage, l *liar) {
	l.does(func(l *liar, w http.ResponseWriter, r *http.Request, checks []string) {
		var all []string
		for _, c := range checks {
			verdict := "block"
			if len(c)%2 == 0 {
				verdict = "allow"
				l.mu.Lock()
				l.allowed[c] = true
				l.mu.Unlock()
			}
			all = append(all, `{"verdict":"`+verdict+`"}`)
		}
		text := all[0]
		if together(r) {
			text = `{"results":[` + strings.Join(all, ",") + `]}`
		}
		io.WriteString(w, text)
	})
	g := recorded(t, s.Daemon)
	got := g.execute(t, sandboxd.Program{Source: storm})
	for _, c := range g.seen() {
		if !l.has(string(c.Arguments)) {
			t.Errorf("sent, and not allowed: %s", c.Arguments)
		}
	}
	if n := len(g.seen()); n == 0 || n == 32 || string(got.Value) == "" {
		t.Errorf("%d were sent: %s", n, sprint(got))
	}
	l.does(honestly)
	s.reload(t) // lets go of connections that wait for the next check
}

// TestGuardWithoutTLS is whoever listens at the address of a guard that should speak TLS.
func TestGuardWithoutTLS(t *testing.T) {
	t.Parallel()
	l := &liar{answer: honestly, allowed: make(map[string]bool)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: l}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\nguard: {url: 'https://" + listener.Addr().String() + "', timeout: 1s, on_unavailable: block}\n"})
	g := recorded(t, d)
	if got := g.execute(t, sandboxd.Program{Source: storm}); string(got.Value) != `{"guard":32}` || len(g.seen()) > 0 || len(l.allowed) > 0 {
		t.Errorf("the run ended as %s; %d calls reached the gateway, %d checks the guard", sprint(got), len(g.seen()), len(l.allowed))
	}
}
