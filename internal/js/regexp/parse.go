package regexp

import (
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
)

// node is a part of a pattern. Flags are resolved in it: what follows needs to know none but u and v.
type node struct {
	kind kind
	subs []*node // of a sequence or an alternation; the only one of the rest
	set  *set    // of a char

	capture  int   // of a group
	refs     []int // of a backreference
	min, max int   // of a repeat
	lazy     bool
	ahead    bool // of a look: else behind
	negative bool // of a look or a word boundary
	multi    bool // of a line's begin or end
	fold     bool // of a word boundary or a backreference: i is set

	firstCapture, lastCapture int // of a repeat: the captures that an iteration resets
}

type kind uint8

const (
	kindEmpty kind = iota
	kindChar
	kindSequence
	kindAlternation
	kindGroup
	kindRepeat
	kindLook
	kindBegin
	kindEnd
	kindBoundary
	kindBackreference
)

// many stands for no upper bound of a repeat, and for a number too large to count to.
const many = math.MaxInt32

type parsed struct {
	root    *node
	flags   Flags
	size    int // characters of the pattern
	count   int // captures, the whole match included
	groups  []Group
	unicode bool
}

// parser reads a pattern by code points with u or v, else by code units.
type parser struct {
	source  []uint16
	text    []rune
	at      int
	flags   Flags // i, m and s change with modifiers
	unicode bool
	sets    bool
	depth   int

	total  int  // groups in all, by a look ahead
	named  bool // a group has a name
	count  int
	groups []Group
	byName map[string]int // in groups
	live   []string       // names of groups that can take part in a match together with what comes next
	alive  map[string]int // how often each is in live

	refs   []reference
	larges int
}

// reference is a \k that is resolved when all groups are known.
type reference struct {
	node *node
	name string
	at   int
}

type failure struct{ *Error }

func (p *parser) fail(message string) { p.failAt(message, p.at) }

func (p *parser) failAt(message string, at int) {
	offset := at
	if p.unicode {
		offset = 0
		for _, c := range p.text[:min(at, len(p.text))] {
			offset += utf16.RuneLen(max(c, 0))
			if utf16.IsSurrogate(c) {
				offset += 2 // RuneLen is -1 of half a pair
			}
		}
	}
	panic(failure{&Error{message, offset}})
}

func parse(source []uint16, flags Flags) (_ *parsed, err error) {
	if len(source) > maxSource {
		return nil, &Error{"Regular expression too large", maxSource}
	}
	p := &parser{source: source, flags: flags, unicode: flags.Has(Unicode | UnicodeSets), sets: flags.Has(UnicodeSets), count: 1}
	p.text = runes(source, p.unicode)
	defer func() {
		if x := recover(); x != nil {
			f, ok := x.(failure)
			if !ok {
				panic(x)
			}
			err = f.Error
		}
	}()
	p.lookAhead()
	root := p.disjunction()
	if p.at < len(p.text) {
		p.fail("Unmatched ')'")
	}
	p.resolve()
	return &parsed{root: root, size: len(p.text), flags: flags, count: p.count, groups: p.groups, unicode: p.unicode}, nil
}

func runes(source []uint16, pairs bool) []rune {
	out := make([]rune, 0, len(source))
	for i := 0; i < len(source); i++ {
		c := rune(source[i])
		if pairs && c&0xFC00 == 0xD800 && i+1 < len(source) && source[i+1]&0xFC00 == 0xDC00 {
			i++
			c = utf16.DecodeRune(c, rune(source[i]))
		}
		out = append(out, c)
	}
	return out
}

// lookAhead counts the groups: what \2 means depends on those that come after it, too.
func (p *parser) lookAhead() {
	class := 0
	for i := 0; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '[':
			if class == 0 || p.sets {
				class++
			}
		case ']':
			class = max(0, class-1)
		case '(':
			if class > 0 {
				continue
			}
			name := hasPrefix(p.text[i+1:], "?<") && !hasPrefix(p.text[i+1:], "?<=") && !hasPrefix(p.text[i+1:], "?<!")
			if name || !hasPrefix(p.text[i+1:], "?") {
				p.total++
			}
			p.named = p.named || name
		}
	}
}

func hasPrefix(text []rune, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if text[i] != rune(prefix[i]) {
			return false
		}
	}
	return true
}

func (p *parser) peek() rune {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return -1
}

func (p *parser) eat(s string) bool {
	if hasPrefix(p.text[p.at:], s) {
		p.at += len(s)
		return true
	}
	return false
}

func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail("Regular expression too large: nested too deeply")
	}
}

