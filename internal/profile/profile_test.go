package profile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/profile"
)

func builtin(t testing.TB) map[string]profile.Profile {
	t.Helper()
	all, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// directory has files by name.
func directory(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
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
	if diff := cmp.Diff(profile.Jail{LandlockABI: 1, CPUs: 1, PIDs: 24}, all["default"].Jail); diff != "" {
		t.Error(diff)
	}
	if got, want := all["default"].Spec(), (jail.Spec{LandlockABI: 1, MemoryBytes: 256 << 20, CPUSeconds: 6}); got != want {
		t.Errorf("spec is %+v, want %+v", got, want)
	}
	if abi := all["strict"].Jail.LandlockABI; abi != 6 {
		t.Errorf("strict asks for Landlock ABI %d, want 6", abi)
	}
	if openings := profile.Loosens(all["default"], all["strict"]); len(openings) > 0 {
		t.Errorf("strict is wider than default: %v", openings)
	}
	for name, p := range all {
		if p.Overrides || len(p.Openings) > 0 {
			t.Errorf("%s, which is built in: %+v", name, p)
		}
	}
}

const complete = `
limits: {wall_ms: 1, cpu_ms: 1, memory_bytes: 33554432, calls: 1, concurrent_calls: 1, output_bytes: 1,
  console_bytes: 1, source_bytes: 1, argument_bytes: 1, result_bytes: 1}
jail: {landlock_abi: 1}
require: [seccomp]
`

// replaced is complete with something else in one place.
func replaced(old, with string) string { return strings.Replace(complete, old, with, 1) }

func TestLoadRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "# nothing\n", "p.yaml: limits.wall_ms: must be set, and above 0"},
		{"no YAML", "limits: {", "p.yaml:1: "},
		{"a list", "[limits]", "p.yaml:1: "},
		{"two documents", complete + "---\n" + complete, "more than one document"},
		{"unknown field", "limitz: {}\n", `p.yaml:1: there is no field "limitz" here`},
		{"unknown field below", "jail:\n  cpu: 1\n", `p.yaml:2: there is no field "cpu" here`},
		{"what the loader sets", "name: x\n", `p.yaml:1: there is no field "name" here`},
		{"a key twice", complete + "require: []\n", `p.yaml:6: field "require" stands at line 5 already`},
		{"a limit is missing", replaced("calls: 1, ", ""), "p.yaml: limits.calls: must be set, and above 0"},
		{"below 0", replaced("wall_ms: 1", "wall_ms: -1"), "p.yaml:2: limits.wall_ms: must be set, and above 0"},
		{"over the ceiling", replaced("result_bytes: 1", "result_bytes: 99999999"),
			"p.yaml:3: limits.result_bytes: 99999999 is over 7340032"},
		{"over every number", replaced("calls: 1", "calls: 99999999999999999999"), "p.yaml:2: limits."},
		{"too little memory", replaced("33554432", "1000"), "p.yaml:2: limits.memory_bytes: 1000 is under 16777216"},
		{"no whole number", replaced("calls: 1", "calls: 1.9"), `p.yaml:2: limits.calls: "1.9" is no whole decimal number`},
		{"octal", replaced("calls: 1", "calls: 010"), `p.yaml:2: limits.calls: "010" is no whole decimal number`},
		{"hexadecimal", replaced("calls: 1", "calls: 0x10"), `limits.calls: "0x10" is no whole decimal number`},
		{"no value", replaced("calls: 1", "calls: "), "p.yaml:2: limits.calls: has no value"},
		{"no section", replaced("jail: {landlock_abi: 1}", "jail:"), "p.yaml:4: jail: has no value"},
		{"no ABI", replaced("landlock_abi: 1", "landlock_abi: 0"), "p.yaml:4: jail.landlock_abi: 0 is not within 1 and 99"},
		{"no such ABI", replaced("landlock_abi: 1", "landlock_abi: 100"), "p.yaml:4: jail.landlock_abi: 100 is not within 1 and 99"},
		{"no processor", replaced("landlock_abi: 1", "landlock_abi: 1, cpus: 0"), "p.yaml:4: jail.cpus: 0 is not within 0.01 and 64"},
		{"too little of one", replaced("landlock_abi: 1", "landlock_abi: 1, cpus: 0.009"), "jail.cpus: 0.009 is not within 0.01 and 64"},
		{"too many", replaced("landlock_abi: 1", "landlock_abi: 1, cpus: 64.5"), "jail.cpus: 64.5 is not within 0.01 and 64"},
		{"all of them", replaced("landlock_abi: 1", "landlock_abi: 1, cpus: .inf"), `jail.cpus: ".inf" is no decimal number`},
		{"no number", replaced("landlock_abi: 1", "landlock_abi: 1, cpus: .nan"), `jail.cpus: ".nan" is no decimal number`},
		{"finer than a cgroup is told", replaced("landlock_abi: 1", "landlock_abi: 1, cpus: 1.0001"),
			`p.yaml:4: jail.cpus: "1.0001" is no decimal number of at most three places`},
		{"few tasks", replaced("landlock_abi: 1", "landlock_abi: 1, pids: 15"), "p.yaml:4: jail.pids: 15 is not within 16 and 256"},
		{"many tasks", replaced("landlock_abi: 1", "landlock_abi: 1, pids: 257"), "p.yaml:4: jail.pids: 257 is not within 16 and 256"},
		{"unknown layer", replaced("[seccomp]", "[moat]"),
			`p.yaml:5: require: no layer "moat"; there are: seccomp, landlock, rlimits, cgroup, namespaces`},
		{"a layer twice", replaced("[seccomp]", "[seccomp, seccomp]"), "p.yaml:5: require: seccomp stands there twice"},
		{"layers left out", replaced("require: [seccomp]", ""), "p.yaml: require: must be set"},
		{"layers without a value", replaced("[seccomp]", "~"), "p.yaml:5: require: has no value"},
		{"a layer without a value", replaced("[seccomp]", "[seccomp, ~]"), "p.yaml:5: require: has no value"},
		{"an anchor", replaced("limits: {", "limits: &l {"), "p.yaml:2: limits: anchors, aliases and tags"},
		{"an alias", "limits: {wall_ms: &n 1}\njail: {pids: *n}\n", "p.yaml:2: jail.pids: anchors, aliases and tags"},
		{"a merge", replaced("landlock_abi: 1", "<<: {landlock_abi: 1}"), "p.yaml:4: jail.<<: a key is a plain word here"},
		{"a tag", complete + "description: !!binary aGk=\n", "p.yaml:6: description: anchors, aliases and tags"},
		{"a tagged key", complete + "!!binary ZGVzY3JpcHRpb24=: hi\n", "p.yaml:6: "},
		{"two lines", complete + `description: "a\nb"` + "\n", "p.yaml:6: description: must be one line"},
		{"long", complete + "description: " + strings.Repeat("x", 201) + "\n",
			"p.yaml:6: description: must be one line of at most 200 bytes"},
		{"a terminal's", complete + `description: "\e[2J"` + "\n", "p.yaml:6: description: must be one line"},
		{"extends nothing", "extends: ''\n", `p.yaml:1: extends: there is no built-in profile ""; there are: default, large, strict`},
		{"extends itself", "extends: p\n", `p.yaml:1: extends: there is no built-in profile "p"`},
		{"extends a file", "extends: q\n", `p.yaml:1: extends: there is no built-in profile "q"`},
		{"too large", "#" + strings.Repeat("x", 64<<10), "p.yaml: longer than 65536 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := directory(t, map[string]string{"p.yaml": tt.text, "q.yaml": complete})
			_, err := profile.Load(dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error is %v, want one with %q", err, tt.want)
			}
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, filepath.Join(dir, "p.yaml")+":") {
					t.Errorf("%q does not begin with the file", line)
				}
			}
			var invalid *profile.InvalidError
			if !errors.As(err, &invalid) {
				t.Errorf("%v is no *InvalidError", err)
			}
			if _, alone := profile.Read(filepath.Join(dir, "p.yaml")); alone == nil || alone.Error() != err.Error() {
				t.Errorf("alone: %v, want %v", alone, err)
			}
		})
	}
}

