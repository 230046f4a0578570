package redact

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// settings are texts in which secrets of a name stand; %n is the name, %s the secret.
var settings = []string{
	`%nToken="%s"`, `%n_TOKEN=%s`, `%n_token: %s`, `%n-token: '%s'`, "%n_token:\n  '%s'", `{"%n_token": "%s"}`, `{"%n_token":"%s","more":1}`,
	"<%nToken>\n    %s\n</%nToken>", `string %nToken = "%s";`, `%nToken := "%s"`, "%nToken := `%s`", `var %nToken: "%s"`, `$%nToken .= "%s"`,
	`System.setProperty("%n_TOKEN", "%s")`, `"%nToken" => "%s"`, `%n_TOKEN := "%s"`, `%n_TOKEN ::= "%s"`, `%n_TOKEN :::= "%s"`, `%n_TOKEN ?= "%s"`,
	`if (%n_token == "%s" || x) {`, "{\"config.ini\": \"%n_TOKEN=%s\\nBACKUP=1\"}",
}

// bare are texts in which secrets stand that are known by their own form.
var bare = []string{`%s`, `"%s"`, "see %s\nand so on", `x = "%s";`, "'%s'", "{\"text\": \"%s\"}", "{\"log\": \"a\\n%s\\nb\"}", "<a>\n%s\n</a>", "`%s`"}

// TestEachRule makes secrets of each rule by its expression, and finds them in each setting: the keyword is the right one, the part that the
// scanner does by hand takes what gitleaks' expression takes, and what is cut out for an expression has all that it looks at.
func TestEachRule(t *testing.T) {
	r := Default()
	random := rand.New(rand.NewPCG(1, 2))
	for _, rule := range r.rules {
		told := false
		for _, p := range rule.patterns {
			for _, k := range r.keywords {
				if k.pattern != p {
					continue
				}
				name := k.exact
				if name == "" {
					name = k.text
				}
				texts := bare
				if p.assigned {
					texts = settings
				}
				for _, text := range texts {
					secret, whole := sample(t, random, r, p)
					if rule.only {
						text += " " + r.conditionOf(rule)
					}
					if rule.after != "" {
						text = rule.after + " x" + strings.ReplaceAll(text, "see", "-v") // the options of a command
					}
					if p.assigned {
						whole = secret
					}
					in := strings.NewReplacer("%n", name, "%s", escapeFor(text, whole)).Replace(text)
					out, found := r.Text([]byte(in))
					if bytes.Contains(out, []byte(secret)) || len(found) == 0 {
						t.Errorf("%s: %q is left in %q (%v)", rule.id, secret, out, found)
					}
					told = told || slices.ContainsFunc(found, func(f Found) bool { return f.Rule == rule.id })
					if json.Valid([]byte(in)) {
						if out, found = r.JSON([]byte(in)); bytes.Contains(out, []byte(secret)) || len(found) == 0 || !json.Valid(out) {
							t.Errorf("%s: JSON %q is left in %q (%v)", rule.id, secret, out, found)
						}
					}
				}
			}
		}
		// These have the form of another rule: bittrex-access-key, flutterwave-encryption-key.
		if !told && rule.id != "bittrex-secret-key" && rule.id != "flutterwave-secret-key" {
			t.Errorf("%s is never named", rule.id)
		}
	}
}

func escapeFor(text, secret string) string {
	if !strings.HasPrefix(text, "{") {
		return secret
	}
	q, _ := json.Marshal(secret)
	return string(q[1 : len(q)-1])
}

func (s *ruleSet) conditionOf(r *rule) string {
	for _, k := range s.keywords {
		if k.condition == r {
			return k.text
		}
	}
	return ""
}

// sample makes what a pattern matches, and the secret in it.
func sample(t *testing.T, random *rand.Rand, r *Redactor, p *pattern) (secret, whole string) {
	re, err := syntax.Parse(p.compiled().String(), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		text := appendMatch(nil, random, re)
		loc := p.compiled().FindSubmatchIndex(text)
		if loc == nil { // a boundary that is none
			continue
		}
		from, to := loc[2], loc[3]
		for i := 4; !p.assigned && i < len(loc); i += 2 {
			if loc[i] < loc[i+1] {
				from, to = loc[i], loc[i+1]
				break
			}
		}
		secret, whole = strings.Trim(string(text[from:to]), `'"`), string(text[loc[2]:loc[3]])
		if strings.Trim(secret, "'\" \t\n") == secret && r.isSecret(p.rule, []byte(secret), []byte(whole)) {
			return secret, whole
		}
	}
	t.Fatalf("%s: no sample", p.id)
	return "", ""
}

// appendMatch appends a text that an expression matches, if its boundaries are where they should be.
func appendMatch(out []byte, random *rand.Rand, re *syntax.Regexp) []byte {
	times := func(least, most int) {
		if most < 0 {
			most = least + 20
		}
		for range least + random.IntN(most-least+1) {
			out = appendMatch(out, random, re.Sub[0])
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			out = append(out, string(c)...)
		}
	case syntax.OpCharClass:
		var all []byte
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= min(re.Rune[i+1], '~'); c++ {
				if c > ' ' && c != '\\' {
					all = append(all, byte(c))
				}
			}
		}
		if len(all) == 0 {
			all = []byte{byte(re.Rune[0])}
		}
		out = append(out, all[random.IntN(len(all))])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out = append(out, '.')
	case syntax.OpCapture:
		out = appendMatch(out, random, re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			out = appendMatch(out, random, sub)
		}
	case syntax.OpAlternate:
		out = appendMatch(out, random, re.Sub[random.IntN(len(re.Sub))])
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpStar:
		times(0, -1)
	case syntax.OpPlus:
		times(1, -1)
	case syntax.OpRepeat:
		times(re.Min, re.Max)
	}
	return out
}
