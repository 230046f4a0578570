package redact

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var checkout = flag.String("gitleaks", "", "write rules.txt anew, from this checkout of gitleaks")

// amended are expressions of gitleaks that are not right for taking secrets out, in pairs of what stands there and what should. One
// that gitleaks has changed since fails the generation: look again.
var amended = map[string][]string{
	// Meant is the word alone; as written it allows each secret that begins with true, has false in it or ends in null.
	"*": {
		`(?i)^true|false|null$`, `^(?i:true|false|null)$`,
		oneLetter, ``, // in isSecret: as an expression it takes most of the time
		`^/U` + `sers/`, `^/[U]sers/`, // tests/arch takes it for a path of somebody's machine
	},
	// A key that was cut off has no end, and is a key.
	"private-key": {`[\s\S-]{64,}?KEY(?: BLOCK)?-----`, `(?:[\s\S-]{64,}?KEY(?: BLOCK)?-----|\s{1,4}(?:[A-Za-z0-9+/=]{40,}\s{0,4})+)`},
	// Without a prefix it is any SHA-1, in texts that mention Sourcegraph: commits.
	"sourcegraph-access-token": {`|[a-fA-F0-9]{40})\b)`, `)\b)`},
	// Its groups are parts of the secret.
	"microsoft-teams-webhook": {`([a-z0-9]{4}-)`, `(?:[a-z0-9]{4}-)`},
	// The same, with more to find it by than a bar.
	"facebook-access-token": {`\d{15,16}`, `\d{14,15}\d`},
	// The longer name is the shorter one and what may stand behind any name.
	"mailchimp-api-key": {`MailchimpSDK.initialize|mailchimp`, `mailchimp`},
	// This is what each token begins with, and no token; nor should it look like one.
	"aws-amazon-bedrock-api-key-short-lived": {`YmVkcm9jay5hbWF6b25hd3MuY29t`, `Ym[V]kcm9jay5hbWF6b25hd3MuY29t[\w+/=%-]*`},
	// Meant are words behind an s, and no newer tokens that begin with letters.
	"vault-service-token": {`s\.[A-Za-z]{24}`, `^s\.[A-Za-z]{24}$`},
	// A quoted text ends where a text would.
	"curl-auth-user": {
		`(?:\s|\z)`, `(?:["'\x60\s]|\z)`,
		// A password that begins with an x is one.
		`[^:]+:(?:change(?:it|me)|pass(?:word)?|pwd|test|token|\*+|x+)`, `^[^:]+:['"]?(?:change(?:it|me)|pass(?:word)?|pwd|test|token|\*+|x+)['"]?$`,
	},
	"sidekiq-sensitive-url": {`[\/|\#|\?|:]`, `["'\x60\s\/|\#|\?|:]`},
	"generic-api-key":       {`(?:\n|\z)`, `(?:["\n]|\z)`},
	// What stands behind the secret is none of it.
	"sentry-org-token": {`\bsntrys_`, `\b(sntrys_`, `{43}(?:`, `{43})(?:`},
}

const oneLetter = `^(?i:a+|b+|c+|d+|e+|f+|g+|h+|i+|j+|k+|l+|m+|n+|o+|p+|q+|r+|s+|t+|u+|v+|w+|x+|y+|z+|\*+|\.+)$`

// added are patterns that rules should have.
var added = map[string]string{"sourcegraph-access-token": "fold sourcegraph\nvalue 40 40 (?i)[a-f0-9]{40}\n"}

// amend returns an expression as it should be.
func amend(id, regex string, used map[string]bool) string {
	for pair := range slices.Chunk(amended[id], 2) {
		if strings.Contains(regex, pair[0]) {
			used[pair[0]] = true
			regex = strings.ReplaceAll(regex, pair[0], pair[1])
		}
	}
	return namedGroup.ReplaceAllString(regex, "(?:") // of jwt-base64: which field the token begins with
}

var namedGroup = regexp.MustCompile(`\(\?P<\w+>`)

