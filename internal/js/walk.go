package js

import (
	"reflect"
	"sync"

	"github.com/dop251/goja/ast"
)

// maxWalk is how deep walk goes. A sum of 30,000 terms is as deep, and the stack has an end.
const maxWalk = 2000

// walk visits a node, and those below it if visit says so, in the order of the text. goja has no such function. This
// one takes about half as long as parsing, and is only for programs that there is something to look for in.
func walk(n ast.Node, visit func(ast.Node) bool) { walker{visit: visit}.node(n) }

type walker struct {
	visit func(ast.Node) bool
	depth int
}

func (w walker) node(n ast.Node) {
	if w.depth++; w.depth < maxWalk && w.visit(n) {
		w.fields(reflect.ValueOf(n).Elem())
	}
}

func (w walker) fields(v reflect.Value) {
	for _, i := range below(v.Type()) {
		w.value(v.Field(i))
	}
}

// fieldsBelow are the fields of each type of node that can hold nodes, once it was met.
var fieldsBelow sync.Map

func below(t reflect.Type) (list []int) {
	if known, ok := fieldsBelow.Load(t); ok {
		return known.([]int)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		switch f.Type.Kind() {
		case reflect.Slice, reflect.Interface, reflect.Pointer, reflect.Struct:
			// A DeclarationList names nodes that stand elsewhere in the tree.
			if f.Name != "DeclarationList" && f.Name != "File" {
				list = append(list, i)
			}
		}
	}
	fieldsBelow.Store(t, list)
	return list
}

func (w walker) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	case reflect.Interface:
		if e := v.Elem(); e.Kind() == reflect.Pointer {
			w.value(e)
		}
	case reflect.Pointer:
		if n, ok := v.Interface().(ast.Node); ok && !v.IsNil() {
			w.node(n)
		}
	case reflect.Struct:
		if n, ok := v.Addr().Interface().(ast.Node); ok {
			w.node(n)
		}
	}
}
