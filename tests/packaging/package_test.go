package packaging_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/tests/skip"
)

// TestPackages makes all that is published twice, in two directories, and looks into it. The compiler's cache serves both: that Go builds
// the same from the same is Go's to test, with -trimpath.
func TestPackages(t *testing.T) {
	if os.Getenv("SANDBOXD_PACKAGES") != "1" {
		skip.Because(t, "it builds all packages twice: make check-packages runs it (SANDBOXD_PACKAGES=1)")
	}
	first, second := clone(t), clone(t)
	dist := build(t, first)
	t.Run("again", func(t *testing.T) { same(t, dist, build(t, second)) })
	deb, rpm := one(t, dist, "_"+runtime.GOARCH+".deb"), one(t, dist, map[string]string{"amd64": ".x86_64", "arm64": ".aarch64"}[runtime.GOARCH]+".rpm")
	installed := t.TempDir()
	run(t, "dpkg-deb", "--extract", deb, installed)
	t.Run("contents of the deb", func(t *testing.T) { compare(t, "deb", inDeb(t, deb)) })
	t.Run("contents of the rpm", func(t *testing.T) { compare(t, "rpm", inRPM(t, rpm)) })
	t.Run("files", func(t *testing.T) { files(t, installed) })
	t.Run("man pages", func(t *testing.T) { manPages(t, installed) })
	t.Run("lintian", func(t *testing.T) {
		if said := run(t, "lintian", "--allow-root", "--fail-on", "none", deb); said != "" {
			t.Error(said)
		}
	})
	t.Run("rpmlint", func(t *testing.T) {
		t.Setenv("PATH", safeCpio(t)+":"+os.Getenv("PATH"))
		said := run(t, "rpmlint", "--config", filepath.Join(root, "packaging", "rpm", "rpmlint.toml"), rpm)
		if !strings.Contains(said, " 0 errors, 0 warnings") {
			t.Error(said)
		}
	})
	t.Run("parts and checksums", func(t *testing.T) { published(t, dist) })
}