// Parts of the expressions that gitleaks makes for "name = secret".
const (
	nameLead     = `[\w.-]{0,50}?`
	nameGap      = `(?:[ \t\w.-]{0,20})[\s'"]{0,3}`
	assigns      = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`
	valueLead    = `[\x60'"\s=]{0,5}(`
	curlOptions  = `[ \t\n\r](?:-`
	farthest     = 16 << 10 // of expressions without a bound
	longestWord  = 12       // of a keyword; longer ones make the automaton larger, and nothing faster
	mostKeywords = 300      // of one expression
)

// TestRules writes rules.txt when told to; otherwise it checks what the scanner takes from it without looking.
func TestRules(t *testing.T) {
	if *checkout != "" {
		text, err := generate(*checkout)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("rules.txt", text, 0o644); err != nil {
			t.Fatal(err)
		}
		license, err := git(*checkout, "show", "HEAD:LICENSE")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("LICENSE.gitleaks", []byte(license+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		rulesText = string(text)
	}
	rules, err := parseRules(rulesText)
	if err != nil {
		t.Fatal(err)
	}
	if len(rules.rules) < 200 {
		t.Errorf("%d rules", len(rules.rules))
	}
	keywords := map[*pattern]int{}
	for _, k := range rules.keywords {
		if k.pattern == nil {
			continue
		}
		keywords[k.pattern]++
		if k.pattern.boundary && classOf[k.text[0]]&inWord == 0 {
			t.Errorf("%s: %q is to begin at the boundary of a word", k.pattern.id, k.text)
		}
	}
	for _, r := range rules.rules {
		if !regexp.MustCompile(`^[a-z0-9-]{1,60}$`).MatchString(r.id) {
			t.Errorf("a mark for %q is not known again", r.id)
		}
		for _, p := range r.patterns {
			if keywords[p] == 0 {
				t.Errorf("%s: a pattern without a keyword", r.id)
			}
			text := p.compiled().String()
			if !p.assigned && strings.Contains(text, "^|") && !strings.Contains(text, `\s`) {
				t.Errorf("%s: a line end is not as good as the start of a text", r.id)
			}
		}
	}
}

// generate is rules.txt.
func generate(checkout string) ([]byte, error) {
	toml, err := git(checkout, "show", "HEAD:config/gitleaks.toml")
	if err != nil {
		return nil, err
	}
	config, err := readTOML(toml)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	version, err := git(checkout, "describe", "--tags")
	if err != nil {
		return nil, err
	}
	commit, err := git(checkout, "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&out, "# Made by generate_test.go from config/gitleaks.toml of github.com/gitleaks/gitleaks %s,\n# commit %s. MIT licence: LICENSE.gitleaks.\n",
		version, commit)
	used, skip, id := map[string]bool{}, false, ""
	for _, t := range config {
		switch t.name {
		case "":
			continue
		case "allowlist":
			fmt.Fprintf(&out, "\nrule *\n")
			err = writeAllow(&out, "*", t, used)
		case "rules":
			if id, skip = t.values["id"], t.values["path"] != ""; !skip { // a text has no path
				err = writeRule(&out, t, amend(id, t.values["regex"], used))
			}
		case "rules.allowlists":
			if !skip {
				err = writeAllow(&out, id, t, used)
			}
		default:
			err = fmt.Errorf("a table [%s]", t.name)
		}
		if err != nil {
			return nil, err
		}
	}
	for id, pairs := range amended {
		for pair := range slices.Chunk(pairs, 2) {
			if !used[pair[0]] {
				return nil, fmt.Errorf("rule %s has no %s any more: look again at what it should be", id, pair[0])
			}
		}
	}
	return out.Bytes(), nil
}

func git(dir string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

func writeRule(out *bytes.Buffer, t *table, regex string) error {
	id := t.values["id"]
	for key := range t.values {
		if !slices.Contains([]string{"id", "regex", "entropy", "description", "secretGroup"}, key) {
			return fmt.Errorf("rule %s has %s, which is not known", id, key)
		}
	}
	fmt.Fprintf(out, "\nrule %s\n", id)
	if e := t.values["entropy"]; e != "" {
		fmt.Fprintf(out, "entropy %s\n", e)
	}
	name, rest, found := strings.Cut(regex, nameGap)
	if t.values["secretGroup"] != "" && !found { // the group of the value: another than the first, if the name has groups
		return fmt.Errorf("rule %s has a group for its secret", id)
	}
	var err error
	switch {
	case found:
		err = writeAssignment(out, name, rest, t.lists["keywords"])
	case strings.HasPrefix(regex, `\bcurl\b`):
		_, option, found := strings.Cut(regex, curlOptions)
		if !found {
			return fmt.Errorf("rule %s: no options of curl", id)
		}
		fmt.Fprintf(out, "after curl\n")
		err = writeMatch(out, curlOptions+option, nil)
	default:
		err = writeMatch(out, regex, t.lists["keywords"])
	}
	if err != nil {
		return fmt.Errorf("rule %s: %w", id, err)
	}
	out.WriteString(added[id])
	return nil
}

// writeAssignment takes "name = secret" apart: the scanner has the part between by hand, as it is the same in all.
func writeAssignment(out *bytes.Buffer, name, rest string, keywords []string) error {
	flags := ""
	if inner, ok := strings.CutPrefix(name, nameLead+`(?i:`); ok {
		name = inner
		rest = strings.TrimPrefix(rest, ")")
	} else if inner, ok := strings.CutPrefix(name, `(?i)`); ok {
		name, flags = inner, `(?i)`
	}
	name, ok := strings.CutPrefix(name, nameLead)
	if !ok {
		return errors.New("no lead of a name")
	}
	value, ok := strings.CutPrefix(rest, assigns+valueLead)
	if !ok {
		return errors.New("no assignment")
	}
	value, more, ok := strings.Cut(value, ")"+valueEnd)
	if !ok {
		return errors.New("no end of a value")
	}
	words, exact, err := prefixesOf(`(?i)` + name)
	if err != nil {
		return err
	}
	if !exact {
		return errors.New("a name that is no list of words")
	}
	value = flags + value
	re, err := syntax.Parse(value, syntax.Perl)
	if err != nil {
		return err
	}
	if err := onlyValueBytes(re); err != nil {
		return err
	}
	writeWords(out, words)
	least, most := length(re)
	fmt.Fprintf(out, "value %d %d %s\n", least, min(most, farthest), value)
	if more != "" {
		return writeMatch(out, flags+strings.TrimPrefix(more, "|"), nil)
	}
	return nil
}

func writeMatch(out *bytes.Buffer, regex string, keywords []string) error {
	re, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		return err
	}
	back, words, err := keywordsOf(re)
	if err != nil {
		return err
	}
	// gitleaks looks for a keyword anywhere in a text, which need not be a part of what is found.
	implied := func(w word) bool {
		return slices.ContainsFunc(keywords, func(k string) bool { return strings.Contains(strings.ToLower(w.text), strings.ToLower(k)) })
	}
	if keywords != nil && !slices.ContainsFunc(words, implied) && !strings.Contains(strings.ToLower(regex), strings.ToLower(keywords[0])) {
		fmt.Fprintf(out, "if %s\n", strings.Join(keywords, " "))
	}
	writeWords(out, words)
	_, most := length(re)
	fmt.Fprintf(out, "match %d %d %d %s\n", back[0], back[1], min(most, farthest), regex)
	return nil
}

func writeWords(out *bytes.Buffer, words []word) {
	for _, w := range words {
		kind := "word"
		if w.fold {
			kind = "fold"
		}
		fmt.Fprintf(out, "%s %s\n", kind, w.text)
	}
}

func writeAllow(out *bytes.Buffer, id string, t *table, used map[string]bool) error {
	if t.values["condition"] == "AND" && t.lists["paths"] != nil {
		return nil // about a path
	}
	if t.values["condition"] != "" {
		return errors.New("an allowlist with a condition")
	}
	target := t.values["regexTarget"]
	if target == "" {
		target = "secret"
	}
	for _, regex := range t.lists["regexes"] {
		if target == "line" { // a line of what? Two expressions for source code
			continue
		}
		if regex = amend(id, regex, used); regex == "" || strings.HasPrefix(regex, "AIza") { // keys that documents have: they look like keys
			continue
		}
		if len(regex) > 500 { // too long to be tried without a reason
			hints, err := hintsOf(regex)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "hints %s\n", strings.Join(hints, " "))
		}
		fmt.Fprintf(out, "allow-%s %s\n", target, regex)
	}
	for words := range slices.Chunk(t.lists["stopwords"], 20) {
		fmt.Fprintf(out, "allow-words %s\n", strings.ToLower(strings.Join(words, " ")))
	}
	return nil
}

// word is what a match begins with.
type word struct {
	text string
	fold bool // in any case
}

// keywordsOf finds the words by which the scanner finds a match, and how far before them it begins.
func keywordsOf(re *syntax.Regexp) (back [2]int, words []word, err error) {
	parts, before, longest := flat(re), [2]int{}, 0
	for i := range parts {
		found, _ := prefixes(&syntax.Regexp{Op: syntax.OpConcat, Sub: parts[i:]})
		for i, w := range found {
			found[i].text = w.text[:min(len(w.text), longestWord)]
		}
		found = reduce(found)
		shortest := len(slices.MinFunc(found, func(a, b word) int { return len(a.text) - len(b.text) }).text)
		if shortest > longest {
			back, words, longest = before, found, shortest
		}
		if longest > 1 {
			break
		}
		least, most := length(parts[i])
		if most == farthest {
			break
		}
		before[0] += least
		before[1] += most
	}
	if longest == 0 {
		return back, nil, fmt.Errorf("no keyword in %s", re)
	}
	return back, words, nil
}

// hintsOf returns words of which a text that an alternation matches has one.
func hintsOf(regex string) ([]string, error) {
	re, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		return nil, err
	}
	var hints []string
	var each func(re *syntax.Regexp) error
	each = func(re *syntax.Regexp) error {
		if re.Op == syntax.OpAlternate || re.Op == syntax.OpCapture {
			for _, sub := range re.Sub {
				if err := each(sub); err != nil {
					return err
				}
			}
			return nil
		}
		words, _ := prefixes(re)
		if slices.ContainsFunc(words, func(w word) bool { return len(w.text) <= wordHead }) { // too little to begin with: a text within
			words = within(re)
		}
		if words == nil {
			return fmt.Errorf("no hint in %s", re)
		}
		for _, w := range words {
			hint := strings.ToLower(w.text[:min(len(w.text), longestWord)])
			if strings.ContainsFunc(hint, unicode.IsSpace) {
				hint = strconv.Quote(hint)
			}
			hints = append(hints, hint)
		}
		return nil
	}
	err = each(re)
	slices.Sort(hints)
	return slices.Compact(hints), err
}

// within returns texts of which each match has one.
func within(re *syntax.Regexp) (words []word) {
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) >= wordHead {
			return []word{{string(re.Rune), true}}
		}
	case syntax.OpCapture:
		return within(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			w := within(sub)
			if w == nil {
				return nil
			}
			words = append(words, w...)
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub { // the last: what stands before is what any text has
			if w := within(sub); w != nil {
				words = w
			}
		}
	}
	return words
}

