package js_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
)

var update = flag.Bool("update", false, "write testdata/globals.golden")

// listGlobals walks everything that can be reached from the global object by own properties and prototypes.
const listGlobals = `
void Intl; // it is made when it is first asked for
const seen = new Set(), out = [];
const walk = (o, path) => {
  if (o === null || typeof o !== "object" && typeof o !== "function" || seen.has(o)) return;
  seen.add(o);
  for (const k of Reflect.ownKeys(o)) {
    const d = Reflect.getOwnPropertyDescriptor(o, k);
    const name = path + (typeof k === "symbol" ? "[" + String(k) + "]" : "." + k);
    if (typeof o === "function" && (k === "name" || k === "length")) {
      if (k === "name" && String(d.value).includes("/")) out.push(name + " = " + d.value);
      continue;
    }
    out.push(name + (d.get || d.set ? " accessor" : " " + typeof d.value));
    for (const v of [d.value, d.get, d.set]) walk(v, name);
  }
  walk(Reflect.getPrototypeOf(o), path + ".[[Prototype]]");
};
for (const k of Object.getOwnPropertyNames(globalThis)) globalThis[k]; // makes the parts that are made when they are named
walk(globalThis, "globalThis");
walk((async () => {}).constructor, "AsyncFunction");
walk((function* () {}).constructor, "GeneratorFunction");
for (const o of [new URL("a:b"), new TextDecoder(), new AbortController(), new WeakRef({}), crypto, performance]) walk(o, "instance");
walk(tools.a, "tools.a"); walk(tools.a.x, "tools.a.x");
for (const o of [[][Symbol.iterator](), new Map().entries(), new Set().values(), ""[Symbol.iterator](), "".matchAll(/x/g), (function* () {})(), [].values().map(x => x), Iterator.from({ next() {} }), new URLSearchParams().keys()]) walk(o, "iterator");
return out.map(l => l.replace(/^globalThis\./, "")).sort();`

// There is no ambient authority: whatever a program can name is in the list, and a new name is a diff to review.
func TestGlobals(t *testing.T) {
	const golden = "testdata/globals.golden"
	out, _ := run(t, js.Program{Source: listGlobals, Limits: js.Limits{OutputBytes: 1 << 20}}, nil)
	var names []string
	if err := json.Unmarshal(out.Value, &names); err != nil {
		t.Fatal(brief(out))
	}
	got := strings.Join(names, "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(got, "sandboxd") || strings.Contains(got, "goja") {
		t.Error("a Go symbol's name shows")
	}
}

// One run's changes are not seen by another's: nothing is shared between runtimes.
func TestIsolation(t *testing.T) {
	if out, _ := source(t, "Array.prototype.map = 1; Object.prototype.x = 1; globalThis.y = 1; Error.prototype.z = 1; ToolError.prototype.w = 1; return 1"); out.Kind != "ok" {
		t.Fatal(brief(out))
	}
	out, _ := source(t, "return [typeof [].map, typeof ({}).x, typeof globalThis.y, typeof new Error().z, typeof ToolError.prototype.w]")
	if want := `ok ["function","undefined","undefined","undefined","undefined"]`; brief(out) != want {
		t.Error(brief(out))
	}
}
