package regexp

import (
	"slices"
	"strings"
)

// contents is what a class stands for: characters, and with v strings of another length than one.
type contents struct {
	set     *set
	strings [][]rune
}

func (p *parser) class() *node {
	start := p.at
	if p.sets {
		return p.withStrings(p.classSet())
	}
	p.at++
	negated := p.eat("^")
	var spans []span
	for !p.eat("]") {
		if p.at >= len(p.text) {
			p.failAt("Unterminated character class", start)
		}
		spans = p.classRange(spans, start)
	}
	s := newSet(spans...)
	if p.flags.Has(IgnoreCase) {
		s = p.close(s)
	}
	if negated {
		s = s.complement()
	}
	return &node{kind: kindChar, set: s}
}

// classRange reads an atom of a class, or two with a hyphen between.
func (p *parser) classRange(spans []span, class int) []span {
	start := p.at
	low, lowSet := p.classAtom()
	if p.peek() != '-' || p.at+1 >= len(p.text) || p.text[p.at+1] == ']' {
		return appendAtom(spans, low, lowSet)
	}
	p.at++
	high, highSet := p.classAtom()
	switch {
	case lowSet == nil && highSet == nil:
		if low > high {
			p.failAt("Range out of order in character class", start)
		}
		return append(spans, span{low, high})
	case p.unicode:
		p.failAt("Invalid character class", start)
	}
	return appendAtom(appendAtom(append(spans, span{'-', '-'}), low, lowSet), high, highSet)
}

func appendAtom(spans []span, c rune, s *set) []span {
	if s != nil {
		return append(spans, s.spans...)
	}
	return append(spans, span{c, c})
}

// classAtom is one character, or the set of an escape.
func (p *parser) classAtom() (rune, *set) {
	start := p.at
	c := p.peek()
	p.at++
	if c != '\\' {
		return c, nil
	}
	if p.eat("b") {
		return '\b', nil
	}
	if s, ok := p.classEscape(); ok {
		return 0, s.set
	}
	return p.characterEscape(start, true), nil
}

// classEscape reads \d, \s, \w, \p and their opposites, behind the backslash.
func (p *parser) classEscape() (c contents, ok bool) {
	start := p.at - 1
	letter := p.peek()
	var s *set
	switch letter {
	case 'd', 'D':
		s = digits()
	case 's', 'S':
		s = spaces()
	case 'w', 'W':
		s = words()
		if p.unicode && p.flags.Has(IgnoreCase) {
			s = p.close(s)
		}
	case 'p', 'P':
		if !p.unicode {
			return contents{}, false
		}
		p.at++
		if p.sets && letter == 'p' && p.eat("{Emoji_Keycap_Sequence}") {
			return keycaps(), true
		}
		if s, ok = p.property(); !ok {
			p.failAt("Invalid property name", start)
		}
		p.at--
	default:
		return contents{}, false
	}
	p.at++
	if p.sets && p.flags.Has(IgnoreCase) {
		s = p.close(s)
	}
	if letter < 'a' {
		s = s.complement()
	}
	return contents{set: s}, true
}

// property reads {Name} or {Name=Value}.
func (p *parser) property() (*set, bool) {
	if !p.eat("{") {
		return nil, false
	}
	end := slices.Index(p.text[p.at:], '}')
	if end < 0 {
		return nil, false
	}
	p.large()
	name, value, both := strings.Cut(string(p.text[p.at:p.at+end]), "=")
	if p.sets && !both && slices.Contains(ofStrings[:], name) {
		p.fail(`\p{` + name + "} stands for strings, which is not supported")
	}
	p.at += end + 1
	return lookUp(name, value, both)
}

// ofStrings are the other properties of strings that flag v allows. They would take a table of thousands of emoji.
var ofStrings = [...]string{
	"Basic_Emoji", "RGI_Emoji", "RGI_Emoji_Flag_Sequence", "RGI_Emoji_Modifier_Sequence", "RGI_Emoji_Tag_Sequence",
	"RGI_Emoji_ZWJ_Sequence", "RGI_Modifier_Sequence", "RGI_Flag_Sequence",
}

// keycaps is the property of strings Emoji_Keycap_Sequence.
func keycaps() contents {
	c := contents{set: newSet()}
	for _, r := range "0123456789#*" {
		c.strings = append(c.strings, []rune{r, 0xFE0F, 0x20E3})
	}
	return c
}

// withStrings tries the strings of a class before its characters, the longest first, as the standard has it.
func (p *parser) withStrings(c contents) *node {
	chars := p.oneOf(c.set)
	if len(c.strings) == 0 {
		return chars
	}
	slices.SortStableFunc(c.strings, func(a, b []rune) int { return len(b) - len(a) })
	n := &node{kind: kindAlternation}
	placed := false
	for _, s := range c.strings {
		if len(s) == 0 && !placed {
			n.subs, placed = append(n.subs, chars), true
		}
		sequence := &node{kind: kindSequence}
		for _, r := range s {
			sequence.subs = append(sequence.subs, p.char(r))
		}
		n.subs = append(n.subs, sequence)
	}
	if !placed {
		n.subs = append(n.subs, chars)
	}
	return n
}

// classSet reads a class of flag v: a union, or operands with && or -- between.
func (p *parser) classSet() contents {
	start := p.at
	p.enter()
	defer func() { p.depth-- }()
	p.at++
	negated := p.eat("^")
	c := p.classContents(start)
	if negated {
		if c.strings != nil {
			p.failAt("Negated character class may contain strings", start)
		}
		c.set = c.set.complement()
	}
	return c
}

