package near_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/near"
)

func TestNames(t *testing.T) {
	tools := []string{"list_issues", "get_issue", "create_issue", "list-issue-types", "search_issues", "add"}
	for wanted, want := range map[string]string{
		"list_issue":      "list_issues",
		"listIssues":      "list_issues",
		"LIST-ISSUES":     "list_issues",
		"get_isue":        "get_issue",
		"search":          "",
		"ad":              "add",
		"x":               "",
		"":                "",
		"create_issuo":    "create_issue",
		"list_issuetypes": "list-issue-types list_issues",
	} {
		if got := strings.Join(near.Names(wanted, tools), " "); got != want {
			t.Errorf("%q: got %q, want %q", wanted, got, want)
		}
	}
	if got := near.Names("aaa", []string{"aab", "aaa1", "aac", "aad"}); fmt.Sprint(got) != "[aab aaa1 aac]" {
		t.Errorf("of the same distance: %v", got)
	}
}

func TestFirst(t *testing.T) {
	if got := near.First("cc", []string{"a", "b", "c", "d"}); fmt.Sprint(got) != "[c a b d]" {
		t.Error(got)
	}
}

func TestList(t *testing.T) {
	if got := near.List([]string{"a", "b"}); got != "a, b" {
		t.Error(got)
	}
	if got := near.List(strings.Split("abcdefghi", "")); got != "a, b, c, d, e, f, g, h, …" {
		t.Error(got)
	}
}

func BenchmarkNames(b *testing.B) {
	var names []string
	for i := range 4096 {
		names = append(names, fmt.Sprintf("%064d", i))
	}
	for b.Loop() {
		near.Names(strings.Repeat("0", 60)+"abcd", names)
	}
}

// TestAgainstTheWholeTable compares with the textbook's table, on words of few letters, which have many alignments.
func TestAgainstTheWholeTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		letters := make([]byte, random.IntN(24))
		for i := range letters {
			letters[i] = "ab"[random.IntN(2)]
		}
		return string(letters)
	}
	for range 5000 {
		a, b := word(), word()
		want := table(a, b) <= min((len(a)+2)/4, 5)
		if got := len(near.Names(a, []string{b})) == 1; got != want {
			t.Fatalf("%q and %q: near %t, want %t", a, b, got, want)
		}
	}
}

func table(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
		for j := range d[i] {
			switch {
			case i == 0:
				d[i][j] = j
			case j == 0:
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
		}
	}
	return d[len(a)][len(b)]
}
