package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/profile"
	"github.com/sandboxd/sandboxd/internal/rpc"
)

var update = flag.Bool("update", false, "write testdata/doctor/*.golden anew")

// facts are what the files of a machine do not tell: facts.json in its description.
type facts struct {
	UID     int    `json:"uid"`
	User    string `json:"user"`
	Runtime string `json:"runtime"`

	Landlock struct {
		ABI    int    `json:"abi"`
		Errata int    `json:"errata"`
		Error  string `json:"error"`
	} `json:"landlock"`
	Manager struct {
		Version int    `json:"version"`
		Error   string `json:"error"`
	} `json:"manager"`

	Binaries struct {
		Dir    string      `json:"dir"`
		Owner  int         `json:"owner"`
		Mode   fs.FileMode `json:"mode"`
		Builds []string    `json:"builds"`
		Error  string      `json:"error"`
	} `json:"binaries"`
	ConfigError string         `json:"config_error"`
	Pool        map[string]int `json:"pool"` // of the configuration
	Deciding    struct {
		Rules    int         `json:"rules"`
		Warnings int         `json:"warnings"`
		Policy   string      `json:"policy_error"`
		Guard    string      `json:"guard"` // its url; empty: there is none
		Key      string      `json:"guard_error"`
		Last     string      `json:"guard_last"` // why it gave no verdict
		Mode     fs.FileMode `json:"audit_mode"`
		Free     int64       `json:"audit_free"`
		Audit    string      `json:"audit_error"`
	} `json:"deciding"`
	ProfileError string `json:"profile_error"`
	Socket       struct {
		Error   string                `json:"error"`
		Group   string                `json:"group"`
		Version string                `json:"version"`
		Pool    []sandboxd.PoolStatus `json:"pool"`
	} `json:"socket"`
	Only  string `json:"only"`
	Proof proof  `json:"proof"`
}

// failures are errors by their names in facts.json; any other name is an error's text.
var failures = map[string]error{
	"refused": rpc.Errorf(rpc.CodeRefused, "user 1000 is not an allowed caller"), "ENOSYS": syscall.ENOSYS, "EOPNOTSUPP": syscall.EOPNOTSUPP, "ENOENT": syscall.ENOENT, "EACCES": syscall.EACCES, "ECONNREFUSED": syscall.ECONNREFUSED,
}

func failed(name string) error {
	if err, ok := failures[name]; ok || name == "" {
		return err
	}
	return errors.New(name)
}

// described makes a host of its description: facts.json, and files below the root directory.
func described(t *testing.T, file string) (*host, facts) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files, f := fstest.MapFS{}, facts{}
	for _, entry := range archive.Files {
		switch {
		case entry.Name == "facts.json":
			d := json.NewDecoder(bytes.NewReader(entry.Data))
			d.DisallowUnknownFields()
			if err := d.Decode(&f); err != nil {
				t.Fatalf("%s: facts.json: %v", file, err)
			}
		case strings.HasPrefix(entry.Name, "proc/self/ns/"):
			files[entry.Name] = &fstest.MapFile{Data: bytes.TrimSpace(entry.Data), Mode: fs.ModeSymlink | 0o777}
		default:
			files[entry.Name] = &fstest.MapFile{Data: entry.Data, Mode: 0o644}
		}
	}
	h := &host{
		files: files, arch: "amd64", uid: f.UID, user: f.User, runtime: f.Runtime,
		landlock:   landlock{f.Landlock.ABI, f.Landlock.Errata, failed(f.Landlock.Error)},
		manager:    manager{f.Manager.Version, failed(f.Manager.Error)},
		configPath: configFile, config: config.Default(), configErr: failed(f.ConfigError), profileErr: failed(f.ProfileError),
		socket: socket{path: sandboxd.DefaultSocket, group: f.Socket.Group, err: failed(f.Socket.Error)},
	}
	if f.Pool != nil {
		h.config.Pool = f.Pool
	}
	if h.profiles, err = profile.Load(""); err != nil {
		t.Fatal(err)
	}
	f.putBinaries(h)
	d := f.Deciding
	h.config.Guard.URL = d.Guard
	h.deciding = deciding{
		rules: d.Rules, warnings: d.Warnings, policyErr: failed(d.Policy), guardErr: failed(d.Key), last: d.Last,
		verdict: &guard.Answer{Verdict: guard.Ask, Judged: d.Last == "", By: d.Guard}, dirMode: d.Mode, free: d.Free, auditErr: failed(d.Audit),
	}
	h.socket.status.Pool, h.socket.welcome.Server.Version = f.Socket.Pool, f.Socket.Version
	for _, p := range f.Socket.Pool {
		h.socket.welcome.Profiles = append(h.socket.welcome.Profiles, sandboxd.ProfileInfo{Name: p.Profile, Limits: h.profiles[p.Profile].Limits})
	}
	if err := h.plan(f.Only); err != nil {
		t.Fatal(err)
	}
	for i := range f.Proof.Profiles {
		f.Proof.Profiles[i].judge()
	}
	f.Proof.waives = h.waives()
	return h, f
}

