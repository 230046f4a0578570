package js

// warmProgram goes through what every program does, so that the page faults of that code are paid before the engine is
// leased. It leaves nothing behind in the runtime. A longer one saves little more, and costs every worker at its birth.
const warmProgram = `const r = await { a: 1 }; return [r].map(x => x.a)`

// warm runs warmProgram, and takes a text through JSON both ways.
func (e *Engine) warm() {
	e.source = source{text: warmProgram}
	program, bad := e.compile()
	if bad != nil {
		panic("js: " + bad.Error.Message) // at New, on every run: a wrong goja
	}
	main, err := e.start(program)
	if err != nil {
		panic("js: " + err.Error())
	}
	e.returned(main)
	if _, err := e.parseJSON(`{"a":[1]}`); err != nil {
		panic("js: " + err.Error())
	}
	e.source = source{}
}
