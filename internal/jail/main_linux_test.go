//go:debug decoratemappings=0

package jail_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/sandboxd/sandboxd/internal/jail"
)

// The jail confines for good, so that every test of it runs in a child: this test binary again, with
// these variables set.
const (
	envAct  = "JAIL_TEST_ACT"  // a key of acts
	envArg  = "JAIL_TEST_ARG"  // the act's argument
	envSpec = "JAIL_TEST_SPEC" // JSON
)

func TestMain(m *testing.M) {
	if name := os.Getenv(envAct); name != "" {
		childMain(acts[name], os.Getenv(envArg))
	}
	code := m.Run()
	if childDir != "" {
		os.RemoveAll(childDir)
	}
	os.Exit(code)
}

// act is what a child does once it is in the jail.
type act struct {
	before func(arg string) // while everything is allowed, as an engine is warmed
	enter  func(jail.Spec) (jail.Report, error)
	inside func(arg string)
}

// childMain does what a worker's main does.
func childMain(a act, arg string) {
	check(jail.CloseOthers())
	runtime.GOMAXPROCS(1)
	var spec jail.Spec
	check(json.Unmarshal([]byte(os.Getenv(envSpec)), &spec))
	if a.before != nil {
		a.before(arg)
	}
	enter := jail.Enter
	if a.enter != nil {
		enter = a.enter
	}
	report, err := enter(spec)
	check(err)
	line, err := json.Marshal(report)
	check(err)
	say("%s", line)
	a.inside(arg)
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// say writes a line to the daemon's end of the socket, as a worker does: by a plain system call.
func say(format string, args ...any) {
	b := fmt.Appendf(nil, format+"\n", args...)
	for len(b) > 0 {
		n, err := syscall.Write(3, b)
		if err != nil {
			panic(err)
		}
		b = b[n:]
	}
}
