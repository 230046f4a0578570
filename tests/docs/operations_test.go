package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
	"github.com/sandboxd/sandboxd/tests/skip"
)

var session = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// TestOperationsPage does what docs/operations.md shows, with a daemon whose files lie elsewhere.
func TestOperationsPage(t *testing.T) {
	page := read(t, "docs/operations.md")
	config, policy := read(t, "packaging/sandboxd.yaml"), read(t, "packaging/policy.yaml")
	dir := daemon.Dir(t)
	here := strings.NewReplacer("/etc/sandboxd", dir+"/etc", "/var/log/sandboxd", dir+"/log")
	there := strings.NewReplacer(dir+"/etc", "/etc/sandboxd", dir+"/log", "/var/log/sandboxd")
	for path, text := range map[string]string{
		"etc/sandboxd.yaml": here.Replace(config), "etc/policy.yaml": policy, "etc/sandboxd.yaml.d/10-site.yaml": "pool: {default: 2}\n", "log/x": "",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := daemon.Start(t, daemon.Options{Config: here.Replace("pool: {default: 2}\npolicy: /etc/sandboxd/policy.yaml\naudit: {path: /var/log/sandboxd/audit.log}\n")})
	d.Rest(t, 2)
	t.Setenv("SANDBOXD_ADMIN_SOCKET", d.Admin)
	t.Setenv("PATH", daemon.Binaries(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Chdir(dir)
	commands := 0
	for _, block := range session.FindAllStringSubmatch(page, -1) {
		for _, shown := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(shown, "\n")
			commands++
			run := exec.Command("sh", "-c", here.Replace(command))
			var stderr strings.Builder
			run.Stderr = &stderr
			out, err := run.Output()
			if err != nil {
				t.Errorf("%s: %v\n%s", command, err, &stderr)
			}
			like := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "…", ".+")
			if got := strings.TrimSpace(there.Replace(string(out))); !regexp.MustCompile("^" + like + "$").MatchString(got) {
				t.Errorf("%s says\n%s\nand the page\n%s", command, got, want)
			}
		}
	}
	if commands < 5 {
		t.Errorf("%d commands: this test can't read docs/operations.md any more", commands)
	}
	if status, err := os.ReadFile("status.json"); err != nil || !strings.Contains(string(status), `"deciding"`) {
		t.Errorf("%s, %v", status, err)
	}
}

// TestSizing: descriptors are counted as the page says.
func TestSizing(t *testing.T) {
	m := regexp.MustCompile(`\| (\d+) of the daemon's and (\d+) of the nursery's for each worker`).FindStringSubmatch(read(t, "docs/operations.md"))
	if m == nil {
		t.Fatal("docs/operations.md says nothing of descriptors")
	}
	few := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\n"}).Rest(t, 1)
	some := daemon.Start(t, daemon.Options{Config: "pool: {default: 3}\n"}).Rest(t, 3)
	if each := (some.DaemonFDs - few.DaemonFDs) / 2; m[1] != strconv.Itoa(each) {
		t.Errorf("the page says %s, and a worker takes %d of the daemon's", m[1], each)
	}
	if few.NurseryFDs < 0 {
		skip.Because(t, "the nursery's descriptors are for root to count, as it is not dumpable")
	}
	if each := (some.NurseryFDs - few.NurseryFDs) / 2; m[2] != strconv.Itoa(each) {
		t.Errorf("the page says %s, and a worker takes %d of the nursery's", m[2], each)
	}
}

// table is the rows of the page's table with these headings, by cells.
func table(t *testing.T, headings string) (rows [][]string) {
	t.Helper()
	_, text, found := strings.Cut(read(t, "docs/operations.md"), "\n| "+headings+" |\n")
	text, _, _ = strings.Cut(text, "\n\n")
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if !found || len(rows) == 0 {
		t.Fatalf("docs/operations.md has no table %q", headings)
	}
	return rows
}

var quote = regexp.MustCompile("`([^`]+)`")

// TestMessages: each message that the page quotes is one of the code's.
func TestMessages(t *testing.T) {
	all := gather(t, ".")
	n := 0
	for headings, cell := range map[string]int{"failure | what the user sees | what to do": 1, "alarm | means | do": 0} {
		for _, row := range table(t, headings) {
			if len(row) != 3 {
				t.Errorf("a row has %d cells: %q", len(row), row)
				continue
			}
			for _, m := range quote.FindAllStringSubmatch(row[cell], -1) {
				if !strings.Contains(m[1], " ") {
					continue // a name
				}
				n++
				for part := range strings.SplitSeq(m[1], "…") {
					part = strings.TrimSpace(part)
					if !slices.ContainsFunc(all.texts, func(text string) bool { return strings.Contains(text, part) }) {
						t.Errorf("no code says %q, of %q", part, m[1])
					}
				}
			}
		}
	}
	if n < 40 {
		t.Errorf("%d messages: this test can't read docs/operations.md any more", n)
	}
}

// TestLogLines: the page explains each line that the daemon and the nursery can log, at its level, and no other.
func TestLogLines(t *testing.T) {
	documented := make(map[string]bool)
	for _, row := range table(t, "level | line | means | do") {
		for _, m := range quote.FindAllStringSubmatch(row[1], -1) {
			documented[row[0]+" "+m[1]] = true
		}
	}
	logged := make(map[string]bool)
	for _, dir := range []string{
		"cmd/sandboxd", "cmd/sandbox-nursery", "internal/audit", "internal/broker", "internal/guard", "internal/nursery", "internal/pool", "internal/server",
		"internal/traces",
	} {
		for _, line := range gather(t, dir).lines {
			logged[line] = true
		}
	}
	for line := range logged {
		if !documented[line] && !strings.HasPrefix(line, "debug ") {
			t.Errorf("not in docs/operations.md: %s", line)
		}
	}
	for line := range documented {
		if !logged[line] {
			t.Errorf("in docs/operations.md alone: %s", line)
		}
	}
}

// TestMonitored: what the page has monitored is in the status that administrators get.
func TestMonitored(t *testing.T) {
	for _, row := range table(t, "in the object | alarm when | which means") {
		for _, m := range quote.FindAllStringSubmatch(row[0], -1) {
			at := reflect.TypeFor[sandboxd.StatusResult]()
			for name := range strings.SplitSeq(strings.ReplaceAll(m[1], "[]", ""), ".") {
				for at.Kind() == reflect.Pointer || at.Kind() == reflect.Slice {
					at = at.Elem()
				}
				i := slices.IndexFunc(reflect.VisibleFields(at), func(f reflect.StructField) bool {
					tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
					return tag == name
				})
				if i < 0 {
					t.Errorf("%s: %s has no %s", m[1], at, name)
					break
				}
				at = at.Field(i).Type
			}
		}
	}
}

// said is what code can say: its texts, and the level and message of each line that it logs.
type said struct{ texts, lines []string }

// gather reads the code below a directory, but for tests.
func gather(t *testing.T, dir string) (all said) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "tests" || entry.Name() == "examples" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if text, ok := literal(e); ok {
					all.texts = append(all.texts, text)
				}
			}
			if call, ok := n.(*ast.CallExpr); ok {
				all.note(call)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// note takes a call that logs: log.Error("message", …), of whatever is called log.
func (s *said) note(call *ast.CallExpr) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 || !slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, method.Sel.Name) {
		return
	}
	of := method.X
	if made, ok := of.(*ast.CallExpr); ok {
		of = made.Fun
	}
	if field, ok := of.(*ast.SelectorExpr); ok {
		of = field.Sel
	}
	name, ok := of.(*ast.Ident)
	if !ok || !strings.EqualFold(name.Name, "log") {
		return
	}
	if message, ok := literal(call.Args[0]); ok {
		s.lines = append(s.lines, strings.ToLower(method.Sel.Name)+" "+message)
	}
}

// literal is a text that stands in the code, in one piece or several.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, isLeft := literal(e.X)
		right, isRight := literal(e.Y)
		return left + right, isLeft && isRight && e.Op == token.ADD
	}
	return "", false
}

// TestConfigurationPage: what docs/configuration.md shows of a check.
func TestConfigurationPage(t *testing.T) {
	_, shown, found := strings.Cut(read(t, "docs/configuration.md"), "```console\n$ sandboxctl config check sandboxd.yaml\n")
	want, _, closed := strings.Cut(shown, "```")
	if !found || !closed {
		t.Fatal("docs/configuration.md shows no check")
	}
	binary := filepath.Join(daemon.Binaries(t), "sandboxctl")
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"sandboxd.yaml": "runs:\n  at_once: many\n", "sandboxd.yaml.d/10-site.yaml": "# ours\nruns:\n  quue: 1\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, _ := exec.Command(binary, "config", "check", "sandboxd.yaml").CombinedOutput()
	if string(said) != want {
		t.Errorf("it says\n%s\nand the page\n%s", said, want)
	}
}