func TestLoadRefusesFiles(t *testing.T) {
	empty := func(name string) func(dir string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), nil, 0o600) }
	}
	for _, tt := range []struct {
		name string
		make func(dir string) error
		want string
	}{
		{"a .yml", empty("p.yml"), "p.yml: a profile is a file NAME.yaml"},
		{"no name", empty(".yaml"), ".yaml: a profile is a file NAME.yaml"},
		{"upper case", empty("Default.yaml"), "where NAME is up to 64 of a-z"},
		{"a directory", func(dir string) error { return os.Mkdir(filepath.Join(dir, "p.yaml"), 0o700) }, "p.yaml: is no regular file"},
		{"a pipe", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "p.yaml"), 0o600) }, "p.yaml: is no regular file"},
		{"a link to nothing", func(dir string) error { return os.Symlink("none", filepath.Join(dir, "p.yaml")) }, "p.yaml: no such file"},
		{"too many", func(dir string) (err error) {
			for i := range 257 {
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, fmt.Sprintf("p%d.yaml", i)), []byte(complete), 0o600))
			}
			return err
		}, "has 257 files, more than 256"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := tt.make(dir); err != nil {
				t.Fatal(err)
			}
			all, err := profile.Load(dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), dir) || all != nil {
				t.Errorf("got %v, %v, want an error with %q and the path", all, err, tt.want)
			}
		})
	}
}

