package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// levels are the design's: imports point down only, and packages of one level do not import each other. A package that
// is not in this table, nor in beside, fails TestImportsPointDown: give it a level first.
var levels = map[string]int{
	"internal/clip":      -1, // where a text is cut, there is one way to do it
	"internal/js/weburl": -1, // a part of the library that knows no engine
	"internal/near":      -1, // what the engine and the daemon both word their errors with
	"internal/ownfile":   -2, // how secrets are read, and what is kept for one user
	"internal/remote":    -1, // how the daemon reaches the servers that its configuration names

	"internal/approval":   0,
	"internal/audit":      0,
	"internal/cgroup":     0,
	"internal/evidence":   0,
	"internal/guard":      0,
	"internal/jail":       0,
	"internal/metrics":    0,
	"internal/js":         0,
	"internal/rawjson":    0,
	"internal/redact":     0,
	"internal/strictyaml": 0,
	"internal/traces":     0,
	"internal/typescript": 0,
	"internal/wire":       0,

	"internal/catalog": 1,
	"internal/nursery": 1,
	"internal/pins":    1,
	"internal/policy":  1,
	"internal/profile": 1,
	"internal/rpc":     1,

	"internal/broker": 2,
	"internal/pool":   2,

	"internal/server":   3,
	"internal/upstream": 3,

	"internal/codemode": 4, // a client of the one, with the tools of the other

	"cmd/sandbox-nursery": 5,
	"cmd/sandbox-worker":  5,
	"cmd/sandboxctl":      5,
	"cmd/sandboxd":        5,
}

// beside are the packages that stand beside the levels: what each may import of ours, and the lowest level that may
// import it.
var beside = map[string]struct {
	imports []string
	from    int
}{
	".":                  {[]string{"internal/rpc"}, 1}, // public types and Client
	"profiles":           {nil, 1},
	"internal/config":    {[]string{"internal/audit", "internal/guard", "internal/profile", "internal/remote", "internal/strictyaml", "internal/traces"}, 3},
	"internal/js/intl":   {nil, 0}, // of internal/js: it knows no engine
	"internal/systemd":   {nil, 4},
	"internal/js/regexp": {nil, 0}, // the same
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range list(t, "./...") {
		path, _ := ours(p.ImportPath)
		if strings.HasPrefix(path, "tests/") || strings.HasPrefix(path, "examples/") || strings.HasPrefix(path, "packaging/") {
			continue // above everything
		}
		level, leveled := levels[path]
		aside, isBeside := beside[path]
		if !leveled && !isBeside {
			t.Errorf("%s has no level: add it to the table in tests/arch/import_test.go", path)
			continue
		}
		for _, imported := range p.Imports {
			down, isOurs := ours(imported)
			if !isOurs {
				continue
			}
			switch below, ok := levels[down]; {
			case isBeside && !slices.Contains(aside.imports, down):
				t.Errorf("%s imports %s: it may import %v", path, down, aside.imports)
			case isBeside:
			case !ok && level < beside[down].from:
				t.Errorf("%s (level %d) imports %s, which is for level %d and above", path, level, down, beside[down].from)
			case ok && below >= level:
				t.Errorf("%s (level %d) imports %s (level %d): imports point down only", path, level, down, below)
			}
		}
	}
}

// reserved are packages that only some of ours may import; a path stands for all below it too.
var reserved = []struct {
	paths []string
	by    []string
	why   string
}{
	{[]string{"github.com/dop251/goja", "github.com/evanw/esbuild"}, []string{"internal/js"},
		"one package knows the engine"},
	{[]string{"golang.org/x/sys"}, []string{"internal/jail", "internal/cgroup", "internal/nursery", "internal/systemd"},
		"raw system calls are for those that confine, spawn or speak to the service manager"},
	{[]string{"net/http"}, []string{"internal/guard", "internal/remote", "internal/traces", "internal/metrics", "internal/upstream", "internal/codemode", "examples/tracker", "examples/guard"},
		"guard and traces alone dial out, by remote, where the configuration names a judge and a collector; metrics serve (TestMetricsDialNothing), upstream and codemode are on sandboxctl's side, and examples are servers"},
	{[]string{"os/exec"}, []string{"internal/nursery", "internal/upstream", "cmd/sandboxctl", "packaging/stage"},
		"only the nursery starts processes; upstream, sandboxctl's private daemon and what makes packages are on the person's side"},
	{[]string{"github.com/gdamore/tcell"}, []string{"cmd/sandboxctl"}, "terminals are the person's tool's"},
	{[]string{"plugin", "C"}, nil, "nothing is loaded at run time, and there is no cgo"},
}

