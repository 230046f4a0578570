//go:build linux

// Newer kernels would be asked for prctl(PR_SET_VMA), which the jail forbids.
//go:debug decoratemappings=0

// Command victim stands in for sandbox-worker: it enters the jail as that does, by the same code and in the same order.
// What it gets for a program is the name of an attack, which it performs. If it survives that, it says what came of it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/wire"
	"github.com/sandboxd/sandboxd/tests/escape/attack"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == attack.Ran { // an attack has executed it
		_ = say([]byte(attack.Done)) // whoever reads it is there, or nobody asks
		return
	}
	if err := live(); !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, "victim:", err)
		os.Exit(1)
	}
}

// live is what cmd/sandbox-worker does, with an attack instead of an engine.
func live() error {
	if err := jail.CloseOthers(); err != nil {
		return err
	}
	writeSelf("comm", "sandbox-worker")
	writeSelf("oom_score_adj", "1000")
	runtime.GOMAXPROCS(1)
	debug.SetTraceback("none")
	conn := wire.NewConn(socket{})
	spec, err := gate(conn)
	if err != nil {
		return err
	}
	attack.Prepare()
	report, err := jail.Enter(spec)
	if err != nil {
		return err
	}
	if err := ready(conn, report); err != nil {
		return err
	}
	name, target, err := receive(conn)
	if err != nil {
		return err
	}
	return perform(conn, name, target)
}

func gate(conn *wire.Conn) (jail.Spec, error) {
	var spec jail.Spec
	kind, line, err := conn.Header()
	if err != nil {
		return spec, err
	}
	if kind != wire.TypeGate {
		return spec, fmt.Errorf("%q before the gate", kind)
	}
	var message wire.Gate
	if err := wire.Decode(line, &message); err != nil {
		return spec, err
	}
	return spec, wire.Decode(message.Jail, &spec)
}

func ready(conn *wire.Conn, report jail.Report) error {
	text, err := json.Marshal(report)
	if err != nil {
		return err
	}
	return conn.Write(wire.Ready{Type: wire.TypeReady, Report: text})
}

// receive takes the name of an attack, and what it is aimed at.
func receive(conn *wire.Conn) (string, attack.Target, error) {
	var target attack.Target
	kind, line, err := conn.Header()
	if err != nil {
		return "", target, err
	}
	if kind != wire.TypeStart {
		return "", target, fmt.Errorf("%q before the start", kind)
	}
	var m wire.Start
	if err := wire.Decode(line, &m); err != nil {
		return "", target, err
	}
	name, err := conn.Body(m.Source, wire.MaxBody)
	if err != nil {
		return "", target, err
	}
	input, err := conn.Body(m.Input, wire.MaxBody)
	if err == nil && len(input) > 0 {
		err = json.Unmarshal(input, &target)
	}
	// A daemon takes the name alone of some for a shell command.
	return strings.TrimPrefix(string(name), "attack: "), target, err
}

// perform announces the attack, so that what kills the process is the attack and nothing before it; makes it; and says
// how it ended. Then it waits to be killed.
func perform(conn *wire.Conn, name string, target attack.Target) error {
	a, ok := attack.Find(name)
	if !ok {
		return fmt.Errorf("no attack %q", name)
	}
	if err := conn.Write(wire.Console{Type: wire.TypeConsole, Lines: []wire.Line{{Level: "log"}}}); err != nil {
		return err
	}
	value, err := json.Marshal(attack.End(a.Do(&target)))
	if err != nil {
		return err
	}
	if err := conn.Write(wire.Done{Type: wire.TypeDone, Kind: "ok", Size: len(value)}, value); err != nil {
		return err
	}
	_, _, err = conn.Header()
	return err
}

// writeSelf sets a file of this process in /proc, as in a worker.
func writeSelf(file, text string) {
	fd, err := syscall.Open("/proc/self/"+file, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_, _ = syscall.Write(fd, []byte(text))
	_ = syscall.Close(fd)
}

const fdSocket = 3

// socket is descriptor 3, with plain system calls, as in a worker.
type socket struct{}

func (socket) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(fdSocket, p)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (socket) Write(p []byte) (int, error) { return len(p), say(p) }

func say(p []byte) error {
	for len(p) > 0 {
		n, err := syscall.Write(fdSocket, p)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return err
		default:
			p = p[n:]
		}
	}
	return nil
}
