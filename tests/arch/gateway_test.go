package arch_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWaysToTheGateway holds what the daemon can say to a gateway, and what leads there, against a list. There is one way to tools/call: from
// broker.ask, which broker.Do alone uses, and with a judgement that broker.Judge alone makes. Whoever adds a way changes
// testdata/gateway.golden, which is to be read when that is reviewed.
func TestWaysToTheGateway(t *testing.T) {
	var ways []string
	for _, p := range checked(t, "./cmd/sandboxd") {
		path, _ := ours(p.Path())
		if path != "internal/rpc" { // whose own code it is
			ways = append(ways, p.ways(path)...)
		}
	}
	slices.Sort(ways)
	got := strings.Join(slices.Compact(ways), "\n") + "\n"
	golden := filepath.Join("testdata", "gateway.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the ways to a gateway are\n%s, want those of %s:\n%s", got, golden, want)
	}
}

// program is a package with what its names mean.
type program struct {
	*types.Package
	files []*ast.File
	info  types.Info
}

// checked are the packages of ours that one is built of, type-checked against what the compiler exported.
func checked(t *testing.T, path string) (all []*program) {
	t.Helper()
	exports := make(map[string]string)
	listed := list(t, "-export", "-deps", path)
	for _, p := range listed {
		exports[p.ImportPath] = p.Export
	}
	files := token.NewFileSet()
	from := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range listed {
		if _, isOurs := ours(p.ImportPath); !isOurs {
			continue
		}
		c := &program{info: types.Info{
			Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object), Types: make(map[ast.Expr]types.TypeAndValue),
		}}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			c.files = append(c.files, f)
		}
		var err error
		if c.Package, err = (&types.Config{Importer: from}).Check(p.ImportPath, files, c.files, &c.info); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// leading are the functions that lead to a gateway.
var leading = []string{
	"(*internal/rpc.Peer).Begin", "(*internal/rpc.Peer).Call", "(*internal/rpc.Peer).Notify",
	"(*internal/server.session).notify", "internal/broker.ask", "internal/broker.Do", "internal/broker.Judge",
}

// ways are the uses of those functions, and where a judgement is made, by the function that they stand in.
func (p *program) ways(path string) (ways []string) {
	for _, f := range p.files {
		for _, d := range f.Decls {
			where := path
			if f, ok := d.(*ast.FuncDecl); ok {
				where = short(p.info.Defs[f.Name].(*types.Func))
			}
			calls := make(map[*ast.Ident]*ast.CallExpr) // by the name of what is called
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					switch called := ast.Unparen(n.Fun).(type) {
					case *ast.Ident:
						calls[called] = n
					case *ast.SelectorExpr:
						calls[called.Sel] = n
					}
				case *ast.Ident:
					if used, ok := p.info.Uses[n].(*types.Func); ok {
						if name := short(used); slices.Contains(leading, name) {
							ways = append(ways, fmt.Sprintf("%s uses %s%s", where, name, p.said(calls[n])))
						}
					}
				case *ast.CompositeLit:
					if named := types.TypeString(p.info.Types[n].Type, nil); named == module+"/internal/broker.Judged" {
						ways = append(ways, where+" makes a broker.Judged")
					}
				}
				return true
			})
		}
	}
	return ways
}

// short is a function's whole name, without the module's path.
func short(f *types.Func) string {
	return strings.ReplaceAll(strings.ReplaceAll(f.FullName(), module+"/", ""), module, "sandboxd")
}

// said is the constant text among the arguments of a call.
func (p *program) said(call *ast.CallExpr) string {
	if call == nil {
		return " as a value"
	}
	for _, a := range call.Args {
		if v := p.info.Types[a].Value; v != nil && v.Kind() == constant.String {
			return " for " + v.String()
		}
	}
	return ""
}
