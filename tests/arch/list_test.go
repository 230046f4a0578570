// Package arch_test holds the code against the design: who may import whom, what each binary links, and what lies where.
package arch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/sandboxd/sandboxd"

// listed is what `go list` says of a package.
type listed struct {
	ImportPath string
	Dir        string
	Export     string // file of what the compiler exported, with -export
	Standard   bool
	GoFiles    []string
	Imports    []string
	Deps       []string
}

// ours is the path below the module, "." for its root, and whether the package is one of the module.
func ours(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// list runs `go list -json` for the system that is released, whatever the developer's environment says.
func list(t *testing.T, args ...string) []listed {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Export,Standard,GoFiles,Imports,Deps"}, args...)...)
	command.Dir = root(t)
	command.Env = append(os.Environ(), "GOFLAGS=", "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("go list %s: %v", strings.Join(args, " "), err)
		}
		all = append(all, p)
	}
}

// root is the directory of go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
