package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/profile"
	"github.com/sandboxd/sandboxd/internal/rpc"
)

// binaries are the daemon's and what it starts, with the directory of the daemon's.
type binaries struct {
	dir  string
	all  []binary // the daemon's first
	dirs []binary // that they are in
	err  error    // there is no daemon
}

// binary is one of the four.
type binary struct {
	path  string
	mode  fs.FileMode
	owner int
	build string // version and revision; empty: not told
	err   error
}

// installation looks at what belongs to sandboxd itself.
func (h *host) installation() []check {
	return []check{h.findBinaries(), h.sameBuild(), h.safeBinaries(), h.configuration(), h.profileFiles(), h.daemon()}
}

// serverSide is how bad it is that something of the daemon's is not here: not at all, if one answers.
func (h *host) serverSide() status {
	if h.private() {
		return statusMissing
	}
	return statusWarning
}

func (h *host) findBinaries() check {
	c := found("binaries", "", "sandboxd, sandbox-nursery, sandbox-worker", "in %s", h.binaries.dir)
	fix := "# install the package again; from source: make build, which puts the four beside each other"
	if h.binaries.err != nil {
		c.Found = "no sandboxd"
		return c.but(h.serverSide(), h.binaries.err.Error(), fix)
	}
	for _, b := range h.binaries.all {
		switch {
		case b.err != nil:
			c.Found = "no " + path.Base(b.path)
			return c.but(h.serverSide(), b.err.Error(), fix)
		case b.mode&0o111 == 0:
			c.Found = b.path + " is not executable"
			return c.but(h.serverSide(), "the daemon can't start it", "sudo chmod 0755 "+quote(b.path))
		}
	}
	return c
}

func (h *host) sameBuild() check {
	c := found("build", "", "the same for all four", "not told")
	builds := make(map[string]bool)
	var told []string
	for _, b := range h.binaries.all {
		if b.build != "" {
			builds[b.build] = true
			told = append(told, path.Base(b.path)+" "+b.build)
			c.Found = b.build
		}
	}
	if len(builds) < 2 {
		return c
	}
	c.Found = "not the same"
	return c.but(h.serverSide(), "they speak to each other in ways that differ from build to build: "+strings.Join(told, ", "),
		"# install all four from one package, or one make build")
}

// safeBinaries looks who could put something else in their place.
func (h *host) safeBinaries() check {
	installed := strings.HasPrefix(h.binaries.dir, "/usr/")
	c := found("owner", "", "root, writable by root alone", "none to look at")
	if !installed {
		c.Needed = "root or you, not writable by all"
	}
	for _, b := range slices.Concat(h.binaries.all, h.binaries.dirs) {
		if b.err != nil {
			continue
		}
		c.Found = fmt.Sprintf("uid %d, mode %#o", b.owner, b.mode.Perm())
		writable := b.mode & 0o022
		if !installed { // in one's own directory the group is often oneself
			writable = b.mode & 0o002
		}
		if ours := b.owner == 0 || !installed && b.owner == h.uid; ours && writable == 0 {
			continue
		}
		c.Found = path.Base(b.path) + ": " + c.Found
		const why = "who can write to it runs code as the daemon, or as whoever starts it"
		if installed {
			return c.but(statusMissing, why, commands("sudo chown root:root "+quote(b.path), "sudo chmod 0755 "+quote(b.path)))
		}
		return c.but(statusWarning, why, "# use binaries of your own: make build; or install them")
	}
	return c
}

func (h *host) configuration() check {
	c := found("configuration", "", "a file without mistakes", "%s", h.configPath)
	switch {
	case errors.Is(h.configErr, fs.ErrNotExist) && h.configPath == configFile:
		c.Found = "no " + h.configPath + ": the defaults"
	case errors.Is(h.configErr, fs.ErrPermission):
		return h.unreadable(c, h.configErr)
	case h.configErr != nil:
		c.Found = "mistakes"
		return c.but(statusMissing, "a daemon does not start with it: "+h.configErr.Error(), "sandboxctl config check "+quote(h.configPath))
	}
	return c
}

