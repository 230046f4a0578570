//go:build sandboxd_test262

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// baseline is the list of known failures. In its file a line `= words` is a reason, and the lines below it are what fails
// for it: how many tests, and which: a path, in which * stands for any text, or `feature NAME`. A test counts
// for the first line that it matches.
type baseline struct {
	head    []string // the comment at the top
	reasons []*reason
}

type reason struct {
	words   string // empty: somebody has to find out
	entries []*entry
}

type entry struct {
	known   int
	pattern string
	match   func(result) bool

	found []result // failures of this run
}

func readBaseline(file string) (*baseline, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &baseline{}, nil
	}
	if err != nil {
		return nil, err
	}
	b := &baseline{}
	for i, line := range strings.Split(string(text), "\n") {
		if err := b.readLine(strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	return b, nil
}

func (b *baseline) readLine(line string) error {
	switch words, isReason := strings.CutPrefix(line, "="); {
	case line == "":
	case strings.HasPrefix(line, "#"):
		b.head = append(b.head, line)
	case isReason:
		b.reasons = append(b.reasons, &reason{words: strings.TrimSpace(words)})
	case len(b.reasons) == 0:
		return errors.New("this failure stands below no reason")
	default:
		count, pattern, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(count)
		if err != nil || pattern == "" {
			return errors.New("a line of the baseline is a number and a pattern")
		}
		last := b.reasons[len(b.reasons)-1]
		last.entries = append(last.entries, newEntry(n, pattern))
	}
	return nil
}

func newEntry(known int, pattern string) *entry {
	e := &entry{known: known, pattern: pattern}
	if feature, ok := strings.CutPrefix(pattern, "feature "); ok {
		e.match = func(r result) bool { return slices.Contains(r.Features, feature) }
	} else {
		path := glob(pattern)
		e.match = func(r result) bool { return path.MatchString(r.Path) }
	}
	return e
}

// glob is a pattern in which * stands for any text, with slashes in it.
func glob(pattern string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
}

// take sorts the failures into the entries, and gives those that have none.
func (b *baseline) take(failures []result) (unknown []result) {
	for _, r := range failures {
		if e := b.entryOf(r); e != nil {
			e.found = append(e.found, r)
		} else {
			unknown = append(unknown, r)
		}
	}
	return unknown
}

func (b *baseline) entryOf(r result) *entry {
	for _, reason := range b.reasons {
		for _, e := range reason.entries {
			if e.match(r) {
				return e
			}
		}
	}
	return nil
}

// update makes the counts those of this run, leaves out what fails no more, and lists the new failures under a reason
// that is still to be written.
func (b *baseline) update(unknown []result) {
	for _, reason := range b.reasons {
		for _, e := range reason.entries {
			e.known = len(e.found)
		}
		reason.entries = slices.DeleteFunc(reason.entries, func(e *entry) bool { return e.known == 0 })
	}
	b.reasons = slices.DeleteFunc(b.reasons, func(r *reason) bool { return len(r.entries) == 0 })
	if len(unknown) == 0 {
		return
	}
	open := &reason{}
	for _, r := range unknown {
		e := newEntry(1, r.Path)
		e.found = append(e.found, r)
		open.entries = append(open.entries, e)
	}
	b.reasons = append(b.reasons, open)
}

func (b *baseline) write(file string) error {
	var out bytes.Buffer
	for _, line := range b.head {
		fmt.Fprintln(&out, line)
	}
	for _, reason := range b.reasons {
		fmt.Fprintf(&out, "\n%s\n", strings.TrimSpace("= "+reason.words))
		for _, e := range reason.entries {
			fmt.Fprintf(&out, "%5d %s\n", e.known, e.pattern)
		}
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// verdict is what the baseline says of a run. Entries are held to their counts from above always, and from below only
// if the whole suite was run.
func (b *baseline) verdict(unknown []result, whole bool) (regressions, mended, unexplained []string) {
	for _, r := range unknown {
		regressions = append(regressions, r.Path+": "+r.Why)
	}
	for _, reason := range b.reasons {
		if reason.words == "" {
			for _, e := range reason.entries {
				unexplained = append(unexplained, e.pattern)
			}
		}
		for _, e := range reason.entries {
			if n := len(e.found); n > e.known {
				for _, r := range e.found {
					regressions = append(regressions, fmt.Sprintf("%s: %s (%q has %d known failures, and now %d)", r.Path, r.Why, e.pattern, e.known, n))
				}
			} else if n < e.known && whole {
				mended = append(mended, fmt.Sprintf("%q has %d known failures, and now %d", e.pattern, e.known, n))
			}
		}
	}
	return regressions, mended, unexplained
}