// TestLoadTellsAll: one look at the error is enough to mend every file.
func TestLoadTellsAll(t *testing.T) {
	dir := directory(t, map[string]string{
		"a.yaml": replaced("wall_ms: 1, cpu_ms: 1", "wall_ms: 0, cpu_ms: 0"), "b.yaml": "limitz: 1\n", "c.yaml": complete,
	})
	_, err := profile.Load(dir)
	want := dir + "/a.yaml:2: limits.wall_ms: must be set, and above 0\n" +
		dir + "/a.yaml:2: limits.cpu_ms: must be set, and above 0\n" +
		dir + `/b.yaml:1: there is no field "limitz" here; there are: limits, extends, description, jail, require`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

func TestLoadOverrides(t *testing.T) {
	dir := directory(t, map[string]string{
		"default.yaml": complete, "mine.yaml": complete, "README": "no profile", "old.yaml.bak": "no profile",
	})
	all, err := profile.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"default", "large", "mine", "strict"}, profile.Names(all)); diff != "" {
		t.Error(diff)
	}
	if got := all["default"]; got.Limits.WallMS != 1 || got.Source != filepath.Join(dir, "default.yaml") || !got.Overrides {
		t.Errorf("default is %+v", got)
	}
	if got := all["mine"]; got.Overrides || got.Jail != (profile.Jail{LandlockABI: 1, CPUs: 1, PIDs: 24}) {
		t.Errorf("mine is %+v", got)
	}
	if _, err := profile.Load(filepath.Join(dir, "absent")); err != nil {
		t.Errorf("a directory that does not exist: %v", err)
	}
	if _, err := profile.Load(filepath.Join(dir, "README")); err == nil {
		t.Error("a directory that is a file was accepted")
	}
	if _, err := profile.Read(filepath.Join(dir, "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// TestExtends: what a file does not mention is the built-in profile's, even where a file stands in its place.
func TestExtends(t *testing.T) {
	dir := directory(t, map[string]string{
		"default.yaml": complete,
		"mine.yaml":    "extends: default\nlimits:\n  calls: 7\njail: {cpus: 0.5}\nrequire: []\n",
		"strict.yaml":  "extends: strict\n",
	})
	all, err := profile.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := builtin(t)["default"]
	want.Name, want.Source = "mine", filepath.Join(dir, "mine.yaml")
	want.Limits.Calls, want.Jail.CPUs, want.Require = 7, 0.5, []string{}
	want.Openings = profile.Loosens(builtin(t)["default"], want)
	if diff := cmp.Diff(want, all["mine"]); diff != "" {
		t.Error(diff)
	}
	if changes := profile.Diff(builtin(t)["strict"], all["strict"]); len(changes) > 0 || !all["strict"].Overrides {
		t.Errorf("strict, extended by nothing: %v", changes)
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
	_, err := p.Lower(&sandboxd.Limits{MemoryBytes: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "limits.memory_bytes: 1048576 is under 16777216") {
		t.Errorf("memory in which no worker can exist: %v", err)
	}
	if got, err := p.Lower(nil); err != nil || got != p.Limits {
		t.Errorf("nothing asked: %+v, %v", got, err)
	}
}

func FuzzProfile(f *testing.F) {
	for _, text := range []string{
		complete, "limits: {wall_ms: 99999999999999999999}", "extends: strict\njail: {cpus: 0.015, pids: 16}\n",
		"extends: default\nrequire: []\n", "extends: large\ndescription: \"'a': #b\"\n", "extends: &x default\nlimits: *x\n",
		"extends: default\njail:\n  <<: {cpus: 1e1}\n", "---\n~\n",
	} {
		f.Add([]byte(text))
	}
	beside := builtin(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := profile.Parse("p", text, beside)
		if err != nil {
			var invalid *profile.InvalidError
			if !errors.As(err, &invalid) || len(invalid.Mistakes) == 0 {
				t.Errorf("refused with %#v", err)
			}
			return
		}
		if wrong := p.Wrong(); wrong != "" {
			t.Errorf("accepted, and wrong: %s", wrong)
		}
		if err := p.Spec().Validate(); err != nil {
			t.Errorf("accepted, and its jail is none: %v", err)
		}
		if p.Require == nil || p.Openings == nil {
			t.Errorf("accepted without a list: %+v", p)
		}
		again, err := profile.Parse("p", []byte(p.YAML()), beside)
		if err != nil {
			t.Fatalf("%v\nshown as\n%s", err, p.YAML())
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Errorf("shown as\n%s%s", p.YAML(), diff)
		}
	})
}
