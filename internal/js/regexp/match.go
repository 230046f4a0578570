package regexp

import (
	"bytes"
	"unsafe"
)

// Matcher matches programs. It keeps what matching needs from one match to the next, and is for one goroutine.
type Matcher struct {
	// Stop is asked now and then, if it is set; a match ends with ErrStopped when it says so.
	Stop func() bool

	stack  []frame
	slots  []int32
	regs   []int32
	budget int
}

// pace is how many steps are made between two questions to Stop: well under a millisecond's.
const pace = 1 << 16

// maxStack is 64 MiB of frames, as V8's stack is.
const maxStack = 64 << 20 / 16

// keepStack is what is kept of it for the next match.
const keepStack = 1 << 16

// frame is something to undo, or to try when what was tried failed.
type frame struct {
	do frameKind
	pc int32 // or the slot or register to restore
	at int32 // or its value
	to int32
}

type frameKind int32

const (
	tryAt   frameKind = iota // go on with pc at at
	slotWas                  // restore
	regWas                   // restore
	tryLess                  // an opRepeat at pc took the text up to at, and can give back down to to
	tryMore                  // a lazy opRepeat at pc took the text up to at, and can take to more
)

// MatchASCII finds the first match at an index or after it; only at it if sticky is set. It gives the bounds of each capture
// in pairs, -1 for one that took no part, or nil if there is no match. They are good until the next match.
func (m *Matcher) MatchASCII(p *Program, text string, at int, sticky bool) ([]int32, error) {
	// No copy: programs cut the rest off a long text again and again. The bytes are only read.
	bytes := unsafe.Slice(unsafe.StringData(text), len(text))
	return match(m, p, bytes, bytes, at, sticky)
}

// MatchUTF16 is MatchASCII for a text of code units.
func (m *Matcher) MatchUTF16(p *Program, text []uint16, at int, sticky bool) ([]int32, error) {
	return match(m, p, text, nil, at, sticky)
}

func match[E uint8 | uint16](m *Matcher, p *Program, text []E, ascii []byte, at int, sticky bool) ([]int32, error) {
	if cap(m.slots) < 2*p.Captures {
		m.slots = make([]int32, 2*p.Captures)
	}
	m.slots = m.slots[:2*p.Captures]
	if cap(m.regs) < p.regs {
		m.regs = make([]int32, p.regs)
	}
	m.regs = m.regs[:p.regs]
	for i := range m.slots {
		m.slots[i] = -1 // and again after every failure, which undoes all that was done
	}
	if cap(m.stack) > keepStack {
		m.stack = nil
	}
	m.stack = m.stack[:0]
	m.budget = pace
	r := run[E]{Matcher: m, p: p, text: text, ascii: ascii}
	if r.halves(int32(at)) {
		at--
	}
	if sticky {
		return r.tryAt(at)
	}
	for ; at <= len(text); at++ {
		if at = r.skip(at); at < 0 {
			break
		}
		if found, err := r.tryAt(at); found != nil || err != nil {
			return found, err
		}
		if p.unicode && at+1 < len(text) && isLead(text[at]) && isTrail(text[at+1]) {
			at++
		}
	}
	return nil, nil
}

// run is one match. The text is of bytes if it is ASCII, else of code units.
type run[E uint8 | uint16] struct {
	*Matcher
	p     *Program
	text  []E
	ascii []byte // the same text, if it is of bytes
}

func isLead[E uint8 | uint16](c E) bool  { return uint16(c)&0xFC00 == 0xD800 }
func isTrail[E uint8 | uint16](c E) bool { return uint16(c)&0xFC00 == 0xDC00 }

// skip is the next place where a match can begin, or -1.
func (r *run[E]) skip(at int) int {
	s := &r.p.start
	switch {
	case s.atBegin:
		if at > 0 {
			return -1
		}
	case s.lineBegin:
		for at > 0 && at <= len(r.text) && !isLineEnd(rune(r.text[at-1])) {
			at++
		}
		if at > len(r.text) {
			return -1
		}
	case len(s.prefix) > 0:
		return r.index(at)
	case s.first != nil:
		for i, c := range r.text[at:] {
			if s.first.has(rune(c)) {
				return at + i
			}
		}
		return -1
	}
	return at
}

