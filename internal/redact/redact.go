// Package redact takes secrets out of text: keys, tokens and passwords that can be known by their form or by the name before them.
//
// What a secret looks like is gitleaks' knowledge (rules.txt); how it is looked for is ours, as gitleaks reads repositories, and this
// package reads what passes between programs and tools, while they wait. One pass over the text finds the keywords of all rules; a
// regular expression is tried only where a keyword stands, and from there only, so that time grows with the text and with
// nothing else. Text that could make it grow all the same is taken out as a whole.
//
// It is a net, and no wall: what is encoded, split or unknown to the rules passes.
package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Unchecked is the rule that text is taken out by if looking through it would take too long.
const Unchecked = "unchecked"

// Found says how many secrets a rule found. What they were is told nowhere.
type Found struct {
	Rule  string
	Count int
}

// Redactor takes secrets out. It is safe for use by several goroutines.
type Redactor struct {
	*ruleSet
	*automaton
	byID    map[string]bool
	scanner sync.Pool
}

// Default is the redactor by the rules of gitleaks. The first call reads them; each expression is compiled when it is first needed.
var Default = sync.OnceValue(func() *Redactor {
	set, err := parseRules(rulesText)
	if err != nil {
		panic(err) // the file is part of this package, and tested
	}
	r := &Redactor{ruleSet: set, automaton: newAutomaton(set.keywords), byID: map[string]bool{Unchecked: true}}
	for _, rule := range set.rules {
		r.byID[rule.id] = true
	}
	return r
})

// Text returns text with a mark, [redacted: RULE], in place of each secret: the same slice if there is none. What it returns has
// no more secrets to find. Where a text has JSON, its numbers stay.
func (r *Redactor) Text(text []byte) ([]byte, []Found) { return r.redact(text, 0, replaceAnywhere) }

// JSON returns JSON of the same shape, with marks in place of secrets in its strings. Names of members count as strings; if more than
// one becomes a mark, marks are numbered, so that no two are the same. Numbers stay. What is no JSON after all is read as text.
func (r *Redactor) JSON(text []byte) ([]byte, []Found) { return r.redact(text, 1, replaceInStrings) }

// rounds is how often text is looked through again: what stands beside a secret can become one when the secret is gone.
const rounds = 4

func (r *Redactor) redact(text []byte, depth int, replace replacer) ([]byte, []Found) {
	found := map[string]int{}
	for round := 0; ; round++ {
		spans := r.find(text, depth)
		switch {
		case len(spans) == 0:
			return text, list(found)
		case round == 0 && depth > 0 && !json.Valid(text):
			return r.Text(text)
		case round == rounds:
			spans = all(text)
		}
		redacted := replace(text, spans, found)
		if bytes.Equal(redacted, text) { // what was found stands between strings
			return text, list(found)
		}
		if text = redacted; spans[0].rule == unchecked {
			return text, list(found)
		}
	}
}

func list(found map[string]int) (all []Found) {
	for _, id := range slices.Sorted(maps.Keys(found)) {
		all = append(all, Found{id, found[id]})
	}
	return all
}

// all is what stands for the secrets of a text that was not looked through.
func all(text []byte) []span { return []span{{0, len(text), unchecked}} }

var unchecked = &rule{id: Unchecked}

// span is where a secret stands.
type span struct {
	from, to int
	rule     *rule
}

// views bounds how often a text is read as if it stood in a JSON string: JSON in a text in JSON takes two.
const views = 3

// find returns the secrets of a text, in order, none of which overlap. It looks at the text as it stands, at what it stands for if it
// has JSON's escapes, and what that stands for; at none of these before a depth, unless there is nothing deeper.
func (r *Redactor) find(text []byte, depth int) []span {
	var found []span
	levels := [][]byte{text}
	for level := 0; ; level++ {
		plain, escaped := []byte(nil), false
		if level < views {
			plain, escaped = unescape(levels[level])
		}
		if level >= depth || !escaped {
			spans, ok := r.scan(levels[level])
			if !ok {
				return all(text)
			}
			spans = merge(spans)
			for down := level - 1; down >= 0; down-- {
				locate(levels[down], spans)
			}
			found = append(found, spans...)
		}
		if !escaped {
			break
		}
		levels = append(levels, plain)
	}
	return slices.DeleteFunc(merge(found), func(s span) bool { return r.marked(text, s) || isMember(text, s) })
}

