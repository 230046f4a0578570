package redact

import "bytes"

// Work that looking through a text may take, in bytes that regular expressions are given: some for each byte of the text, and some
// for any. Ordinary text takes less than one a byte; text that is made of the beginnings of secrets could take hundreds.
const (
	workEach = 4
	workAny  = 64 << 10
	workTry  = 8 // for trying an expression at all
)

// scan is one look through a text.
type scan struct {
	*Redactor
	text  []byte
	spans []span
	work  int    // that is left
	until []int  // by pattern: where its last secret ended
	seen  []bool // by rule: the text has a word that the rule asks for
	later []bool // by rule: it was passed by, as no such word was seen before
}

// scan returns where the secrets of a text stand, and whether it could look through all of it.
func (r *Redactor) scan(text []byte) ([]span, bool) {
	s, _ := r.scanner.Get().(*scan)
	if s == nil {
		s = &scan{Redactor: r, until: make([]int, len(r.patterns)), seen: make([]bool, len(r.rules)), later: make([]bool, len(r.rules))}
	}
	s.text, s.work = text, workAny+workEach*len(text)
	clear(s.seen)
	clear(s.later)
	s.pass(false)
	for i := range s.later {
		if s.later[i] && s.seen[i] {
			s.pass(true)
			break
		}
	}
	spans, ok := s.spans, s.work >= 0
	s.text, s.spans = nil, nil
	r.scanner.Put(s)
	return spans, ok
}

// pass looks for the keywords of all rules; again: of those that ask for a word elsewhere in the text.
func (s *scan) pass(again bool) {
	for i := range s.until {
		s.until[i] = -1
	}
	a, state := s.automaton, uint16(0)
	for i, c := range s.text {
		state = a.next[state&^hit][a.classes[c]%width]
		if state&hit == 0 {
			continue
		}
		for _, k := range a.ends[state&^hit] {
			if s.keyword(k, i+1, again); s.work < 0 {
				return
			}
		}
	}
}

// keyword looks at what stands around a keyword that ends at end.
func (s *scan) keyword(k *keyword, end int, again bool) {
	if k.condition != nil {
		s.seen[k.condition.index] = true
		return
	}
	p, start := k.pattern, end-len(k.text)
	switch {
	case again && !p.only, k.exact != "" && string(s.text[start:end]) != k.exact:
		return
	case p.only && !s.seen[p.rule.index]:
		s.later[p.rule.index] = true
		return
	case p.assigned:
		s.assignment(p, start, end)
		return
	}
	for back := p.back[0]; back <= p.back[1]; back++ {
		if at := start - back; at >= s.until[p.index] && s.match(p, at) {
			return
		}
	}
}

// assignment takes what may stand between a name and its value:
//
//	[ \t\w.-]{0,20}[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)
func (s *scan) assignment(p *pattern, start, end int) {
	at := s.run(end, 20, inName|inBlank)
	at = s.run(at, 3, inSpace|inQuote)
	rest := s.text[at:min(len(s.text), at+4)]
	if len(rest) == 0 {
		return
	}
	switch rest[0] {
	case '=':
		if !s.value(p, start, at+1) && bytes.HasPrefix(rest, []byte("=>")) {
			s.value(p, start, at+2)
		}
	case ':':
		equals := bytes.TrimLeft(rest, ":")
		if len(equals) > 0 && equals[0] == '=' && s.value(p, start, at+len(rest)-len(equals)+1) {
			return
		}
		s.value(p, start, at+1)
	case '>', ',':
		s.value(p, start, at+1)
	default:
		if bytes.HasPrefix(rest, []byte("||")) || bytes.HasPrefix(rest, []byte("?=")) {
			s.value(p, start, at+2)
		}
	}
}

// value tries the value of a name, behind up to five quotes, spaces and equals signs. It reports whether there is one, secret or not.
func (s *scan) value(p *pattern, start, at int) bool {
	for from := s.run(at, 5, inSpace|inQuote|inTick|inEquals); ; from-- {
		to := s.run(from, p.most, inValue)
		if to-from >= p.least && s.try(to-from) {
			window := s.text[from:min(len(s.text), to+2)]
			if loc := p.compiled().FindSubmatchIndex(window); loc != nil {
				name := start
				for name > 0 && start-name < 50 && classOf[s.text[name-1]]&inName != 0 {
					name--
				}
				s.take(p, from+loc[2], from+loc[3], s.text[name:from+loc[1]], from+len(window))
				return true
			}
		}
		if from == at || s.text[from-1] != '=' { // nothing else of these can begin a value
			return false
		}
	}
}

