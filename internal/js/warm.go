package js

import "sync"

// warmProgram goes through what every program does, so that the page faults of that code are paid before the engine is
// leased: 0.15 ms of a run's first 0.2. A longer one saves little more, and costs every worker its time at birth.
const warmProgram = `const r = await tools.warm.call({ a: 1 }); return [r].map(x => x.a)`

var warmOnce sync.Once

// warm runs warmProgram. The engine inside of it calls warm too, before the run: hence the flag, not a sync.Once.Do
// around the whole.
func warm() {
	first := false
	warmOnce.Do(func() { first = true })
	if !first {
		return
	}
	e := New(Options{Seed: [32]byte{1}})
	e.Run(Program{Source: warmProgram, Servers: []string{"warm"}}, Host{Calls: func(calls []Call) {
		e.Deliver(Answer{ID: calls[0].ID, Form: Auto, Body: calls[0].Args})
	}})
}
