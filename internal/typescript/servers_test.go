package typescript_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/typescript"
	"github.com/sandboxd/sandboxd/tests/npm"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// captured is what a real server announced, as testdata/capture.mjs wrote it.
type captured struct {
	Package, Version string
	Tools            []struct {
		Name                      string
		InputSchema, OutputSchema json.RawMessage
	}
}

// servers are the tools of real servers, by the server's name.
func servers(t testing.TB) map[string][]typescript.Tool {
	t.Helper()
	files, err := filepath.Glob("testdata/servers/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d servers, %v", len(files), err)
	}
	all := map[string][]typescript.Tool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c captured
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		for _, tool := range c.Tools {
			all[name] = append(all[name], typescript.Tool{
				Server: name, Name: tool.Name, Description: "Of " + c.Package + " " + c.Version + ".",
				Input: tool.InputSchema, Output: tool.OutputSchema,
			})
		}
	}
	return all
}

// TestRealServers holds the declarations and signatures of what real servers announce against those that were read and found good.
func TestRealServers(t *testing.T) {
	all := servers(t)
	var signatures strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		golden(t, "testdata/"+name+".d.ts", typescript.Declare(all[name]))
		for _, tool := range all[name] {
			signature := typescript.Signature(tool)
			if len(signature) > 300 {
				t.Errorf("%s: its signature has %d bytes", name, len(signature))
			}
			fmt.Fprintln(&signatures, signature)
		}
	}
	golden(t, "testdata/signatures.txt", signatures.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it):\n%s", path, diff)
	}
}

// TestCompiles gives all that was declared, and the signatures, to the TypeScript compiler, and programs that must and must not
// pass it.
func TestCompiles(t *testing.T) {
	modules := npm.Modules(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	compile := func(files ...string) (string, error) {
		args := []string{filepath.Join(modules, "typescript", "bin", "tsc"), "--noEmit", "--strict", "--target", "es2022"}
		command := exec.CommandContext(t.Context(), "node", append(args, files...)...)
		command.Dir = dir // where no @types are found
		out, err := command.CombinedOutput()
		return string(out), err
	}
	all := servers(t)
	files := []string{}
	var signatures strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		// A name of its own for each constant, so that all can be compiled at once.
		text := strings.Replace(typescript.Declare(all[name]), "const tools:", fmt.Sprintf("const tools%d:", len(files)), 1)
		files = append(files, write(name+".d.ts", text))
		for i, tool := range all[name] {
			signature := typescript.Signature(tool)
			fmt.Fprintf(&signatures, "type _%d_%d = { f%s };\n", len(files), i, signature[strings.IndexByte(signature, '('):])
		}
	}
	files = append(files, write("signatures.d.ts", signatures.String()))
	for i, c := range types {
		tool := typescript.Tool{Server: "s", Name: "t", Input: []byte(c.schema), Output: []byte(c.schema)}
		text := strings.NewReplacer("const tools:", fmt.Sprintf("const case%d:", i), "S_T", fmt.Sprintf("C%d_T", i)).Replace(typescript.Declare([]typescript.Tool{tool}))
		files = append(files, write(fmt.Sprintf("case%d.d.ts", i), text))
	}
	if out, err := compile(files...); err != nil {
		t.Errorf("tsc: %v\n%s", err, out)
	}

	tracker := write("tracker.d.ts", typescript.Declare([]typescript.Tool{{
		Server: "tracker", Name: "list-issues",
		Input:  []byte(`{"type":"object","properties":{"repo":{"type":"string"},"state":{"enum":["open","closed"]}},"required":["repo"]}`),
		Output: []byte(`{"type":"object","properties":{"issues":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}},"required":["issues"]}`),
	}}))
	programs := []struct{ text, want string }{
		{`const n: number = (await tools.tracker["list-issues"]({ repo: "a", state: "open" })).issues[0].n`, ""},
		{`await tools.tracker["list-issues"]({})`, "not assignable to parameter of type '{ repo: string"},
		{`await tools.tracker["list-issues"]({ repo: "a", state: "opened" })`, `"opened"' is not assignable`},
		{`await tools.tracker["list-issues"]({ repo: "a", labels: [] })`, "'labels' does not exist"},
		{`(await tools.tracker["list-issues"]({ repo: "a" })).issues[0].title`, "'title' does not exist"},
		{`await tools.tracker.create({ repo: "a" })`, "'create' does not exist"},
	}
	files = []string{tracker}
	for i, p := range programs {
		files = append(files, write(fmt.Sprintf("program%d.ts", i), fmt.Sprintf("async function main%d() { %s }", i, p.text)))
	}
	out, _ := compile(files...)
	for i, p := range programs {
		file := fmt.Sprintf("program%d.ts", i)
		var told string
		for line := range strings.Lines(out) {
			if strings.Contains(line, file) {
				told += line
			}
		}
		if (told == "") != (p.want == "") || !strings.Contains(told, p.want) {
			t.Errorf("%s: tsc says %q, want %q", p.text, told, p.want)
		}
	}
}
