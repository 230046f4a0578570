package soak_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestSoakTakenOver is a worker that its program took over, which JavaScript can't do here: the worker is the fake of
// tests/hostile, and a program is a script for it (see script.go there).
func TestSoakTakenOver(t *testing.T) {
	soak(t, daemon.Options{Config: config, Bin: fakeBin(t)}, max(total(t)/4, samples), decent, takenOver)
}

// fakeBin makes a directory of binaries whose worker is the fake.
func fakeBin(t *testing.T) string {
	t.Helper()
	bin := daemon.Binaries(t)
	dir, err := os.MkdirTemp(bin, "fake-") // goes when bin does
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // workers of a root's nursery run as nobody
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "sandbox-worker"), "../hostile/fakeworker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build fakeworker: %v\n%s", err, out)
	}
	for _, name := range []string{"sandboxd", "sandbox-nursery"} {
		if err := os.Link(filepath.Join(bin, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func script(steps ...string) sandboxd.Program { return source(strings.Join(steps, "\n")) }

// shortly is a script that hangs, under limits that end it soon.
func shortly(steps ...string) sandboxd.Program {
	return within(sandboxd.Limits{WallMS: 40, CPUMS: 100}, strings.Join(steps, "\n"))
}

func say(text string) string { return "say " + strconv.Quote(text) }

// calls says so many calls of one tool, numbered from 1, whose arguments have the announced size or not.
func calls(n int, tool string, size int, arguments string) string {
	var headers []string
	for i := range n {
		headers = append(headers, fmt.Sprintf(`{"id":%d,"server":"s","tool":%q,"size":%d}`, i+1, tool, size))
	}
	return say(`{"type":"calls","calls":[` + strings.Join(headers, ",") + "]}\n" + strings.Repeat(arguments, n))
}

func done(value string) string {
	return say(fmt.Sprintf(`{"type":"done","kind":"ok","size":%d}`+"\n%s", len(value), value))
}

// decent is what an honest worker says.
var decent = []kind{
	ends("done", script(done("1")), sandboxd.OutcomeOK, "1"),
	ends("a call", script(calls(1, "echo", 2, "{}"), "await 1", done("1")), sandboxd.OutcomeOK, "1"),
	ends("four calls", script(calls(4, "echo", 2, "{}"), "await 4", done("1")), sandboxd.OutcomeOK, "1"),
	ends("a listing", script(calls(1, "rows", 2, "{}"), "await 1", done("1")), sandboxd.OutcomeOK, "1"),
	ends("console", script(say(`{"type":"console","lines":[{"level":"log","size":2}]}`+"\nhi"), done("1")), sandboxd.OutcomeOK, "1"),
	ends("an error", script(say(`{"type":"done","kind":"error","size":0,"error":{"message":"x"}}`+"\n")), sandboxd.OutcomeError, ""),
}

// takenOver is what native code in a worker would try.
var takenOver = []kind{
	ends("forbidden system call", script("syscall"), sandboxd.OutcomeViolation, ""),
	ends("garbage", script(say("garbage\n")), sandboxd.OutcomeViolation, ""),
	ends("exit", script("exit 3 \"x\""), sandboxd.OutcomeCrash, ""),
	ends("half a header", shortly(say(`{"type":"do`)), sandboxd.OutcomeTimeout, ""),
	ends("a body that does not come", script(calls(1, "echo", 5000, "{}"), "exit 0 \"\""), sandboxd.OutcomeCrash, ""),
	ends("calls, and done at once", script(calls(4, "hang", 2, "{}"), done("1")), sandboxd.OutcomeOK, "1"),
	ends("flood", script(`flood 1000000 "x"`), sandboxd.OutcomeViolation, ""),
	ends("results that nobody reads", shortly(calls(4, "large", 2, "{}"), "deaf"), sandboxd.OutcomeTimeout, ""),
	ends("a call, then gone", script(calls(1, "hang", 2, "{}"), "pause 5", "exit 0 \"\""), sandboxd.OutcomeCrash, ""),
	ends("standard error flood", shortly("stderr 1000000"), sandboxd.OutcomeTimeout, ""),
	ends("spin on four threads", within(sandboxd.Limits{CPUMS: 100}, "spin 4"), sandboxd.OutcomeCPU, ""),
	{"hang-up", hangUpOn(script(calls(1, "hang", 2, "{}")))},
}
