//go:build linux

package escape_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// elsewhere are attacks of another package's test, which is made there and only listed here.
type elsewhere struct {
	test  string
	about string   // the first sentence above it
	names []string // of the attacks; the test itself is one if it has no table
}

// hostileTests reads the tests of tests/hostile, which attack the daemon by the words of a worker and of a gateway. Their
// attacks are the rows of their tables, whose first column is a name, and their subtests.
func hostileTests(t *testing.T) []elsewhere {
	t.Helper()
	paths, err := filepath.Glob("../hostile/*_test.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no tests in tests/hostile: %v", err)
	}
	var parsed []*ast.File
	tables := make(map[string][]string) // of the package, by name
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
		for _, d := range file.Decls {
			declared, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range declared.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) == 1 {
					tables[v.Names[0].Name] = names(v.Values[0], nil)
				}
			}
		}
	}
	var all []elsewhere
	for _, file := range parsed {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name == "TestMain" || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			e := elsewhere{f.Name.Name, sentence(f), names(f.Body, tables)}
			if len(e.names) == 0 {
				e.names = []string{f.Name.Name}
			}
			all = append(all, e)
		}
	}
	return all
}

// names collects the names of attacks in a piece of code, and in the package's tables that it uses.
func names(code ast.Node, tables map[string][]string) []string {
	var all []string
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if hasNames(n) {
				for _, row := range n.Elts {
					all = append(all, first(row)...)
				}
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Run" && len(n.Args) == 2 {
				all = append(all, text(n.Args[0])...)
			}
		case *ast.Ident:
			all = append(all, tables[n.Name]...)
		}
		return true
	})
	return all
}

// hasNames reports whether a table's rows begin with a name.
func hasNames(table *ast.CompositeLit) bool {
	array, ok := table.Type.(*ast.ArrayType)
	if !ok {
		return false
	}
	if row, ok := array.Elt.(*ast.Ident); ok {
		return row.Name == "takeover"
	}
	row, ok := array.Elt.(*ast.StructType)
	return ok && len(row.Fields.List[0].Names) > 0 && slices.Contains([]string{"name", "birth"}, row.Fields.List[0].Names[0].Name)
}

func first(row ast.Expr) []string {
	if r, ok := row.(*ast.CompositeLit); ok && len(r.Elts) > 0 {
		return text(r.Elts[0])
	}
	return nil
}

func text(e ast.Expr) []string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		if s, err := strconv.Unquote(lit.Value); err == nil {
			return []string{s}
		}
	}
	return nil
}

// sentence is what a test's comment begins with, without its name.
func sentence(f *ast.FuncDecl) string {
	comment := strings.Join(strings.Fields(f.Doc.Text()), " ")
	comment = strings.TrimPrefix(comment, f.Name.Name+" ")
	head, _, found := strings.Cut(comment, ". ")
	if !found {
		head, _, _ = strings.Cut(comment, ": ")
	}
	return strings.TrimSuffix(head, ".")
}
