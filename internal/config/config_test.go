package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"github.com/sandboxd/sandboxd/internal/config"
)

// packaged is the file that packages install: every key, with its default.
const packaged = "../../packaging/sandboxd.yaml"

func TestPackagedFileIsTheDefault(t *testing.T) {
	got, err := config.Load(packaged)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Default(), got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(config.Config{})); diff != "" {
		t.Errorf("%s differs from the defaults:\n%s", packaged, diff)
	}
}

func TestEveryKeyIsPackaged(t *testing.T) {
	text, err := os.ReadFile(packaged)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	keysPackaged(t, reflect.TypeFor[config.Config](), file, "")
}

func keysPackaged(t *testing.T, structure reflect.Type, file map[string]any, path string) {
	for field := range structure.Fields() {
		if !field.IsExported() {
			continue
		}
		key := field.Tag.Get("yaml")
		value, ok := file[key]
		if !ok {
			t.Errorf("the key %s%s is not in %s", path, key, packaged)
		}
		if section, isMap := value.(map[string]any); isMap && field.Type.Kind() == reflect.Struct {
			keysPackaged(t, field.Type, section, path+key+".")
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"unknown key", "pool:\n  default: 1\nrunz: 3\n", `c.yaml:3: there is no field "runz" here`},
		{"unknown key below", "runs:\n  at_once: 1\n  a_once: 1\n", `c.yaml:3: there is no field "a_once" here`},
		{"twice", "drain: 1s\ndrain: 2s\n", `c.yaml:2: field "drain" stands at line 1 already`},
		{"not a number", "runs:\n  at_once: many\n", "c.yaml:2: runs.at_once: can't read str `many` as a whole number"},
		{"not a duration", "drain: soon\n", "c.yaml:1: drain: can't read str `soon` as a duration like \"5s\""},
		{"one of several on a line", "runs: {at_once: 1, queue: x}\n", "c.yaml:1: runs.queue: can't read str `x` as a whole number"},
		{"one of two sections", "{runs: {queue: 1}, gateways: {connections: x}}\n",
			"c.yaml:1: gateways.connections: can't read str `x` as a whole number"},
		{"two of one value on a line", "runs: {at_once: x, queue: x}\n", "c.yaml:1: runs: can't read str `x` as a whole number"},
		{"one of a list", "callers:\n  uids: [a, [b]]\n", "c.yaml:2: callers.uids: can't read seq as text"},
		{"not a section", "runs: 3\n", "c.yaml:1: runs: can't read int `3` as a section"},
		{"not a list", "callers:\n  uids: 7\n", "c.yaml:2: callers.uids: can't read int `7` as a list"},
		{"not YAML", "pool: {\n", "c.yaml:"},
		{"two documents", "drain: 1s\n---\ndrain: 2s\n", "c.yaml: more than one document"},
		{"out of range", "runs:\n  at_once: 0\n", "c.yaml:2: runs.at_once: 0 is not within 1 and 1000"},
		{"duration out of range", "# long\n\ndrain: 90m\n", "c.yaml:3: drain: 1h30m0s is not within 0s and 1h0m0s"},
		{"pool", "pool:\n  default: 513\n", "c.yaml:2: pool.default: 513 is not within 0 and 512"},
		{"layer", "isolation:\n  allow_missing: [walls]\n", `c.yaml:2: isolation.allow_missing: no layer "walls"; there are: seccomp, landlock, rlimits, cgroup, namespaces`},
		{"user", "callers:\n  uids: [nobody-of-that-name]\n", "c.yaml:2: callers.uids: user: unknown user nobody-of-that-name"},
		{"group", "callers:\n  gids: [nogroup-of-that-name]\n", "c.yaml:2: callers.gids: group: unknown group nogroup-of-that-name"},
		{"no policy", "policy: \"\"\n", "c.yaml:1: policy: is empty"},
		{"guard without url", "guard:\n  api: chat\n", "c.yaml:1: guard: has no url"},
		{"audit", "audit:\n  sync: sometimes\n", "c.yaml:2: audit.sync: \"sometimes\" is none of all, mutations, none"},
		{"admin", "admins:\n  gids: [nogroup-of-that-name]\n", "c.yaml:2: admins.gids: group: unknown group nogroup-of-that-name"},
		{"approvals", "approvals:\n  wait: 25h\n", "c.yaml:2: approvals.wait: 25h0m0s is not within 1s and 24h0m0s"},
		{"approvals for nobody", "approvals:\n  wait: 1s\n  per_caller: 0\n", "c.yaml:3: approvals.per_caller: 0 is not within 1 and 10000"},
		{"metrics by name", "metrics:\n  listen: localhost:9464\n", `c.yaml:2: metrics.listen: "localhost:9464" is neither the absolute path of a socket nor an address`},
		{"metrics for all", "metrics:\n  listen: 0.0.0.0:9464\n", "c.yaml:2: metrics.listen: 0.0.0.0 is not a loopback address"},
		{"metrics for others", "metrics:\n  listen: \"[2001:db8::1]:9464\"\n", "c.yaml:2: metrics.listen: 2001:db8::1 is not a loopback address"},
		{"metrics at any port", "metrics:\n  listen: 127.0.0.1:0\n", "c.yaml:2: metrics.listen: port 0 is any"},
		{"metrics at a relative path", "metrics:\n  listen: run/m.sock\n", "c.yaml:2: metrics.listen: \"run/m.sock\" is neither"},
		{"metrics at a long path", "metrics:\n  listen: /" + strings.Repeat("x", 107) + "\n", "c.yaml:2: metrics.listen: a path of 108 bytes"},
		{"level", "log:\n  level: loud\n", `c.yaml:2: log.level: "loud" is none of debug, info, warn, error`},
		{"too long", "# " + strings.Repeat("x", 1<<20), "longer than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.yaml")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := config.Load(path)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one with %q", err, tt.want)
			}
			if err != nil && !strings.Contains(err.Error(), "c.yaml") {
				t.Errorf("error does not name the file: %v", err)
			}
		})
	}
}

func TestLoadKeepsDefaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte("pool:\n  default: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Pool = map[string]int{"default": 3, "strict": 0, "large": 0}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(config.Config{})); diff != "" {
		t.Error(diff)
	}
}

func TestCallersDefaultToOneself(t *testing.T) {
	got, err := config.Callers{}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Allowed{UIDs: []uint32{uint32(os.Geteuid())}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAdminsDefaultToOneselfAndRoot(t *testing.T) {
	got, err := config.Admins{}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	own := []uint32{uint32(os.Geteuid()), 0}
	if own[0] == 0 {
		own = own[:1]
	}
	if diff := cmp.Diff(config.Allowed{UIDs: own}, got); diff != "" {
		t.Error(diff)
	}
	if got, err = (config.Admins{GIDs: []string{"7"}}).Resolve(); err != nil || len(got.UIDs) > 0 || len(got.GIDs) != 1 {
		t.Errorf("root is not among those that a list names: %+v, %v", got, err)
	}
}

func FuzzLoad(f *testing.F) {
	text, err := os.ReadFile(packaged)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("pool: {default: 1e9}\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(dir, "c.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := config.Load(path); err == nil && (c.Runs.AtOnce < 1 || c.Gateways.Connections < 1) {
			t.Errorf("accepted %+v", c)
		}
	})
}

func TestMetricsAddress(t *testing.T) {
	for listen, want := range map[string]string{
		"": " ", "/run/m.sock": "unix /run/m.sock", "127.0.0.1:9464": "tcp 127.0.0.1:9464", "127.1.2.3:1": "tcp 127.1.2.3:1", "[::1]:9464": "tcp [::1]:9464",
	} {
		network, address, err := config.Metrics{Listen: listen}.Address()
		if got := network + " " + address; err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", listen, got, err, want)
		}
	}
}