func (p *parser) disjunction() *node {
	p.enter()
	defer func() { p.depth-- }()
	base := len(p.live)
	var alternatives []*node
	var names []string
	for {
		alternatives = append(alternatives, p.alternative())
		if p.peek() != '|' {
			break
		}
		p.at++
		names = append(names, p.live[base:]...)
		for _, name := range p.live[base:] {
			p.alive[name]--
		}
		p.live = p.live[:base]
	}
	for _, name := range names {
		p.alive[name]++
	}
	p.live = append(p.live, names...)
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return &node{kind: kindAlternation, subs: alternatives}
}

func (p *parser) alternative() *node {
	var terms []*node
	for p.at < len(p.text) && p.peek() != '|' && p.peek() != ')' {
		terms = append(terms, p.term())
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return &node{kind: kindSequence, subs: terms}
}

func (p *parser) term() *node {
	first := p.count
	n, repeatable := p.atom()
	if !repeatable {
		if n.kind == kindLook && p.quantifier() {
			p.fail("Invalid quantifier")
		}
		return n
	}
	return p.quantified(n, first)
}

// atom reads what a quantifier may follow, and what none may.
func (p *parser) atom() (n *node, repeatable bool) {
	c := p.peek()
	switch c {
	case '^':
		p.at++
		return &node{kind: kindBegin, multi: p.flags.Has(Multiline)}, false
	case '$':
		p.at++
		return &node{kind: kindEnd, multi: p.flags.Has(Multiline)}, false
	case '(':
		return p.group()
	case '.':
		p.at++
		if p.flags.Has(DotAll) {
			return &node{kind: kindChar, set: newSet(span{0, maxRune})}, true
		}
		return &node{kind: kindChar, set: lineEnds().complement()}, true
	case '[':
		return p.class(), true
	case '*', '+', '?':
		p.fail("Nothing to repeat")
	case '{':
		start := p.at
		if p.unicode {
			p.fail("Nothing to repeat")
		}
		if _, _, ok := p.braces(); ok {
			p.failAt("Nothing to repeat", start)
		}
	case '}', ']':
		if p.unicode {
			p.fail("Lone quantifier brackets")
		}
	case '\\':
		return p.atomEscape()
	}
	p.at++
	return p.char(c), true
}

func (p *parser) char(c rune) *node {
	fold := p.flags.Has(IgnoreCase)
	if uint32(c) < 128 && !(fold && p.unicode) {
		return asciiChars()[fold][c]
	}
	return p.oneOf(newSet(span{c, c}))
}

// asciiChars are what patterns are mostly made of, without flag i, and with it but not u. Nodes of one character do not
// change, and are shared.
var asciiChars = sync.OnceValue(func() map[bool]*[128]*node {
	plain, fold := [128]*node{}, [128]*node{}
	for c := range rune(128) {
		plain[c] = &node{kind: kindChar, set: newSet(span{c, c})}
		fold[c] = &node{kind: kindChar, set: byUpper.close(newSet(span{c, c}))}
	}
	return map[bool]*[128]*node{false: &plain, true: &fold}
})

// oneOf is a character out of a set, with the flag i applied.
func (p *parser) oneOf(s *set) *node {
	if p.flags.Has(IgnoreCase) {
		s = p.close(s)
	}
	return &node{kind: kindChar, set: s}
}

// close is what flag i makes of a set.
func (p *parser) close(s *set) *set {
	if s.count() > few {
		p.large()
	}
	return folderOf(p.flags).close(s)
}

// maxLarge is how many sets of a pattern may take a walk through a table of Unicode's, a fraction of a millisecond each.
const maxLarge = 1000

func (p *parser) large() {
	if p.larges++; p.larges > maxLarge {
		p.fail("Regular expression too large")
	}
}

func (p *parser) quantified(n *node, firstCapture int) *node {
	start := p.at
	low, high := 0, many
	switch p.peek() {
	case '*':
		p.at++
	case '+':
		p.at++
		low = 1
	case '?':
		p.at++
		high = 1
	case '{':
		var ok bool
		if low, high, ok = p.braces(); !ok {
			if p.unicode {
				p.failAt("Incomplete quantifier", start)
			}
			return n
		}
		if low > high {
			p.failAt("numbers out of order in {} quantifier", start)
		}
	default:
		return n
	}
	return &node{kind: kindRepeat, subs: []*node{n}, min: low, max: high, lazy: p.eat("?"), firstCapture: firstCapture, lastCapture: p.count}
}

// quantifier says that one comes next, and reads nothing.
func (p *parser) quantifier() bool {
	start := p.at
	switch p.peek() {
	case '*', '+', '?':
		return true
	case '{':
		_, _, ok := p.braces()
		p.at = start
		return ok
	}
	return false
}

// braces reads {n}, {n,} or {n,m}; if it is none of them, it reads nothing.
func (p *parser) braces() (low, high int, ok bool) {
	start := p.at
	p.at++
	low, ok = p.number()
	high = low
	if ok && p.eat(",") {
		if high, ok = p.number(); !ok {
			high, ok = many, p.peek() == '}'
		}
	}
	if !ok || !p.eat("}") {
		p.at = start
		return 0, 0, false
	}
	return low, high, true
}

func (p *parser) number() (n int, ok bool) {
	for ; isDigit(p.peek()); p.at++ {
		n, ok = min(n*10+int(p.peek()-'0'), many), true
	}
	return n, ok
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }

func (p *parser) group() (n *node, repeatable bool) {
	start := p.at
	p.at++
	switch {
	case p.eat("?:"):
		return p.closed(p.disjunction(), start), true
	case p.eat("?="):
		return p.look(start, true, false), !p.unicode
	case p.eat("?!"):
		return p.look(start, true, true), !p.unicode
	case p.eat("?<="):
		return p.look(start, false, false), false
	case p.eat("?<!"):
		return p.look(start, false, true), false
	case p.eat("?<"):
		return p.capture(start, p.newName()), true
	case p.peek() == '?':
		p.at++
		return p.modified(start), true
	}
	return p.capture(start, ""), true
}

func (p *parser) closed(n *node, start int) *node {
	if !p.eat(")") {
		p.failAt("Unterminated group", start)
	}
	return n
}

func (p *parser) look(start int, ahead, negative bool) *node {
	return &node{kind: kindLook, ahead: ahead, negative: negative, subs: []*node{p.closed(p.disjunction(), start)}}
}

func (p *parser) capture(start int, name string) *node {
	n := &node{kind: kindGroup, capture: p.count}
	if p.count++; p.count > maxCaptures {
		p.fail("Too many captures")
	}
	if name != "" {
		p.name(name, n.capture)
	}
	n.subs = []*node{p.closed(p.disjunction(), start)}
	return n
}

func (p *parser) name(name string, capture int) {
	if p.alive == nil {
		p.alive, p.byName = map[string]int{}, map[string]int{}
	}
	p.alive[name]++
	p.live = append(p.live, name)
	if i, ok := p.byName[name]; ok {
		p.groups[i].Indexes = append(p.groups[i].Indexes, capture)
		return
	}
	p.byName[name] = len(p.groups)
	p.groups = append(p.groups, Group{name, []int{capture}})
}

func (p *parser) newName() string {
	start := p.at
	name, ok := p.groupName()
	if !ok {
		p.failAt("Invalid capture group name", start)
	}
	if p.alive[name] > 0 {
		p.failAt("Duplicate capture group name", start)
	}
	return name
}

// groupName reads a name and the > behind it.
func (p *parser) groupName() (string, bool) {
	var name strings.Builder
	for !p.eat(">") {
		c := p.peek()
		p.at++
		switch {
		case c == '\\':
			var ok bool
			if !p.eat("u") {
				return "", false
			}
			if c, ok = p.unicodeEscape(true); !ok {
				return "", false
			}
		case c&^0x3FF == 0xD800 && p.peek()&^0x3FF == 0xDC00:
			c = utf16.DecodeRune(c, p.peek())
			p.at++
		}
		if !isNamePart(c) || name.Len() == 0 && !isNameStart(c) {
			return "", false
		}
		name.WriteRune(c)
	}
	return name.String(), name.Len() > 0
}

func isNameStart(c rune) bool { return c == '$' || c == '_' || isIDStart(c) }

func isNamePart(c rune) bool {
	return isNameStart(c) || c == 0x200C || c == 0x200D || unicode.In(c, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
}

func isIDStart(c rune) bool {
	return unicode.In(c, unicode.L, unicode.Nl, unicode.Other_ID_Start) && !unicode.In(c, unicode.Pattern_Syntax, unicode.Pattern_White_Space)
}

// modified reads (?ims-ims:…).
func (p *parser) modified(start int) *node {
	var on, off Flags
	flags := &on
	for !p.eat(":") {
		i := strings.IndexRune("ims", p.peek())
		switch {
		case p.peek() == '-' && flags == &on:
			flags = &off
		case p.peek() == '-':
			p.fail("Multiple dashes in flag group")
		case i < 0:
			p.failAt("Invalid group", start)
		default:
			f := [...]Flags{IgnoreCase, Multiline, DotAll}[i]
			if (on | off).Has(f) {
				p.fail("Repeated flag in flag group")
			}
			*flags |= f
		}
		p.at++
	}
	if on|off == 0 {
		p.failAt("Invalid flag group", start)
	}
	before := p.flags
	p.flags = p.flags&^off | on
	n := p.disjunction()
	p.flags = before
	return p.closed(n, start)
}

func (p *parser) atomEscape() (n *node, repeatable bool) {
	start := p.at
	p.at++
	switch c := p.peek(); {
	case c == 'b' || c == 'B':
		p.at++
		return &node{kind: kindBoundary, negative: c == 'B', fold: p.flags.Has(IgnoreCase) && p.unicode}, false
	case c >= '1' && c <= '9':
		if n := p.backreference(); n != nil {
			return n, true
		}
	case c == 'k' && (p.unicode || p.named):
		p.at++
		return p.namedReference(), true
	}
	if s, ok := p.classEscape(); ok {
		if s.strings != nil { // only with v
			return p.withStrings(s), true
		}
		return p.oneOf(s.set), true
	}
	return p.char(p.characterEscape(start, false)), true
}

// backreference reads \1 and on; without u it may be an old octal escape, and nothing is read.
func (p *parser) backreference() *node {
	start := p.at
	n, _ := p.number()
	if n <= p.total {
		return &node{kind: kindBackreference, refs: []int{n}, fold: p.flags.Has(IgnoreCase)}
	}
	if p.unicode {
		p.failAt("Invalid escape", start-1)
	}
	p.at = start
	return nil
}

func (p *parser) namedReference() *node {
	start := p.at
	n := &node{kind: kindBackreference, fold: p.flags.Has(IgnoreCase)}
	name, ok := "", p.eat("<")
	if ok {
		name, ok = p.groupName()
	}
	if !ok {
		p.failAt("Invalid named reference", start)
	}
	p.refs = append(p.refs, reference{n, name, start})
	return n
}

func (p *parser) resolve() {
	for _, r := range p.refs {
		i, ok := p.byName[r.name]
		if !ok {
			p.failAt("Invalid named capture referenced", r.at)
		}
		r.node.refs = p.groups[i].Indexes
	}
}

// characterEscape reads what stands for one character behind a backslash that begins at start and was read.
func (p *parser) characterEscape(start int, inClass bool) rune {
	c := p.peek()
	if c < 0 {
		p.failAt(`\ at end of pattern`, start)
	}
	p.at++
	switch c {
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	case 'c':
		return p.control(start, inClass)
	case 'x':
		if v, ok := p.hex(2); ok {
			return v
		}
		if p.unicode {
			p.failAt("Invalid escape", start)
		}
		return 'x'
	case 'u':
		if v, ok := p.unicodeEscape(p.unicode); ok {
			return v
		}
		if p.unicode {
			p.failAt("Invalid Unicode escape", start)
		}
		return 'u'
	case '0', '1', '2', '3', '4', '5', '6', '7':
		if c == '0' && !isDigit(p.peek()) {
			return 0
		}
		if p.unicode {
			p.failAt(map[bool]string{true: "Invalid class escape", false: "Invalid decimal escape"}[inClass], start)
		}
		return p.octal(c - '0')
	}
	if p.unicode && !strings.ContainsRune(`^$\.*+?()[]{}|/`, c) && !(inClass && c == '-') {
		p.failAt("Invalid escape", start)
	}
	if c == 'k' && p.named && !p.unicode {
		p.failAt("Invalid escape", start)
	}
	return c
}

// control reads the letter of \c. Without u, one that is missing leaves the backslash standing for itself.
func (p *parser) control(start int, inClass bool) rune {
	c := p.peek()
	if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || inClass && !p.unicode && (isDigit(c) || c == '_') {
		p.at++
		return c % 32
	}
	if p.unicode {
		p.failAt("Invalid Unicode escape", start)
	}
	p.at = start + 1
	return '\\'
}

func (p *parser) octal(v rune) rune {
	for n := 1; n < 3 && p.peek() >= '0' && p.peek() <= '7' && v*8 <= 0o377; n++ {
		v = v*8 + p.peek() - '0'
		p.at++
	}
	return v
}

// hex reads exactly n digits, or nothing.
func (p *parser) hex(n int) (v rune, ok bool) {
	if p.at+n > len(p.text) {
		return 0, false
	}
	for _, c := range p.text[p.at : p.at+n] {
		d := digit(c)
		if d < 0 {
			return 0, false
		}
		v = v<<4 | d
	}
	p.at += n
	return v, true
}

func digit(c rune) rune {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return -1
}

// unicodeEscape reads what follows \u: four digits, or with full also two of these as a pair, and {digits}.
func (p *parser) unicodeEscape(full bool) (rune, bool) {
	start := p.at
	if full && p.eat("{") {
		v, n := rune(0), 0
		for ; digit(p.peek()) >= 0 && v <= maxRune; n++ {
			v = v<<4 | digit(p.peek())
			p.at++
		}
		if n > 0 && v <= maxRune && p.eat("}") {
			return v, true
		}
		p.at = start
		return 0, false
	}
	v, ok := p.hex(4)
	if ok && full && v&^0x3FF == 0xD800 {
		after := p.at
		if p.eat(`\u`) {
			if low, ok := p.hex(4); ok && low&^0x3FF == 0xDC00 {
				return utf16.DecodeRune(v, low), true
			}
		}
		p.at = after
	}
	return v, ok
}
