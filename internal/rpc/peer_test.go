package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/sandboxd/sandboxd/internal/rpc"
)

// pair is a connected pair of Unix sockets.
func pair(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// start runs a peer on conn, and returns what Run returned when the test ends it.
func start(t testing.TB, conn net.Conn, o rpc.Options) (*rpc.Peer, <-chan error) {
	if o.MaxLine == 0 {
		o.MaxLine = 1 << 20
	}
	if o.MaxRequests == 0 {
		o.MaxRequests = 8
	}
	if o.WriteWait == 0 {
		o.WriteWait = 5 * time.Second
	}
	if o.Handle == nil {
		o.Handle = func(_ context.Context, r *rpc.Request) (any, error) {
			switch r.Method {
			case "echo":
				return r.Params, nil
			case "fail":
				return nil, errors.New("it failed")
			}
			return nil, rpc.Errorf(rpc.CodeUnknownMethod, "unknown method %q", r.Method)
		}
	}
	p := rpc.New(conn, o)
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); ended <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return p, ended
}

// TestMessages sends a line by hand and compares the answer to the letter.
func TestMessages(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1]}}`, `{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}`},
		{"string id", `{"method":"echo","params":1,"id":"x\"y","jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":"x\"y","result":1}`},
		{"handler's error", `{"jsonrpc":"2.0","id":2,"method":"fail"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"it failed"}}`},
		{"unknown method", `{"jsonrpc":"2.0","id":3,"method":"nope"}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"unknown method \"nope\""}}`},
		{"not JSON", `hello`, `"id":null,"error":{"code":-32700,"message":"not a JSON-RPC 2.0 message: 'h' at byte 0`},
		{"array", `[]`, `"id":null,"error":{"code":-32700`},
		{"NUL", "{\x00}", `"code":-32700`},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", `invalid UTF-8`},
		{"no version", `{"id":4,"method":"echo"}`, `{"jsonrpc":"2.0","id":4,"error":{"code":-32700,"message":"not a JSON-RPC 2.0 message: \"jsonrpc\" must be \"2.0\""}}`},
		{"wrong version", `{"jsonrpc":"1.0","id":4,"method":"echo"}`, `\"jsonrpc\" must be \"2.0\"`},
		{"unknown member", `{"jsonrpc":"2.0","id":5,"method":"echo","extra":1}`, `"id":5,"error":{"code":-32700,"message":"not a JSON-RPC 2.0 message: unknown member \"extra\"`},
		{"repeated member", `{"jsonrpc":"2.0","id":6,"method":"echo","method":"fail"}`, `the key \"method\" stands twice`},
		{"repeated in disguise", `{"jsonrpc":"2.0","id":6,"method":"echo","\u006dethod":"fail"}`, `the key \"method\" stands twice`},
		{"id of a wrong type", `{"jsonrpc":"2.0","id":{},"method":"echo"}`, `id: must be a number or a string`},
		{"id too long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 80) + `","method":"echo"}`, `id: must be a number or a string of at most 64 bytes`},
		{"method too long", `{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", 80) + `"}`, `method: longer than 64 bytes`},
		{"method of a wrong type", `{"jsonrpc":"2.0","id":7,"method":null}`, `method: 'n' at byte 33 where a string should stand`},
		{"request and response", `{"jsonrpc":"2.0","id":8,"method":"echo","result":1}`, `both a request and a response`},
		{"two messages on a line", `{"jsonrpc":"2.0","id":9,"method":"echo"}{}`, `where the end should stand`},
		{"too deep", `{"jsonrpc":"2.0","id":10,"method":"echo","params":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, `nested deeper than 512`},
		{"too long", `{"jsonrpc":"2.0","id":11,"method":"echo","params":"` + strings.Repeat("x", 2<<20) + `"}`, `{"jsonrpc":"2.0","id":11,"error":{"code":-32600,"message":"a line is longer than 1048576 bytes"}}`},
		{"too long, id behind", `{"jsonrpc":"2.0","method":"echo","params":"` + strings.Repeat("x", 2<<20) + `","id":11}`, `"id":null,"error":{"code":-32600`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ours, theirs := pair(t)
			start(t, theirs, rpc.Options{})
			in := bufio.NewReader(ours)
			for range 2 { // the second time shows that the first left the connection whole
				go fmt.Fprintf(ours, "\n%s\r\n", tt.line)
				ours.SetReadDeadline(time.Now().Add(5 * time.Second))
				got, err := in.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(got, tt.want) {
					t.Errorf("answer is %.300s, want one with %s", got, tt.want)
				}
			}
		})
	}
}

