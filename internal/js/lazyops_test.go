package js_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

// operations are what a program can do to A and B, which can be lazy or may have been changed before, with the name K and
// the value X. Each shows what comes of it.
var operations = strings.Split(strings.TrimSpace(`
A[K]
A[K] = X
A[K] = B
A[K]?.id
A[K] += 1
K in A
delete A[K]
Object.keys(A)
Object.entries(A).length
Object.getOwnPropertyNames(A)
Object.hasOwn(A, K)
Object.getOwnPropertyDescriptor(A, K)
Object.assign(A, { [K]: X })
Object.assign(A, B) === A
Object.freeze(A) === A
Object.seal(A) === A
Object.preventExtensions(A) === A
[Object.isFrozen(A), Object.isExtensible(A), Object.isSealed(B)]
Object.setPrototypeOf(A, B) === A
Object.setPrototypeOf(A, null) === A
Object.getPrototypeOf(A) === B
A.__proto__ === Object.prototype
A.__proto__ = B
B.isPrototypeOf(A)
A instanceof Object
Object.create(A)[K]
Object.create(A)[K] = X
Object.defineProperty(A, K, { get() { return [this === A, this === B] }, enumerable: true, configurable: true }) === A
Object.defineProperty(A, K, { set(x) { B[K] = this === A }, configurable: true }) === A
Object.defineProperty(A, K, { value: X }) === A
Object.defineProperty(Object.prototype, K, { get() { return this === A }, set(x) { this.kept = this === A }, configurable: true }) && 1
Object.prototype[K] = X
delete Object.prototype[K]
Reflect.set(A, K, X, B)
Reflect.set(A, K, X)
Reflect.get(A, K, B)
Reflect.ownKeys(A).length
Reflect.defineProperty(A, K, { value: X, configurable: true })
A[S] = X
[A[S], S in A, delete A[S]]
Reflect.set(A, S, X, B)
new Proxy(A, {})[K] = X
new Proxy(A, {})[K]
new Proxy(A, { get: (t, k, r) => k === K ? t === A : Reflect.get(t, k, r) })[K]
{ const ks = []; for (const k in A) { ks.push(k); if (k === K) A.added = 1 } return ks }
{ const ks = []; for (const k in A) { ks.push(k); delete A[K] } return ks }
{ const { [K]: x, ...rest } = A; return [x, Object.keys(rest)] }
({ ...A, [K]: X })
JSON.stringify(A)
JSON.stringify([A, B], null, 1).length
JSON.stringify(A, [K, "id"])
JSON.stringify(A, (k, x) => k === K ? undefined : x)
structuredClone(A)[K]
String(A)
A + ""
A == B
A === A[K]
[A, B].indexOf(B)
new Map([[A, 1], [B, 2]]).get(A)
W.get(A)
Array.from(A)
Array.prototype.push.call(A, X)
Array.prototype.pop.call(A)
Array.prototype.reverse.call(A) === A
[A, B].sort((a, b) => a.id - b.id)[0] === A
[].concat(A, [B]).length
A.hasOwnProperty(K)
A.propertyIsEnumerable(K)
A[K]()
with (A) { typeof id }
eval("A[K]")
Function("a", "b", "a.made = b")(A, X)
`), "\n")

// TestLazyOperations does the same at random to lazy objects and to ordinary ones.
func TestLazyOperations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range 300 {
		text := operated(rnd)
		var told [2]string
		for i, end := range []string{"", " // super"} {
			out, _ := run(t, js.Program{Source: text + end, Limits: js.Limits{OutputBytes: 16 << 20}}, specimenAnswer)
			told[i] = strings.ReplaceAll(brief(out), `\n`, "\n")
		}
		if diff := cmp.Diff(strings.Split(told[1], "\n"), strings.Split(told[0], "\n")); diff != "" {
			t.Fatalf("%d: %s\n%s", i, diff, text)
		}
	}
}

// operated is a program of some operations.
func operated(rnd *rand.Rand) string {
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	var b strings.Builder
	b.WriteString(shown + `const v = await tools.a.x(), S = Symbol("s"), lines = [];
const log = f => { try { lines.push(shown(f())) } catch (e) { lines.push(e instanceof Error ? e.name : shown(e)) } };
const all = [v.row, v.rows[0], v.rows[1], v.row.user, v.ints, v.names, v.like, v.twice, v.nothing, { id: 1 }, Object.create(v.rows[2])];
const W = new WeakMap(all.map((o, i) => [o, i]));
`)
	for range 1 + rnd.IntN(12) {
		statement := operations[rnd.IntN(len(operations))]
		if !strings.HasPrefix(statement, "{") && !strings.HasPrefix(statement, "with") {
			statement = "return " + statement
		}
		fmt.Fprintf(&b, "log(() => { const A = all[%d], B = all[%d], K = %s, X = %s; %s });\n", rnd.IntN(11), rnd.IntN(11),
			pick(`"id"`, `"id"`, `"title"`, `"user"`, `"k"`, `"x"`, `"0"`, `"__proto__"`, `"toString"`, `"toJSON"`, `"length"`, `"\ud800"`, `""`, `S`),
			pick("1", `"s"`, "null", "undefined", "[1]", "{ y: 2 }", "() => 3", "-0"), statement)
	}
	b.WriteString("for (const o of all) log(() => o); lines.push(JSON.stringify(v.rows.length)); return lines.join('\\n')")
	return b.String()
}
