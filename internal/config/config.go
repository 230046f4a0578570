// Package config is the daemon's configuration: a YAML file and its drop-ins, every key with a default.
package config

import (
	"time"

	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/traces"
)

// Config is what the files amount to. docs/configuration.md describes each key.
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
	Traces    traces.Config  `yaml:"traces"` // without endpoint there are none
	Isolation Isolation      `yaml:"isolation"`
	Drain     time.Duration  `yaml:"drain"`     // the longest that a shutdown waits for runs
	IdleExit  time.Duration  `yaml:"idle_exit"` // without a gateway; 0: never
	Log       Log            `yaml:"log"`

	path   string            // of the file; empty: none
	files  []string          // that were read: it, and its drop-ins
	places map[string]string // file:line that a key has its value from, by its path
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
		Traces:    traces.Default(),
		Drain:     30 * time.Second,
		Log:       Log{Level: "info"},
	}
}
