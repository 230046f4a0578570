package regexp

// inst is one instruction. Those that read text have a direction: inside a lookbehind they read what is before.
type inst struct {
	op   op
	back bool // reads backward
	pair bool // a character may be a surrogate pair
	fold bool // of a backreference, a word boundary
	lazy bool
	c    rune // of opChar
	set  *set

	x, y     int32 // targets; what they are, the operations say
	reg      int32
	min, max int32
	from, to int32 // captures to reset: from <= n < to
	refs     []int

	// Of opSplit: what x and y can begin with; of opRepeat: y is what follows. nil: anything, or nothing at all.
	firstX, firstY *first
	alone          bool // of a greedy opRepeat: what follows can't begin with what is repeated, so only the longest can match
}

type op uint8

const (
	opMatch      op = iota
	opChar          // the code unit c
	opSet           // one character of set
	opSplit         // try x, then y
	opJump          // go to x
	opSave          // capture slot x is here
	opReset         // captures from..to are undefined
	opRepeat        // set, min..max times
	opLoopInit      // reg is 0
	opLoop          // min..max times what begins at the next instruction, opLoopEnter, then y; reg counts
	opLoopEnter     // count, remember the place, reset the captures
	opLoopNext      // fail if the iteration was not needed and took nothing; go to x, its opLoop
	opMark          // reg is the place
	opProgress      // fail if the place is still that in reg
	opBegin         // ^
	opLineBegin     // ^ with m
	opEnd           // $
	opLineEnd       // $ with m
	opBoundary      // \b
	opNoBoundary    // \B
	opBackreference
	opLook    // a lookaround begins, which y follows
	opLookEnd // it matched: forget its choices, go back to the place where it began
	opNot     // a negative lookaround begins, which y follows
	opNotEnd  // what it must not match was matched: fail
)

type compiler struct {
	*Program
	back bool // inside a lookbehind
}

func compile(p *parsed) (*Program, error) {
	c := compiler{Program: &Program{Flags: p.flags, Captures: p.count, Groups: p.groups, unicode: p.unicode}}
	c.code = make([]inst, 0, p.size+8)
	c.node(p.root)
	c.emit(inst{op: opMatch})
	if len(c.code) > maxProgram {
		return nil, &Error{"Regular expression too large", 0}
	}
	c.analyze()
	return c.Program, nil
}

func (c *compiler) emit(i inst) int32 {
	i.back = c.back
	if len(c.code) <= maxProgram { // else it is refused in the end
		c.code = append(c.code, i)
	}
	return int32(len(c.code) - 1)
}

func (c *compiler) here() int32 { return int32(len(c.code)) }

func (c *compiler) register() int32 {
	c.regs++
	return int32(c.regs - 1)
}

func (c *compiler) node(n *node) {
	switch n.kind {
	case kindChar:
		c.emit(c.char(n.set))
	case kindSequence:
		c.sequence(n.subs)
	case kindAlternation:
		c.alternation(n.subs)
	case kindGroup:
		first, last := int32(2*n.capture), int32(2*n.capture+1)
		if c.back {
			first, last = last, first
		}
		c.emit(inst{op: opSave, x: first})
		c.node(n.subs[0])
		c.emit(inst{op: opSave, x: last})
	case kindRepeat:
		c.repeat(n)
	case kindLook:
		c.look(n)
	case kindBegin:
		c.emit(inst{op: either(n.multi, opLineBegin, opBegin)})
	case kindEnd:
		c.emit(inst{op: either(n.multi, opLineEnd, opEnd)})
	case kindBoundary:
		c.emit(inst{op: either(n.negative, opNoBoundary, opBoundary), fold: n.fold})
	case kindBackreference:
		c.emit(inst{op: opBackreference, refs: n.refs, fold: n.fold})
	}
}

func either(is bool, a, b op) op {
	if is {
		return a
	}
	return b
}

func (c *compiler) char(s *set) inst {
	if r, ok := s.single(); ok && r <= 0xFFFF && (!c.unicode || s.whole()) {
		return inst{op: opChar, c: r}
	}
	return inst{op: opSet, set: s, pair: c.unicode && !s.whole()}
}

func (c *compiler) sequence(list []*node) {
	for i := range list {
		if c.back {
			i = len(list) - 1 - i
		}
		c.node(list[i])
	}
}