func (p *parser) classContents(start int) contents {
	var spans []span
	var all contents
	for n := 0; !p.eat("]"); n++ {
		switch {
		case p.at >= len(p.text):
			p.failAt("Unterminated character class", start)
		case n == 1 && (hasPrefix(p.text[p.at:], "--") || hasPrefix(p.text[p.at:], "&&")):
			all.set = newSet(spans...)
			return p.operations(all, string(p.text[p.at:p.at+2]), start)
		case hasPrefix(p.text[p.at:], "--") || hasPrefix(p.text[p.at:], "&&"):
			p.fail("Invalid set operation in character class")
		}
		c := p.operandOrRange(&n)
		spans = append(spans, c.set.spans...)
		all.strings = append(all.strings, c.strings...)
	}
	all.set = newSet(spans...)
	return all
}

// operandOrRange counts a range as more than the one operand that may stand before an operator.
func (p *parser) operandOrRange(n *int) contents {
	start := p.at
	c, low := p.operand()
	if p.peek() != '-' || hasPrefix(p.text[p.at:], "--") {
		return c
	}
	p.at++
	_, high := p.operand()
	switch {
	case low < 0 || high < 0:
		p.failAt("Invalid character class", start)
	case low > high:
		p.failAt("Range out of order in character class", start)
	}
	*n++
	return p.folded(newSet(span{low, high}))
}

// operations reads the operands behind the first, each with the same operator before it.
func (p *parser) operations(left contents, operator string, start int) contents {
	for !p.eat("]") {
		if p.at >= len(p.text) {
			p.failAt("Unterminated character class", start)
		}
		if !p.eat(operator) {
			p.fail("Invalid set operation in character class")
		}
		if operator == "&&" && p.peek() == '&' {
			p.fail("Invalid character in character class")
		}
		right, _ := p.operand()
		if operator == "&&" {
			left = left.intersect(right)
		} else {
			left = left.minus(right)
		}
	}
	return left
}

// operand reads one operand, and says which character it is, if it is one; else -1.
func (p *parser) operand() (contents, rune) {
	start := p.at
	c := p.peek()
	switch {
	case c == '[':
		return p.classSet(), -1
	case p.eat(`\q{`):
		return p.quotedStrings(start), -1
	case c == '\\' && p.at+1 < len(p.text):
		p.at++
		if s, ok := p.classEscape(); ok {
			return s, -1
		}
		p.at--
	}
	c = p.setCharacter()
	return p.folded(newSet(span{c, c})), c
}

// doubled are the characters that may not stand twice in a class, and may be escaped in it.
const (
	doubled  = "&!#$%*+,.:;<=>?@^`~"
	escapees = "&-!#%,:;<=>@`~"
)

func (p *parser) setCharacter() rune {
	start := p.at
	c := p.peek()
	if c < 0 {
		p.fail("Unterminated character class")
	}
	if p.at+1 < len(p.text) && p.text[p.at+1] == c && strings.ContainsRune(doubled, c) {
		p.fail("Invalid set operation in character class")
	}
	if strings.ContainsRune("()[]{}/-|", c) {
		p.fail("Invalid character in character class")
	}
	p.at++
	if c != '\\' {
		return c
	}
	if c = p.peek(); c == 'b' || c >= 0 && strings.ContainsRune(escapees, c) {
		p.at++
		if c == 'b' {
			return '\b'
		}
		return c
	}
	return p.characterEscape(start, true)
}

// quotedStrings reads \q{a|bc|}, of which the beginning was read.
func (p *parser) quotedStrings(start int) contents {
	var chars []span
	c := contents{}
	for s := []rune{}; ; {
		end := p.peek() == '}'
		switch {
		case p.at >= len(p.text):
			p.failAt("Invalid escape", start)
		case end || p.peek() == '|':
			p.at++
			if len(s) == 1 {
				chars = append(chars, span{s[0], s[0]})
			} else {
				c.strings = append(c.strings, p.foldedString(s))
			}
			s = nil
		default:
			s = append(s, p.setCharacter())
		}
		if end {
			break
		}
	}
	c.set = p.folded(newSet(chars...)).set
	return c
}

// folded applies MaybeSimpleCaseFolding: with flag i all sets of a class hold whole orbits.
func (p *parser) folded(s *set) contents {
	if p.flags.Has(IgnoreCase) {
		s = p.close(s)
	}
	return contents{set: s}
}

func (p *parser) foldedString(s []rune) []rune {
	if p.flags.Has(IgnoreCase) {
		for i, c := range s {
			s[i] = byFolding.canon(c)
		}
	}
	return s
}

func (c contents) holds(s []rune) bool {
	return slices.ContainsFunc(c.strings, func(t []rune) bool { return slices.Equal(s, t) })
}

func (c contents) intersect(d contents) contents {
	out := contents{set: c.set.intersect(d.set)}
	for _, s := range c.strings {
		if d.holds(s) {
			out.strings = append(out.strings, s)
		}
	}
	return out
}

func (c contents) minus(d contents) contents {
	out := contents{set: c.set.minus(d.set)}
	for _, s := range c.strings {
		if !d.holds(s) {
			out.strings = append(out.strings, s)
		}
	}
	return out
}
