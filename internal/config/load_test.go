package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sandboxd/sandboxd/internal/config"
)

// write puts a configuration and its drop-ins, each NAME: TEXT, into a directory, and returns the configuration's path.
func write(t *testing.T, text string, dropIns map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range dropIns {
		if err := errors.Join(os.MkdirAll(path+".d", 0o755), os.WriteFile(filepath.Join(path+".d", name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// load reads a configuration with one drop-in.
func load(t *testing.T, text, dropIn string) (config.Config, error) {
	t.Helper()
	return config.Load(write(t, text, map[string]string{"10.yaml": dropIn}))
}

func TestDropIns(t *testing.T) {
	path := write(t, "pool: {default: 3, large: 1}\nruns:\n  at_once: 5\n  queue: 6\ncallers: {uids: ['1', '2'], gids: ['3']}\npolicy: p.yaml\n", map[string]string{
		"20-b.yaml":     "runs: {at_once: 7}\ncallers: {uids: ['9']}\n",
		"10-a.yaml":     "runs: {at_once: 6, per_caller: 2}\npool: {strict: 2}\ncallers: {gids: []}\n",
		"9.yaml":        "runs: {queue: 0}\npolicy: q.yaml\n", // after 10 and 20, as names are text
		".#9.yaml":      "runs: {queue: 1}\n",
		"x.yaml.save":   "runs: {queue: 2}\n",
		"README":        "not YAML: [\n",
		"empty.yaml":    "",
		"comments.yaml": "# nothing\n",
	})
	got, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Pool = map[string]int{"default": 3, "large": 1, "strict": 2}
	want.Runs.AtOnce, want.Runs.PerCaller, want.Runs.Queue = 7, 2, 0
	want.Callers = config.Callers{UIDs: []string{"9"}}
	want.Policy = filepath.Join(filepath.Dir(path), "q.yaml") // beside the file, whichever of them says so
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(config.Config{})); diff != "" {
		t.Error(diff)
	}
	var files []string
	for _, name := range []string{"10-a.yaml", "20-b.yaml", "9.yaml", "comments.yaml", "empty.yaml"} {
		files = append(files, filepath.Join(path+".d", name))
	}
	if diff := cmp.Diff(append([]string{path}, files...), got.Files()); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]string{
		"runs.at_once": files[1] + ":1", "runs.per_caller": files[0] + ":1", "runs.queue": files[2] + ":1", "runs.queue_wait": config.FromDefault,
		"pool.default": path + ":1", "pool.strict": files[0] + ":2", "callers.uids": files[1] + ":2", "callers.gids": files[0] + ":3",
	} {
		for _, k := range got.Keys() {
			if k.Name == key && k.From != want {
				t.Errorf("%s is from %s, want %s", key, k.From, want)
			}
		}
	}
}

// TestDropInsAreStrict: each mistake of each file is told, with the file and the line that it stands in.
func TestDropInsAreStrict(t *testing.T) {
	many := make(map[string]string)
	for i := range 65 {
		many[fmt.Sprint(i, ".yaml")] = ""
	}
	for _, tt := range []struct {
		name, text string
		dropIns    map[string]string
		want       string // DIR/ is the directory
	}{
		{"all at once", "runz: 1\nlog:\n", map[string]string{"a.yaml": "runs:\n  at_once: many\n  queue: x\n", "b.yml": ""},
			"DIR/c.yaml:2: log: has no value; give it one, or leave it out\nDIR/c.yaml.d/b.yml: a drop-in is named NAME.yaml\n" +
				"DIR/c.yaml.d/a.yaml:2: runs.at_once: can't read str `many` as a whole number\nDIR/c.yaml.d/a.yaml:3: runs.queue: can't read str `x` as a whole number"},
		{"the last one's line", "runs:\n  at_once: 0\n", map[string]string{"a.yaml": "drain: 1s\nruns: {at_once: 2000}\n"},
			"DIR/c.yaml.d/a.yaml:2: runs.at_once: 2000 is not within 1 and 1000"},
		{"mended by a drop-in", "runs: {at_once: 0}\ndrain: 2h\n", map[string]string{"a.yaml": "runs: {at_once: 1}\n"},
			"DIR/c.yaml:2: drain: 2h0m0s is not within 0s and 1h0m0s"},
		{"a section of two", "guard: {url: 'http://127.0.0.1:1'}\n", map[string]string{"a.yaml": "\nguard: {timeout: 1m}\n"},
			"DIR/c.yaml.d/a.yaml:2: guard.timeout: 1m0s is not within 50ms and 30s"},
		{"values", "runs: {at_once: 0, queue: -1}\npool: {b: 999, a: -1}\nlog: {level: x}\n", nil,
			"DIR/c.yaml:1: runs.at_once: 0 is not within 1 and 1000\nDIR/c.yaml:1: runs.queue: -1 is not within 0 and 100000\n" +
				"DIR/c.yaml:2: pool.a: -1 is not within 0 and 512\nDIR/c.yaml:2: pool.b: 999 is not within 0 and 512\n" +
				"DIR/c.yaml:3: log.level: \"x\" is none of debug, info, warn, error"},
		{"octal", "runs:\n  at_once: 010\n", nil, `DIR/c.yaml:2: runs.at_once: "010" is no whole decimal number; as text it wants quotes`},
		{"a fraction", "pool: {default: 1.9}\n", nil, `DIR/c.yaml:1: pool.default: "1.9" is no whole decimal number; as text it wants quotes`},
		{"a name that is a number", "guard: {url: 'http://127.0.0.1:1', api: chat, model: 4.1}\n", nil,
			`DIR/c.yaml:1: guard.model: "4.1" is no whole decimal number; as text it wants quotes`},
		{"alias", "runs: &r {at_once: 2}\n", map[string]string{"a.yaml": "drain: !!str 5s\n"},
			"DIR/c.yaml:1: runs: anchors, aliases and tags of YAML are not for this file; write the value\n" +
				"DIR/c.yaml.d/a.yaml:1: drain: anchors, aliases and tags of YAML are not for this file; write the value"},
		{"merged", "<<: {drain: 1s}\n", nil, "DIR/c.yaml:1: <<: merged keys of YAML are not for this file; write them out"},
		{"too long", "", map[string]string{"a.yaml": "#" + strings.Repeat("x", 64<<10)}, "DIR/c.yaml.d/a.yaml: longer than 65536 bytes"},
		{"too many", "", many, "DIR/c.yaml.d: has 65 drop-ins, at most 64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, tt.text, tt.dropIns)
			_, err := config.Load(path)
			var invalid *config.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("the error is %v", err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(tt.want, "DIR", filepath.Dir(path)), err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFilesAreLookedAt: what is no file that only its owner and group write is not read, and holds nothing up.
func TestFilesAreLookedAt(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(path, dir string) error
		want string
	}{
		{"fifo", func(_, dir string) error { return syscall.Mkfifo(dir+"/f.yaml", 0o600) }, ".d/f.yaml: is no regular file"},
		{"directory", func(_, dir string) error { return os.Mkdir(dir+"/f.yaml", 0o700) }, ".d/f.yaml: is no regular file"},
		{"link to nothing", func(_, dir string) error { return os.Symlink("nowhere", dir+"/f.yaml") }, ".d/f.yaml: is a link to a file that is not there"},
		{"drop-in for all to write", func(_, dir string) error { return os.Chmod(dir+"/a.yaml", 0o666) },
			".d/a.yaml: anybody may write to it (mode 0666): chmod o-w"},
		{"file for all to write", func(path, _ string) error { return os.Chmod(path, 0o602) }, "c.yaml: anybody may write to it (mode 0602): chmod o-w"},
		{"directory for all to write", func(_, dir string) error { return os.Chmod(dir, 0o777) }, ".d: anybody may write to it (mode 0777): chmod o-w"},
		{"no directory", func(_, dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) }, ".d: is no directory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, "", map[string]string{"a.yaml": ""})
			if err := tt.make(path, path+".d"); err != nil {
				t.Fatal(err)
			}
			_, err := config.Load(path)
			var invalid *config.InvalidError
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want one with %q", err, tt.want)
			}
		})
	}
	path := write(t, "", nil)
	if err := os.Symlink("c.yaml", filepath.Dir(path)+"/link.yaml"); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(filepath.Dir(path) + "/link.yaml"); err != nil {
		t.Errorf("a link to a file is one: %v", err)
	}
	if _, err := config.Load(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}

// TestYAML: what is shown is a configuration that means the same.
func TestYAML(t *testing.T) {
	text := "callers: {uids: [root, '0'], gids: ['7']}\npool: {default: 3, \"x: y\": 2}\nprofiles: \"/a\\n#\\tb \\e\"\npolicy: \"/p: 'q'\"\n" +
		"guard: {url: 'unix:///g', api: chat, model: 'yes', key: '~'}\naudit: {path: '/v/a.log', keep: {age: 1h30m}}\nidle_exit: 1m\n"
	c, err := load(t, text, "log: {level: warn}\n")
	if err != nil {
		t.Fatal(err)
	}
	again, err := load(t, c.YAML(), "")
	if diff := cmp.Diff(c, again, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(config.Config{})); err != nil || diff != "" {
		t.Errorf("%v\n%s\n%s", err, diff, c.YAML())
	}
	if again, err = load(t, config.Default().YAML(), ""); err != nil {
		t.Errorf("the defaults: %v\n%s", err, config.Default().YAML())
	}
	for line := range strings.Lines(config.Default().YAML()) {
		if !strings.HasSuffix(line, ":\n") && !strings.HasSuffix(line, " # default\n") {
			t.Errorf("no file sets %q", line)
		}
	}
	for _, k := range again.Keys() {
		if k.From == config.FromDefault {
			t.Errorf("YAML leaves out %s", k.Name)
		}
	}
}

func TestCheckPool(t *testing.T) {
	c, err := load(t, "pool:\n  b: 1\n", "\npool: {a: 1}\n")
	if err != nil {
		t.Fatal(err)
	}
	err = c.CheckPool(nil)
	if want := "10.yaml:2: pool.a: no such profile; there are: "; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "c.yaml:2: pool.b: ") {
		t.Errorf("the error is %v", err)
	}
}
