// Package config is the daemon's configuration: one YAML file, every key with a default.
package config

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/profile"
	"github.com/sandboxd/sandboxd/internal/strictyaml"
)

// Config is the file. packaging/sandboxd.yaml documents each key with its default.
type Config struct {
	Callers   Callers        `yaml:"callers"`
	Admins    Admins         `yaml:"admins"`
	Pool      map[string]int `yaml:"pool"` // warm workers by profile
	Runs      Runs           `yaml:"runs"`
	Gateways  Gateways       `yaml:"gateways"`
	Approvals Approvals      `yaml:"approvals"`
	Profiles  string         `yaml:"profiles"` // directory
	Policy    string         `yaml:"policy"`   // file, or directory; relative to the configuration's
	Guard     guard.Config   `yaml:"guard"`    // without url there is none
	Audit     audit.Config   `yaml:"audit"`    // its path can be NoAudit
	Metrics   Metrics        `yaml:"metrics"`
	Isolation Isolation      `yaml:"isolation"`
	Drain     time.Duration  `yaml:"drain"`     // the longest that a shutdown waits for runs
	IdleExit  time.Duration  `yaml:"idle_exit"` // without a gateway; 0: never
	Log       Log            `yaml:"log"`

	path  string // of the file; empty: none
	lines strictyaml.Lines
}

// Callers may connect: who has one of the uids, or is in one of the groups.
// With neither set, it is the daemon's own user.
type Callers struct {
	UIDs []string `yaml:"uids"` // numbers or names
	GIDs []string `yaml:"gids"`
}

// Admins may use the admin socket, by the same rules. With neither set, it is the daemon's own user and root.
type Admins struct {
	UIDs []string `yaml:"uids"`
	GIDs []string `yaml:"gids"`
}

// Runs bounds what the daemon executes.
type Runs struct {
	AtOnce    int           `yaml:"at_once"`
	PerCaller int           `yaml:"per_caller"` // at once
	Queue     int           `yaml:"queue"`      // waiting, above at_once
	QueueWait time.Duration `yaml:"queue_wait"`
}

// Gateways bounds connections.
type Gateways struct {
	Connections int           `yaml:"connections"`
	Memory      int64         `yaml:"memory_bytes"` // for messages over 64 KiB that are being read or answered
	WriteWait   time.Duration `yaml:"write_wait"`   // the longest that a gateway may stop reading
}

// Approvals bounds the calls that wait for somebody's answer.
type Approvals struct {
	Wait      time.Duration `yaml:"wait"`    // then the call is denied
	Pending   int           `yaml:"pending"` // of all callers
	PerCaller int           `yaml:"per_caller"`
}

// Isolation says what may be missing.
type Isolation struct {
	AllowMissing []string `yaml:"allow_missing"`
}

// Log is about the daemon's log, on standard error.
type Log struct {
	Level string `yaml:"level"` // debug, info, warn or error
}

// NoAudit is the path of an audit log that is none.
const NoAudit = "none"

// Default is what holds for every key that the file does not mention.
func Default() Config {
	return Config{
		Pool:      map[string]int{"default": 8, "strict": 0, "large": 0},
		Runs:      Runs{AtOnce: 64, PerCaller: 64, Queue: 64, QueueWait: 5 * time.Second},
		Gateways:  Gateways{Connections: 256, Memory: 256 << 20, WriteWait: 10 * time.Second},
		Approvals: Approvals{Wait: 5 * time.Minute, Pending: 256, PerCaller: 64},
		Profiles:  "/etc/sandboxd/profiles",
		Policy:    "/etc/sandboxd/policy.yaml",
		Guard:     guard.Default(),
		Audit:     audit.Default(),
		Drain:     30 * time.Second,
		Log:       Log{Level: "info"},
	}
}

// Load reads the file at path over the defaults.
func Load(path string) (Config, error) {
	text, err := strictyaml.Read(path)
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	c := Default()
	lines, err := strictyaml.Decode(path, text, &c)
	if err != nil {
		return Config{}, err
	}
	c.path, c.lines = path, lines
	if err := c.check(); err != nil {
		return Config{}, c.Wrong(err)
	}
	if filepath.IsAbs(c.Policy) {
		return c, nil
	}
	// Status and the audit log name it for readers in other directories.
	if c.Policy, err = filepath.Abs(filepath.Join(filepath.Dir(path), c.Policy)); err != nil {
		return Config{}, fmt.Errorf("find the policy: %w", err)
	}
	return c, nil
}