// match tries an expression at a place, which is -1 if it may stand for the start of the text. It reports whether it matches.
func (s *scan) match(p *pattern, at int) bool {
	if p.boundary && at > 0 && classOf[s.text[at-1]]&inWord != 0 || !s.try(s.run(at+1, p.most, anything&^inSpace)-at) {
		return false
	}
	end := min(len(s.text), at+p.most+4) // room for what must follow
	shift := at - 1
	window := s.text[max(0, shift):end]
	if shift < 0 { // a line end is as good as a start, to all expressions
		window = append([]byte("\n\n")[2+shift:], window...)
	}
	loc := p.compiled().FindSubmatchIndex(window)
	if loc == nil || p.after != "" && !s.after(at, p.after) {
		return false
	}
	from, to := loc[2], loc[3]
	for i := 4; i < len(loc); i += 2 { // the first part that is marked as the secret
		if loc[i] < loc[i+1] {
			from, to = loc[i], loc[i+1]
			break
		}
	}
	s.take(p, shift+from, shift+to, s.text[max(0, shift+loc[2]):shift+loc[3]], end)
	return true
}

// take takes a secret, unless it is allowed; the expression had the text up to end.
func (s *scan) take(p *pattern, from, to int, match []byte, end int) {
	if quote := s.text[from]; to-from > 2 && classOf[quote]&inQuote != 0 && quote == s.text[to-1] {
		from, to = from+1, to-1
	}
	if s.isSecret(p.rule, s.text[from:to], match) {
		to = s.whole(to, end)
		s.spans = append(s.spans, span{from, to, p.rule})
		s.until[p.index] = to
	}
}

// try takes the work of looking at so many bytes, if it may still be done.
func (s *scan) try(n int) bool {
	s.work -= workTry + n
	return s.work >= 0
}

// whole is where a secret ends that goes on: behind what an expression was given, or in the middle of what looks like one word.
func (s *scan) whole(to, end int) int {
	switch {
	case to == len(s.text):
		return to
	case to == end:
		return s.run(to, len(s.text), anything&^(inSpace|inQuote|inTick))
	case classOf[s.text[to-1]]&(inWord|inDash) != 0:
		return s.run(to, len(s.text), inWord|inDash)
	}
	return to
}

// after reports whether a word stands before, no further than that a person would see the two as one command.
func (s *scan) after(at int, word string) bool {
	const farthest, lines = 1024, 5
	before := s.text[max(0, at-farthest):max(0, at)]
	line := len(before)
	for range lines + 1 {
		line = max(0, bytes.LastIndexByte(before[:line], '\n'))
	}
	for before = before[line:]; ; {
		i := bytes.LastIndex(before, []byte(word))
		if i < 0 {
			return false
		}
		if (i == 0 || classOf[before[i-1]]&inWord == 0) && (i+len(word) == len(before) || classOf[before[i+len(word)]]&inWord == 0) {
			return true
		}
		before = before[:i]
	}
}

// run is where the bytes of some classes end, up to most of them.
func (s *scan) run(at, most int, class uint16) int {
	end := at + min(most, len(s.text)-at)
	for at < end && classOf[s.text[at]]&class != 0 {
		at++
	}
	return at
}

// Classes of bytes, as the expressions have them.
const (
	inWord   = 1 << iota // \w
	inName               // [\w.-]
	inValue              // what values are made of
	inBlank              // [ \t]
	inSpace              // \s
	inQuote              // ['"]
	inTick               // `
	inEquals             // =
	inDash               // -
	inOther              // none of these
	anything = 1<<iota - 1
)

var classOf = func() (all [256]uint16) {
	for c := range all {
		switch c := byte(c); {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			all[c] = inWord | inName | inValue
		case c == '.':
			all[c] = inName | inValue
		case c == '-':
			all[c] = inName | inValue | inDash
		case c == '=':
			all[c] = inValue | inEquals
		case c == '+', c == '/', c == ':', c == '%':
			all[c] = inValue
		case c == ' ', c == '\t':
			all[c] = inBlank | inSpace
		case c == '\n', c == '\r', c == '\f':
			all[c] = inSpace
		case c == '\'', c == '"':
			all[c] = inQuote
		case c == '`':
			all[c] = inTick
		default:
			all[c] = inOther
		}
	}
	return all
}()
