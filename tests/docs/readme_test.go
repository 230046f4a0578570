// Package docs_test runs what the documentation tells people to run.
package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

func TestMain(m *testing.M) { daemon.Main(m) }

const root = "../.."

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(read(t, "README.md"), "\n"); n >= 150 {
		t.Errorf("README.md has %d lines, at most 149 are read", n)
	}
}

// TestBookIsWhole: docs/README.md leads to each page of docs/.
func TestBookIsWhole(t *testing.T) {
	book := read(t, "docs/README.md")
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name != "README.md" && !strings.Contains(book, "]("+name+")") {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
}

// TestLinks finds the files that the documentation links to.
func TestLinks(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	tops, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	clients, err := filepath.Glob(filepath.Join(root, "clients", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Concat(files, tops, clients) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", file, m[1], err)
			}
		}
	}
}

// TestMakeRun compares what README shows with what `make run` does, in the tests' own build of the binaries.
func TestMakeRun(t *testing.T) {
	_, block, found := strings.Cut(read(t, "README.md"), "$ make run\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("README.md shows no output of make run")
	}
	var want []string
	for _, line := range strings.SplitAfter(block, "\n") {
		// What make echoes, and the line about the private daemon, which names the kernel's own layers.
		if !strings.HasPrefix(line, "go build") && !strings.HasPrefix(line, "bin/") && !strings.HasPrefix(line, "no daemon at") {
			want = append(want, line)
		}
	}
	if diff := cmp.Diff(strings.Join(want, ""), sandboxctl(t, "", "run", "--mcp", mcp(t), "../../examples/programs/top3.js")); diff != "" {
		t.Error(diff)
	}
}

// TestPrograms runs the examples, and the one-liner of README.
func TestPrograms(t *testing.T) {
	if got := sandboxctl(t, "return input.a + 1", "run", "--input", `{"a": 41}`, "-"); got != "42\n" {
		t.Errorf("the one-liner says %q", got)
	}
	for file, want := range map[string]string{"file-issue.js": `"number": 301`, "failing-tool.js": `unknown repository`} {
		if got := sandboxctl(t, "", "run", "--mcp", mcp(t), "../../examples/programs/"+file); !strings.Contains(got, want) {
			t.Errorf("%s says %s", file, got)
		}
	}
}

// mcp is examples/mcp.json with the path of the tests' own tracker.
func mcp(t *testing.T) string {
	t.Helper()
	text := strings.Replace(read(t, "examples/mcp.json"), "bin/tracker", filepath.Join(daemon.Binaries(t), "tracker"), 1)
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sandboxctl runs it with a private daemon, and returns its standard output.
func sandboxctl(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	command := exec.Command(filepath.Join(daemon.Binaries(t), "sandboxctl"), args...)
	command.Env = append(os.Environ(), "SANDBOXD_SOCKET="+filepath.Join(t.TempDir(), "none"))
	command.Stdin = strings.NewReader(stdin)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return string(out)
}
