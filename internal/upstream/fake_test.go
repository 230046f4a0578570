package upstream_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/upstream"
)

// fake is this test binary again, as a server that misbehaves.
func fake(how string) upstream.Server {
	return upstream.Server{Name: how, Command: os.Args[0], Env: map[string]string{"FAKE_SERVER": how}}
}

const (
	hello  = `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}}` + "\n"
	refuse = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}` + "\n"
	answer = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}],"x-new":{"z":1,"a":2}}}` + "\n"
)

func runFake(how string) {
	switch how {
	case "replay":
		runReplay()
		return
	case "silent":
		time.Sleep(time.Hour)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		helper := exec.Command("sleep", "1000")
		helper.Stdout, helper.Stderr = os.Stdout, os.Stderr
		helper.Start()
		fmt.Fprintln(os.Stderr, "helper", helper.Process.Pid)
		defer time.Sleep(time.Hour)
	case "broken":
		fmt.Fprintln(os.Stderr, "cannot find\x1b[31m my database")
		os.Exit(3)
	case "loud":
		fmt.Fprint(os.Stderr, strings.Repeat("x", 10<<20), "\n")
	case "chatty":
		fmt.Println("Welcome to the fake server!")
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		_, id, _ := strings.Cut(line, `"id":`)
		id, _, _ = strings.Cut(id, ",")
		switch {
		case strings.Contains(line, `"server/discover"`):
			fmt.Printf(refuse, id)
		case strings.Contains(line, `"initialize"`):
			fmt.Printf(hello, id)
		case how == "flood" && strings.Contains(line, `"notifications/initialized"`):
			for id := 0; ; id++ {
				if _, err := fmt.Printf(`{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"_meta":{"x":"%s"}}}`+"\n", id, strings.Repeat("x", 64<<10)); err != nil {
					return
				}
			}
		case strings.Contains(line, `"notifications/cancelled"`):
			fmt.Fprintln(os.Stderr, "cancelled")
		case strings.Contains(line, `"tools/list"`):
			fakeList(how, id)
		case strings.Contains(line, `"tools/call"`):
			fakeCall(how, id, line)
		}
	}
}

func fakeCall(how, id, line string) {
	switch how {
	case "dies":
		os.Exit(3)
	case "slow":
	case "garbage":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[}}`+"\n", id)
	case "huge":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`+"\n", id, strings.Repeat("x", 17<<20))
	case "meta":
		fmt.Fprint(os.Stderr, line)
		fallthrough
	default:
		fmt.Printf(answer, id)
	}
}

func TestResultComesAsItWasSent(t *testing.T) {
	for _, how := range []string{"plain", "chatty", "loud"} {
		raw, err := connect(t, fake(how)).Call(t.Context(), call(how, "any", "{}"))
		if want := `{"content":[{"type":"text","text":"done"}],"x-new":{"z":1,"a":2}}`; err != nil || string(raw) != want {
			t.Errorf("%s: got %s, error %v", how, raw, err)
		}
	}
}

func TestServerThatBreaksDuringACall(t *testing.T) {
	for how, want := range map[string]string{
		"dies":    "dies.any: the server is gone (exit status 3)",
		"garbage": "invalid character",
		"huge":    "more than 16777216 bytes",
	} {
		u := connect(t, fake(how))
		_, err := u.Call(t.Context(), call(how, "any", "{}"))
		wantError(t, err, want)
		_, err = u.Call(t.Context(), call(how, "any", "{}"))
		wantError(t, err, "the server is gone")
	}
}

func TestCancelledCallIsToldToTheServer(t *testing.T) {
	var said syncBuffer
	u, err := upstream.Connect(t.Context(), upstream.Config{Servers: []upstream.Server{fake("slow")}}, upstream.Options{Stderr: &said})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := u.Call(ctx, call("slow", "any", "{}")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline", err)
	}
	said.wait(t, "[slow] cancelled\n")
}

func TestTraceContextIsHandedOn(t *testing.T) {
	var said syncBuffer
	u, err := upstream.Connect(t.Context(), upstream.Config{Servers: []upstream.Server{fake("meta")}}, upstream.Options{Stderr: &said})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	c := call("meta", "any", "{}")
	c.Traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	mustCall(t, u, c)
	said.wait(t, `"traceparent":"`+c.Traceparent)
}

func TestConnectErrors(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes connections; nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	tests := []struct {
		name   string
		server upstream.Server
		want   []string
	}{
		{"mute", upstream.Server{Name: "a", URL: "http://" + mute.Addr().String()}, []string{`server "a": no answer to the handshake within 300ms`}},
		{"exits", fake("broken"), []string{`server "broken"`, "exit status 3", "its last words:\n  cannot find[31m my database"}},
		{"silent", fake("silent"), []string{`server "silent": no answer to the handshake within 300ms`}},
		{"no command", upstream.Server{Name: "a", Command: "no-such-command"}, []string{`server "a": `, "executable file not found in $PATH", "install it"}},
		{"no file", upstream.Server{Name: "a", Command: "bin/none"}, []string{`server "a": `, "bin/none", "relative paths start at"}},
		{"nobody listens", upstream.Server{Name: "a", URL: "http://127.0.0.1:1/mcp"}, []string{`server "a": `, "connection refused"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config := upstream.Config{Servers: []upstream.Server{test.server, stdioServer()}}
			_, err := upstream.Connect(t.Context(), config, upstream.Options{Timeout: 300 * time.Millisecond})
			for _, want := range test.want {
				wantError(t, err, want)
			}
			if left := children(t); left != "" {
				t.Errorf("processes are left: %s", left)
			}
		})
	}
}

func TestCloseKillsAStubbornServerAndItsHelpers(t *testing.T) {
	var said syncBuffer
	u, err := upstream.Connect(t.Context(), upstream.Config{Servers: []upstream.Server{fake("stubborn")}}, upstream.Options{Stderr: &said})
	if err != nil {
		t.Fatal(err)
	}
	said.wait(t, "helper")
	var helper int
	if _, err := fmt.Sscanf(said.String(), "[stubborn] helper %d", &helper); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := u.Close(); err != nil || time.Since(start) > 30*time.Second {
		t.Errorf("Close took %v, error %v", time.Since(start), err)
	}
	if left := children(t); left != "" {
		t.Errorf("processes are left: %s", left)
	}
	// It is init's now, which may take its time to bury it; and a busy machine, to let it die.
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", helper))
		if err != nil || strings.Contains(string(stat), ") Z") {
			return
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("the helper lives: %s", stat)
		}
	}
}

func TestSkipFailed(t *testing.T) {
	config := upstream.Config{Servers: []upstream.Server{fake("broken"), stdioServer()}}
	u, err := upstream.Connect(t.Context(), config, upstream.Options{SkipFailed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if got := strings.Join(u.Servers(), " "); got != "tracker" {
		t.Errorf("connected to %s, want tracker", got)
	}
}

// syncBuffer is a bytes.Buffer that one goroutine writes and another reads.
type syncBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *syncBuffer) wait(t *testing.T, want string) {
	t.Helper()
	for range 200 {
		if strings.Contains(s.String(), want) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the server said %q, want %q", s.String(), want)
}
