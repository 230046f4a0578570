package js

import (
	"reflect"

	"github.com/dop251/goja/ast"
)

// walk visits a node, and those below it if visit says so, in the order of the text. goja has no such function. This
// one is slow, and only for programs that something is unusual about.
func walk(n ast.Node, visit func(ast.Node) bool) {
	if visit(n) {
		walkFields(reflect.ValueOf(n), visit)
	}
}

func walkFields(v reflect.Value, visit func(ast.Node) bool) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		// A DeclarationList names nodes that stand elsewhere in the tree.
		if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" && f.Name != "File" {
			walkValue(v.Field(i), visit)
		}
	}
}

func walkValue(v reflect.Value, visit func(ast.Node) bool) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			walkValue(v.Index(i), visit)
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() || v.Kind() == reflect.Interface && v.Elem().Kind() == reflect.Pointer && v.Elem().IsNil() {
			return
		}
		if n, ok := v.Interface().(ast.Node); ok {
			walk(n, visit)
		}
	case reflect.Struct:
		if n, ok := v.Addr().Interface().(ast.Node); ok {
			walk(n, visit)
		}
	}
}
