package js_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/js"
)

// echo answers every call with what answer makes of it; nil: the call's own arguments.
type echo struct {
	engine *js.Engine
	answer func(js.Call) js.Answer
	calls  []string
	lines  []js.Line
}

func (h *echo) host() js.Host {
	return js.Host{
		Calls: func(calls []js.Call) {
			for _, c := range calls {
				h.calls = append(h.calls, fmt.Sprintf("%d %s.%s %s", c.ID, c.Server, c.Tool, c.Args))
				a := js.Answer{Form: js.JSON, Body: c.Args}
				if h.answer != nil {
					a = h.answer(c)
				}
				if a.ID == 0 {
					a.ID = c.ID
				}
				if a.ID > 0 {
					h.engine.Deliver(a)
				}
			}
		},
		Console: func(lines []js.Line) { h.lines = append(h.lines, lines...) },
	}
}

// run runs a program that may call tools.a and tools.b, which echo unless answer says otherwise.
func run(t testing.TB, p js.Program, answer func(js.Call) js.Answer) (js.Outcome, *echo) {
	t.Helper()
	h := &echo{engine: js.New(js.Options{}), answer: answer}
	if p.Servers == nil {
		p.Servers = []string{"a", "b"}
	}
	if p.Limits.CPU == 0 {
		p.Limits.CPU = 3 * time.Second
	}
	out := ended(h.engine, p, h.host())
	h.lines = append(h.lines, out.Lines...)
	return out, h
}

// ended runs a program to its end. On a starved machine one that was stopped may not give way within the grace: it is
// abandoned then, with the same outcome, and its goroutine stays behind.
func ended(e *js.Engine, p js.Program, h js.Host) js.Outcome {
	outcome := make(chan js.Outcome, 1)
	h.Abandon = func(out js.Outcome) { outcome <- out }
	go func() { outcome <- e.Run(p, h) }()
	return <-outcome
}

func source(t testing.TB, text string) (js.Outcome, *echo) {
	t.Helper()
	return run(t, js.Program{Source: text}, nil)
}

// brief is an outcome on one line: kind and value, or kind, position and message.
func brief(o js.Outcome) string {
	if o.Error == nil {
		return o.Kind + " " + string(o.Value)
	}
	return fmt.Sprintf("%s %d:%d %s", o.Kind, o.Error.Line, o.Error.Column, o.Error.Message)
}

func logged(lines []js.Line) string {
	var texts []string
	for _, l := range lines {
		texts = append(texts, l.Level+"|"+l.Text)
	}
	return strings.Join(texts, "\n")
}