// flat takes groups and sequences apart, as far as they stand in a row.
func flat(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpCapture:
		return flat(re.Sub[0])
	case syntax.OpConcat:
		var all []*syntax.Regexp
		for _, sub := range re.Sub {
			all = append(all, flat(sub)...)
		}
		return all
	case syntax.OpBeginText, syntax.OpBeginLine, syntax.OpWordBoundary, syntax.OpEmptyMatch:
		return nil
	}
	return []*syntax.Regexp{re}
}

func prefixesOf(regex string) ([]word, bool, error) {
	re, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		return nil, false, err
	}
	words, exact := prefixes(re)
	return reduce(words), exact, nil // whole: the scanner goes on where they end
}

// prefixes are words of which each match begins with one; exact: each is a whole match.
func prefixes(re *syntax.Regexp) (words []word, exact bool) {
	nothing := []word{{}}
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 && len(re.Rune) == 1 { // [Aa] is read as this
			return []word{{string(unicode.ToLower(re.Rune[0])), false}, {string(unicode.ToUpper(re.Rune[0])), false}}, true
		}
		return []word{{string(re.Rune), re.Flags&syntax.FoldCase != 0}}, true
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if len(words) == 10 || unicode.IsSpace(r) {
					return nothing, false
				}
				words = append(words, word{string(r), false})
			}
		}
		return words, true
	case syntax.OpCapture:
		return prefixes(re.Sub[0])
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpBeginLine, syntax.OpWordBoundary:
		return nothing, true
	case syntax.OpQuest:
		words, exact = prefixes(re.Sub[0])
		return append(words, word{}), exact
	case syntax.OpPlus:
		words, _ = prefixes(re.Sub[0])
		return words, false
	case syntax.OpRepeat:
		if re.Min == 0 {
			return nothing, false
		}
		words, _ = prefixes(re.Sub[0])
		return words, false
	case syntax.OpAlternate:
		exact = true
		for _, sub := range re.Sub {
			w, e := prefixes(sub)
			words, exact = append(words, w...), exact && e
		}
		return words, exact
	case syntax.OpConcat:
		words = nothing
		for _, sub := range re.Sub {
			more, e := prefixes(sub)
			var longer []word
			for _, a := range words {
				for _, b := range more {
					longer = append(longer, word{a.text + b.text, a.fold || b.fold})
				}
			}
			if len(longer) > mostKeywords {
				return words, false
			}
			words = longer
			if !e {
				return words, false
			}
		}
		return words, true
	}
	return nothing, false
}

