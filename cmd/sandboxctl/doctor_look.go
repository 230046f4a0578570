package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/profile"
)

// look gathers what there is to see of this machine. What can't be seen is a finding; an error is a wrong command line.
func (o *doctorOptions) look(ctx context.Context) (*host, error) {
	h := &host{
		files: os.DirFS("/"), arch: runtime.GOARCH, uid: os.Geteuid(), runtime: os.Getenv("XDG_RUNTIME_DIR"),
		landlock: askLandlock(), manager: askManager(ctx), binaries: lookAtBinaries(),
		configPath: o.config, config: config.Default(),
	}
	if u, err := user.LookupId(strconv.Itoa(h.uid)); err == nil {
		h.user = u.Username
	}
	if h.readConfig(); h.configErr == nil {
		h.deciding = lookAtDeciding(ctx, h.config)
	}
	h.socket = dialDaemon(ctx, socketPath(o.socket))
	return h, h.plan(o.profile)
}

// readConfig reads the configuration and its profiles, as a daemon does.
func (h *host) readConfig() {
	c, err := config.Load(h.configPath)
	if h.configErr = err; err == nil {
		h.config = c
	}
	if h.profiles, h.profileErr = profile.Load(h.config.Profiles); h.profileErr != nil {
		return
	}
	if h.configErr == nil {
		h.configErr = h.config.CheckPool(h.profiles)
	}
}

// privateWorkers are those of a private daemon: one runs the program, and one is ready for the next.
const privateWorkers = 2

// plan settles which profiles are proved, and what there is of workers when all are ready. Only, unless it is empty, is
// the one profile.
func (h *host) plan(only string) error {
	offers := h.offers()
	var kept []workers
	for _, w := range offers {
		if w.count > 0 {
			kept = append(kept, w)
		}
	}
	switch {
	case only != "" && offers != nil && !slices.ContainsFunc(offers, func(w workers) bool { return w.profile == only }):
		return hinted{fmt.Errorf("--profile %q: there is no such profile", only), "sandboxctl profile list shows those that there are"}
	case only != "":
		h.wanted = []string{only}
	case kept == nil:
		h.wanted = []string{profile.Default}
	default:
		for _, w := range kept {
			h.wanted = append(h.wanted, w.profile)
		}
	}
	h.loads = kept
	if h.private() && h.configErr != nil { // nobody has configured a daemon
		h.loads = nil
		for _, w := range offers {
			if slices.Contains(h.wanted, w.profile) {
				w.count = privateWorkers
				h.loads = append(h.loads, w)
			}
		}
	}
	return nil
}

// offers are all profiles that programs can have here, with the workers that are kept ready of each.
func (h *host) offers() []workers {
	var all []workers
	if h.private() {
		for _, name := range profile.Names(h.profiles) {
			p := h.profiles[name]
			all = append(all, workers{name, h.config.Pool[name], p.Limits.MemoryBytes, p.Jail.PIDs})
		}
		return all
	}
	ready := make(map[string]int)
	for _, p := range h.socket.status.Pool {
		ready[p.Profile] = p.Size
	}
	for _, p := range h.socket.welcome.Profiles {
		all = append(all, workers{profile: p.Name, count: ready[p.Name], memory: p.Limits.MemoryBytes})
	}
	return all
}

// How long each answers at most.
const (
	daemonWait  = 20 * time.Second // one that its socket starts first proves the jail itself
	managerWait = 5 * time.Second
)

func dialDaemon(ctx context.Context, path string) socket {
	ctx, cancel := context.WithTimeout(ctx, daemonWait)
	defer cancel()
	s := socket{path: path, group: groupOf(path)}
	if s.client, s.err = sandboxd.Dial(ctx, path, sandboxd.Options{Name: "sandboxctl", Version: version}); s.err != nil {
		return s
	}
	s.welcome = s.client.Welcome()
	if s.status, s.err = s.client.Status(ctx); s.err != nil {
		s.close()
		s.client = nil
	}
	return s
}

// groupOf names the group of a file; empty if that is not known.
func groupOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	g, err := user.LookupGroupId(strconv.Itoa(int(info.Sys().(*syscall.Stat_t).Gid)))
	if err != nil {
		return ""
	}
	return g.Name
}

// managerSocket is where a service manager answers for whom this process runs.
func managerSocket() string {
	if os.Geteuid() == 0 {
		return "/run/systemd/private"
	}
	return filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "systemd/private")
}

var systemdVersion = regexp.MustCompile(`^systemd (\d+)`)

// askManager asks for systemd's version, and whether the manager answers that scopes would ask for a cgroup.
func askManager(ctx context.Context) (m manager) {
	ctx, cancel := context.WithTimeout(ctx, managerWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemd-run", "--version").Output()
	if err != nil {
		m.err = fmt.Errorf("ask systemd-run for its version: %w", err)
		return m
	}
	if match := systemdVersion.FindSubmatch(out); match != nil {
		m.version, _ = strconv.Atoi(string(match[1])) // at most some digits
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", managerSocket())
	if err != nil {
		m.err = err
		return m
	}
	conn.Close()
	return m
}

// lookAtBinaries finds the daemon that a private one would be, and what it starts: beside it, or where a package has them
// for the nursery's unit.
func lookAtBinaries() (b binaries) {
	daemon, err := findDaemon()
	if err != nil {
		b.err = err
		return b
	}
	b.dir = filepath.Dir(daemon)
	inner := b.dir
	if unit := filepath.Join(b.dir, "root", "bin"); !isThere(filepath.Join(inner, "sandbox-nursery")) && isThere(filepath.Join(unit, "sandbox-nursery")) {
		inner = unit
	}
	b.all = []binary{lookAt(daemon), lookAt(filepath.Join(inner, "sandbox-nursery")), lookAt(filepath.Join(inner, "sandbox-worker"))}
	b.dirs = []binary{lookAt(b.dir), lookAt(inner)}
	if self, err := os.Executable(); err == nil {
		b.all = append(b.all, lookAt(self))
	}
	return b
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func lookAt(path string) binary {
	b := binary{path: path}
	info, err := os.Stat(path)
	if err != nil {
		b.err = err
		return b
	}
	b.mode, b.owner = info.Mode(), int(info.Sys().(*syscall.Stat_t).Uid)
	if build, err := buildinfo.ReadFile(path); err == nil { // not everybody may read it
		b.build = strings.TrimPrefix(build.Main.Version, "(devel)") // with the commit, unless it is a release, or was not told
	}
	return b
}