func (h *host) profileFiles() check {
	c := found("profiles", "", "files without mistakes", "%s", strings.Join(profile.Names(h.profiles), " "))
	if h.profileErr != nil {
		c.Found = "mistakes"
		return c.but(statusMissing, "a daemon does not start with them: "+h.profileErr.Error(), "sandboxctl profile check "+quote(h.config.Profiles))
	}
	return c
}

// socket is where a daemon may listen, and what came of connecting to it.
type socket struct {
	path    string
	group   string // that may connect; empty: not known
	err     error  // nil: a daemon answers
	client  *sandboxd.Client
	welcome sandboxd.InitializeResult
	status  sandboxd.StatusResult
}

func (s *socket) close() {
	if s.client != nil {
		_ = s.client.Close() // the daemon hanging up first is no news
	}
}

// socketUnits are where packages have it, or an administrator.
var socketUnits = []string{"/usr/lib/systemd/system/sandboxd.socket", "/lib/systemd/system/sandboxd.socket", "/etc/systemd/system/sandboxd.socket"}

// daemon tells which one does the work. Where none listens, a private one does.
func (h *host) daemon() check {
	s := h.socket
	c := found("daemon", "", "an answer, or none that listens", "%s answers: sandboxd %s", s.path, s.welcome.Server.Version)
	switch {
	case s.err == nil:
		return s.healthy(c)
	case errors.Is(s.err, fs.ErrNotExist):
		c.Found = "none at " + s.path
		if slices.ContainsFunc(socketUnits, h.exists) {
			return c.but(statusWarning, "it is installed, and its socket is not there",
				"sudo systemctl enable --now sandboxd.socket sandbox-nursery.socket")
		}
		return c
	case errors.Is(s.err, fs.ErrPermission):
		c.Found = s.path + " is not for you"
		group := quote(s.group)
		if s.group == "" {
			group = "$(stat -c %G " + quote(s.path) + ")"
		}
		return c.but(statusWarning, "a daemon may listen there, and you may not connect",
			commands(fmt.Sprintf("sudo usermod -aG %s %s", group, quote(h.name())), "# then log in again"))
	case errors.Is(s.err, syscall.ECONNREFUSED):
		c.Found = "nobody listens at " + s.path
		return c.but(statusWarning, "a daemon left its socket behind, or systemd gave up on it",
			commands("sudo systemctl reset-failed sandboxd.socket sandboxd.service", "sudo systemctl restart sandboxd.socket"))
	}
	var refusal *rpc.Error
	if errors.As(s.err, &refusal) && refusal.Code == rpc.CodeRefused {
		c.Found = s.path + " does not serve you"
		return c.but(statusWarning, s.err.Error(), commands(
			"# add "+h.name()+" to callers.uids, or a group of it to callers.gids, in "+h.configPath, "sudo systemctl restart sandboxd"))
	}
	c.Found = s.path + " does not answer as it should"
	return c.but(statusMissing, s.err.Error(), commands("systemctl status sandboxd sandbox-nursery", "journalctl -u sandboxd -u sandbox-nursery -e"))
}

// healthy looks at a daemon that answers.
func (s *socket) healthy(c check) check {
	var why []string
	for _, p := range s.status.Pool {
		if p.Failing != "" {
			why = append(why, fmt.Sprintf("profile %s has %d of %d workers ready: %s", p.Profile, p.Ready, p.Size, p.Failing))
		}
	}
	switch {
	case why != nil:
		return c.but(statusWarning, strings.Join(why, "; "), "journalctl -u sandboxd -u sandbox-nursery -e")
	case s.welcome.Server.Version != version:
		return c.but(statusWarning, "this is sandboxctl "+version+": they were not installed together, or the daemon runs since before",
			"sudo systemctl restart sandboxd")
	}
	return c
}