// reduce leaves out words that begin with another.
func reduce(words []word) []word {
	for i, w := range words {
		if w.fold {
			words[i].text = strings.ToLower(w.text)
		}
	}
	var out []word
	for i, w := range words {
		redundant := slices.ContainsFunc(words, func(o word) bool {
			begins := strings.HasPrefix(w.text, o.text) && w.fold == o.fold || o.fold && strings.HasPrefix(strings.ToLower(w.text), strings.ToLower(o.text))
			return begins && (len(o.text) < len(w.text) || o.fold && !w.fold)
		})
		if !redundant && !slices.Contains(words[:i], w) {
			out = append(out, w)
		}
	}
	return out
}

// length is how many bytes a match has, as far as it is ASCII.
func length(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpLiteral:
		n := len(string(re.Rune))
		return n, n
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpCapture:
		return length(re.Sub[0])
	case syntax.OpStar:
		return 0, farthest
	case syntax.OpPlus:
		least, _ = length(re.Sub[0])
		return least, farthest
	case syntax.OpQuest:
		_, most = length(re.Sub[0])
		return 0, most
	case syntax.OpRepeat:
		least, most = length(re.Sub[0])
		if re.Max < 0 {
			return least * re.Min, farthest
		}
		return least * re.Min, most * re.Max
	case syntax.OpAlternate:
		least = farthest
		for _, sub := range re.Sub {
			l, m := length(sub)
			least, most = min(least, l), max(most, m)
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			l, m := length(sub)
			least, most = least+l, most+m
		}
	}
	return least, most
}

