package js

import (
	"strings"

	"github.com/dop251/goja"
)

// warmProgram goes through what every program does, so that the page faults of that code are paid before the engine is
// leased. It leaves nothing behind in the runtime. A longer one saves little more, and costs every worker at its birth.
const warmProgram = `const r = await { a: 1 }; return [r].map(x => x.a)`

// warm runs warmProgram, and takes a text through JSON both ways.
func (e *Engine) warm() {
	program, bad := e.compile(warmProgram)
	if bad != nil {
		panic("js: " + bad.Error.Message) // at New, on every run: a wrong goja
	}
	// Not by start: the watchdog has no limits yet, and would take this for a program over them.
	main, err := e.vm.RunProgram(program)
	if err != nil {
		panic("js: " + err.Error())
	}
	e.returned(main.Export().(*goja.Promise))
	v, err := e.json.parse(`{"a":[{"b":"c"}]}` + strings.Repeat(" ", minLazy))
	if err != nil {
		panic("js: " + err.Error())
	}
	v.(*goja.Object).Get("a")
	e.source = nil
}
