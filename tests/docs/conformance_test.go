package docs_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var countsRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$`)

// TestConformanceCounts reads the block that `make test262 UPDATE=1` writes: it names the commit, and its sums are right.
func TestConformanceCounts(t *testing.T) {
	_, block, begins := strings.Cut(read(t, "docs/javascript.md"), "<!-- test262: begin")
	block, _, ends := strings.Cut(block, "<!-- test262: end -->")
	if !begins || !ends {
		t.Fatal("docs/javascript.md has no block for the counts of test262")
	}
	if !regexp.MustCompile(`at commit [0-9a-f]{8};.* Pass in goja and not here: \d+\.`).MatchString(block) {
		t.Error("the counts are of no commit")
	}
	directories, features, found := strings.Cut(block, "By the feature")
	if !found {
		t.Fatal("there are no counts by feature")
	}
	var sums, all [5]int
	for _, r := range rows(t, directories) {
		if r.name == "all" {
			all = r.counts
			continue
		}
		for i, n := range r.counts {
			sums[i] += n
		}
	}
	if all != sums || all[0] < 50000 {
		t.Errorf("all: %v, and the directories sum up to %v", all, sums)
	}
	if n := len(rows(t, features)); n < 20 {
		t.Errorf("%d features", n)
	}
}

type counts struct {
	name   string
	counts [5]int // tests, pass, fail, left out, pass in goja
}

func rows(t *testing.T, table string) (found []counts) {
	t.Helper()
	for _, m := range countsRow.FindAllStringSubmatch(table, -1) {
		r := counts{name: m[1]}
		for i := range r.counts {
			r.counts[i], _ = strconv.Atoi(m[i+2])
		}
		if n := r.counts; n[0] != n[1]+n[2]+n[3] {
			t.Errorf("%s: %d tests, and %d pass, %d fail, %d are left out", r.name, n[0], n[1], n[2], n[3])
		}
		found = append(found, r)
	}
	return found
}
