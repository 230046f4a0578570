package js

import (
	"reflect"
	"slices"
	"sync"
	"weak"

	"github.com/dop251/goja"
)

// array is what goja keeps of an array. Its built-ins have quick ways for plain ones, and never take them: they look for
// a prototype of a kind that it does not make any more, and they lose count of the items. So they go through an array
// item by item, by name.
type array struct {
	values     *[]goja.Value // nil: a hole
	length     *uint32
	items      *int  // that are no holes
	special    *int  // items with attributes or accessors
	writable   *bool // the length is
	extensible *bool
}

// arrayFields are the places of those in goja's arrayObject.
type arrayFields struct {
	class                                                reflect.Type
	values, length, items, special, writable, extensible []int
}

var fieldsOfArray = sync.OnceValue(func() (f arrayFields) {
	f.class = keptOf(goja.New().NewArray()).Type()
	of := f.class.Elem()
	f.values, f.length, f.items = fieldIndex(of, "values"), fieldIndex(of, "length"), fieldIndex(of, "objCount")
	f.special, f.extensible = fieldIndex(of, "propValueCount"), fieldIndex(of, "extensible")
	property, _ := of.FieldByName("lengthProp")
	f.writable = append(property.Index, fieldIndex(property.Type, "writable")...)
	return f
})

// selfOfObject is the place in a goja.Object of what is behind it.
var selfOfObject = sync.OnceValue(func() []int { return fieldIndex(reflect.TypeFor[goja.Object](), "self") })

// keptOf is what goja keeps of an object, by its kind: a pointer to a struct.
func keptOf(o *goja.Object) reflect.Value {
	return reflect.ValueOf(o).Elem().FieldByIndex(selfOfObject()).Elem()
}

func fieldIndex(of reflect.Type, name string) []int {
	f, ok := of.FieldByName(name)
	if !ok {
		panic("js: goja's " + of.String() + " has no " + name) // a wrong goja
	}
	return f.Index
}

// arrayOf is the inside of an array, if it is one that goja keeps as a list.
func arrayOf(v goja.Value) (a array, ok bool) {
	o, ok := v.(*goja.Object)
	if !ok {
		return a, false
	}
	f := fieldsOfArray()
	self := keptOf(o)
	if self.Type() != f.class {
		return a, false
	}
	self = self.Elem()
	return array{
		values:     at[[]goja.Value](self, f.values),
		length:     at[uint32](self, f.length),
		items:      at[int](self, f.items),
		special:    at[int](self, f.special),
		writable:   at[bool](self, f.writable),
		extensible: at[bool](self, f.extensible),
	}, true
}

// at is the address of a field, exported or not.
func at[T any](of reflect.Value, field []int) *T {
	return reflect.NewAt(reflect.TypeFor[T](), of.FieldByIndex(field).Addr().UnsafePointer()).Interface().(*T)
}

// plain says that the array consists of nothing but items: no holes, no accessors, nothing fixed.
func (a array) plain() bool {
	if *a.special > 0 || !*a.writable || int(*a.length) != len(*a.values) {
		return false
	}
	if *a.items == len(*a.values) {
		return true
	}
	for _, v := range *a.values {
		if v == nil {
			return false
		}
	}
	*a.items = len(*a.values) // goja lost count
	return true
}

// newArray takes the values.
func (e *Engine) newArray(values []goja.Value) *goja.Object {
	o := e.vm.NewArray()
	a, _ := arrayOf(o)
	*a.values, *a.length, *a.items = values, uint32(len(values)), len(values)
	return o
}

// arrayEnds exchanges the built-ins that add and take items at the beginning of an array.
func (e *Engine) arrayEnds() {
	for name, f := range map[string]func(original goja.Callable, fc goja.FunctionCall) goja.Value{
		"shift":   e.arrayShift,
		"unshift": e.arrayUnshift,
	} {
		original := method(e.real.arrayPrototype, name)
		length := e.real.arrayPrototype.Get(name).(*goja.Object).Get("length").ToInteger()
		hide(e.real.arrayPrototype, name, e.native(name, int(length), func(fc goja.FunctionCall) goja.Value { return f(original, fc) }))
	}
}

// minQueue is the length from which on items are taken from the beginning of an array without moving those behind.
const minQueue = 64

