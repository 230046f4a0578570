package machine

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/tests/skip"
)

// Release is a release of Debian.
type Release string

// What Boot can boot. The kernels are the releases' own.
const (
	Bookworm Release = "bookworm" // systemd 252, kernel 6.1
	Trixie   Release = "trixie"   // systemd 257, kernel 6.12
)

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// mirror is where this machine's own apt takes Debian from.
func mirror(t testing.TB) string {
	t.Helper()
	if _, err := os.Stat(keyring); err != nil {
		skip.Because(t, "Debian's keys are missing: apt-get install debian-archive-keyring (%v)", err)
	}
	out, err := exec.CommandContext(t.Context(), "apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)",
		"Created-By: Packages", "Origin: Debian", "Component: main").Output()
	if err != nil {
		skip.Because(t, "apt does not say where it takes Debian from: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		codename, uri, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.Contains(codename, "-") { // neither updates nor security, which are other archives
			return uri
		}
	}
	skip.Because(t, "apt takes nothing from a Debian archive here, or was never updated: apt-get update")
	return ""
}

// kernel is the path of a kernel for machines in a cloud: of all that Debian has, these have NVMe and ext4 built in, so
// that they need no initrd. It is taken out of its package, without installing that.
func kernel(t testing.TB, release Release, arch string) string {
	t.Helper()
	need(t, "apt-get", "dpkg-deb")
	meta := "linux-image-cloud-" + arch
	source := fmt.Sprintf("deb [arch=%s signed-by=%s] %s %s main\n", arch, keyring, mirror(t), release)
	dir := cached(t, fmt.Sprintf("kernel-%s-%s", release, arch), []string{source, meta}, func(dir string) error {
		ctx, cancel := context.WithTimeout(t.Context(), buildWithin)
		defer cancel()
		apt, err := newAPT(filepath.Join(dir, "apt"), source, arch)
		if err != nil {
			return err
		}
		defer os.RemoveAll(apt.dir)
		if _, err := apt.run(ctx, "apt-get", "update"); err != nil {
			return err
		}
		depends, err := apt.run(ctx, "apt-cache", "depends", "--important", meta)
		if err != nil {
			return err
		}
		_, name, found := strings.Cut(depends, "Depends: ")
		if !found {
			return fmt.Errorf("%s depends on no kernel:\n%s", meta, depends)
		}
		name, _, _ = strings.Cut(name, "\n")
		if _, err := apt.run(ctx, "apt-get", "download", name); err != nil {
			return err
		}
		packages, err := filepath.Glob(filepath.Join(apt.dir, name+"_*.deb"))
		if err != nil || len(packages) != 1 {
			return fmt.Errorf("downloading %s left %q", name, packages)
		}
		return extractKernel(ctx, packages[0], filepath.Join(dir, "vmlinuz"))
	})
	return filepath.Join(dir, "vmlinuz")
}

// apt runs apt's programs on a source and a state of their own, but with this machine's settings otherwise: a proxy.
type apt struct {
	dir     string
	options []string
}

func newAPT(dir, source, arch string) (apt, error) {
	list := filepath.Join(dir, "sources.list")
	err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "lists", "partial"), 0o755),
		os.MkdirAll(filepath.Join(dir, "cache", "archives", "partial"), 0o755),
		os.WriteFile(list, []byte(source), 0o644),
	)
	a := apt{dir: dir}
	for _, option := range []string{
		"Dir::Etc::SourceList=" + list, "Dir::Etc::SourceParts=/dev/null",
		"Dir::State=" + dir, "Dir::State::status=/dev/null", "Dir::Cache=" + filepath.Join(dir, "cache"),
		"APT::Architecture=" + arch, "APT::Architectures=" + arch, "Acquire::Languages=none",
		"APT::Sandbox::User=root", // root's cache is closed to apt's own user
	} {
		a.options = append(a.options, "--option", option)
	}
	return a, err
}

func (a apt) run(ctx context.Context, program string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, program, append(a.options, args...)...)
	command.Dir = a.dir
	command.Env = append(os.Environ(), "LC_ALL=C")
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, &stderr)
	}
	return string(out), nil
}

const maxKernel = 128 << 20

// extractKernel takes ./boot/vmlinuz-* out of a package.
func extractKernel(ctx context.Context, pkg, to string) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	command := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", pkg)
	out, err := command.StdoutPipe()
	if err != nil {
		cancel()
		return err
	}
	if err := command.Start(); err != nil {
		cancel()
		return err
	}
	defer func() { cancel(); command.Wait() }() // what follows the kernel is not read
	for entries := tar.NewReader(out); ; {
		entry, err := entries.Next()
		if err != nil {
			return fmt.Errorf("find the kernel in %s: %w", filepath.Base(pkg), err)
		}
		if !strings.HasPrefix(entry.Name, "./boot/vmlinuz-") {
			continue
		}
		if entry.Size > maxKernel {
			return fmt.Errorf("%s has %d bytes", entry.Name, entry.Size)
		}
		f, err := os.Create(to)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, entries)
		return errors.Join(err, f.Close())
	}
}
