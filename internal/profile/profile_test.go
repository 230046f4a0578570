package profile_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/profile"
)

func builtin(t *testing.T) map[string]profile.Profile {
	t.Helper()
	all, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestBuiltin(t *testing.T) {
	all := builtin(t)
	if diff := cmp.Diff([]string{"default", "large", "strict"}, profile.Names(all)); diff != "" {
		t.Error(diff)
	}
	// The limits that README and docs/protocol.md promise.
	want := sandboxd.Limits{
		WallMS: 30_000, CPUMS: 5_000, MemoryBytes: 256 << 20, Calls: 32, ConcurrentCalls: 4, OutputBytes: 64 << 10,
		ConsoleBytes: 4 << 10, SourceBytes: 64 << 10, ArgumentBytes: 256 << 10, ResultBytes: 4 << 20,
	}
	if diff := cmp.Diff(want, all["default"].Limits); diff != "" {
		t.Error(diff)
	}
	if got, want := all["default"].Spec(), (jail.Spec{LandlockABI: 1, MemoryBytes: 256 << 20, CPUSeconds: 6}); got != want {
		t.Errorf("spec is %+v, want %+v", got, want)
	}
	if abi := all["strict"].Jail.LandlockABI; abi != 6 {
		t.Errorf("strict asks for Landlock ABI %d, want 6", abi)
	}
}

const complete = `
limits: {wall_ms: 1, cpu_ms: 1, memory_bytes: 33554432, calls: 1, concurrent_calls: 1, output_bytes: 1,
  console_bytes: 1, source_bytes: 1, argument_bytes: 1, result_bytes: 1}
jail: {landlock_abi: 1}
require: [seccomp]
`

func TestLoadRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"unknown field", "limitz: {}\n", `p.yaml:1: there is no field "limitz" here`},
		{"a limit is missing", strings.Replace(complete, "calls: 1, ", "", 1), "limits.calls must be set, and above 0"},
		{"below 0", strings.Replace(complete, "wall_ms: 1", "wall_ms: -1", 1), "limits.wall_ms must be set, and above 0"},
		{"over the ceiling", strings.Replace(complete, "result_bytes: 1", "result_bytes: 99999999", 1), "limits.result_bytes: 99999999 is over 7340032"},
		{"too little memory", strings.Replace(complete, "33554432", "1000", 1), "limits.memory_bytes: 1000 is under"},
		{"no jail", strings.Replace(complete, "landlock_abi: 1", "landlock_abi: 0", 1), "jail: landlock_abi 0: must be at least 1"},
		{"unknown layer", strings.Replace(complete, "[seccomp]", "[moat]", 1), `require: no layer "moat"; there are: seccomp, landlock, rlimits`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "p.yaml"), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := profile.Load(dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error is %v, want one with %q and the path", err, tt.want)
			}
		})
	}
}

func TestLoadOverrides(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{"default.yaml": complete, "mine.yaml": complete, "README": "no profile"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := profile.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"default", "large", "mine", "strict"}, profile.Names(all)); diff != "" {
		t.Error(diff)
	}
	if got := all["default"]; got.Limits.WallMS != 1 || got.Source != filepath.Join(dir, "default.yaml") {
		t.Errorf("default is %+v", got)
	}
	if _, err := profile.Load(filepath.Join(dir, "absent")); err != nil {
		t.Errorf("a directory that does not exist: %v", err)
	}
	if _, err := profile.Load(filepath.Join(dir, "README")); err == nil {
		t.Error("a directory that is a file was accepted")
	}
}

// TestLower tries every limit by reflection, so that one that is added can't be forgotten.
func TestLower(t *testing.T) {
	p := builtin(t)["default"]
	for i := range reflect.TypeFor[sandboxd.Limits]().NumField() {
		name := reflect.TypeFor[sandboxd.Limits]().Field(i).Name
		t.Run(name, func(t *testing.T) {
			most := reflect.ValueOf(p.Limits).Field(i).Int()
			for _, tt := range []struct {
				asked int64
				want  int64 // 0: refused
			}{{0, most}, {most, most}, {most - 1, most - 1}, {most + 1, 0}, {-1, 0}} {
				var asked sandboxd.Limits
				reflect.ValueOf(&asked).Elem().Field(i).SetInt(tt.asked)
				got, err := p.Lower(&asked)
				switch {
				case tt.want == 0 && err == nil:
					t.Errorf("%d of %d was accepted", tt.asked, most)
				case tt.want != 0 && err != nil:
					t.Errorf("%d of %d: %v", tt.asked, most, err)
				case tt.want != 0 && reflect.ValueOf(got).Field(i).Int() != tt.want:
					t.Errorf("%d of %d gave %d", tt.asked, most, reflect.ValueOf(got).Field(i).Int())
				}
			}
		})
	}
}

func FuzzProfile(f *testing.F) {
	f.Add([]byte(complete))
	f.Add([]byte("limits: {wall_ms: 99999999999999999999}"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, "p.yaml"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := profile.Load(dir)
		if err != nil {
			return
		}
		if err := all["p"].Spec().Validate(); err != nil {
			t.Errorf("accepted a profile whose jail is none: %v", err)
		}
	})
}
