package protocol_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/tests/daemon"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// report is what a driver says: what came of a request that stands in a line, or what the daemon asked or told.
type report struct {
	Line   *int            `json:"line,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *rpc.Error      `json:"error,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
}

// driver plays the gateway of a transcript through a client.
type driver func(t *testing.T, socket, transcript string) []report

// drivers are those of the clients.
var drivers = map[string]driver{
	"go": drive,
	"typescript": func(t *testing.T, socket, transcript string) []report {
		return run(t, node(t, "driver.mjs", socket, transcript))
	},
	"python": func(t *testing.T, socket, transcript string) []report {
		return run(t, python(t, "driver.py", socket, transcript))
	},
}

// node is a script of testdata that is given the TypeScript client.
func node(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	skip.WithoutNode(t)
	client, err := filepath.Abs(filepath.Join(root, "clients", "typescript", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	return within(t, "node", append([]string{filepath.Join("testdata", script), client}, args...)...)
}

// python is a script of testdata that is given the Python client.
func python(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	skip.WithoutPython(t)
	client, err := filepath.Abs(filepath.Join(root, "clients", "python"))
	if err != nil {
		t.Fatal(err)
	}
	return within(t, "python3", append([]string{"-I", "-B", "-W", "error", filepath.Join("testdata", script), client}, args...)...)
}

// within is a command that is killed when it hangs.
func within(t *testing.T, name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, name, args...)
}

// run reads a driver's reports.
func run(t *testing.T, command *exec.Cmd) (all []report) {
	t.Helper()
	for _, text := range output(t, command) {
		var r report
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// output is what a script says, a JSON value a line, and nothing on stderr.
func output(t *testing.T, command *exec.Cmd) (all []json.RawMessage) {
	t.Helper()
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil || stderr.Len() > 0 {
		t.Errorf("%v: %v\n%s\n%.2000s", command.Args, err, stderr.String(), out)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var text json.RawMessage
		switch err := d.Decode(&text); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("%v\n%.2000s", err, out)
		}
		all = append(all, text)
	}
}

// TestClients is the daemon of each transcript, and each client says what stands there, and gives its gateway what the daemon says.
func TestClients(t *testing.T) {
	for name, lines := range transcripts(t) {
		lines = filled(lines)
		for language, drive := range drivers {
			if language == "go" && wrong[name] {
				continue // its types can't say that
			}
			t.Run(name+"/"+language, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "transcript.jsonl")
				write(t, path, lines)
				socket := filepath.Join(daemon.Dir(t), "s")
				listener, err := net.Listen("unix", socket)
				if err != nil {
					t.Fatal(err)
				}
				defer listener.Close()
				played := make(chan error, 1)
				go func() { played <- play(listener, name, sent(lines)) }()
				reports := drive(t, socket, path)
				listener.Close() // a driver that did not connect
				if err := <-played; err != nil {
					t.Error(err)
				}
				judge(t, lines, reports)
			})
		}
	}
}

// filled has values where the placeholders were.
func filled(lines []line) (out []line) {
	v := values{"caller": "uid 1000 (ann)", "uid": "1000", "pid": "4242", "version": "v1.0.0", "request": "QRSTUVWXYZ234567QRSTUVWXYZ"}
	for n := range 9 {
		v["run"+strings.TrimPrefix(fmt.Sprint(n+1), "1")] = fmt.Sprintf("01M8PZMVFRJQ18A3TT283M5NJ%d", n)
		v[fmt.Sprintf("call%d", n+1)], v[fmt.Sprintf("ask%d", n+1)] = float64(n+1), float64(n+11)
	}
	for _, l := range lines {
		out = append(out, line{l.From, v.fill(l.Message).(object)})
	}
	return out
}

