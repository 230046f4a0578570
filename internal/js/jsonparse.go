package js

import "github.com/dop251/goja"

// jsonParse is JSON.parse over our own parser.
func (e *Engine) jsonParse(fc goja.FunctionCall) goja.Value {
	v, err := e.parseJSON(fc.Argument(0).String())
	if err != nil {
		panic(e.newError(e.real.syntaxError, err.Error()))
	}
	reviver, ok := goja.AssertFunction(fc.Argument(1))
	if !ok {
		return v
	}
	root := e.vm.NewObject()
	root.Set("", v)
	return e.revive(reviver, root, "")
}

func (e *Engine) revive(reviver goja.Callable, holder *goja.Object, name string) goja.Value {
	v := holder.Get(name)
	if v == nil {
		v = goja.Undefined()
	}
	if o, ok := v.(*goja.Object); ok {
		names := o.Keys()
		for _, key := range names {
			if value := e.revive(reviver, o, key); goja.IsUndefined(value) {
				o.Delete(key)
			} else {
				setOwn(o, key, value)
			}
		}
	}
	result, err := reviver(holder, e.vm.ToValue(name), v)
	if err != nil {
		panic(err)
	}
	return result
}
