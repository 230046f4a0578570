package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sandboxd/sandboxd/internal/js"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// receive waits for the program.
func receive(conn *wire.Conn) (js.Program, error) {
	kind, line, err := conn.Header()
	if err != nil {
		return js.Program{}, err
	}
	if kind != wire.TypeStart {
		return js.Program{}, fmt.Errorf("%w: %q before the start", wire.ErrProtocol, kind)
	}
	var m wire.Start
	if err := wire.Decode(line, &m); err != nil {
		return js.Program{}, err
	}
	source, err := conn.Body(m.Source, wire.MaxBody)
	if err != nil {
		return js.Program{}, err
	}
	input, err := conn.Body(m.Input, wire.MaxBody)
	if err != nil {
		return js.Program{}, err
	}
	names, err := conn.Body(m.Names, wire.MaxBody)
	if err != nil {
		return js.Program{}, err
	}
	zone, err := location(conn, m)
	return js.Program{
		Source: string(source), Input: input, Servers: m.Servers, Names: string(names),
		Seed: m.Seed, Now: time.UnixMilli(m.Now), Still: m.Still, Zone: zone,
		Limits: js.Limits{
			Calls: m.Limits.Calls, OutputBytes: m.Limits.OutputBytes, ConsoleBytes: m.Limits.ConsoleBytes,
			ArgumentBytes: m.Limits.ArgumentBytes, MemoryBytes: m.Limits.MemoryBytes,
			CPU: time.Duration(m.Limits.CPUMS) * time.Millisecond,
		},
	}, err
}

// location is the program's time zone.
func location(conn *wire.Conn, m wire.Start) (*time.Location, error) {
	rules, err := conn.Body(m.Zone, wire.MaxBody)
	if err != nil || m.Zone == 0 {
		return time.UTC, err
	}
	return time.LoadLocationFromTZData(m.TimeZone, rules)
}

// run runs the program, says how it ended, and waits to be killed: the daemon reads this process's account
// while it lives.
func run(conn *wire.Conn, engine *js.Engine, program js.Program) {
	go func() {
		// io.EOF, or whoever sent that is not the daemon: there is nobody to tell.
		_ = listen(conn, engine)
		os.Exit(1)
	}()
	finish(conn, engine.Run(program, js.Host{
		Calls:   func(calls []js.Call) { send(conn, calls) },
		Console: func(lines []js.Line) { print(conn, lines) },
		Abandon: func(o js.Outcome) {
			finish(conn, o)
			os.Exit(0) // the interpreter does not stop: nothing else ends it
		},
	}))
	select {}
}

// listen hands on what the daemon sends while the program runs. It returns when there is no more, and why.
func listen(conn *wire.Conn, engine *js.Engine) error {
	for {
		kind, line, err := conn.Header()
		if err != nil {
			return err
		}
		switch kind {
		case wire.TypeResult:
			err = deliver(conn, engine, line)
		case wire.TypeStop:
			var m wire.Stop
			if err = wire.Decode(line, &m); err == nil {
				engine.Stop(m.Kind, m.Message)
			}
		default:
			err = fmt.Errorf("%w: unexpected %q", wire.ErrProtocol, kind)
		}
		if err != nil {
			return err
		}
	}
}

var forms = map[string]js.Form{
	wire.FormJSON: js.JSON, wire.FormAuto: js.Auto, wire.FormFailed: js.Failed, wire.FormInvalid: js.Invalid,
	wire.FormBlocked: js.Blocked,
}

func deliver(conn *wire.Conn, engine *js.Engine, line []byte) error {
	var m wire.Result
	if err := wire.Decode(line, &m); err != nil {
		return err
	}
	form, ok := forms[m.Form]
	if !ok {
		return fmt.Errorf("%w: a result of form %q", wire.ErrProtocol, m.Form)
	}
	body, err := conn.Body(m.Size, wire.MaxBody)
	if err != nil {
		return err
	}
	answer := js.Answer{ID: m.ID, Form: form, Body: body}
	if form == js.Blocked {
		answer.Rule, answer.Reason = m.Rule, string(body)
	}
	engine.Deliver(answer)
	return nil
}

func send(conn *wire.Conn, calls []js.Call) {
	for len(calls) > 0 {
		part := calls[:fitting(calls)]
		calls = calls[len(part):]
		bodies := make([][]byte, len(part))
		for i, c := range part {
			bodies[i] = c.Args
		}
		write(conn, message(wire.TypeCalls, part), bodies...)
	}
}

// fitting is how many calls go into one message.
func fitting(calls []js.Call) int {
	size := len(calls[0].Args)
	for n := 1; n < min(len(calls), wire.MaxCalls); n++ {
		if size += len(calls[n].Args); size > wire.MaxArgs {
			return n
		}
	}
	return min(len(calls), wire.MaxCalls)
}

func message(kind string, calls []js.Call) wire.Calls {
	m := wire.Calls{Type: kind, Calls: make([]wire.Call, len(calls))}
	for i, c := range calls {
		m.Calls[i] = wire.Call{ID: c.ID, Server: c.Server, Tool: c.Tool, Size: len(c.Args)}
	}
	return m
}

func print(conn *wire.Conn, lines []js.Line) {
	for part := range slices.Chunk(lines, wire.MaxLines) {
		m := wire.Console{Type: wire.TypeConsole, Lines: make([]wire.Line, len(part))}
		texts := make([][]byte, len(part))
		for i, l := range part {
			m.Lines[i] = wire.Line{Level: l.Level, Size: len(l.Text)}
			texts[i] = []byte(l.Text)
		}
		write(conn, m, texts...)
	}
}

// finish says how the run ended, after what it still has to tell.
func finish(conn *wire.Conn, o js.Outcome) {
	print(conn, o.Lines)
	for part := range slices.Chunk(o.Unsent, wire.MaxCalls) {
		write(conn, message(wire.TypeUnsent, part))
	}
	m := wire.Done{
		Type: wire.TypeDone, Kind: o.Kind, Size: len(o.Value), Hint: o.Hint,
		DroppedLines: o.DroppedLines, DroppedBytes: o.DroppedBytes,
	}
	if o.Error != nil {
		e := wire.Error(*o.Error)
		m.Error = &e
	}
	write(conn, m, o.Value)
}

// write sends a message; a daemon that can't be written to is gone, and nothing is left to do.
func write(conn *wire.Conn, message any, bodies ...[]byte) {
	if err := conn.Write(message, bodies...); err != nil {
		os.Exit(1)
	}
}
