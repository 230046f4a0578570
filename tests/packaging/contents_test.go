// Package packaging_test looks at what is installed: at the list that the packages are made of, and, with SANDBOXD_PACKAGES=1, into the
// packages themselves.
package packaging_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

const root = "../.."

// list is packaging/nfpm.yaml, as far as it is looked at here.
type list struct {
	Contents  []content
	Overrides map[string]struct{ Scripts map[string]string }
}

type content struct {
	Src, Dst, Type, Packager string
	Expand                   bool
	Info                     info `yaml:"file_info"`
}

type info struct {
	Mode         os.FileMode
	Owner, Group string
}

func read(t *testing.T) (l list) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "packaging", "nfpm.yaml"))
	if err == nil {
		err = yaml.Unmarshal(text, &l)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestContents holds the list of each package against a golden file: what is installed, with which modes, is a reviewable diff.
func TestContents(t *testing.T) {
	for _, kind := range []string{"deb", "rpm"} {
		var lines []string
		for _, c := range read(t).Contents {
			if c.Packager != "" && c.Packager != kind {
				continue
			}
			lines = append(lines, line(c.Info.Mode, c.Type == "dir", strings.HasPrefix(c.Type, "config"), c.Dst))
		}
		compare(t, kind, lines)
	}
}

// line is a file or a directory of a package.
func line(mode os.FileMode, isDir, isConfig bool, path string) string {
	kind := "-"
	switch {
	case isDir:
		kind = "d"
	case isConfig:
		kind = "c"
	}
	return fmt.Sprintf("%s %04o %s", kind, mode.Perm(), path)
}

func golden(kind string) string { return filepath.Join("testdata", kind+".golden") }

func compare(t *testing.T, kind string, lines []string) {
	t.Helper()
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[7:], b[7:]) })
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden(kind), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden(kind))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the .%s has (-want +got):\n%s\nIf that is meant: go test ./tests/packaging -run TestContents -update", kind, diff)
	}
}

// TestList asks of each entry what holds for all.
func TestList(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range read(t).Contents {
		if key := c.Packager + c.Dst; seen[key] || c.Packager != "" && seen[c.Dst] {
			t.Errorf("%s is there twice", c.Dst)
		} else {
			seen[key] = true
		}
		if c.Info.Owner != "" || c.Info.Group != "" {
			t.Errorf("%s belongs to %s:%s: everything is root's", c.Dst, c.Info.Owner, c.Info.Group)
		}
		isBinary := strings.Contains(c.Src, "${ARCH}")
		switch {
		case (isBinary || c.Type == "dir") && c.Info.Mode != 0o755, !isBinary && c.Type != "dir" && c.Info.Mode != 0o644:
			t.Errorf("%s has the mode %04o", c.Dst, c.Info.Mode)
		case strings.Contains(c.Src, "${STAGE}") != c.Expand:
			t.Errorf("%s: expand is for what is built", c.Dst)
		case strings.HasPrefix(c.Dst, "/etc/") && c.Type != "dir" && c.Type != "config|noreplace":
			t.Errorf("%s has the type %q: a changed one would be lost by an upgrade", c.Dst, c.Type)
		case c.Type == "dir" || c.Expand:
			continue
		}
		if source, err := os.Stat(filepath.Join(root, c.Src)); err != nil || !source.Mode().IsRegular() {
			t.Errorf("%s: no file %s (%v)", c.Dst, c.Src, err)
		}
	}
}

// TestEveryUnitIsInstalled: units, drop-ins and profiles are those of the repository, all of them.
func TestEveryUnitIsInstalled(t *testing.T) {
	installed := make(map[string]string)
	for _, c := range read(t).Contents {
		installed[c.Src] = c.Dst
	}
	for pattern, dir := range map[string]string{
		"systemd/*.service": "/usr/lib/systemd/system", "systemd/*.socket": "/usr/lib/systemd/system",
		"systemd/drop-ins/*.conf": "/usr/share/sandboxd/drop-ins", "profiles/*.yaml": "/usr/share/sandboxd/profiles",
		"packaging/sysusers.d/*.conf": "/usr/lib/sysusers.d",
	} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			source, want := filepath.Join(filepath.Dir(pattern), filepath.Base(file)), filepath.Join(dir, filepath.Base(file))
			if installed[source] != want {
				t.Errorf("%s is installed as %q, want %q", source, installed[source], want)
			}
		}
	}
}

// TestRootDirectory: where the nursery's unit mounts something, its root directory has a place for that, and it has nothing else.
func TestRootDirectory(t *testing.T) {
	const dir = "/usr/lib/sandboxd/root/"
	var places []string
	for _, c := range read(t).Contents {
		if below, ok := strings.CutPrefix(c.Dst, dir); ok {
			places = append(places, below)
		}
	}
	slices.Sort(places)
	want := []string{"bin", "bin/sandbox-nursery", "bin/sandbox-worker", "cg", "dev", "etc", "proc", "run", "sys", "usr", "var"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("%s has (-want +got):\n%s", dir, diff)
	}
}

const maxScript = 19 // lines: who installs a package reads what it does

// TestScripts: the maintainer scripts are those that are there, short, and a shell takes them.
func TestScripts(t *testing.T) {
	l := read(t)
	for kind, names := range map[string][]string{"deb": {"postinst", "prerm", "postrm"}, "rpm": {"post", "preun", "postun"}} {
		scripts := l.Overrides[kind].Scripts
		for i, when := range []string{"postinstall", "preremove", "postremove"} {
			if want := filepath.Join("packaging", kind, names[i]); scripts[when] != want {
				t.Errorf("%s: %s is %q, want %q", kind, when, scripts[when], want)
				continue
			}
			path := filepath.Join(root, scripts[when])
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), "\n"); n > maxScript {
				t.Errorf("%s has %d lines, at most %d are read", path, n, maxScript)
			}
			if out, err := exec.Command("sh", "-n", path).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", path, err, out)
			}
		}
	}
}