func TestReservedImports(t *testing.T) {
	for _, p := range list(t, "./...") {
		path, _ := ours(p.ImportPath)
		if strings.HasPrefix(path, "tests/") {
			continue
		}
		for _, r := range reserved {
			for _, imported := range p.Imports {
				if slices.ContainsFunc(r.paths, func(at string) bool { return within(imported, at) }) && !slices.Contains(r.by, path) {
					t.Errorf("%s imports %s, which is for %v: %s", path, imported, r.by, r.why)
				}
			}
		}
	}
}

func within(path, parent string) bool { return path == parent || strings.HasPrefix(path, parent+"/") }

// starters start a process, or become one, without os/exec.
var starters = map[string]bool{
	"os.StartProcess": true, "syscall.StartProcess": true, "syscall.ForkExec": true, "syscall.Exec": true,
	"syscall.SYS_EXECVE": true, "syscall.SYS_CLONE": true, "syscall.SYS_FORK": true, "syscall.SYS_VFORK": true,
	"unix.Exec": true, "unix.SYS_EXECVE": true, "unix.SYS_EXECVEAT": true, "unix.SYS_CLONE": true, "unix.SYS_CLONE3": true, "unix.SYS_FORK": true, "unix.SYS_VFORK": true,
}

// mayStart name starters for other reasons: jail, to refuse them.
var mayStart = []string{"internal/nursery", "internal/jail"}

func TestOnlyTheNurseryStartsProcesses(t *testing.T) {
	for _, p := range list(t, "./...") {
		path, _ := ours(p.ImportPath)
		if strings.HasPrefix(path, "tests/") || slices.Contains(mayStart, path) {
			continue
		}
		for _, name := range p.GoFiles {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && starters[x.Name+"."+s.Sel.Name] {
						t.Errorf("%s: %s.%s: only internal/nursery starts processes", fset.Position(s.Pos()), x.Name, s.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// TestDaemonStartsAndDialsNothing follows the daemon's whole dependency graph.
func TestDaemonStartsAndDialsNothing(t *testing.T) {
	only := map[string][]string{
		"os/exec": {module + "/internal/nursery"},
		// expfmt reads a header with it: which form a scraper wants.
		"net/http": {module + "/internal/guard", module + "/internal/traces", module + "/internal/remote", module + "/internal/metrics", "github.com/prometheus/common/expfmt"},
	}
	for _, p := range list(t, "-deps", "./cmd/sandboxd") {
		if p.Standard {
			continue
		}
		path, isOurs := ours(p.ImportPath)
		for imported, by := range only {
			if slices.Contains(p.Imports, imported) && !slices.Contains(by, p.ImportPath) {
				t.Errorf("%s, which sandboxd links, imports %s: only %v may", p.ImportPath, imported, by)
			}
		}
		if isOurs && slices.Contains([]string{"internal/codemode", "internal/pins", "internal/upstream"}, path) {
			t.Errorf("sandboxd links %s, which is sandboxctl's", path)
		}
	}
}

// TestMetricsDialNothing lists what internal/metrics takes of net and net/http: what serves, and nothing that dials.
func TestMetricsDialNothing(t *testing.T) {
	may := []string{
		"net.Listener", "net.SplitHostPort", "net.TCPAddr",
		"http.ErrServerClosed", "http.Error", "http.HandlerFunc", "http.MethodGet", "http.Protocols", "http.Request", "http.ResponseWriter", "http.Server",
		"http.StatusForbidden", "http.StatusInternalServerError", "http.StatusMethodNotAllowed", "http.StatusNotFound",
	}
	for _, p := range list(t, "./internal/metrics") {
		for _, name := range p.GoFiles {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := s.X.(*ast.Ident)
				if ok && (x.Name == "net" || x.Name == "http") && !slices.Contains(may, x.Name+"."+s.Sel.Name) {
					t.Errorf("%s: %s.%s: metrics are served, and dial nothing", fset.Position(s.Pos()), x.Name, s.Sel.Name)
				}
				return true
			})
		}
	}
}
