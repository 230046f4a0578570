package arch_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/tests/skip"
)

// topLevel is what the repository's first page may show, beside the root package's *.go.
var topLevel = []string{
	".ci", ".github", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md",
	"clients", "cmd", "docs", "examples", "go.mod", "go.sum", "internal", "packaging", "profiles", "systemd", "tests",
}

func TestTopLevel(t *testing.T) {
	for _, path := range files(t) {
		first, _, _ := strings.Cut(path, "/")
		if first == path && strings.HasSuffix(path, ".go") {
			continue
		}
		if !slices.Contains(topLevel, first) {
			t.Errorf("%s: the top level has no %q", path, first)
		}
	}
}

// strange must not stand in any file: paths of one machine, and hosts that a build here must not depend on. They are
// put together from parts, as this file is searched too.
var strange = []string{
	"/wo" + "rk/", "/ro" + "ot/go", "/home" + "/runner", "/Us" + "ers/", "/tmp/" + "claude",
	"proxy.gol" + "ang", "sum.gol" + "ang", "registry.npm" + "js", "registry.ya" + "rnpkg", "index.cr" + "ates", "pypi" + ".org",
}

func TestNoStrangePaths(t *testing.T) {
	for _, path := range files(t) {
		text, err := os.ReadFile(filepath.Join(root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range strange {
			if i := bytes.Index(text, []byte(s)); i >= 0 {
				t.Errorf("%s:%d: has %q", path, 1+bytes.Count(text[:i], []byte("\n")), s)
			}
		}
	}
}

// files lists what is in the repository, or about to be: what git ignores is not.
func files(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		skip.Because(t, "git is not installed")
	}
	command := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir = root(t)
	out, err := command.Output()
	if err != nil {
		skip.Because(t, "this is no git repository: %v", err)
	}
	paths := strings.Split(strings.Trim(string(out), "\x00"), "\x00")
	return slices.DeleteFunc(paths, func(path string) bool {
		info, err := os.Lstat(filepath.Join(root(t), path))
		return err != nil || !info.Mode().IsRegular() // deleted, and not committed yet; or a link
	})
}

var requirement = regexp.MustCompile(`(?m)^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+) v\S+$`) // without // indirect

func TestEveryDependencyIsExplained(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	direct := requirement.FindAllSubmatch(mod, -1)
	if len(direct) < 5 {
		t.Fatalf("found %d direct dependencies in go.mod: this test can't read it any more", len(direct))
	}
	doc, err := os.ReadFile(filepath.Join(root(t), "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range direct {
		name := regexp.QuoteMeta(string(m[1]))
		if !regexp.MustCompile("(?m)^.*" + name + `([^\w./-]|$).*\S`).Match(doc) {
			t.Errorf("docs/dependencies.md has no line about %s: why it is there, its size, what would replace it", m[1])
		}
	}
}
