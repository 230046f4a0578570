package js_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/js"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// A program that native code holds, or that Go itself dies of, takes its process with it: such tests run in a child,
// which is this test binary under the conditions of a worker: one P and an address space limit.
const childVar = "SANDBOXD_JS_TEST_PROGRAM"

func TestMain(m *testing.M) {
	text, ok := os.LookupEnv(childVar)
	if !ok {
		os.Exit(m.Run())
	}
	var p js.Program
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		panic(err)
	}
	child(p)
}

func child(p js.Program) {
	runtime.GOMAXPROCS(1)
	e := js.New(js.Options{CPUTime: processCPU})
	limitAddressSpace(uint64(3 * p.Limits.MemoryBytes))
	h := &echo{engine: e}
	host := h.host()
	host.Abandon = func(out js.Outcome) {
		fmt.Println("abandoned", brief(out))
		os.Exit(0)
	}
	out := e.Run(p, host)
	fmt.Println("ended", brief(out))
	os.Exit(0)
}

func processCPU() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// limitAddressSpace sets RLIMIT_AS as a worker's is: what is mapped now and some more.
func limitAddressSpace(more uint64) {
	status, _ := os.ReadFile("/proc/self/statm")
	var pages uint64
	fmt.Sscan(string(status), &pages)
	limit := pages*uint64(os.Getpagesize()) + more
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		panic(err)
	}
}

// ending is how a child ended: it told so itself, or it died with a reason that a supervisor reads off stderr.
type ending struct {
	how  string // "ended", "abandoned" or "died"
	text string // the outcome
	kind string
	took time.Duration
	peak int64 // resident bytes at most
}

func inChild(t *testing.T, p js.Program) (how, text string, took time.Duration) {
	t.Helper()
	end := runChild(t, p)
	return end.how, end.text, end.took
}

func runChild(t *testing.T, p js.Program) (end ending) {
	t.Helper()
	if raceDetector {
		skip.Because(t, "the race detector's shadow memory does not go with an address space limit")
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+string(text), "GOTRACEBACK=none")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(60*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	peak := watchPeak(cmd.Process.Pid)
	err = cmd.Wait()
	end = ending{how: "died", kind: "?", took: time.Since(start), peak: peak()}
	if err == nil {
		end.how, end.text, _ = strings.Cut(strings.TrimSpace(stdout.String()), " ")
		end.kind, _, _ = strings.Cut(end.text, " ")
		return end
	}
	switch text := stderr.String(); {
	case strings.Contains(text, "stack exceeds"):
		end.kind = js.KindError
	case strings.Contains(text, "out of memory"), strings.Contains(text, "cannot allocate"):
		end.kind = js.KindMemory
	default:
		t.Errorf("%v: %s%s", err, stdout.String(), text)
	}
	end.text = end.kind
	return end
}

// watchPeak samples the most that a child has held. The kernel's own maximum of a child that has ended
// counts what it shared with this process before it became the test binary.
func watchPeak(pid int) (peak func() int64) {
	done, result := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		for {
			if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
				if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
					var kib int64
					fmt.Sscan(after, &kib)
					most = max(most, kib<<10)
				}
			}
			select {
			case <-done:
				result <- most
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(done)
		return <-result
	}
}
