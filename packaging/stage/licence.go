package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// licences are those of what the binaries contain beside our own code: each wants to be told with each copy.
func licences() (string, error) {
	goroot, err := output("go", "env", "GOROOT")
	if err != nil {
		return "", err
	}
	list, err := output("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/...")
	if err != nil {
		return "", err
	}
	modules := slices.Compact(slices.Sorted(strings.Lines(list)))
	var b strings.Builder
	b.WriteString("The binaries of sandboxd contain what is named here.\n")
	for _, m := range append(modules, "Go's standard library and runtime\t"+goroot, "rules of gitleaks\tinternal/redact") {
		name, dir, _ := strings.Cut(strings.TrimSpace(m), "\t")
		if name == "" { // of packages that belong to no module
			continue
		}
		if err := addLicences(&b, name, dir); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// addLicences adds the texts in a directory, of which there must be one.
func addLicences(b *strings.Builder, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		kind, _, _ := strings.Cut(strings.ToUpper(e.Name()), ".")
		if !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"}, kind) || e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(b, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 78), name, e.Name(), strings.TrimSpace(string(text)))
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s", name, dir)
	}
	return nil
}

// output is what a program prints, without the last line's end.
func output(program string, args ...string) (string, error) {
	command := exec.Command(program, args...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