// clone is a copy of the repository as it stands, changes that are not committed included.
func clone(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "sandboxd")
	run(t, "git", "clone", "--quiet", root, dir)
	changed := run(t, "git", "-C", root, "ls-files", "--modified", "--others", "--exclude-standard", "-z")
	for path := range strings.SplitSeq(strings.Trim(changed, "\x00"), "\x00") {
		info, err := os.Stat(filepath.Join(root, path))
		if path == "" || err != nil { // deleted
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// build makes all that is published.
func build(t *testing.T, dir string) (dist string) {
	t.Helper()
	run(t, "make", "-C", dir, "dist")
	return filepath.Join(dir, "dist")
}

// run returns what a program says on standard output; that it fails is a failure, but for what looks at packages.
func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil && program != "rpmlint" {
		t.Fatalf("%s %s: %v\n%s\n%s", program, strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

// safeCpio is a directory with a cpio that keeps to the directory it is in. rpmlint unpacks with one that does not: the names in a package
// that nfpm makes are absolute, and root would install it.
func safeCpio(t *testing.T) (dir string) {
	t.Helper()
	cpio, err := exec.LookPath("cpio")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	script := "#!/bin/sh\nexec " + cpio + " --no-absolute-filenames \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "cpio"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// one is the only file in a directory that ends so.
func one(t *testing.T, dir, end string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"+end))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s has %q that end in %s (%v), want one", dir, found, end, err)
	}
	return found[0]
}

func same(t *testing.T, first, second string) {
	t.Helper()
	names := []string{}
	for _, dir := range []string{first, second} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Type().IsRegular() {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		a, err := os.ReadFile(filepath.Join(first, name))
		if err != nil {
			t.Error(err)
		}
		b, err := os.ReadFile(filepath.Join(second, name))
		if err != nil {
			t.Error(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s is not the same when it is built again: %d and %d bytes", name, len(a), len(b))
		}
	}
}

// parents are the directories that other packages have as well.
var parents = regexp.MustCompile(`^/(etc|usr(/bin|/lib(/systemd(/system)?|/sysusers\.d)?|/share(/(bash-completion(/completions)?|doc(/sandboxd)?|` +
	`fish(/vendor_completions\.d)?|licenses(/sandboxd)?|lintian(/overrides)?|man(/man[158])?|zsh(/(vendor-completions|site-functions))?))?)?)?$`)

var (
	debLine = regexp.MustCompile(`(?m)^([d-])([rwx-]{9}) (\S+)\s+\d+ \S+ \S+ \.(/\S*)$`)
	rpmLine = regexp.MustCompile(`(?m)^(\d+) (\S+) (\S*) (/\S+)$`)
)

// inDeb lists a .deb as the golden file does.
func inDeb(t *testing.T, deb string) (lines []string) {
	t.Helper()
	configs := strings.Fields(run(t, "dpkg-deb", "--info", deb, "conffiles"))
	listed := run(t, "dpkg-deb", "--contents", deb)
	found := debLine.FindAllStringSubmatch(listed, -1)
	if len(found) != strings.Count(listed, "\n") {
		t.Fatalf("neither files nor directories are in\n%s", listed)
	}
	for _, m := range found {
		var mode os.FileMode
		for _, c := range m[2] {
			mode <<= 1
			if c != '-' {
				mode |= 1
			}
		}
		path := strings.TrimSuffix(m[4], "/")
		if m[3] != "root/root" {
			t.Errorf("%s belongs to %s", path, m[3])
		}
		if m[1] == "d" && mode == 0o755 && (path == "" || parents.MatchString(path)) {
			continue
		}
		lines = append(lines, line(mode, m[1] == "d", slices.Contains(configs, path), path))
	}
	return lines
}

// inRPM lists an .rpm likewise.
func inRPM(t *testing.T, rpm string) (lines []string) {
	t.Helper()
	listed := run(t, "rpm", "--query", "--package", "--queryformat",
		"[%{FILEMODES:octal} %{FILEUSERNAME}:%{FILEGROUPNAME} %{FILEFLAGS:fflags} %{FILENAMES}\n]", rpm)
	for _, m := range rpmLine.FindAllStringSubmatch(listed, -1) {
		mode, err := strconv.ParseUint(m[1], 8, 32)
		if err != nil {
			t.Fatal(err)
		}
		if m[2] != "root:root" {
			t.Errorf("%s belongs to %s", m[4], m[2])
		}
		if c := strings.Contains(m[3], "c"); c != strings.Contains(m[3], "n") {
			t.Errorf("%s: a configuration that is changed must stay, and is %q", m[4], m[3])
		}
		lines = append(lines, line(os.FileMode(mode&0o777), mode&0o170000 == 0o040000, strings.Contains(m[3], "c"), m[4]))
	}
	return lines
}

// files holds what is installed against where it comes from.
func files(t *testing.T, installed string) {
	for _, c := range read(t).Contents {
		if c.Type == "dir" || c.Expand || c.Packager == "rpm" {
			continue
		}
		want, err := os.ReadFile(filepath.Join(root, c.Src))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(installed, c.Dst)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not %s: %v", c.Dst, c.Src, err)
		}
	}
	// Without groups it would serve nobody but the daemon's own user.
	config, err := os.ReadFile(filepath.Join(installed, "etc", "sandboxd", "sandboxd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\ncallers:\n  uids: []\n  gids: [sandboxd]\n", "\nadmins:\n  uids: []\n  gids: [sandboxd-admin]\n"} {
		if !strings.Contains(string(config), want) {
			t.Errorf("sandboxd.yaml lacks %q", want)
		}
	}
	for _, binary := range []string{"usr/bin/sandboxctl", "usr/lib/sandboxd/sandboxd"} {
		if said := run(t, filepath.Join(installed, binary), "--version"); !strings.HasPrefix(said, "sandbox") || strings.Contains(said, "dev") {
			t.Errorf("%s --version says %q", binary, said)
		}
	}
}

func manPages(t *testing.T, installed string) {
	pages, err := filepath.Glob(filepath.Join(installed, "usr/share/man/man*/*.gz"))
	if err != nil || len(pages) != 5 {
		t.Fatalf("%q, %v", pages, err)
	}
	for _, page := range pages {
		command := exec.CommandContext(t.Context(), "man", "--warnings", "--encoding=UTF-8", "--local-file", page)
		command.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=80")
		var stderr bytes.Buffer
		command.Stderr = &stderr
		out, err := command.Output()
		if err != nil || stderr.Len() > 0 || !strings.Contains(string(out), "NAME") || len(out) < 1000 {
			t.Errorf("man %s: %v, %d bytes: %s", filepath.Base(page), err, len(out), &stderr)
		}
	}
}

// published looks at what stands beside the packages.
func published(t *testing.T, dist string) {
	command := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
	command.Dir = dist
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	sums, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dist)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != "SHA256SUMS" && !strings.Contains(string(sums), "  "+e.Name()+"\n") {
			t.Errorf("SHA256SUMS does not have %s", e.Name())
		}
	}
	boms, err := filepath.Glob(filepath.Join(dist, "*.cdx.json"))
	if err != nil || len(boms) < 4 {
		t.Fatalf("%q, %v", boms, err)
	}
	for _, path := range boms {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var bom struct {
			BOMFormat  string `json:"bomFormat"`
			Components []struct{ Name, Version, PURL string }
		}
		if err := json.Unmarshal(text, &bom); err != nil || bom.BOMFormat != "CycloneDX" || len(bom.Components) < 3 {
			t.Errorf("%s has the format %q and %d components: %v", filepath.Base(path), bom.BOMFormat, len(bom.Components), err)
		}
	}
}