// index is the place of the prefix at an index or after it, or -1.
func (r *run[E]) index(at int) int {
	prefix := r.p.start.prefix
	if r.ascii != nil {
		if r.p.start.prefix8 == nil {
			return -1
		}
		n := bytes.Index(r.ascii[at:], r.p.start.prefix8)
		if n < 0 {
			return -1
		}
		return at + n
	}
search:
	for ; at+len(prefix) <= len(r.text); at++ {
		for i, c := range prefix {
			if uint16(r.text[at+i]) != c {
				continue search
			}
		}
		return at
	}
	return -1
}

// tryAt is a match that begins at a place.
func (r *run[E]) tryAt(at int) ([]int32, error) {
	end, err := r.exec(int32(at))
	if err != nil || end < 0 {
		return nil, err
	}
	r.slots[0], r.slots[1] = int32(at), end
	return r.slots, nil
}

// exec is where a match that begins at a place ends, or -1.
func (r *run[E]) exec(at int32) (int32, error) {
	code, text := r.p.code, r.text
	pc := int32(0)
	for {
		n := &code[pc]
		switch n.op {
		case opMatch:
			return at, nil
		case opChar:
			if n.back {
				if at > 0 && rune(text[at-1]) == n.c {
					at--
					pc++
					continue
				}
			} else if int(at) < len(text) && rune(text[at]) == n.c {
				at++
				pc++
				continue
			}
		case opSet:
			if next := r.one(n, at); next >= 0 {
				at = next
				pc++
				continue
			}
		case opSplit:
			if err := r.step(); err != nil {
				return -1, err
			}
			switch x, y := r.can(n.firstX, at), r.can(n.firstY, at); {
			case x && y:
				r.push(frame{tryAt, n.y, at, 0})
				pc = n.x
				continue
			case x:
				pc = n.x
				continue
			case y:
				pc = n.y
				continue
			}
		case opJump:
			pc = n.x
			continue
		case opSave:
			r.setSlot(n.x, at)
			pc++
			continue
		case opReset:
			r.reset(n)
			pc++
			continue
		case opRepeat:
			if end := r.repeat(n, pc, at); end >= 0 {
				at = end
				pc++
				continue
			}
		case opLoopInit:
			r.setReg(n.reg, 0)
			pc++
			continue
		case opLoop:
			if err := r.step(); err != nil {
				return -1, err
			}
			count := r.regs[n.reg]
			switch {
			case count < n.min:
				pc++
			case count >= n.max && n.max != many:
				pc = n.y
			case n.lazy:
				r.push(frame{tryAt, pc + 1, at, 0})
				pc = n.y
			default:
				r.push(frame{tryAt, n.y, at, 0})
				pc++
			}
			continue
		case opLoopEnter:
			r.setReg(n.reg, min(r.regs[n.reg]+1, many-1))
			r.setReg(n.reg+1, at)
			r.reset(n)
			pc++
			continue
		case opLoopNext:
			if r.regs[n.reg] <= n.min || r.regs[n.reg+1] != at {
				pc = n.x
				continue
			}
		case opMark:
			r.setReg(n.reg, at)
			pc++
			continue
		case opProgress:
			if r.regs[n.reg] != at {
				pc++
				continue
			}
		case opBackreference:
			if next := r.backreference(n, at); next >= 0 {
				at = next
				pc++
				continue
			}
		case opLook, opNot:
			height := int32(len(r.stack))
			r.setReg(n.reg, height)
			r.setReg(n.reg+1, at)
			if n.op == opNot {
				r.push(frame{tryAt, n.y, at, 0})
			}
			pc++
			continue
		case opLookEnd:
			at = r.regs[n.reg+1]
			r.commit(int(r.regs[n.reg]))
			pc++
			continue
		case opNotEnd:
			r.unwind(int(r.regs[n.reg]))
		default:
			if r.holds(n, at) {
				pc++
				continue
			}
		}

		if err := r.step(); err != nil {
			return -1, err
		}
		var ok bool
		if pc, at, ok = r.backtrack(); !ok {
			return -1, nil
		}
	}
}

// step is called for every choice and every failure: between two calls the work is bounded by the text's length.
func (r *run[E]) step() error {
	if r.budget--; r.budget > 0 {
		return nil
	}
	return r.check()
}

func (r *run[E]) check() error {
	r.budget = pace
	if len(r.stack) >= maxStack {
		return ErrStack
	}
	if r.Stop != nil && r.Stop() {
		return ErrStopped
	}
	return nil
}

// push makes the next step look at the stack's size when there is too much on it.
func (r *run[E]) push(f frame) {
	if len(r.stack) >= maxStack {
		r.budget = 0
	}
	r.stack = append(r.stack, f)
}

