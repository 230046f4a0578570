package bench_test

import (
	"context"
	"testing"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/js"
)

// engineArm runs the same engine inside the benchmark's own process: what is left when there is no worker, no daemon and
// no isolation at all. A new engine for each run is part of it, as a program may change all that it can reach.
func engineArm(tools sandboxd.ToolHandler) arm {
	return arm{"engine", func(tb testing.TB, t task) {
		e := js.New(js.Options{})
		out := e.Run(js.Program{Source: t.source, Servers: []string{"tracker"}}, js.Host{
			Calls: func(calls []js.Call) {
				for _, c := range calls {
					e.Deliver(js.Answer{ID: c.ID, Form: js.Auto, Body: textOf(tb, tools, c.Args)})
				}
			},
			Console: func([]js.Line) {},
			Abandon: func(o js.Outcome) { tb.Errorf("engine: abandoned: %+v", o) },
		})
		if out.Kind != js.KindOK || string(out.Value) != t.want {
			tb.Fatalf("engine: %s %s %+v", out.Kind, out.Value, out.Error)
		}
	}}
}

func textOf(tb testing.TB, tools sandboxd.ToolHandler, arguments []byte) []byte {
	raw, err := tools(context.Background(), sandboxd.ToolCall{Arguments: arguments})
	if err != nil {
		tb.Fatal(err)
	}
	body, err := text(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}
