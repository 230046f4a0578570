package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/docker/go-units"

	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/policy"
)

// deciding is what a configuration has to decide on calls with, as it was found.
type deciding struct {
	rules     int
	warnings  int
	policyErr error
	guardErr  error         // of its key and certificates
	verdict   *guard.Answer // to a call that nobody makes; nil: the guard was not asked
	last      string        // error of a request
	dirMode   fs.FileMode   // of the audit log's directory
	free      int64         // bytes
	auditErr  error
}

// lookAtDeciding reads the policy, asks the guard and looks at the audit log's directory.
func lookAtDeciding(ctx context.Context, c config.Config) (d deciding) {
	p, err := policy.Load(c.Policy)
	if d.policyErr = err; err == nil {
		d.rules, d.warnings = p.Rules(), len(p.Warnings())
	}
	if c.Guard.URL != "" {
		d.askGuard(ctx, c.Guard)
	}
	dir := filepath.Dir(c.Audit.Path)
	info, err := os.Stat(dir)
	if err != nil {
		d.auditErr = err
		return d
	}
	d.dirMode = info.Mode()
	var disk syscall.Statfs_t
	d.auditErr = syscall.Statfs(dir, &disk)
	d.free = int64(disk.Bavail) * int64(disk.Bsize)
	return d
}

func (d *deciding) askGuard(ctx context.Context, c guard.Config) {
	g, err := guard.New(c)
	if d.guardErr = err; err != nil {
		return
	}
	defer g.Close()
	answer := g.Check(ctx, guard.Check{
		Run: "doctor", Tool: "sandboxd.doctor", Args: []byte("{}"), Trigger: guard.UserRequest,
		Intent: "See whether the guard answers. Nothing is called.",
	})
	d.verdict, d.last = &answer, g.State().Last
}

// decisions looks at what decides on calls. Without a configuration that can be read there is none to look at.
func (h *host) decisions() []check {
	if h.configErr != nil {
		return nil
	}
	checks := []check{h.policyFile()}
	if h.config.Guard.URL != "" {
		checks = append(checks, h.guardAnswers())
	}
	if h.config.Audit.Path != config.NoAudit {
		checks = append(checks, h.auditDirectory())
	}
	return checks
}

func (h *host) policyFile() check {
	d, path := h.deciding, h.config.Policy
	c := found("policy", "", "a policy without mistakes", "%s: %d rules and flows", path, d.rules)
	switch {
	case errors.Is(d.policyErr, fs.ErrPermission):
		return h.unreadable(c, d.policyErr)
	case d.policyErr != nil:
		c.Found = "none that can be read"
		return c.but(statusMissing, "a daemon does not start with it: "+d.policyErr.Error(), "sandboxctl policy check "+quote(path))
	case d.warnings > 0:
		return c.but(statusWarning, fmt.Sprintf("it says something in vain, or opens much: %d warnings", d.warnings), "sandboxctl policy check "+quote(path))
	}
	return c
}

// unreadable is a finding about a file that only the daemon may read, which is right.
func (h *host) unreadable(c check, err error) check {
	c.Found = "not readable by this user"
	if !h.private() {
		return c
	}
	return c.but(statusWarning, err.Error(), "sudo sandboxctl doctor")
}

func (h *host) guardAnswers() check {
	d := h.deciding
	c := found("guard", "", "a verdict, whatever it is", "%s", h.config.Guard.URL)
	switch {
	case errors.Is(d.guardErr, fs.ErrPermission):
		return h.unreadable(c, d.guardErr)
	case d.guardErr != nil:
		c.Found = "not asked"
		return c.but(statusWarning, "its key or certificate can't be had here; the daemon may have it as a credential of its unit: guard."+d.guardErr.Error(),
			"sandboxctl status")
	case !d.verdict.Judged:
		c.Found = "no verdict"
		return c.but(statusWarning, fmt.Sprintf("each call that it is asked about is as guard.on_unavailable says (%s): %s", h.config.Guard.OnUnavailable,
			cmp.Or(d.last, d.verdict.Reason)), "# start the guard, or mend what it answered: docs/guard.md")
	}
	c.Found = fmt.Sprintf("%s, by %s", d.verdict.Verdict, d.verdict.By)
	return c
}

// leastFree is what a day of calls fits in, and less than which is soon full.
const leastFree = 256 << 20

func (h *host) auditDirectory() check {
	d, dir := h.deciding, filepath.Dir(h.config.Audit.Path)
	c := found("audit log", "", units.BytesSize(leastFree)+" free, nobody else may write", "%s: %s free", dir, units.BytesSize(float64(d.free)))
	switch {
	case errors.Is(d.auditErr, fs.ErrPermission):
		return h.unreadable(c, d.auditErr)
	case errors.Is(d.auditErr, fs.ErrNotExist):
		c.Found = "no " + dir
		fix := "sudo install -d -m 0750 -o sandboxd -g sandboxd " + quote(dir)
		if h.config.Audit.Path == audit.Default().Path {
			return c.but(statusWarning, "the unit makes it when it first starts; another daemon does not start without it", fix)
		}
		return c.but(h.serverSide(), "a daemon does not start without it", fix)
	case d.auditErr != nil:
		c.Found = "not known"
		return c.but(statusWarning, d.auditErr.Error(), "df "+quote(dir))
	case d.dirMode&0o022 != 0:
		c.Found = fmt.Sprintf("%s has the mode %04o", dir, d.dirMode.Perm())
		return c.but(statusMissing, "others could put a log of theirs there, and so a daemon does not start", "sudo chmod go-w "+quote(dir))
	case d.free < leastFree:
		return c.but(statusWarning, "once it is full every call is refused", "# make room, or let the log keep less: audit.keep in the configuration")
	}
	return c
}