// arrayShift moves the items of a short array, and the beginning of a long one.
func (e *Engine) arrayShift(original goja.Callable, fc goja.FunctionCall) goja.Value {
	a, ok := arrayOf(fc.This)
	if !ok || len(*a.values) == 0 || (*a.values)[0] == nil || !a.plain() {
		return must(original(fc.This, fc.Arguments...))
	}
	values := *a.values
	first := values[0]
	if len(values) < minQueue {
		copy(values, values[1:])
		values[len(values)-1] = nil
		*a.values = values[:len(values)-1]
	} else {
		values[0] = nil
		*a.values = e.queues.taken(fc.This.(*goja.Object), values[1:])
	}
	*a.length--
	*a.items--
	return first
}

// arrayUnshift moves the items of a plain array, within room that doubles.
func (e *Engine) arrayUnshift(original goja.Callable, fc goja.FunctionCall) goja.Value {
	a, ok := arrayOf(fc.This)
	if !ok || len(fc.Arguments) == 0 || !a.plain() || !*a.extensible || !e.takesItems(fc.This.(*goja.Object), len(*a.values), len(fc.Arguments)) {
		return must(original(fc.This, fc.Arguments...))
	}
	before := len(*a.values)
	n := before + len(fc.Arguments)
	if n > cap(*a.values) {
		*a.values = slices.Grow(*a.values, n) // that is twice as much
	}
	values := (*a.values)[:n]
	copy(values[len(fc.Arguments):], values[:before])
	copy(values, fc.Arguments)
	*a.values, *a.length, *a.items = values, uint32(n), n
	return e.vm.ToValue(n)
}

// takesItems says that no prototype has a say in items that an array is given from an index on.
func (e *Engine) takesItems(o *goja.Object, index, n int) bool {
	proto := e.real.arrayPrototype
	if o.Prototype() != proto || proto.Prototype() != e.real.objectPrototype {
		return false
	}
	for i := range n {
		if must(e.real.has(nil, proto, e.vm.ToValue(index+i))).ToBoolean() {
			return false
		}
	}
	return true
}

// queues knows how much room at the beginning of arrays was given up, of the last few that items were taken from.
type queues struct {
	list [4]struct {
		array weak.Pointer[goja.Object]
		taken int
	}
	next int
}

// taken gives the items a place of their own when more than as many were taken: an array holds no more than twice its
// size. So does an array that others displace from the list.
func (q *queues) taken(o *goja.Object, left []goja.Value) []goja.Value {
	array := weak.Make(o)
	for i := range q.list {
		entry := &q.list[i]
		if entry.array != array {
			continue
		}
		if entry.taken++; entry.taken <= len(left) {
			return left
		}
		entry.taken = 0
		return slices.Clone(left)
	}
	q.next = (q.next + 1) % len(q.list)
	entry := &q.list[q.next]
	if displaced := entry.array.Value(); displaced != nil {
		if a, ok := arrayOf(displaced); ok {
			*a.values = slices.Clone(*a.values)
		}
	}
	entry.array, entry.taken = array, 1
	return left
}

// spread is the values of an iterable, in an array that is nobody else's. goja makes an object for each.
func (e *Engine) spread(fc goja.FunctionCall) goja.Value {
	v := fc.Argument(0)
	a, ok := arrayOf(v)
	if !ok || !a.plain() {
		return e.newArray(e.iterated(v))
	}
	begin := v.(*goja.Object).GetSymbol(goja.SymIterator)
	if begin == e.real.arrayValues && e.real.arrayIterator.Get("next") == e.real.arrayNext {
		return e.newArray(append(make([]goja.Value, 0, len(*a.values)+1), *a.values...)) // one more is what most add
	}
	// The method was asked for once already, which the program may count.
	method, ok := goja.AssertFunction(begin)
	if !ok {
		return e.newArray(e.iterated(v)) // it throws
	}
	iterator := must(method(v))
	once := e.vm.CreateObject(nil)
	once.SetSymbol(goja.SymIterator, e.native("", 0, func(goja.FunctionCall) goja.Value { return iterator }))
	return e.newArray(e.iterated(once))
}

func (e *Engine) iterated(v goja.Value) (values []goja.Value) {
	e.vm.ForOf(v, func(item goja.Value) bool {
		values = append(values, item)
		return true
	})
	return values
}

// arrayLiteral is an array of its further arguments; of those whose bits are set in the first, of their items.
func (e *Engine) arrayLiteral(fc goja.FunctionCall) goja.Value {
	mask := fc.Argument(0).ToInteger()
	var values []goja.Value
	for i, v := range fc.Arguments[1:] {
		if mask>>i&1 == 0 {
			values = append(values, v)
			continue
		}
		a, _ := arrayOf(v)
		if i == 0 {
			values = *a.values
		} else {
			values = append(values, *a.values...)
		}
	}
	return e.newArray(values)
}