func (f facts) putBinaries(h *host) {
	b := f.Binaries
	h.binaries = binaries{dir: b.Dir, err: failed(b.Error)}
	for i, build := range b.Builds {
		name := []string{"sandboxd", "sandbox-nursery", "sandbox-worker", "sandboxctl"}[i]
		h.binaries.all = append(h.binaries.all, binary{path: filepath.Join(b.Dir, name), mode: b.Mode, owner: b.Owner, build: build})
	}
}

// TestDoctorSays holds what doctor says of machines against testdata/doctor. Each is described in NAME.txtar, with where
// its files are from; what it says is in NAME.golden.
func TestDoctorSays(t *testing.T) {
	descriptions, err := filepath.Glob("testdata/doctor/*.txtar")
	if err != nil || len(descriptions) < 8 {
		t.Fatalf("%d descriptions, error %v", len(descriptions), err)
	}
	for _, file := range descriptions {
		name := strings.TrimSuffix(file, ".txtar")
		t.Run(filepath.Base(name), func(t *testing.T) {
			h, f := described(t, file)
			d := h.diagnose(f.Proof)
			var out bytes.Buffer
			if err := d.write(&out, h); err != nil {
				t.Fatal(err)
			}
			for _, c := range d.Checks {
				if c.Status != statusOK && (c.Why == "" || c.Fix == "") {
					t.Errorf("%s: %s, and no why or no fix: %+v", c.Name, c.Status, c)
				}
				parses := exec.Command("sh", "-n")
				parses.Stdin = strings.NewReader(c.Fix)
				if out, err := parses.CombinedOutput(); err != nil {
					t.Errorf("%s: sh can't read the fix: %v: %s\n%s", c.Name, err, out, c.Fix)
				}
			}
			compare(t, name+".golden", out.String())
		})
	}
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v\nwrite it with: go test ./cmd/sandboxctl -run TestDoctorSays -update", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDoctorJudges: exit code 0 takes a worker with all that is required.
func TestDoctorJudges(t *testing.T) {
	all := sandboxd.Isolation{
		Seccomp: "kill", Landlock: 7, Cgroup: "v2 leaf", Namespaces: []string{"ipc", "mnt", "net", "pid"}, Rlimits: []string{"core=0"}, Verified: true,
	}
	with := func(change func(*sandboxd.Isolation)) *sandboxd.Isolation {
		i := all
		change(&i)
		return &i
	}
	for _, c := range []struct {
		name   string
		proofs []profileProof
		want   bool
	}{
		{"nothing was tried", nil, false},
		{"all layers", []profileProof{{Isolation: &all}}, true},
		{"no worker", []profileProof{{Error: "it ended"}}, false},
		{"not proved", []profileProof{{Isolation: with(func(i *sandboxd.Isolation) { i.Verified = false })}}, false},
		{"without what may be missing", []profileProof{{Isolation: &all, Missing: []lack{{Layer: layerCgroup, Waived: true}}}}, true},
		{"without what is required", []profileProof{{Isolation: &all, Missing: []lack{{Layer: layerNamespaces}}}}, false},
		{"one of two", []profileProof{{Isolation: &all}, {Error: "it ended"}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.proofs {
				c.proofs[i].judge()
			}
			if got := (proof{Daemon: privateDaemon, Profiles: c.proofs}).ok(); got != c.want {
				t.Errorf("ok is %v, want %v", got, c.want)
			}
		})
	}
}

// TestDoctorSettles: what was proved goes before what files say.
func TestDoctorSettles(t *testing.T) {
	open := sandboxd.Isolation{Seccomp: "kill", Landlock: 7, Cgroup: "off", Namespaces: []string{"ipc", "mnt", "net"}, Rlimits: []string{"core=0"}, Verified: true}
	unproved := open
	unproved.Verified = false
	good := proof{Daemon: privateDaemon, Profiles: []profileProof{{Isolation: &open, Missing: []lack{{Layer: layerCgroup, Waived: true}}}}, waives: []string{layerCgroup}}
	none := proof{Daemon: privateDaemon, Profiles: []profileProof{{Error: "it ended"}}, waives: []string{layerCgroup}}
	service := proof{Daemon: "/s", Profiles: []profileProof{{Error: "it ended"}}}
	lied := proof{Daemon: privateDaemon, Profiles: []profileProof{{Isolation: &unproved}}, waives: []string{layerCgroup}}
	for _, p := range []proof{good, none, service, lied} {
		p.Profiles[0].judge()
	}
	for _, c := range []struct {
		name  string
		proof proof
		layer string
		was   status
		want  status
	}{
		{"in force all the same", good, layerNamespaces, statusMissing, statusOK},
		{"in force, and it was a warning", good, layerLandlock, statusWarning, statusOK},
		{"may be missing", good, layerCgroup, statusMissing, statusWarning},
		{"no part of the jail", good, "", statusMissing, statusMissing},
		{"no worker", none, layerNamespaces, statusMissing, statusMissing},
		{"no worker, may be missing", none, layerCgroup, statusMissing, statusWarning},
		{"no worker of a service", service, layerCgroup, statusMissing, statusMissing},
		{"reported and not proved", lied, layerNamespaces, statusMissing, statusMissing},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.proof.settle(check{Layer: c.layer, Status: c.was}).Status; got != c.want {
				t.Errorf("%s became %s, want %s", c.was, got, c.want)
			}
		})
	}
}

