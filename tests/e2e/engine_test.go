package e2e_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestValues are what programs return that JSON does not have, and what code mode's programs take for granted.
func TestValues(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, c := range []struct{ name, source, want string }{
		{"a string that looks like a number", `return "123"`, `"123"`},
		{"a string that looks like null", `return "null"`, `"null"`},
		{"undefined", "return undefined", "null"},
		{"undefined inside", "return { a: undefined, b: [undefined] }", `{"b":[null]}`},
		{"NaN and Infinity", "return [NaN, -Infinity]", "[null,null]"},
		{"Date", "return new Date(0)", `"1970-01-01T00:00:00.000Z"`},
		{"Map of strings", "return new Map([['a', 1]])", `{"a":1}`},
		{"Map of others", "return new Map([[1, 2]])", "[[1,2]]"},
		{"Set", "return new Set([1, 'a'])", `[1,"a"]`},
		{"typed array", "return new Uint8Array([1, 2])", "[1,2]"},
		{"URL", "return new URL('/b?x=1', 'https://example.com/a')", `"https://example.com/b?x=1"`},
		{"Object.groupBy", "return Object.groupBy([1, 2, 3], n => n % 2 ? 'odd' : 'even')", `{"odd":[1,3],"even":[2]}`},
		{"Array.fromAsync", "return await Array.fromAsync([1, 2], n => tools.t.echo({ n }))", `[{"n":1},{"n":2}]`},
		{"Promise.withResolvers", "const { promise, resolve } = Promise.withResolvers(); setTimeout(resolve, 1, 7); return await promise", "7"},
		{"iterator helpers", "return new Map([['a', 1], ['b', 2]]).entries().filter(([, n]) => n > 1).map(([k]) => k).toArray()", `["b"]`},
		{"for await", "let n = 0; for await (const x of [Promise.resolve(1), 2]) n += x; return n", "3"},
		{"for await over pages", "async function* pages() { for (let p = 1; p < 4; p++) yield await tools.t.echo({ p }) }\nreturn await Array.fromAsync(pages(), r => r.p)", "[1,2,3]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := g.run(t, sandboxd.Program{Source: c.source})
			ending{outcome: "ok"}.check(t, r)
			if string(r.Value) != c.want {
				t.Errorf("value %s, want %s", r.Value, c.want)
			}
		})
	}
	for _, c := range []struct {
		name, source string
		want         ending
	}{
		{"BigInt", "return 1n", ending{outcome: "error", message: "BigInt", hint: "*"}},
		{"circular", "const o = { a: {} }; o.a.o = o; return o", ending{outcome: "error", message: "circular", hint: "*"}},
		{"function", "return () => 1, Math.max", ending{outcome: "error", message: "a function, which is not data", hint: "call it"}},
		{"class", "class A {}\nreturn A", ending{outcome: "error", message: "a class, which is not data", hint: "instance"}},
		{"symbol", "return Symbol('x')", ending{outcome: "error", message: "a symbol, which is not data", hint: "description"}},
	} {
		t.Run(c.name, func(t *testing.T) { c.want.check(t, g.run(t, sandboxd.Program{Source: c.source})) })
	}
}

// TestRecursionEnds: whatever carries it, endless recursion is an error of the program, and the daemon goes on.
func TestRecursionEnds(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, c := range []struct{ name, source string }{
		{"functions", "const f = () => 1 + f(); f()"},
		{"getters", "const o = { get x() { return this.x } }; o.x"},
		{"toString", "const o = { toString() { return `${o}` } }; `${o}`"},
		{"Proxy", "const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x"},
		{"sort", "const f = () => [2, 1].sort(f); f()"},
		{"toJSON", "const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)"},
		{"generators", "function* g() { yield* g() } [...g()]"},
		{"flat", "const a = []; a.push(a); a.flat(Infinity)"},
		{"eval", "eval('('.repeat(1e6))"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := g.run(t, sandboxd.Program{Source: c.source, Limits: &sandboxd.Limits{WallMS: 20_000}})
			if r.Outcome != sandboxd.OutcomeError || !strings.Contains(r.Error.Message, "too deeply nested") {
				t.Errorf("outcome %s: %v", r.Outcome, r.Error)
			}
			g.serves(t)
		})
	}
}

// TestHungryNeighbours take all that they can get, while another program of the same pool does its work.
func TestHungryNeighbours(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{Config: "pool: {default: 2}\n"}), nil, sandboxd.Options{})
	limits := &sandboxd.Limits{CPUMS: 500, MemoryBytes: 64 << 20, WallMS: 20_000}
	for _, c := range []struct{ name, source, outcomes string }{
		{"repeat", "return 'x'.repeat(2 ** 40)", "error memory"},
		{"repeat, near the limit", "return 'x'.repeat(2 ** 28).length", "memory"},
		{"join", "return Array(2 ** 32 - 1).join()", "memory cpu"},
		{"BigInt", "return 2n ** (2n ** 31n)", "memory cpu error"},
		{"typed arrays", "const a = []; for (let i = 0; i < 400; i++) a.push(new Uint8Array(5e5).fill(1))", "memory cpu"},
		{"backtracking", "return /^(?=a)(a+)+$/.test('a'.repeat(40) + '!')", "cpu"},
		{"backtracking, with a backreference", "return /^(a+)+\\1$/.test('a'.repeat(40) + 'b')", "cpu"},
		{"iterators", "return (function* () { for (;;) yield 1 })().toArray()", "memory cpu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var wait sync.WaitGroup
			wait.Go(func() {
				r := g.run(t, sandboxd.Program{Source: "let n = 0; for (let i = 0; i < 20; i++) n += (await tools.t.echo({ i })).i; return n"})
				if string(r.Value) != "190" {
					t.Errorf("the neighbour: %s %s %v", r.Outcome, r.Value, r.Error)
				}
			})
			r := g.run(t, sandboxd.Program{Source: c.source, Limits: limits})
			wait.Wait()
			if !strings.Contains(" "+c.outcomes+" ", " "+string(r.Outcome)+" ") {
				t.Errorf("outcome %s: %v", r.Outcome, r.Error)
			}
			g.serves(t)
		})
	}
}
