package js

import (
	"reflect"

	"github.com/dop251/goja/ast"
)

// maxWalk is how deep walk goes. A sum of 30,000 terms is as deep, and the stack has an end.
const maxWalk = 2000

// walk visits a node, and those below it if visit says so, in the order of the text. goja has no such function. This
// one is slow, and only for programs that something is unusual about.
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
	for i := range v.NumField() {
		// A DeclarationList names nodes that stand elsewhere in the tree.
		if name := v.Type().Field(i).Name; name != "DeclarationList" && name != "File" {
			w.value(v.Field(i))
		}
	}
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