func (r *run[E]) setSlot(i, v int32) {
	r.push(frame{slotWas, i, r.slots[i], 0})
	r.slots[i] = v
}

func (r *run[E]) setReg(i, v int32) {
	r.push(frame{regWas, i, r.regs[i], 0})
	r.regs[i] = v
}

func (r *run[E]) reset(n *inst) {
	r.budget -= int(n.to-n.from) >> 3
	for i := 2 * n.from; i < 2*n.to; i++ {
		if r.slots[i] >= 0 {
			r.setSlot(i, -1)
		}
	}
}

func (r *run[E]) can(f *first, at int32) bool {
	return f == nil || int(at) < len(r.text) && f.has(rune(r.text[at]))
}

// one is the place behind a character of a set, or -1.
func (r *run[E]) one(n *inst, at int32) int32 {
	text := r.text
	if n.back {
		if at == 0 {
			return -1
		}
		at--
		c := rune(text[at])
		if n.pair && at > 0 && isTrail(text[at]) && isLead(text[at-1]) {
			at--
			c = pair(text[at], text[at+1])
		}
		if n.set.has(c) {
			return at
		}
		return -1
	}
	if int(at) >= len(text) {
		return -1
	}
	c := rune(text[at])
	at++
	if n.pair && c&^0x3FF == 0xD800 && int(at) < len(text) && isTrail(text[at]) {
		c = pair(text[at-1], text[at])
		at++
	}
	if n.set.has(c) {
		return at
	}
	return -1
}

func pair[E uint8 | uint16](lead, trail E) rune {
	return (rune(lead)&0x3FF)<<10 | rune(trail)&0x3FF + 0x10000
}

// repeat takes as many characters as it can, or as few as it must, and is the place behind them, or -1.
func (r *run[E]) repeat(n *inst, pc, at int32) int32 {
	if n.lazy {
		count := int32(0)
		for ; count < n.min; count++ {
			if at = r.one(n, at); at < 0 {
				return -1
			}
		}
		if n.max == many || n.max > n.min {
			r.push(frame{tryMore, pc, at, n.max - n.min})
		}
		return at
	}
	low, count := at, int32(0)
	if !n.back && !n.pair {
		at = r.span(n, at)
		count = at - low
		low += n.min // if there are so many: see below
	} else {
		for count < n.max {
			next := r.one(n, at)
			if next < 0 {
				break
			}
			at = next
			if count++; count == n.min {
				low = at
			}
		}
	}
	r.budget -= int(count >> 4)
	if count < n.min {
		return -1
	}
	if at != low && !n.alone {
		r.push(frame{tryLess, pc, at, low})
	}
	return at
}

// span takes characters of one code unit, forward.
func (r *run[E]) span(n *inst, at int32) int32 {
	rest := r.text[at:]
	if int(n.max) < len(rest) {
		rest = rest[:n.max]
	}
	s := n.set
	for i, c := range rest {
		if uint16(c) < 256 {
			if !s.latin1.has(rune(c)) {
				return at + int32(i)
			}
		} else if !s.find(rune(c)) {
			return at + int32(i)
		}
	}
	return at + int32(len(rest))
}

// backtrack undoes what was done since the last choice, and takes that another way.
func (r *run[E]) backtrack() (pc, at int32, ok bool) {
	for len(r.stack) > 0 {
		top := len(r.stack) - 1
		f := &r.stack[top]
		switch f.do {
		case slotWas:
			r.slots[f.pc] = f.at
		case regWas:
			r.regs[f.pc] = f.at
		case tryAt:
			r.stack = r.stack[:top]
			return f.pc, f.at, true
		case tryLess:
			if at, ok := r.less(f); ok {
				pc := f.pc + 1
				if at == f.to {
					r.stack = r.stack[:top]
				} else {
					f.at = at
				}
				return pc, at, true
			}
		case tryMore:
			if at, ok := r.more(f); ok {
				pc := f.pc + 1
				if f.to == 0 {
					r.stack = r.stack[:top]
				} else {
					f.at = at
				}
				return pc, at, true
			}
		}
		r.stack = r.stack[:top]
	}
	return 0, 0, false
}