func write(t *testing.T, path string, lines []line) {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	for _, l := range lines {
		if err := e.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sent leaves out what no client sends: a line that is too long, which it refuses in the daemon's words.
func sent(lines []line) (out []line) {
	var never any
	for _, l := range lines {
		text, _ := json.Marshal(l.Message) // it was read from JSON
		if len(text) > maxLine {
			never = l.Message["id"]
			continue
		}
		if never == nil || l.From == gateway || l.Message["id"] != never {
			out = append(out, l)
		}
	}
	return out
}

// play is the daemon of a transcript, for one connection.
func play(listener net.Listener, name string, lines []line) error {
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	w, c := newWire(conn), make(conversation)
	ids := make(map[any]any) // the client's, by the transcript's
	takenBack := make(map[any]bool)
	for len(lines) > 0 {
		now := group(lines)
		lines = lines[len(now):]
		if now[0].From == theDaemon {
			for _, l := range now {
				m := maps.Clone(l.Message)
				if id, ok := ids[m["id"]]; ok && m["method"] == nil {
					m["id"] = id
				}
				if m["method"] == "tools/cancel" || m["method"] == "approvals/cancel" {
					for _, id := range asked(c) {
						takenBack[id] = true
					}
				}
				if err := c.check(theDaemon, m); err != nil {
					return fmt.Errorf("the transcript's line is none of the daemon's: %w", err)
				}
				if err := w.send(m); err != nil {
					return err
				}
			}
			continue
		}
		for len(now) > 0 {
			m, err := w.read()
			if err != nil {
				return fmt.Errorf("want %v: %w", now[0].Message, err)
			}
			if m["method"] == nil && takenBack[fmt.Sprint(m["id"])] {
				continue // an answer that nobody waits for any more: it may come
			}
			if err := c.check(gateway, m); err != nil && !wrong[name] {
				return fmt.Errorf("the client's line is none: %w", err)
			}
			i := slices.IndexFunc(now, func(l line) bool { return same(l.Message, m) })
			if i < 0 {
				return fmt.Errorf("the client said %.500v, want %.500v", m, now[0].Message)
			}
			ids[now[i].Message["id"]] = m["id"]
			now = slices.Delete(slices.Clone(now), i, i+1)
		}
	}
	for { // until the client hangs up
		m, err := w.read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case m["method"] != nil || !takenBack[fmt.Sprint(m["id"])]:
			return fmt.Errorf("the client said %v at the end", m)
		}
	}
}

// asked are the ids of the daemon's requests so far.
func asked(c conversation) (ids []string) {
	for key := range c {
		if id, ok := strings.CutPrefix(key, theDaemon); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// same says whether a client's message is that of the transcript, but for the id of a request, and members that say what is so without them.
func same(want, got object) bool {
	want, got = maps.Clone(want), maps.Clone(got)
	if want["method"] != nil {
		delete(want, "id")
		delete(got, "id")
		method, _ := want["method"].(string)
		want["params"], got["params"] = plain(method, want["params"]), plain(method, got["params"])
	}
	return reflect.DeepEqual(want, got)
}

// plain is what the params of a request say to the daemon, if it takes them.
func plain(method string, params any) any {
	params = cmp.Or[any](params, object{})
	types := methods["GatewayRequest"][method]
	if types.params == nil {
		return params
	}
	said := typed(types.params, params)
	if method == "initialize" {
		said.(object)["protocol_version"] = sandboxd.ProtocolVersion // a client's own, whatever the transcript's is
	}
	return said
}

// typed is a value as a Go type keeps it, if it does.
func typed(as, value any) any {
	text, _ := json.Marshal(value) // it was read from JSON
	into := reflect.New(reflect.TypeOf(as))
	if rpc.Decode(text, into.Interface()) != nil {
		return value
	}
	text, _ = json.Marshal(into.Interface())
	var out any
	_ = json.Unmarshal(text, &out)
	return out
}

// judge holds what a driver reports against the transcript.
func judge(t *testing.T, lines []line, reports []report) {
	t.Helper()
	got, want := make(map[string]any), make(map[string]any)
	for i, l := range lines {
		m := l.Message
		method, _ := m["method"].(string)
		switch {
		case l.From == gateway && method != "":
			answer := lines[slices.IndexFunc(lines, func(a line) bool {
				return a.From == theDaemon && a.Message["method"] == nil && a.Message["id"] == m["id"]
			})].Message
			if e, refused := answer["error"]; refused {
				want[fmt.Sprint("answer to line ", i)] = e
			} else {
				want[fmt.Sprint("answer to line ", i)] = typed(methods["GatewayRequest"][method].result, answer["result"])
			}
		case l.From == theDaemon && method != "" && method != "tools/cancel" && method != "approvals/cancel":
			want[method+key(m["params"])] = m["params"]
		}
	}
	for _, r := range reports {
		name, value := r.Method, any(nil)
		switch {
		case r.Line == nil:
			var params any
			if err := json.Unmarshal(r.Params, &params); err != nil {
				t.Fatal(err)
			}
			name, value = name+key(params), params
		case r.Error != nil:
			name, value = fmt.Sprint("answer to line ", *r.Line), typed(rpc.Error{}, r.Error)
		default:
			name = fmt.Sprint("answer to line ", *r.Line)
			value = typed(methods["GatewayRequest"][lines[*r.Line].Message["method"].(string)].result, r.Result)
		}
		if _, twice := got[name]; twice {
			t.Errorf("%s twice", name)
		}
		got[name] = value
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("what the gateway got (-transcript +client):\n%s", diff)
	}
}

// key tells the daemon's messages of one method apart.
func key(params any) string {
	p, _ := params.(object)
	return fmt.Sprint(" ", p["idempotency_key"], " ", p["id"], " ", p["text"])
}

// drive is the driver of the Go client.
func drive(t *testing.T, socket, transcript string) (all []report) {
	t.Helper()
	text, err := os.ReadFile(transcript)
	if err != nil {
		t.Fatal(err)
	}
	d := &goDriver{socket: socket, asked: make(map[string]chan object)}
	for row := range strings.Lines(string(text)) {
		var l line
		if err := json.Unmarshal([]byte(row), &l); err != nil {
			t.Fatal(err)
		}
		d.lines = append(d.lines, l)
		if l.From == theDaemon && l.Message["method"] != nil && l.Message["id"] != nil {
			d.asked[key(l.Message["params"])] = make(chan object, 1)
		}
	}
	before := 0
	var asks sync.WaitGroup
	for i, l := range d.lines {
		if l.From == theDaemon {
			before++
			continue
		}
		d.until(t, before)
		if method, ok := l.Message["method"].(string); ok {
			params, _ := json.Marshal(cmp.Or[any](l.Message["params"], object{})) // it was read from JSON
			asks.Go(func() { d.say(d.perform(i, method, params)) })
			continue
		}
		at := slices.IndexFunc(d.lines, func(a line) bool {
			return a.From == theDaemon && a.Message["method"] != nil && a.Message["id"] == l.Message["id"]
		})
		d.asked[key(d.lines[at].Message["params"])] <- l.Message
	}
	asks.Wait()
	d.until(t, before)
	if d.client != nil {
		d.client.Close()
	}
	return d.reports
}

type goDriver struct {
	socket string
	lines  []line
	asked  map[string]chan object // what the gateway answers, by the key of the request
	client *sandboxd.Client

	mu      sync.Mutex // guards the fields below
	seen    int        // of the daemon's lines
	reports []report
}

func (d *goDriver) until(t *testing.T, count int) {
	daemon.Eventually(t, patience, func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.seen < count {
			return fmt.Errorf("%d lines of the daemon have come, want %d", d.seen, count)
		}
		return nil
	})
}

func (d *goDriver) say(r report) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen++
	d.reports = append(d.reports, r)
}

func (d *goDriver) told(method string, params any) {
	text, _ := json.Marshal(params) // it was read from JSON
	d.say(report{Method: method, Params: text})
}

// answer is a handler: it waits for the transcript's answer.
func (d *goDriver) answer(ctx context.Context, method string, params any) (json.RawMessage, error) {
	d.told(method, params)
	select {
	case m := <-d.asked[key(typed(params, params))]:
		if e, ok := m["error"].(object); ok {
			return nil, errors.New(e["message"].(string))
		}
		return json.Marshal(m["result"])
	case <-ctx.Done():
		d.mu.Lock()
		defer d.mu.Unlock()
		d.seen++
		return nil, ctx.Err()
	}
}

func (d *goDriver) perform(line int, method string, params json.RawMessage) report {
	result, err := d.ask(method, params)
	r := report{Line: &line}
	if refused := (*sandboxd.RefusedError)(nil); errors.As(err, &refused) {
		r.Error = refused
	} else if err != nil {
		r.Error = rpc.Errorf(0, "%s", err)
	}
	r.Result, _ = json.Marshal(result) // of a type of ours
	return r
}

func (d *goDriver) ask(method string, params json.RawMessage) (result any, err error) {
	ctx := context.Background()
	switch method {
	case "initialize":
		var p sandboxd.InitializeParams
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		o := sandboxd.Options{
			Name: p.Client.Name, Version: p.Client.Version, Servers: p.Servers, Announce: p.Tools,
			Tools: func(ctx context.Context, c sandboxd.ToolCall) (json.RawMessage, error) {
				return d.answer(ctx, "tools/call", c)
			},
			Progress: func(p sandboxd.Progress) { d.told("run/progress", p) },
			Console:  func(c sandboxd.Console) { d.told("run/console", c) },
		}
		if p.Approvals {
			o.Approvals = func(ctx context.Context, q sandboxd.ApprovalRequest) (a sandboxd.ApprovalAnswer, err error) {
				text, err := d.answer(ctx, "approvals/request", q)
				if err != nil {
					return a, err
				}
				return a, json.Unmarshal(text, &a)
			}
		}
		if d.client, err = sandboxd.Dial(ctx, d.socket, o); err != nil {
			return nil, err
		}
		return d.client.Welcome(), nil
	case "execute":
		return with(ctx, params, d.client.Execute)
	case "cancel":
		return with(ctx, params, d.client.Cancel)
	case "tools/describe":
		return with(ctx, params, d.client.Describe)
	case "approvals/decide":
		return with(ctx, params, d.client.Decide)
	case "approvals/list":
		return d.client.Approvals(ctx)
	case "status":
		return d.client.Status(ctx)
	}
	return nil, fmt.Errorf("the Go client has no %s", method)
}

func with[P, R any](ctx context.Context, params json.RawMessage, do func(context.Context, P) (R, error)) (any, error) {
	var p P
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	return do(ctx, p)
}