func TestBothEndsCall(t *testing.T) {
	a, b := pair(t)
	pa, _ := start(t, a, rpc.Options{})
	pb, _ := start(t, b, rpc.Options{MaxRequests: 64})
	var calls sync.WaitGroup
	for i := range 50 {
		calls.Go(func() {
			p := pa
			if i%2 == 0 {
				p = pb
			}
			text := strings.Repeat("é", i*1000)
			var r rpc.Response
			var err error
			for { // the other end may be at its limit of requests
				if r, err = p.Call(context.Background(), "echo", text); err != nil || r.Err == nil || r.Err.Code != rpc.CodeBusy {
					break
				}
			}
			if err != nil || r.Err != nil {
				t.Errorf("call %d: %v, %v", i, err, r.Err)
				return
			}
			defer r.Release()
			var got string
			if json.Unmarshal(r.Result, &got) != nil || got != text {
				t.Errorf("call %d came back different", i)
			}
		})
	}
	calls.Wait()
}

func TestCallEnds(t *testing.T) {
	block := func(ctx context.Context, _ *rpc.Request) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	t.Run("with its context", func(t *testing.T) {
		a, b := pair(t)
		p, _ := start(t, a, rpc.Options{})
		start(t, b, rpc.Options{Handle: block})
		ctx, cancel := context.WithCancelCause(context.Background())
		why := errors.New("no more")
		time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
		if _, err := p.Call(ctx, "x", nil); !errors.Is(err, why) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("with the connection", func(t *testing.T) {
		a, b := pair(t)
		p, ended := start(t, a, rpc.Options{})
		time.AfterFunc(20*time.Millisecond, func() { b.Close() })
		if _, err := p.Call(context.Background(), "x", nil); !errors.Is(err, rpc.ErrClosed) {
			t.Errorf("error is %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
		if _, err := p.Call(context.Background(), "x", nil); !errors.Is(err, rpc.ErrClosed) {
			t.Errorf("a later call: %v", err)
		}
	})
	t.Run("once", func(t *testing.T) {
		a, b := pair(t)
		p, _ := start(t, a, rpc.Options{})
		go func() {
			in := bufio.NewReader(b)
			in.ReadString('\n')
			fmt.Fprint(b, `{"jsonrpc":"2.0","id":99,"result":0}`+"\n"+`{"jsonrpc":"2.0","id":1,"result":1}`+"\n"+`{"jsonrpc":"2.0","id":1,"result":2}`+"\n")
			in.ReadString('\n')
			fmt.Fprint(b, `{"jsonrpc":"2.0","id":2,"error":"not an object"}`+"\n")
		}()
		if r, err := p.Call(context.Background(), "x", nil); err != nil || string(r.Result) != "1" {
			t.Errorf("first call: %s, %v", r.Result, err)
		}
		r, err := p.Call(context.Background(), "x", nil)
		if err != nil || r.Err == nil || !strings.Contains(r.Err.Message, "an error object that can't be read") {
			t.Errorf("second call: %v, %v", r.Err, err)
		}
	})
	t.Run("with an answer that is too long", func(t *testing.T) {
		a, b := pair(t)
		p, _ := start(t, a, rpc.Options{MaxLine: 100_000})
		go func() {
			in := bufio.NewReader(b)
			in.ReadString('\n')
			fmt.Fprintf(b, `{"jsonrpc":"2.0","id":1,"result":"%s"}`+"\n", strings.Repeat("x", 1<<20))
		}()
		r, err := p.Call(context.Background(), "x", nil)
		if err != nil || r.Err == nil || r.Err.Message != "a line is longer than 100000 bytes" {
			t.Errorf("%v, %v", r.Err, err)
		}
	})
}

func TestTooManyRequests(t *testing.T) {
	a, b := pair(t)
	release := make(chan struct{})
	start(t, b, rpc.Options{MaxRequests: 2, Handle: func(context.Context, *rpc.Request) (any, error) {
		<-release
		return 1, nil
	}})
	p, _ := start(t, a, rpc.Options{})
	var calls sync.WaitGroup
	results := make(chan *rpc.Error, 3)
	for range 3 {
		calls.Go(func() {
			r, err := p.Call(context.Background(), "x", nil)
			if err != nil {
				t.Error(err)
			}
			results <- r.Err
		})
	}
	if e := <-results; e == nil || e.Code != rpc.CodeBusy {
		t.Errorf("the first answer is %v, want busy", e)
	}
	close(release)
	calls.Wait()
	for range 2 {
		if e := <-results; e != nil {
			t.Error(e)
		}
	}
}

// TestMemory shows that long lines are paid for and given back, however they end.
func TestMemory(t *testing.T) {
	const size = 1 << 20
	memory := semaphore.NewWeighted(size)
	a, b := pair(t)
	p, _ := start(t, a, rpc.Options{Memory: memory, MaxLine: size})
	start(t, b, rpc.Options{MaxLine: size})
	text := strings.Repeat("x", 300_000)
	for i := range 10 {
		ctx, cancel := context.WithCancel(context.Background())
		if i%2 == 1 {
			time.AfterFunc(time.Duration(i)*100*time.Microsecond, cancel)
		}
		r, err := p.Call(ctx, "echo", text)
		cancel()
		if err == nil && memory.TryAcquire(size) {
			t.Error("a long answer costs nothing")
		}
		r.Release()
	}
	for began := time.Now(); !memory.TryAcquire(size); time.Sleep(time.Millisecond) { // late answers are still coming
		if time.Since(began) > 30*time.Second {
			t.Fatal("memory of answers was not given back")
		}
	}
}

func TestReaderThatDoesNotRead(t *testing.T) {
	a, _ := pair(t)
	p, ended := start(t, a, rpc.Options{WriteWait: 50 * time.Millisecond})
	text := strings.Repeat("x", 4<<20)
	if err := p.Notify(context.Background(), "x", text); err == nil {
		t.Error("the write did not end")
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "the other end did not read for 50ms") {
		t.Errorf("Run returned %v", err)
	}
}

func TestEndlessLine(t *testing.T) {
	ours, theirs := pair(t)
	_, ended := start(t, theirs, rpc.Options{MaxLine: 100_000})
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 100 {
		if _, err := ours.Write(chunk); err != nil {
			break
		}
	}
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "a line without end") {
			t.Errorf("Run returned %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it reads for ever")
	}
}

// TestRefuse: who is refused reads why, also if it says something after that.
func TestRefuse(t *testing.T) {
	refuse := func(conn net.Conn, wait time.Duration) <-chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			rpc.New(conn, rpc.Options{MaxLine: 1 << 20, WriteWait: time.Second}).Refuse(rpc.Errorf(rpc.CodeRefused, "not you"), wait)
		}()
		return done
	}
	t.Run("speaks", func(t *testing.T) {
		a, b := pair(t)
		done := refuse(b, time.Minute)
		in := bufio.NewReader(a)
		if line, err := in.ReadString('\n'); err != nil || line != `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not you"}}`+"\n" {
			t.Errorf("%q, %v", line, err)
		}
		if _, err := fmt.Fprintln(a, `{"jsonrpc":"2.0","id":1,"method":"echo"}`); err != nil {
			t.Errorf("write: %v", err)
		}
		if line, err := in.ReadString('\n'); !errors.Is(err, io.EOF) {
			t.Errorf("%q, %v", line, err)
		}
		a.Close()
		<-done
	})
	t.Run("stays", func(t *testing.T) {
		_, b := pair(t)
		<-refuse(b, time.Millisecond)
	})
	t.Run("floods", func(t *testing.T) {
		a, b := pair(t)
		done := refuse(b, time.Minute)
		for line := make([]byte, 4096); ; {
			if _, err := a.Write(line); err != nil {
				break
			}
		}
		<-done
	})
}

func TestDecode(t *testing.T) {
	var into struct {
		A    int `json:"a"`
		List []struct {
			B *struct {
				C json.RawMessage `json:"c"`
			} `json:"b"`
		} `json:"list"`
	}
	for text, want := range map[string]string{
		`{"a":1}`:         "",
		`{"a":1,"b":2}`:   `unknown field "b"`,
		`{"a":1,"a":2}`:   `the key "a" stands twice in one object`,
		`{"a":"x"}`:       "a: want integer, not string",
		`[1]`:             "'[' at byte 0 where '{' should stand",
		`{"a":1} {"a":1}`: "'{' at byte 8 where the end should stand",

		`{"list":[{"b":{"c":{"C":1}}},{"b":null}]}`: "",
		`{"list":[{},{"b":{"C":1}}]}`:               `list: [1]: b: unknown field "C"; there are: c`,
		`{"list":[{"b":{},"b":{}}]}`:                `list: [0]: the key "b" stands twice in one object`,
		`{"list":{}}`:                               "list: want array, not object",
	} {
		err := rpc.Decode([]byte(text), &into)
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// FuzzPeer sends any bytes to a peer, which must neither panic nor hang, and must still serve what is right.
func FuzzPeer(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`))
	f.Add([]byte("\n\r\n{\"id\":\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		ours, theirs := pair(t)
		start(t, theirs, rpc.Options{MaxLine: 200, MaxRequests: 4})
		go func() {
			ours.Write(in)
			fmt.Fprint(ours, "\n"+`{"jsonrpc":"2.0","id":"last","method":"echo","params":7}`+"\n")
		}()
		ours.SetReadDeadline(time.Now().Add(5 * time.Second))
		answers := bufio.NewScanner(ours)
		for answers.Scan() {
			if !json.Valid(answers.Bytes()) {
				t.Fatalf("answer %q is not JSON", answers.Bytes())
			}
			if strings.Contains(answers.Text(), `"id":"last"`) {
				return
			}
		}
		t.Fatalf("no answer to the last request: %v", answers.Err())
	})
}
