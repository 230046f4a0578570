package js

import "sync"

// warmProgram goes through what nearly every program does, so that its first time, and the page faults of the code
// it touches, are paid before the engine is leased. It runs once a process, in an engine that is thrown away.
const warmProgram = `
const rows = await tools.warm.list({ page: 1, q: "a" });
const top = rows.items.filter(r => r.n > 0).map(({ n, ...rest }) => ({ ...rest, n: n * 2 })).sort((a, b) => b.n - a.n);
for (const [k, v] of Object.entries({ a: 1 })) console.log(k, v, new Map([[k, v]]));
try { await Promise.all(top.map(t => tools.warm.fail(t))); } catch (e) { console.error(e.message); }
return { top: top.slice(0, 2), text: ` + "`${top.length} ${JSON.stringify(top)}`" + `.replace(/\d+/g, "x") };`

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
		for _, c := range calls {
			a := Answer{ID: c.ID, Form: Failed, Body: []byte("no")}
			if c.Tool == "list" {
				a = Answer{ID: c.ID, Form: Auto, Body: []byte(`{"items":[{"n":1,"s":"a"},{"n":2.5,"s":"é\n"}]}`)}
			}
			e.Deliver(a)
		}
	}})
}
