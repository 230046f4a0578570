package bench_test

import (
	"context"
	"testing"

	"github.com/dop251/goja"

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

// gojaArm is goja as it comes, likewise: what others run programs in, and the measure by which figures of two machines compare.
func gojaArm(tools sandboxd.ToolHandler) arm {
	return arm{"goja", func(tb testing.TB, t task) {
		vm := goja.New()
		parse, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("parse"))
		stringify, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("stringify"))
		vm.Set("tools", map[string]any{"tracker": map[string]any{"list_issues": func(arguments goja.Value) (*goja.Promise, error) {
			promise, resolve, _ := vm.NewPromise()
			must := func(v goja.Value, err error) goja.Value {
				if err != nil {
					tb.Fatalf("goja: %v", err)
				}
				return v
			}
			asked := must(stringify(goja.Undefined(), arguments)).String()
			result := must(parse(goja.Undefined(), vm.ToValue(string(textOf(tb, tools, []byte(asked))))))
			return promise, resolve(result)
		}}})
		v, err := vm.RunString("(async () => {" + t.source + "\n})().then(JSON.stringify)")
		if err != nil {
			tb.Fatalf("goja: %v", err)
		}
		if out := v.Export().(*goja.Promise); out.State() != goja.PromiseStateFulfilled || out.Result().String() != t.want {
			tb.Fatalf("goja: %v", out.Result())
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