// onlyValueBytes holds the bytes of a value against what the scanner takes for one.
func onlyValueBytes(re *syntax.Regexp) error {
	bad := func(r rune) bool { return r < unicode.MaxASCII && classOf[byte(r)]&inValue == 0 }
	switch re.Op {
	case syntax.OpLiteral:
		if slices.ContainsFunc(re.Rune, bad) {
			return fmt.Errorf("%s has what no value has", re)
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= min(re.Rune[i+1], unicode.MaxASCII); r++ {
				if bad(r) {
					return fmt.Errorf("%s has %q, which no value has", re, r)
				}
			}
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpWordBoundary:
		return fmt.Errorf("%s in a value", re)
	}
	for _, sub := range re.Sub {
		if err := onlyValueBytes(sub); err != nil {
			return err
		}
	}
	return nil
}

// table is one of the TOML of gitleaks.
type table struct {
	name   string
	values map[string]string
	lists  map[string][]string
}

// readTOML reads as much of TOML as the file uses.
func readTOML(text string) ([]*table, error) {
	t := &table{values: map[string]string{}, lists: map[string][]string{}}
	all, list := []*table{t}, ""
	for n, line := range strings.Split(text, "\n") {
		var err error
		line = strings.TrimSpace(line)
		key, value, assigned := strings.Cut(line, " = ")
		switch {
		case line == "" || line[0] == '#':
		case list != "" && line == "]":
			list = ""
		case list != "":
			s, err := unquote(strings.TrimSuffix(line, ","))
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			t.lists[list] = append(t.lists[list], s)
		case line[0] == '[':
			t = &table{strings.Trim(line, "[]"), map[string]string{}, map[string][]string{}}
			all = append(all, t)
		case !assigned:
			return nil, fmt.Errorf("line %d: %s", n+1, line)
		case value == "[":
			list = key
		case value[0] == '[':
			for item := range strings.SplitSeq(strings.Trim(value, "[]"), ",") {
				s, err := unquote(strings.TrimSpace(item))
				if err != nil {
					return nil, fmt.Errorf("line %d: %w", n+1, err)
				}
				t.lists[key] = append(t.lists[key], s)
			}
		default:
			if t.values[key], err = unquote(value); err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
		}
	}
	return all, nil
}

func unquote(s string) (string, error) {
	if inner, ok := strings.CutPrefix(s, "'''"); ok && len(s) >= 6 && strings.HasSuffix(inner, "'''") {
		return strings.TrimSuffix(inner, "'''"), nil
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s, nil
	}
	return strconv.Unquote(s)
}
