package regexp

// first is what the text from a place on can begin with, for something to match there.
type first struct {
	latin1 bits
	wide   bool // any character above 255
}

func (f *first) has(c rune) bool {
	if uint32(c) < 256 {
		return f.latin1.has(c)
	}
	return f.wide
}

func (f *first) add(s *set) {
	for i := range f.latin1 {
		f.latin1[i] |= s.latin1[i]
	}
	f.wide = f.wide || s.max() > 255
}

// meets says that a character may be in both.
func (f *first) meets(s *set) bool {
	for i := range f.latin1 {
		if f.latin1[i]&s.latin1[i] != 0 {
			return true
		}
	}
	return f.wide && s.max() > 255
}

// start is what is known about the begin of every match.
type start struct {
	first     *first
	prefix    []uint16 // the text begins with it
	prefix8   []byte   // the same, if it is ASCII
	atBegin   bool     // matches begin where the text does
	lineBegin bool     // matches begin where a line does
}

// analyze finds what spares the matcher work.
func (c *compiler) analyze() {
	for i := range c.code {
		n := &c.code[i]
		if n.back {
			continue
		}
		switch n.op {
		case opSplit:
			n.firstX, n.firstY = c.firstOf(n.x), c.firstOf(n.y)
		case opRepeat:
			n.firstY = c.firstOf(int32(i) + 1)
			n.alone = !n.lazy && n.firstY != nil && !n.firstY.meets(n.set)
		}
	}
	c.start.first = c.firstOf(0)
	at := 0
	for c.code[at].op == opSave {
		at++
	}
	switch c.code[at].op {
	case opBegin:
		c.start.atBegin = true
	case opLineBegin:
		c.start.lineBegin = true
	}
	c.findPrefix(at)
}

// findPrefix takes the literal characters that every match begins with.
func (c *compiler) findPrefix(at int) {
	for ; c.code[at].op == opChar || c.code[at].op == opSave; at++ {
		if c.code[at].op == opChar {
			c.start.prefix = append(c.start.prefix, uint16(c.code[at].c))
		}
	}
	for _, u := range c.start.prefix {
		if u > 127 {
			c.start.prefix8 = nil
			return
		}
		c.start.prefix8 = append(c.start.prefix8, byte(u))
	}
}

// Bounds of the work of firstOf: what is behind more choices or instructions than that can begin with anything.
const (
	maxVisits = 64
	maxSteps  = 256
)

// firstOf is what a match from an instruction on can begin with, or nil if it may need no character.
func (c *compiler) firstOf(pc int32) *first {
	v := visitor{code: c.code, first: &first{}}
	if !v.visit(pc) {
		return nil
	}
	return v.first
}

type visitor struct {
	code  []inst
	first *first
	seen  [maxVisits]int32
	n     int // of seen
	steps int
}

// visit is false if nothing can be said. A place that was seen adds nothing.
func (v *visitor) visit(pc int32) bool {
	for {
		if v.steps++; v.steps > maxSteps {
			return false
		}
		n := &v.code[pc]
		switch n.op {
		case opSplit, opJump, opLoop:
			for _, seen := range v.seen[:v.n] {
				if seen == pc {
					return true
				}
			}
			if v.n == maxVisits {
				return false
			}
			v.seen[v.n] = pc
			v.n++
		}
		switch n.op {
		case opChar:
			if n.back {
				return false
			}
			v.first.latin1.add(n.c, n.c)
			v.first.wide = v.first.wide || n.c > 255
			return true
		case opSet:
			if n.back {
				return false
			}
			v.first.add(n.set)
			return true
		case opRepeat:
			if n.back {
				return false
			}
			v.first.add(n.set)
			if n.min > 0 {
				return true
			}
			pc++
		case opSplit:
			if !v.visit(n.x) {
				return false
			}
			pc = n.y
		case opLoop:
			if n.min == 0 && !v.visit(n.y) {
				return false
			}
			pc++
		case opJump, opLoopNext:
			// After an iteration that was needed and took nothing, the loop may end.
			if n.op == opLoopNext && n.min > 0 && !v.visit(v.code[n.x].y) {
				return false
			}
			pc = n.x
		case opLook, opNot:
			pc = n.y
		case opMatch, opBackreference, opLookEnd, opNotEnd:
			return false
		default:
			pc++
		}
	}
}
