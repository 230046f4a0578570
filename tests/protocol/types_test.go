package protocol_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/tests/npm"
)

// members of a type are its names, with ? behind those that may be absent.
type typeMembers map[string][]string

// admins are the types that no gateway needs, and CallToolResult, which is MCP's.
var admins = []string{
	"ShowParams", "Deciding", "PolicyStatus", "GuardStatus", "GuardCounts", "AuditStatus",
	"Serving", "CallerStatus", "LeaseStatus", "Tally", "RunsParams", "RunList", "RunSummary", "ShowRunParams", "RunReport", "CallReport", "Span",
	"CallToolResult",
}

// clientTypes are what the schemas say that each type of a client has.
func clientTypes(t *testing.T) typeMembers {
	s, want := readSchemas(t), make(typeMembers)
	add := func(name string, schema any) {
		properties, _ := find(schema, "properties").(map[string]any)
		required, _ := find(schema, "required").([]any)
		for _, property := range slices.Sorted(maps.Keys(properties)) {
			if name == "StatusResult" && (property == "deciding" || property == "serving") {
				continue // administrators'
			}
			if !slices.Contains(required, any(property)) {
				property += "?"
			}
			want[name] = append(want[name], property)
		}
	}
	for name, schema := range s.at(messages, "$defs").(map[string]any) {
		if find(schema, "additionalProperties") == false && !slices.Contains(envelope, name) && !slices.Contains(admins, name) && name != "RefusedError" {
			add(name, schema)
		}
	}
	add("Result", s.files[result])
	for place, name := range map[string]string{
		"error": "ProgramError", "console_line": "ConsoleLine", "truncated": "Truncated", "call": "Call", "stats": "Stats", "isolation": "Isolation",
	} {
		add(name, s.at(result, "$defs", place))
	}
	return want
}

// TestTypeScriptTypes: index.d.ts has the types of the schemas.
func TestTypeScriptTypes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "clients", "typescript", "index.d.ts"))
	if err != nil {
		t.Fatal(err)
	}
	got := make(typeMembers)
	for _, m := range regexp.MustCompile(`(?s)export interface (\w+)(?: extends (\w+))? \{(.*?)\}\n`).FindAllStringSubmatch(string(text), -1) {
		name, body := m[1], m[3]
		if name == "Options" || name == "CallToolResult" {
			continue
		}
		got[name] = append(got[name], got[m[2]]...)
		for _, member := range regexp.MustCompile(`(?:^|[;\n])\s*(\w+\??):`).FindAllStringSubmatch(body, -1) {
			got[name] = append(got[name], member[1])
		}
		slices.Sort(got[name])
	}
	want := clientTypes(t)
	delete(want, "CancelParams")   // a union
	delete(want, "ApprovalCancel") // the client's own business, like the next
	delete(want, "ToolCancel")
	delete(want, "InitializeParams")
	if diff := gocmp.Diff(sorted(want), got); diff != "" {
		t.Errorf("types (-schema +index.d.ts):\n%s", diff)
	}
}

// TestPythonTypes: protocol.py has the types of the schemas.
func TestPythonTypes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "clients", "python", "sandboxd", "protocol.py"))
	if err != nil {
		t.Fatal(err)
	}
	got := make(typeMembers)
	for _, m := range regexp.MustCompile(`(?m)^class (\w+)\(TypedDict(, total=False)?\):\n((?:    .*\n)+)`).FindAllStringSubmatch(string(text), -1) {
		body := regexp.MustCompile(`(?m)^    """.*"""$`).ReplaceAllString(m[3], "")
		for _, member := range regexp.MustCompile(`(?m)(?:^    |; )(\w+): (NotRequired)?`).FindAllStringSubmatch(body, -1) {
			name := member[1]
			if member[2] != "" || m[2] != "" {
				name += "?"
			}
			got[m[1]] = append(got[m[1]], name)
		}
		slices.Sort(got[m[1]])
	}
	want := clientTypes(t)
	for _, params := range []string{"CancelParams", "DescribeParams", "DecideParams", "ApprovalCancel", "ToolCancel", "InitializeParams"} {
		delete(want, params) // are arguments of methods, or the client's own business
	}
	if diff := gocmp.Diff(sorted(want), got); diff != "" {
		t.Errorf("types (-schema +protocol.py):\n%s", diff)
	}
}

func sorted(m typeMembers) typeMembers {
	for _, names := range m {
		slices.Sort(names)
	}
	return m
}

// TestTypeScriptCompiles: the client and its example hold against its own types, and so does what a gateway writes, and nothing else.
func TestTypeScriptCompiles(t *testing.T) {
	modules := npm.Modules(t)
	example := filepath.Join(root, "examples", "gateway-typescript", "main.mjs")
	args := []string{
		filepath.Join(modules, "typescript", "bin", "tsc"), "--noEmit", "--strict", "--allowJs", "--checkJs", "--noUnusedLocals",
		"--target", "es2022", "--module", "nodenext", "--lib", "es2022",
		filepath.Join(root, "clients", "typescript", "index.js"), example, filepath.Join("testdata", "node.d.ts"), filepath.Join("testdata", "usage.mts"),
	}
	if out, err := exec.CommandContext(t.Context(), "node", args...).CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%s", err, out)
	}
}

// TestPythonTypeChecks: the client, its example, and what a gateway writes hold against each other, strictly.
func TestPythonTypeChecks(t *testing.T) {
	modules := npm.Modules(t)
	dir := t.TempDir()
	config := object{
		"typeCheckingMode": "strict", "pythonVersion": "3.11", "pythonPlatform": "Linux", "reportUnnecessaryTypeIgnoreComment": "error", "reportUnusedExpression": "none",
		"include":    []string{path(t, dir, "clients/python/sandboxd"), path(t, dir, "examples/gateway-python"), path(t, dir, "tests/protocol/testdata/usage.py")},
		"extraPaths": []string{path(t, dir, "clients/python")},
	}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pyrightconfig.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "node", filepath.Join(modules, "pyright", "index.js"), "--project", dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "0 errors, 0 warnings") {
		t.Errorf("pyright: %v\n%s", err, out)
	}
}

// path is that of a file of the repository from dir: pyright takes no other.
func path(t *testing.T, dir, file string) string {
	t.Helper()
	whole, err := filepath.Abs(filepath.Join(root, file))
	if err == nil {
		whole, err = filepath.Rel(dir, whole)
	}
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// TestPythonExports: what __all__ says is there, and no more.
func TestPythonExports(t *testing.T) {
	script := `import sandboxd, sys; names = {n for n in vars(sandboxd) if not n.startswith("_")} - {"client", "protocol"}
all = set(sandboxd.client.__all__) | set(sandboxd.protocol.__all__); print(sorted(names ^ all))`
	command := python(t, "", "-c")
	command.Args = []string{"python3", "-I", "-B", "-W", "error", "-c", fmt.Sprintf("import sys; sys.path.insert(0, %q)\n%s", filepath.Join(root, "clients", "python"), script)}
	if out, err := command.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "[]" {
		t.Errorf("%s, %v", out, err)
	}
}