// less gives back characters of a greedy repeat, until what follows can begin.
func (r *run[E]) less(f *frame) (at int32, ok bool) {
	n := &r.p.code[f.pc]
	text := r.text
	for at = f.at; at != f.to; {
		switch {
		case n.back:
			at++
			if n.pair && int(at) < len(text) && isTrail(text[at]) && isLead(text[at-1]) {
				at++
			}
		default:
			at--
			if n.pair && at > f.to && isTrail(text[at]) && isLead(text[at-1]) {
				at--
			}
		}
		r.budget--
		if n.back || r.can(n.firstY, at) {
			return at, true
		}
	}
	return at, false
}

// more takes characters of a lazy repeat, until what follows can begin.
func (r *run[E]) more(f *frame) (at int32, ok bool) {
	n := &r.p.code[f.pc]
	for at = f.at; f.to > 0; {
		if at = r.one(n, at); at < 0 {
			return at, false
		}
		if n.max != many {
			f.to--
		}
		r.budget--
		if n.back || r.can(n.firstY, at) {
			return at, true
		}
	}
	return at, false
}

// commit forgets the choices above a height of the stack; what is to be undone with what came before stays.
func (r *run[E]) commit(height int) {
	kept := height
	for _, f := range r.stack[height:] {
		if f.do == slotWas || f.do == regWas {
			r.stack[kept] = f
			kept++
		}
	}
	r.stack = r.stack[:kept]
}

// unwind undoes what is above a height of the stack.
func (r *run[E]) unwind(height int) {
	for i := len(r.stack) - 1; i >= height; i-- {
		switch f := &r.stack[i]; f.do {
		case slotWas:
			r.slots[f.pc] = f.at
		case regWas:
			r.regs[f.pc] = f.at
		}
	}
	r.stack = r.stack[:height]
}

// holds says that an assertion is true at a place.
func (r *run[E]) holds(n *inst, at int32) bool {
	switch n.op {
	case opBegin:
		return at == 0
	case opLineBegin:
		return at == 0 || isLineEnd(rune(r.text[at-1]))
	case opEnd:
		return int(at) == len(r.text)
	case opLineEnd:
		return int(at) == len(r.text) || isLineEnd(rune(r.text[at]))
	case opBoundary:
		return r.word(n, at-1) != r.word(n, at)
	}
	return r.word(n, at-1) == r.word(n, at) // opNoBoundary
}

func isLineEnd(c rune) bool { return c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029 }

func (r *run[E]) word(n *inst, at int32) bool {
	if at < 0 || int(at) >= len(r.text) {
		return false
	}
	c := rune(r.text[at])
	switch {
	case c < 128:
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
	case n.fold:
		return c == 0x17F || c == 0x212A
	}
	return false
}

// backreference is the place behind what a group matched, found once more; of a group that took no part it is at.
func (r *run[E]) backreference(n *inst, at int32) int32 {
	for _, ref := range n.refs {
		from, to := r.slots[2*ref], r.slots[2*ref+1]
		if from < 0 || to < 0 {
			continue
		}
		begin, end := at, at+to-from
		if n.back {
			begin, end = at-(to-from), at
		}
		if begin < 0 || int(end) > len(r.text) || !r.same(n, r.text[from:to], r.text[begin:end]) {
			return -1
		}
		if r.halves(begin) || r.halves(end) {
			return -1
		}
		r.budget -= int(to-from) >> 4
		if n.back {
			return begin
		}
		return end
	}
	return at
}

// halves tells whether a place is inside a surrogate pair, where nothing begins or ends that goes by characters.
func (r *run[E]) halves(at int32) bool {
	return r.p.unicode && at > 0 && int(at) < len(r.text) && isTrail(r.text[at]) && isLead(r.text[at-1])
}

func (r *run[E]) same(n *inst, a, b []E) bool {
	f := folder(r.p.unicode)
	for i := 0; i < len(a); i++ {
		if a[i] == b[i] {
			continue
		}
		if !n.fold {
			return false
		}
		x, y := rune(a[i]), rune(b[i])
		switch {
		case r.p.unicode && i+1 < len(a) && isLead(a[i]) && isTrail(a[i+1]) && isLead(b[i]) && isTrail(b[i+1]):
			x, y = pair(a[i], a[i+1]), pair(b[i], b[i+1])
			i++
		case r.p.unicode && i > 0 && isTrail(a[i]) && isLead(a[i-1]) && isTrail(b[i]): // the leads were equal
			x, y = pair(a[i-1], a[i]), pair(b[i-1], b[i])
		}
		if f.canon(x) != f.canon(y) {
			return false
		}
	}
	return true
}
