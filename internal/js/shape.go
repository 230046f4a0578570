package js

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of the tree of shapes, which lives as long as the runtime does. What does not fit is read without it.
const (
	maxKeys     = 4096
	maxNames    = 64  // of one object: one with more is a dictionary, and no two of those are alike
	maxNameSize = 128 // bytes of one name, as it is written
)

// shapes is a tree of the names that objects of JSON texts have, in their order: objects with the same names share one
// shape, in all texts of a run.
type shapes struct {
	root *key // before the first name
	top  *key // in no shape: what stands below no name stands below this one
	size int
}

func newShapes() *shapes { return &shapes{root: &key{}, top: &key{}} }

// key is a name in the tree, behind those on the way from the root.
type key struct {
	name   string
	quoted string // as it is written, with its quotation marks
	last   *key   // the one before
	depth  int
	odd    bool // a name stands there twice, or needs care when it is written

	next  *key // what followed last time
	inner *key // what objects in this member began with last time

	only *key            // what can follow
	more map[string]*key // if that is more than one

	records *records // of the text that is being read
	shape   *shape   // that ends here; made when it is first needed
}

// after is the key for a name after another key, nil if the tree does not take it.
func (t *shapes) after(last *key, name, quoted string) *key {
	if only := last.only; only != nil && only.name == name {
		return only
	}
	if k := last.more[name]; k != nil {
		return k
	}
	if t.size == maxKeys || last.depth == maxNames || len(quoted) > maxNameSize {
		return nil
	}
	t.size++
	quoted = strings.Clone(quoted) // or the tree would hold the text
	k := &key{name: quoted[1 : len(quoted)-1], quoted: quoted, last: last, depth: last.depth + 1}
	if k.name != name { // it is written with escapes
		k.name = strings.Clone(name)
	}
	k.odd = last.odd || last.has(name) || hasSeparator(name)
	last.add(k)
	return k
}

// has reports whether a name stands in the path to a key.
func (k *key) has(name string) bool {
	for ; k.depth > 0; k = k.last {
		if k.name == name {
			return true
		}
	}
	return false
}

func (k *key) add(next *key) {
	switch {
	case k.only == nil && k.more == nil:
		k.only = next
		return
	case k.more == nil:
		k.more = map[string]*key{k.only.name: k.only}
		k.only = nil
	}
	k.more[next.name] = next
}

// shape is what objects with the same names, in the same order, have in common. A column is a name's place in the text.
type shape struct {
	names  []string // by column
	order  []int    // columns in the order of Object.keys
	keys   []string // names in that order
	quoted []string // as JSON.stringify writes them, without quotation marks, in that order
	odd    bool     // objects of it are ordinary ones from the beginning
	slots  [32]uint8
}

// end is the shape that ends with a key.
func (k *key) end() *shape {
	if k.shape == nil {
		k.shape = newShape(k)
	}
	return k.shape
}

func newShape(last *key) *shape {
	s := &shape{names: make([]string, last.depth), odd: last.odd}
	for at := last; at.depth > 0; at = at.last {
		s.names[at.depth-1] = at.name
	}
	for column, name := range s.names {
		s.order = append(s.order, column)
		s.slots[slot(name)] = uint8(column + 1)
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return compareKeys(s.names[a], s.names[b]) })
	for _, column := range s.order {
		s.keys = append(s.keys, s.names[column])
		s.quoted = append(s.quoted, inside(s.names[column]))
	}
	return s
}

// inside is what JSON.stringify writes between the quotation marks of a name.
func inside(name string) string {
	if skipPlain(name, 0) == len(name) {
		return name
	}
	var w output
	w.quote(name)
	return string(w.buf[1 : len(w.buf)-1])
}

// column is that of a name, -1 if there is none.
func (s *shape) column(name string) int {
	if c := int(s.slots[slot(name)]) - 1; c < 0 || s.names[c] == name {
		return c
	}
	return slices.Index(s.names, name)
}

// slot spreads the names that objects have.
func slot(name string) int {
	if name == "" {
		return 0
	}
	return int(uint8(len(name))*7+name[0]*3+name[len(name)-1]) % 32
}

// compareKeys sorts names as Object.keys does: indexes first, by number, then the others as they are.
func compareKeys(a, b string) int {
	return arrayIndex(a) - arrayIndex(b)
}

// arrayIndex is the number that a name is as an index of an array, and one above all of them for any other name.
func arrayIndex(name string) int {
	if name == "" || len(name) > 10 || name[0] == '0' && name != "0" {
		return math.MaxUint32
	}
	for i := range len(name) {
		if name[i]-'0' > 9 {
			return math.MaxUint32
		}
	}
	n, _ := strconv.Atoi(name)
	return min(n, math.MaxUint32)
}
