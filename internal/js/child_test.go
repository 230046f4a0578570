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
	out := e.Run(p, js.Host{Abandon: func(out js.Outcome) {
		fmt.Println("abandoned", brief(out))
		os.Exit(0)
	}})
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

// inChild gives the kind of ending and how the child told it: "ended", "abandoned", or "died" with a reason that a
// supervisor reads off stderr.
func inChild(t *testing.T, p js.Program) (how, kind string, took time.Duration) {
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
	timer := time.AfterFunc(60*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err = cmd.Run()
	took = time.Since(start)
	if err == nil {
		how, kind, _ = strings.Cut(strings.TrimSpace(stdout.String()), " ")
		return how, kind, took
	}
	switch text := stderr.String(); {
	case strings.Contains(text, "stack exceeds"):
		return "died", "error", took
	case strings.Contains(text, "out of memory"), strings.Contains(text, "cannot allocate"):
		return "died", "memory", took
	}
	t.Errorf("%v: %s%s", err, stdout.String(), stderr.String())
	return "died", "?", took
}