func (c *compiler) alternation(list []*node) {
	var ends []int32
	for _, n := range list[:len(list)-1] {
		split := c.emit(inst{op: opSplit, x: c.here() + 1})
		c.node(n)
		ends = append(ends, c.emit(inst{op: opJump}))
		c.code[split].y = c.here()
	}
	c.node(list[len(list)-1])
	for _, end := range ends {
		c.code[end].x = c.here()
	}
}

func (c *compiler) look(n *node) {
	back := c.back
	begin := c.emit(inst{op: either(n.negative, opNot, opLook), reg: c.register()})
	c.register() // for the place; the first is for the height of the stack
	c.back = !n.ahead
	c.node(n.subs[0])
	c.back = back
	c.emit(inst{op: either(n.negative, opNotEnd, opLookEnd), reg: c.code[begin].reg})
	c.code[begin].y = c.here()
}

func (c *compiler) repeat(n *node) {
	body := n.subs[0]
	low, high := n.min, n.max
	if _, most := width(body); most == 0 { // (?:){9999} is (?:){1}
		low, high = min(low, 1), min(high, 1)
	}
	if high == 0 {
		return
	}
	if body.kind == kindChar {
		i := c.char(body.set)
		if i.op == opChar {
			i.set = body.set
		}
		i.op, i.min, i.max, i.lazy = opRepeat, int32(low), int32(high), n.lazy
		c.emit(i)
		return
	}
	least, _ := width(body)
	reset := inst{op: opReset, from: int32(n.firstCapture), to: int32(n.lastCapture)}
	captures := reset.from < reset.to
	switch {
	case low == 1 && high == 1:
		c.node(body)
	case low == 0 && (high == 1 || high == many):
		c.optional(n, reset, captures, least == 0, high == many)
	case low == 1 && high == many && least > 0:
		begin := c.here()
		if captures {
			c.emit(reset)
		}
		c.node(body)
		c.split(c.emit(inst{op: opSplit}), begin, c.here(), n.lazy)
	default:
		c.counted(n, low, high, reset)
	}
}

// split sets the targets of an opSplit: what is to be repeated, and what follows.
func (c *compiler) split(at, again, after int32, lazy bool) {
	if lazy {
		again, after = after, again
	}
	c.code[at].x, c.code[at].y = again, after
}

// optional compiles {0,1} and {0,}.
func (c *compiler) optional(n *node, reset inst, captures, empty, again bool) {
	split := c.emit(inst{op: opSplit})
	reg := int32(0)
	if empty {
		reg = c.register()
		c.emit(inst{op: opMark, reg: reg})
	}
	if captures {
		c.emit(reset)
	}
	c.node(n.subs[0])
	if empty {
		c.emit(inst{op: opProgress, reg: reg})
	}
	if again {
		c.emit(inst{op: opJump, x: split})
	}
	c.split(split, split+1, c.here(), n.lazy)
}

func (c *compiler) counted(n *node, low, high int, reset inst) {
	reg := c.register()
	c.register() // for the place; the first counts
	c.emit(inst{op: opLoopInit, reg: reg})
	loop := c.emit(inst{op: opLoop, reg: reg, min: int32(low), max: int32(high), lazy: n.lazy})
	c.emit(inst{op: opLoopEnter, reg: reg, from: reset.from, to: reset.to})
	c.node(n.subs[0])
	c.emit(inst{op: opLoopNext, reg: reg, min: int32(low), x: loop})
	c.code[loop].y = c.here()
}

// width is how few and how many code units a node can match; most is 0, or anything else.
func width(n *node) (least, most int) {
	switch n.kind {
	case kindChar:
		return 1, 1
	case kindBackreference:
		return 0, 1
	case kindGroup:
		return width(n.subs[0])
	case kindRepeat:
		least, most = width(n.subs[0])
		return least * min(n.min, 1), most * min(n.max, 1)
	case kindSequence:
		for _, sub := range n.subs {
			l, m := width(sub)
			least, most = least|l, most|m
		}
	case kindAlternation:
		least = 1
		for _, sub := range n.subs {
			l, m := width(sub)
			least, most = least&l, most|m
		}
	}
	return least, most
}
