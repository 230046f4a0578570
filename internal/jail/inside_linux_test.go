package jail_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/jail"
)

// acts are what children do inside.
var acts = map[string]act{
	"nothing":  {inside: func(string) {}},
	"churn":    {inside: func(string) { churn(20); say("churned") }},
	"timers":   {inside: func(string) { timers(); say("timed") }},
	"panic":    {inside: func(string) { say("recovered %v", recovered()) }},
	"echo":     {inside: func(string) { echo() }},
	"sleep":    {inside: func(string) { time.Sleep(time.Minute) }},
	"spin":     {inside: func(string) { spin() }},
	"flood":    {inside: func(string) { flood() }},
	"overflow": {before: func(string) { debug.SetMaxStack(8 << 20) }, inside: func(string) { deeper(1) }},
	"cputime":  {inside: func(string) { cputime() }},
	"block":    {inside: func(string) { block() }},
	"stderr":   {inside: func(string) { fmt.Fprintln(os.Stderr, "from inside") }},
	"probe":    {before: prepareProbe, inside: probeInside},
	"step":     {enter: untilStep, inside: func(string) { time.Sleep(time.Minute) }},
	"allocate": {inside: func(string) { allocate() }},
	"timed":    {enter: timedEnter, inside: func(string) {}},
	"leak":     {before: leak, inside: func(string) {}},
	"no-exec":  {enter: forbidExec, inside: func(string) { execute() }},
}

var sink []any

// churn makes garbage, goroutines and collections, so that the runtime uses all that it needs.
func churn(rounds int) {
	for i := range rounds {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				var keep [][]byte
				for j := range 200 {
					keep = append(keep, make([]byte, 20*j))
				}
				runtime.Gosched()
				runtime.KeepAlive(keep)
			})
		}
		wg.Wait()
		sink = append(sink[:0:0], make([]byte, 1<<20), fmt.Sprint(i))
		if i%10 == 9 {
			runtime.GC()
			debug.FreeOSMemory()
		}
	}
}

func timers() {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	done := make(chan bool)
	time.AfterFunc(20*time.Millisecond, func() { close(done) })
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-done:
			time.Sleep(time.Millisecond)
			return
		}
	}
}

func recovered() (v any) {
	defer func() { v = recover() }()
	var p *int
	return *p // SIGSEGV, which the runtime makes a panic of
}

// echo answers lines on fd 3, while other goroutines run.
func echo() {
	go func() {
		for {
			churn(1)
			time.Sleep(time.Millisecond)
		}
	}()
	lines := bufio.NewScanner(socketReader{})
	for lines.Scan() {
		say("%s", lines.Text())
	}
}

type socketReader struct{}

func (socketReader) Read(b []byte) (int, error) {
	n, err := syscall.Read(3, b)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func spin() {
	for {
		sink = append(sink[:0:0], 1)
	}
}

func flood() {
	for {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = 1
		}
		sink = append(sink, b)
	}
}

func allocate() {
	for range 100 {
		b := make([]byte, 1<<20)
		b[0] = 1
		sink = append(sink, b)
	}
}

//lint:ignore SA5007 it is to overflow the stack
func deeper(n int) int { return deeper(n+1) + len(fmt.Sprint(n)[:1]) }

func cputime() {
	for _, clock := range []int32{unix.CLOCK_REALTIME, unix.CLOCK_MONOTONIC, unix.CLOCK_PROCESS_CPUTIME_ID} {
		var ts unix.Timespec
		_, _, errno := syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(clock), ptr(&ts), 0)
		say("%d %v %v", clock, errno == 0, ts.Nano() > 0)
	}
}

// block keeps a read, two writes and a computation going at the same time: the most that a worker does.
func block() {
	go func() { syscall.Read(3, make([]byte, 1)) }()
	go func() {
		for {
			syscall.Write(2, make([]byte, 4096))
		}
	}()
	go func() {
		for { // until the peer's buffer is full
			say("%01000d", 0)
		}
	}()
	churn(200)
	os.Exit(5)
}

func TestInside(t *testing.T) {
	tests := []struct {
		act, said, end, stderr string
	}{
		{"nothing", "", "exit 0", ""},
		{"churn", "churned\n", "exit 0", ""},
		{"timers", "timed\n", "exit 0", ""},
		{"panic", "recovered runtime error: invalid memory address or nil pointer dereference\n", "exit 0", ""},
		{"cputime", "0 true true\n1 true true\n2 true true\n", "exit 0", ""},
		{"stderr", "", "exit 0", "from inside"},
		{"flood", "", "exit 2", "out of memory"},
		{"overflow", "", "exit 2", "stack overflow"},
	}
	for _, tt := range tests {
		t.Run(tt.act, func(t *testing.T) {
			s := spec
			s.MemoryBytes = 32 << 20
			c := start(t, s, tt.act, "")
			c.ready(t)
			said, end := c.end(t)
			if said != tt.said || end != tt.end || !strings.Contains(c.stderr.String(), tt.stderr) {
				t.Errorf("said %q, ended with %s, stderr:\n%.2000s\nwant %q, %s, %q", said, end, c.stderr.String(), tt.said, tt.end, tt.stderr)
			}
		})
	}
}

func TestBlockedReadAndWrites(t *testing.T) {
	unread, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	c := start(t, spec, "block", "", func(cmd *exec.Cmd) { cmd.Stderr = theirs })
	c.ready(t)
	c.Wait() // and read nothing
	if got := c.ProcessState.ExitCode(); got != 5 {
		t.Errorf("%v", c.ProcessState)
	}
}

func TestEchoSurvivesStop(t *testing.T) {
	c := start(t, spec, "echo", "")
	c.ready(t)
	for i := range 20 {
		fmt.Fprintf(c.socket, "line %d\n", i)
		got, err := c.lines.ReadString('\n')
		if want := fmt.Sprintf("line %d\n", i); got != want || err != nil {
			_, end := c.end(t)
			t.Fatalf("got %q, %v, want %q; %s %s", got, err, want, end, c.stderr.String())
		}
		c.Process.Signal(unix.SIGSTOP)
		time.Sleep(3 * time.Millisecond)
		c.Process.Signal(unix.SIGCONT)
	}
	unix.Shutdown(int(c.socket.Fd()), unix.SHUT_WR)
	if _, end := c.end(t); end != "exit 0" {
		t.Errorf("ended with %s\n%s", end, c.stderr.String())
	}
}

func TestSoak(t *testing.T) {
	const n = 200
	for i := range n {
		c := start(t, spec, "churn", "")
		if err := jail.Check(c.Process.Pid, c.ready(t)); err != nil {
			t.Error(err)
		}
		if said, end := c.end(t); said != "churned\n" || end != "exit 0" {
			t.Errorf("child %d of %d: said %q, ended with %s\n%s", i, n, said, end, c.stderr.String())
		}
	}
}