// Wrong says where in the file an error is whose text begins with the path of a key.
func (c Config) Wrong(err error) error {
	if c.path == "" {
		return err
	}
	key, _, _ := strings.Cut(err.Error(), ":")
	return fmt.Errorf("%s: %w", c.lines.At(c.path, key), err)
}

func (c Config) check() error {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	duration := func(n int64) string { return time.Duration(n).String() }
	for _, b := range []struct {
		key         string
		value       int64
		least, most int64
		text        func(int64) string
	}{
		{"runs.at_once", int64(c.Runs.AtOnce), 1, 1000, number},
		{"runs.per_caller", int64(c.Runs.PerCaller), 1, 1000, number},
		{"runs.queue", int64(c.Runs.Queue), 0, 100_000, number},
		{"runs.queue_wait", int64(c.Runs.QueueWait), int64(100 * time.Millisecond), int64(time.Hour), duration},
		{"gateways.connections", int64(c.Gateways.Connections), 1, 10_000, number},
		{"gateways.memory_bytes", c.Gateways.Memory, 16 << 20, 1 << 40, number},
		{"gateways.write_wait", int64(c.Gateways.WriteWait), int64(time.Millisecond), int64(time.Hour), duration},
		{"approvals.wait", int64(c.Approvals.Wait), int64(time.Second), int64(24 * time.Hour), duration},
		{"approvals.pending", int64(c.Approvals.Pending), 1, 10_000, number},
		{"approvals.per_caller", int64(c.Approvals.PerCaller), 1, 10_000, number},
		{"drain", int64(c.Drain), 0, int64(time.Hour), duration},
		{"idle_exit", int64(c.IdleExit), 0, int64(24 * time.Hour), duration},
	} {
		if b.value < b.least || b.value > b.most {
			return fmt.Errorf("%s: %s is not within %s and %s", b.key, b.text(b.value), b.text(b.least), b.text(b.most))
		}
	}
	for name, size := range c.Pool {
		if size < 0 || size > 512 {
			return fmt.Errorf("pool.%s: %d is not within 0 and 512", name, size)
		}
	}
	for _, layer := range c.Isolation.AllowMissing {
		if !slices.Contains(profile.Layers, layer) {
			return fmt.Errorf("isolation.allow_missing: no layer %q; there are: %s", layer, strings.Join(profile.Layers, ", "))
		}
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		return fmt.Errorf("log.level: %q is none of debug, info, warn, error", c.Log.Level)
	}
	switch {
	case c.Policy == "":
		return errors.New("policy: is empty: without one, no call is allowed; name a file, or a directory of them")
	case c.Guard.URL == "" && c.Guard != guard.Default():
		return errors.New("guard: has no url, and so asks nobody: give it one, or leave the section out")
	case c.Audit.Path != NoAudit:
		if err := c.Audit.Check(); err != nil {
			return err
		}
	}
	if _, _, err := c.Metrics.Address(); err != nil {
		return err
	}
	if _, err := c.Callers.Resolve(); err != nil {
		return err
	}
	_, err := c.Admins.Resolve()
	return err
}

// Allowed are callers as numbers.
type Allowed struct{ UIDs, GIDs []uint32 }

// Resolve looks names up. A name that does not exist is an error: it would silently allow nobody.
func (c Callers) Resolve() (Allowed, error) {
	return resolve("callers", c.UIDs, c.GIDs, uint32(os.Geteuid()))
}

// Resolve looks names up, like that of Callers.
func (a Admins) Resolve() (Allowed, error) {
	return resolve("admins", a.UIDs, a.GIDs, uint32(os.Geteuid()), 0)
}

// resolve looks up the names at a key; without any it is the users own.
func resolve(key string, uids, gids []string, own ...uint32) (Allowed, error) {
	var a Allowed
	for _, name := range uids {
		id, err := number(name, func() (string, error) {
			u, err := user.Lookup(name)
			if err != nil {
				return "", err
			}
			return u.Uid, nil
		})
		if err != nil {
			return a, fmt.Errorf("%s.uids: %w", key, err)
		}
		a.UIDs = append(a.UIDs, id)
	}
	for _, name := range gids {
		id, err := number(name, func() (string, error) {
			g, err := user.LookupGroup(name)
			if err != nil {
				return "", err
			}
			return g.Gid, nil
		})
		if err != nil {
			return a, fmt.Errorf("%s.gids: %w", key, err)
		}
		a.GIDs = append(a.GIDs, id)
	}
	if len(uids)+len(gids) == 0 {
		a.UIDs = slices.Compact(own)
	}
	return a, nil
}

func number(name string, lookup func() (string, error)) (uint32, error) {
	if id, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(id), nil
	}
	text, err := lookup()
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseUint(text, 10, 32)
	return uint32(id), err
}
