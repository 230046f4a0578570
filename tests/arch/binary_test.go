package arch_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

// TestBinariesLink says what the two small binaries link of ours: nothing that decides on calls, and no secrets.
func TestBinariesLink(t *testing.T) {
	for binary, want := range map[string][]string{
		"cmd/sandbox-worker":  {"internal/clip", "internal/jail", "internal/js", "internal/js/intl", "internal/js/regexp", "internal/js/weburl", "internal/near", "internal/wire"},
		"cmd/sandbox-nursery": {"internal/cgroup", "internal/jail", "internal/nursery", "internal/wire"},
	} {
		t.Run(filepath.Base(binary), func(t *testing.T) {
			var got []string
			for _, p := range list(t, "-deps", "./"+binary) {
				if path, isOurs := ours(p.ImportPath); isOurs && path != binary {
					got = append(got, path)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("packages of ours (-want +got):\n%s", diff)
			}
		})
	}
}

const golden = "testdata/worker-deps.golden"

// TestWorkerDependencies keeps the worker's attack surface a reviewable diff. The standard library's internal packages
// are left out: they change with every toolchain.
func TestWorkerDependencies(t *testing.T) {
	var own, others, standard []string
	for _, p := range list(t, "-deps", "./cmd/sandbox-worker") {
		_, isOurs := ours(p.ImportPath)
		switch {
		case isOurs:
			own = append(own, p.ImportPath)
		case !p.Standard:
			others = append(others, p.ImportPath)
		case !strings.Contains("/"+p.ImportPath+"/", "/internal/") && !strings.HasPrefix(p.ImportPath, "vendor/"):
			standard = append(standard, p.ImportPath)
		}
	}
	got := section("ours", own) + section("other modules", others) + section("standard library, internal packages apart", standard)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v\nwrite it with: go test ./tests/arch -run TestWorkerDependencies -update", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("what sandbox-worker links has changed (-want +got):\n%s\n"+
			"Every package here is code that a hostile program may reach. If the change is meant, run\n"+
			"go test ./tests/arch -run TestWorkerDependencies -update, and say why in the commit.", diff)
	}
}

func section(title string, packages []string) string {
	slices.Sort(packages)
	return "# " + title + "\n" + strings.Join(packages, "\n") + "\n"
}
