package js

import "github.com/dop251/goja"

// What JSON.stringify loses has a form of its own here: errors, sets and maps.

func (n *encoder) errorObject(o *goja.Object) error {
	n.open('{')
	first := true
	for _, name := range []string{"name", "message"} {
		wrote, err := n.field(named(name), o.Get(name), first)
		if err != nil {
			return err
		}
		first = first && !wrote
	}
	return n.fields(o, first)
}

func (n *encoder) set(o *goja.Object) (err error) {
	n.open('[')
	i := int64(0)
	n.e.each(n.e.real.setForEach, o, func(v, _ goja.Value) {
		if err == nil {
			err = n.element(i, v)
			i++
		}
	})
	n.close(']', i == 0)
	return err
}

func (n *encoder) mapObject(o *goja.Object) (err error) {
	var keys, values []goja.Value
	named := true
	n.e.each(n.e.real.mapForEach, o, func(v, k goja.Value) {
		keys, values = append(keys, k), append(values, v)
		named = named && goja.IsString(k)
	})
	if !named {
		return n.pairs(keys, values)
	}
	n.open('{')
	first := true
	for i, k := range keys {
		wrote, err := n.field(exactly(k.(goja.String)), values[i], first)
		if err != nil {
			return err
		}
		first = first && !wrote
	}
	n.close('}', first)
	return nil
}

func (n *encoder) pairs(keys, values []goja.Value) error {
	n.open('[')
	for i := range keys {
		pair := n.e.vm.NewArray(keys[i], values[i])
		if err := n.element(int64(i), pair); err != nil {
			return err
		}
	}
	n.close(']', len(keys) == 0)
	return nil
}
