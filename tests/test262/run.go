//go:build sandboxd_test262

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// run is the whole command.
func (o *options) run() error {
	if o.dir == "" {
		return errors.New("-dir is missing: a checkout of tc39/test262")
	}
	paths, err := o.list()
	if err != nil {
		return err
	}
	if o.docs != "" {
		o.goja = true
		if o.commit, err = o.commitOf(); err != nil {
			return err
		}
	}
	known, err := readBaseline(o.baseline)
	if err != nil {
		return err
	}
	var c counts
	if c.engine, err = o.arm("engine", paths); err != nil {
		return err
	}
	if o.goja {
		if c.goja, err = o.arm("goja", paths); err != nil {
			return err
		}
	}
	if err := o.write(&c); err != nil {
		return err
	}
	c.print(os.Stdout)
	return o.judge(known, &c)
}

// list finds the tests. Files of other names are parts of tests.
func (o *options) list() (paths []string, err error) {
	only := glob("*")
	if o.only != "" {
		only = glob(o.only)
	}
	err = filepath.WalkDir(filepath.Join(o.dir, "test"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".js") || strings.HasSuffix(path, "_FIXTURE.js") {
			return err
		}
		path, err = filepath.Rel(o.dir, path)
		if path = filepath.ToSlash(path); only.MatchString(path) {
			paths = append(paths, path)
		}
		return err
	})
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("no test in %s matches %q", o.dir, o.only)
	}
	return paths, err
}

// commitOf is the commit of the checkout. A directory inside another repository is none.
func (o *options) commitOf() (string, error) {
	if o.commit != "" {
		return o.commit, nil
	}
	out, err := exec.Command("git", "-C", o.dir, "rev-parse", "--show-prefix", "HEAD").Output()
	commit, ok := strings.CutPrefix(string(out), "\n")
	if err != nil || !ok {
		return "", fmt.Errorf("%s is not the top of a git checkout: name its commit by -commit", o.dir)
	}
	return strings.TrimSpace(commit), nil
}

// arm runs the tests through one arm. The results are in the order of the paths.
func (o *options) arm(name string, paths []string) ([]result, error) {
	results := make([]result, 0, len(paths))
	err := o.runAll(name, paths, func(r result) {
		r.Why = short(r.Why)
		results = append(results, r)
		if n := len(results); n%1000 == 0 || n == len(paths) {
			fmt.Fprintf(os.Stderr, "%s: %d of %d\n", name, n, len(paths))
		}
	})
	slices.SortFunc(results, func(a, b result) int { return strings.Compare(a.Path, b.Path) })
	return results, err
}

// short makes one line of a message that a test may have made very long.
func short(message string) string {
	const most = 200
	message = strings.Join(strings.Fields(message), " ")
	if runes := []rune(message); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return message
}

// write writes what the options ask for.
func (o *options) write(c *counts) error {
	if o.docs != "" {
		if err := c.writeDocs(o.docs, o.commit); err != nil {
			return err
		}
	}
	if o.details == "" {
		return nil
	}
	file, err := os.Create(o.details)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	for _, r := range c.engine {
		lines.Encode(r)
	}
	return errors.Join(buffered.Flush(), file.Close())
}

// judge holds the run against the baseline, and says what differs.
func (o *options) judge(known *baseline, c *counts) error {
	unknown := known.take(c.failures())
	whole := o.only == ""
	if o.update {
		if !whole {
			return errors.New("-update takes the whole suite, not -only a part")
		}
		known.update(unknown)
		unknown = nil
		if err := known.write(o.baseline); err != nil {
			return err
		}
	}
	regressions, mended, unexplained := known.verdict(unknown, whole)
	say("passes in goja and fails here:", c.lost())
	say("passes now (-update takes it out of the baseline):", mended)
	say("is in the baseline without a reason:", unexplained)
	say("fails, and is not in the baseline:", regressions)
	switch {
	case len(regressions) > 0:
		return fmt.Errorf("failures that are not in the baseline: %d", len(regressions))
	case len(unexplained) > 0:
		return fmt.Errorf("%s has failures without a reason: %d", o.baseline, len(unexplained))
	}
	return nil
}

func say(what string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Printf("\n%s\n", what)
	for _, line := range lines {
		fmt.Println(" ", line)
	}
}