// merge makes one of spans that overlap, by the name of the better rule: any is better than a generic one, then the longer one.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(a.from-b.from, b.to-a.to, a.rule.index-b.rule.index)
	})
	var out []span
	longest := 0 // of those that were merged into the last
	for _, s := range spans {
		if len(out) == 0 || s.from >= out[len(out)-1].to {
			out, longest = append(out, s), s.to-s.from
			continue
		}
		last := &out[len(out)-1]
		if last.rule.generic && !s.rule.generic || last.rule.generic == s.rule.generic && s.to-s.from > longest {
			last.rule, longest = s.rule, s.to-s.from
		}
		last.to = max(last.to, s.to)
	}
	return out
}

const markHead = "[redacted: "

func appendMark(out []byte, id string) []byte {
	return append(append(append(out, markHead...), id...), ']')
}

// marked reports whether a span is a mark that stands there already, or within one.
func (r *Redactor) marked(text []byte, s span) bool {
	const longest = 100
	before := max(0, s.from-longest)
	head := bytes.LastIndex(text[before:min(len(text), s.from+len(markHead))], []byte(markHead))
	if head < 0 {
		return false
	}
	from := before + head + len(markHead)
	id, _, closed := bytes.Cut(text[from:min(len(text), from+longest)], []byte("]"))
	if !closed || s.to > from+len(id)+1 {
		return false
	}
	name, number, numbered := strings.Cut(string(id), " (")
	return r.byID[name] && (!numbered || strings.Trim(number, "0123456789") == ")")
}

// replacer writes a text anew with marks, and counts what it replaced.
type replacer func(text []byte, spans []span, found map[string]int) []byte

func replaceAnywhere(text []byte, spans []span, found map[string]int) []byte {
	var out []byte
	done := 0
	for _, s := range spans {
		out = appendMark(append(out, text[done:s.from]...), s.rule.id)
		done = s.to
		found[s.rule.id]++
	}
	return append(out, text[done:]...)
}

// isMember reports whether a span is a number that JSON in a text has for a member's value.
func isMember(text []byte, s span) bool {
	if bytes.ContainsFunc(text[s.from:s.to], func(c rune) bool { return c < '0' || c > '9' }) {
		return false
	}
	name, ok := bytes.CutSuffix(bytes.TrimRight(text[max(0, s.from-10):s.from], " \t\r\n"), []byte(":"))
	return ok && bytes.HasSuffix(bytes.TrimRight(name, " \t\r\n"), []byte(`"`))
}

// replaceInStrings puts marks into the strings of JSON only. What a span has of two strings becomes a mark in both.
func replaceInStrings(text []byte, spans []span, found map[string]int) []byte {
	var out []byte
	names := bytes.Count(text, []byte(markHead)) // numbers that names may have already
	done, counted := 0, -1
	for at := 0; len(spans) > 0; {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			break
		}
		from := at + quote + 1
		s := jsonString{text, from, closing(text, from)}
		at = s.to + 1
		if spans[0].from >= s.to {
			continue
		}
		name := s.isName()
		for len(spans) > 0 && spans[0].from < s.to {
			from, to := s.units(max(spans[0].from, from), min(spans[0].to, s.to))
			if from < to {
				id := spans[0].rule.id
				if spans[0].from != counted {
					counted = spans[0].from
					found[id]++
				}
				if name {
					if names++; names > 1 {
						id = fmt.Sprintf("%s (%d)", id, names)
					}
				}
				out = appendMark(append(out, text[done:from]...), id)
				done = to
			}
			if spans[0].to > s.to {
				break // it goes on in the next string
			}
			spans = spans[1:]
		}
	}
	return append(out, text[done:]...)
}