// TestDoctorCgroups: which of the two, by the mounts.
func TestDoctorCgroups(t *testing.T) {
	const (
		v2    = "31 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		tmpfs = "31 24 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
		v1    = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		aside = "41 31 0:38 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n"
	)
	for _, c := range []struct{ name, mounts, want string }{
		{"unified", v2, "v2 (unified)"},
		{"unified, and v1 for something else", v2 + v1, "v2 (unified)"},
		{"hybrid", tmpfs + v1 + aside, "hybrid: v2 beside v1"},
		{"legacy", tmpfs + v1, "v1"},
		{"covered", v2 + tmpfs + v1, "hybrid: v2 beside v1"},
		{"none", "", "none at /sys/fs/cgroup"},
		{"nonsense", " - \n31 - cgroup2\n", "none at /sys/fs/cgroup"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &host{files: fstest.MapFS{"proc/self/mountinfo": {Data: []byte(c.mounts)}}}
			got := h.cgroupVersion()
			if got.Found != c.want || (got.Status == statusOK) != (c.want == "v2 (unified)") {
				t.Errorf("found %q, %s; want %q", got.Found, got.Status, c.want)
			}
		})
	}
}

// TestDoctorDecides: what decides on calls is missing where a daemon would not start, and a warning where it would refuse or ask.
func TestDoctorDecides(t *testing.T) {
	const guarded = "unix:///run/g.sock"
	well := deciding{rules: 1, verdict: &guard.Answer{Judged: true, Verdict: guard.Block, By: guarded}, dirMode: 0o750, free: 1 << 40}
	for _, c := range []struct {
		name      string
		change    func(*deciding, *config.Config)
		policy    status
		guard     status
		audit     status
		configErr error
	}{
		{name: "well", policy: statusOK, guard: statusOK, audit: statusOK},
		{name: "no configuration", configErr: fs.ErrNotExist},
		{"no guard, no log", func(_ *deciding, c *config.Config) { c.Guard.URL, c.Audit.Path = "", config.NoAudit }, statusOK, "", "", nil},
		{"mistakes", func(d *deciding, _ *config.Config) { d.policyErr = errors.New("p.yaml:2") }, statusMissing, statusOK, statusOK, nil},
		{"of the daemon's user", func(d *deciding, _ *config.Config) {
			d.policyErr, d.guardErr, d.auditErr = fs.ErrPermission, fs.ErrPermission, fs.ErrPermission
		}, statusWarning, statusWarning, statusWarning, nil},
		{"no verdict", func(d *deciding, _ *config.Config) { d.verdict = &guard.Answer{} }, statusOK, statusWarning, statusOK, nil},
		{"a credential", func(d *deciding, _ *config.Config) { d.guardErr = errors.New("key: no credential") }, statusOK, statusWarning, statusOK, nil},
		{"no directory", func(d *deciding, c *config.Config) { d.auditErr, c.Audit.Path = fs.ErrNotExist, "/srv/a/audit.log" }, statusOK, statusOK, statusMissing, nil},
		{"not made by the unit yet", func(d *deciding, _ *config.Config) { d.auditErr = fs.ErrNotExist }, statusOK, statusOK, statusWarning, nil},
		{"writable by all", func(d *deciding, _ *config.Config) { d.dirMode = 0o777 }, statusOK, statusOK, statusMissing, nil},
		{"full", func(d *deciding, _ *config.Config) { d.free = 0 }, statusOK, statusOK, statusWarning, nil},
	} {
		h := &host{config: config.Default(), configErr: c.configErr, deciding: well, socket: socket{err: fs.ErrNotExist}}
		h.config.Guard.URL = guarded
		if c.change != nil {
			c.change(&h.deciding, &h.config)
		}
		got := map[string]status{}
		for _, check := range h.decisions() {
			got[check.Name] = check.Status
			if check.Status != statusOK && (check.Why == "" || check.Fix == "") {
				t.Errorf("%s: no why or no fix: %+v", c.name, check)
			}
		}
		if got["policy"] != c.policy || got["guard"] != c.guard || got["audit log"] != c.audit {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestDoctorAsksTheGuard: a guard that is not there is found out, and so is a directory that is not.
func TestDoctorAsksTheGuard(t *testing.T) {
	c := config.Default()
	c.Policy, c.Audit.Path = filepath.Join(t.TempDir(), "none.yaml"), filepath.Join(t.TempDir(), "none", "audit.log")
	c.Guard.URL, c.Guard.Timeout = "unix://"+filepath.Join(t.TempDir(), "none.sock"), 50*time.Millisecond
	d := lookAtDeciding(t.Context(), c)
	if !errors.Is(d.policyErr, fs.ErrNotExist) || d.guardErr != nil || d.verdict.Judged || d.last == "" || !errors.Is(d.auditErr, fs.ErrNotExist) {
		t.Errorf("%+v", d)
	}
	c.Audit.Path = filepath.Join(t.TempDir(), "audit.log")
	if d = lookAtDeciding(t.Context(), c); d.auditErr != nil || d.free <= 0 || d.dirMode&fs.ModeDir == 0 {
		t.Errorf("%+v", d)
	}
}

// TestDoctorQuotes: names and paths are one word each in the commands that people copy.
func TestDoctorQuotes(t *testing.T) {
	for _, text := range []string{"ada", "/srv/a b", "it's", "$(id)", "`id`", "a\nb", `\`, "-n", "", "# no"} {
		out, err := exec.Command("sh", "-c", "printf '<%s>' "+quote(text)).CombinedOutput()
		if err != nil || string(out) != "<"+text+">" {
			t.Errorf("quote(%q) is %s, which sh takes for %q, error %v", text, quote(text), out, err)
		}
	}
}

// TestDoctorConfig: a private daemon's configuration is one, whatever the names.
func TestDoctorConfig(t *testing.T) {
	for _, name := range []string{"default", "strict"} {
		file := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(file, []byte(daemonConfig("/a \"b\"\\c", name, []string{"cgroup", "namespaces"}, "error")), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, size := range c.Pool {
			kept += size
		}
		if c.Pool[name] != 1 || kept != 1 || c.Profiles != "/a \"b\"\\c" || len(c.Isolation.AllowMissing) != 2 {
			t.Errorf("configuration %+v", c)
		}
	}
}
