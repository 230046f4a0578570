// Newer kernels would be asked for prctl(PR_SET_VMA), which the jail forbids.
//go:debug decoratemappings=0

// Command sandbox-worker runs one program in a jail. sandbox-nursery starts it with nothing but a socket to
// the daemon on descriptor 3; it takes no arguments and reads no environment and no file.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/js"
	"github.com/sandboxd/sandboxd/internal/wire"
)

func main() {
	if err := live(); !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, "sandbox-worker:", err)
		os.Exit(1)
	}
}

// live is the whole life of a worker, which is killed; it returns only if it can't be lived. The order is the jail's: see its package comment.
func live() error {
	if err := jail.CloseOthers(); err != nil {
		return err
	}
	writeSelf("comm", "sandbox-worker") // it was started through a descriptor, and would be called by that one's number
	writeSelf("oom_score_adj", "1000")  // when memory runs out, it goes before any other process
	runtime.GOMAXPROCS(1)
	debug.SetTraceback("none") // the daemon reads why a worker dies, not where
	conn := wire.NewConn(socket{})
	spec, err := gate(conn)
	if err != nil {
		return err
	}
	engine := js.New(js.Options{CPUTime: cpuTime})
	report, err := jail.Enter(spec)
	if err != nil {
		return err
	}
	if err := ready(conn, report); err != nil {
		return err
	}
	program, err := receive(conn)
	if err != nil {
		return err
	}
	run(conn, engine, program)
	return nil
}

// gate waits until the nursery has put this process where it belongs, and takes the jail.
func gate(conn *wire.Conn) (jail.Spec, error) {
	var spec jail.Spec
	kind, line, err := conn.Header()
	if err != nil {
		return spec, err
	}
	if kind != wire.TypeGate {
		return spec, fmt.Errorf("%w: %q before the gate", wire.ErrProtocol, kind)
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
		return fmt.Errorf("marshal report: %w", err)
	}
	return conn.Write(wire.Ready{Type: wire.TypeReady, Report: text})
}
