//go:build sandboxd_test262

package main

import (
	"runtime"

	"github.com/dop251/goja"
)

// host is what the tests ask of what runs them: print, and the object $262.
type host struct {
	realm realm

	printed []string
	asked   string // for something that there is not
}

// define makes the globals, which are writable, configurable and not enumerable.
func (h *host) define() {
	vm := h.realm.runtime()
	object := vm.NewObject()
	syntaxError, typeError := vm.Get("SyntaxError"), vm.Get("TypeError")
	throw := func(class goja.Value, message string) {
		o, err := vm.New(class, vm.ToValue(message))
		if err != nil {
			panic(err)
		}
		panic(o)
	}
	for name, f := range map[string]func(goja.FunctionCall) goja.Value{
		"createRealm": func(goja.FunctionCall) goja.Value {
			h.asked = noRealm
			throw(typeError, noRealm)
			return nil
		},
		"detachArrayBuffer": func(c goja.FunctionCall) goja.Value {
			buffer, ok := c.Argument(0).Export().(goja.ArrayBuffer)
			if !ok {
				throw(typeError, "detachArrayBuffer takes an ArrayBuffer")
			}
			buffer.Detach()
			return goja.Null()
		},
		"evalScript": func(c goja.FunctionCall) goja.Value {
			s, err := h.realm.compile(c.Argument(0).String())
			if err != nil {
				throw(syntaxError, err.Error())
			}
			v, err := h.realm.run(s, true)
			if err != nil {
				panic(err)
			}
			return v
		},
		"gc": func(goja.FunctionCall) goja.Value {
			runtime.GC()
			return goja.Undefined()
		},
	} {
		object.Set(name, f)
	}
	object.Set("global", vm.GlobalObject())
	hide(vm, "$262", object)
	hide(vm, "print", vm.ToValue(func(c goja.FunctionCall) goja.Value {
		h.printed = append(h.printed, c.Argument(0).String())
		return goja.Undefined()
	}))
}

func hide(vm *goja.Runtime, name string, v goja.Value) {
	vm.GlobalObject().DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}
