// Package near finds the names that somebody who wrote one that does not exist may have meant.
package near

import (
	"slices"
	"strings"
	"unicode"
)

const (
	most     = 3  // names of an answer
	longest  = 64 // letters and digits of a name that are compared
	farthest = 5  // edits between two names that are alike, however long they are
)

// Names are up to three of names that are like wanted, the likest first and in the order of names. Case, and what is no
// letter or digit, makes no difference. The work is bounded by the number of names.
func Names(wanted string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	plain := fold(wanted)
	bound := min((len(plain)+2)/4, farthest)
	var found []candidate
	for _, name := range names {
		if d := distance(plain, fold(name), bound); d <= bound {
			found = append(found, candidate{name, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var near []string
	for _, c := range found[:min(most, len(found))] {
		near = append(near, c.name)
	}
	return near
}

// First is all of names, with those that are like wanted in front.
func First(wanted string, names []string) []string {
	like := Names(wanted, names)
	first := like
	for _, name := range names {
		if !slices.Contains(first, name) {
			like = append(like, name)
		}
	}
	return like
}

func fold(name string) []rune {
	var plain []rune
	for _, r := range name {
		if len(plain) < longest && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			plain = append(plain, unicode.ToLower(r))
		}
	}
	return plain
}

// distance is Levenshtein's, or something above the bound: what is farther from the diagonal is not looked at.
func distance(a, b []rune, bound int) int {
	if len(a)-len(b) > bound || len(b)-len(a) > bound {
		return bound + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		from, to := max(0, i-bound), min(len(b), i+bound+1)
		diagonal := row[from]
		row[from] = bound + 1
		if from == 0 {
			row[0] = i + 1
		}
		least := row[from]
		for j := from; j < to; j++ {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least > bound {
			return least
		}
	}
	return row[len(b)]
}

// listed bounds the names that List shows.
const listed = 8

// List is all of the names, or the first ones and that there are more.
func List(names []string) string {
	if len(names) > listed {
		return strings.Join(names[:listed], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
