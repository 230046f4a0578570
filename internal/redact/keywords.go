package redact

// automaton finds keywords in one pass (Aho and Corasick, 1975), in any case of ASCII's letters.
type automaton struct {
	classes [256]uint8 // of bytes that no keyword tells apart
	next    [][width]uint16
	ends    [][]*keyword // by state: those that end there
}

const (
	width = 64      // classes that there may be
	hit   = 1 << 15 // marks a step to a state in which keywords end
)

func newAutomaton(words []keyword) *automaton {
	a, classes := &automaton{}, uint8(1) // class 0: what is in no keyword
	for _, w := range words {
		for _, c := range []byte(w.text) {
			if a.classes[c] == 0 {
				a.classes[c] = classes
				classes++
			}
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		a.classes[c-'a'+'A'] = a.classes[c]
	}
	a.add()
	for i := range words {
		state := uint16(0)
		for _, c := range []byte(words[i].text) {
			if a.next[state][a.classes[c]] == 0 {
				to := a.add()
				a.next[state][a.classes[c]] = to
			}
			state = a.next[state][a.classes[c]]
		}
		a.ends[state] = append(a.ends[state], &words[i])
	}
	a.link()
	return a
}

func (a *automaton) add() uint16 {
	a.next, a.ends = append(a.next, [width]uint16{}), append(a.ends, nil)
	return uint16(len(a.ends) - 1)
}

// link gives each state, in order of depth, the steps and the keywords of the longest shorter one.
func (a *automaton) link() {
	shorter := make([]uint16, len(a.ends))
	queue := make([]uint16, 1, len(a.ends))
	for i := 0; i < len(queue); i++ {
		state := queue[i]
		fallback := &a.next[shorter[state]]
		for class, to := range a.next[state] {
			switch {
			case to != 0:
				if state != 0 {
					shorter[to] = fallback[class] &^ hit
				}
				a.ends[to] = append(a.ends[to], a.ends[shorter[to]]...)
				queue = append(queue, to)
				if a.ends[to] != nil {
					a.next[state][class] |= hit
				}
			case state != 0:
				a.next[state][class] = fallback[class]
			}
		}
	}
}
