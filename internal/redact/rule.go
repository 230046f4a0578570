package redact

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// rulesText is what gitleaks knows of secrets. A rule is a line "rule ID" and what follows it; "rule *" is for all.
//
//	entropy N        bits for each character, of which a secret has more
//	if WORDS         the rule is for texts that have one of these words
//	after WORD       so close before stands this word
//	word W, fold W   a keyword of the next pattern, in this case or in any
//	value MIN MAX R  pattern: the keyword, an assignment, a value of so many bytes
//	match A B MAX R  pattern: an expression that begins A to B bytes before the keyword, and matches up to MAX bytes
//	allow-secret R   no secret, if the expression matches it
//	allow-match R    no secret, if the expression matches it with the name before it
//	allow-words W    no secret, if it has one of these words
//	hints WORDS      the next allow-match is for texts that have one of these words
//
//go:generate go test -run ^TestRules$ -gitleaks $GITLEAKS .
//go:embed rules.txt
var rulesText string

// ruleSet is rules.txt, read.
type ruleSet struct {
	rules    []*rule
	patterns []*pattern
	common   *rule // "rule *"
	keywords []keyword
}

// keyword is a word by which the scanner finds what a pattern or a condition looks for.
type keyword struct {
	text      string // in lower case
	pattern   *pattern
	exact     string // the word in its case, unless it may stand in any
	condition *rule
}

type rule struct {
	id       string
	index    int
	generic  bool // any other rule has the better name for a secret
	entropy  float64
	after    string
	only     bool // there are words that a text must have
	patterns []*pattern
	words    wordSet
	secrets  []func() *regexp.Regexp
	match    func() *regexp.Regexp
	hints    wordSet
}

// pattern is one form of a rule's secrets.
type pattern struct {
	*rule
	index       int
	assigned    bool // a value of a name
	boundary    bool // begins at the boundary of a word
	least, most int
	back        [2]int
	compiled    func() *regexp.Regexp
}

// wordSet are words by how they begin.
type wordSet map[[wordHead]byte][]string

const wordHead = 2

func (w wordSet) add(words string) {
	for word := range strings.FieldsSeq(words) {
		if plain, err := strconv.Unquote(word); err == nil {
			word = plain
		}
		head := [wordHead]byte([]byte(word))
		w[head] = append(w[head], word)
	}
}

// in reports whether a text has one of the words, in any case of ASCII's letters.
func (w wordSet) in(text []byte) bool {
	if len(w) == 0 {
		return false
	}
	var room [200]byte
	lower := append(room[:0], text...)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] += 'a' - 'A'
		}
	}
	for i := 0; i+wordHead <= len(lower); i++ {
		for _, word := range w[[wordHead]byte(lower[i:])] {
			if bytes.HasPrefix(lower[i:], []byte(word)) {
				return true
			}
		}
	}
	return false
}

// valueEnd is what ends a value.
const valueEnd = `(?:[\x60'"\s;]|\\[nr]|$)`

func parseRules(text string) (*ruleSet, error) {
	set := &ruleSet{}
	var r *rule
	var pending []keyword
	for n, line := range strings.Split(text, "\n") {
		key, rest, _ := strings.Cut(line, " ")
		var err error
		switch key {
		case "", "#":
		case "rule":
			r = &rule{id: rest, index: len(set.rules), generic: strings.HasPrefix(rest, "generic"), words: wordSet{}, hints: wordSet{}}
			if rest == "*" {
				set.common = r
			} else {
				set.rules = append(set.rules, r)
			}
		case "entropy":
			r.entropy, err = strconv.ParseFloat(rest, 64)
		case "if":
			r.only = true
			for word := range strings.FieldsSeq(rest) {
				set.keywords = append(set.keywords, keyword{text: strings.ToLower(word), condition: r})
			}
		case "after":
			r.after = rest
		case "word":
			pending = append(pending, keyword{text: strings.ToLower(rest), exact: rest})
		case "fold":
			pending = append(pending, keyword{text: rest})
		case "value", "match":
			p := &pattern{rule: r, index: len(set.patterns), assigned: key == "value"}
			if err = p.parse(rest); err != nil {
				break
			}
			set.patterns, r.patterns = append(set.patterns, p), append(r.patterns, p)
			for _, w := range pending {
				w.pattern = p
				set.keywords = append(set.keywords, w)
			}
			pending = nil
		case "allow-secret":
			r.secrets = append(r.secrets, lazily(rest))
		case "allow-match":
			r.match = lazily(rest)
		case "allow-words":
			r.words.add(rest)
		case "hints":
			r.hints.add(rest)
		default:
			err = fmt.Errorf("unknown %q", key)
		}
		if err != nil {
			return nil, fmt.Errorf("rules.txt:%d: %w", n+1, err)
		}
	}
	return set, nil
}

func (p *pattern) parse(text string) error {
	var err error
	number := func() (n int) {
		var head string
		head, text, _ = strings.Cut(text, " ")
		if err == nil {
			n, err = strconv.Atoi(head)
		}
		return n
	}
	if p.assigned {
		p.least, p.most = number(), number()
		p.compiled = lazily(`\A(` + text + `)` + valueEnd)
		return err
	}
	p.back[0], p.back[1], p.most = number(), number(), number()
	p.boundary = p.back[1] == 0 && strings.HasPrefix(strings.TrimPrefix(text, `(?i)`), `\b`)
	p.compiled = lazily(`\A(?s:.)(` + text + `)`) // what stands before decides on \b
	return err
}

func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// isSecret holds what a pattern found against what its rule says of it.
func (s *ruleSet) isSecret(r *rule, secret, match []byte) bool {
	if len(bytes.TrimLeft(secret, strings.ToLower(string(secret[:1]))+strings.ToUpper(string(secret[:1])))) == 0 {
		return false // one letter, over and over
	}
	if r.entropy > 0 && entropy(secret) <= r.entropy {
		return false
	}
	return !r.allows(secret, match) && !s.common.allows(secret, match)
}

// allows is true of what a rule says to be no secret.
func (r *rule) allows(secret, match []byte) bool {
	matches := func(expression func() *regexp.Regexp) bool { return expression().Match(secret) }
	return r.words.in(secret) || slices.ContainsFunc(r.secrets, matches) || r.match != nil && r.hints.in(match) && r.match().Match(match)
}

// entropy is Shannon's, in bits for each byte.
func entropy(text []byte) (bits float64) {
	var counts [256]int
	for _, c := range text {
		counts[c]++
	}
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
