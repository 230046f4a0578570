package audit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Config is the section `audit` of the daemon's configuration. Start from Default: the zero value is refused.
type Config struct {
	Path     string        `yaml:"path"`      // of the file that is written; older ones stand beside it
	Group    string        `yaml:"group"`     // that may read the files; empty: none, and they are the daemon's alone
	Sync     string        `yaml:"sync"`      // what is on disk before a call goes out: all, mutations or none
	MaxBytes int64         `yaml:"max_bytes"` // of a file; then a new one is begun
	MaxAge   time.Duration `yaml:"max_age"`   // of a file, as max_bytes
	Keep     Keep          `yaml:"keep"`
	Payloads string        `yaml:"payloads"` // of arguments and results: none or redacted
}

// Keep bounds the files beside the one that is written. The oldest go first; zero is no bound.
type Keep struct {
	Files int           `yaml:"files"`
	Bytes int64         `yaml:"bytes"`
	Age   time.Duration `yaml:"age"`
}

// What Config.Sync and Config.Payloads may be.
const (
	SyncAll       = "all"
	SyncMutations = "mutations" // all but calls that only read, and what tells of the past
	SyncNone      = "none"

	PayloadsNone     = "none"     // their hash and size
	PayloadsRedacted = "redacted" // and their text, redacted and cut
)

// Default is what holds for each key that a configuration does not mention.
func Default() Config {
	return Config{
		Path: "/var/log/sandboxd/audit.log", Sync: SyncMutations, Payloads: PayloadsNone,
		MaxBytes: 32 << 20, MaxAge: 24 * time.Hour,
		Keep: Keep{Files: 1000, Bytes: 8 << 30},
	}
}

// Check says what is wrong. The error begins with the key, as in a configuration file.
func (c Config) Check() error {
	stem, _ := split(c.Path)
	switch {
	case !filepath.IsAbs(c.Path) || filepath.Clean(c.Path) != c.Path || stem == "" || stem == "/":
		return fmt.Errorf("audit.path: %q is no absolute path of a file NAME.log", c.Path)
	case !slices.Contains([]string{SyncAll, SyncMutations, SyncNone}, c.Sync):
		return fmt.Errorf("audit.sync: %q is none of all, mutations, none", c.Sync)
	case !slices.Contains([]string{PayloadsNone, PayloadsRedacted}, c.Payloads):
		return fmt.Errorf("audit.payloads: %q is none of none, redacted", c.Payloads)
	}
	for _, b := range []struct {
		key                string
		value, least, most int64
	}{
		{"audit.max_bytes", c.MaxBytes, 64 << 10, 1 << 30}, // a start reads two files whole
		{"audit.keep.files", int64(c.Keep.Files), 0, 100_000},
		{"audit.keep.bytes", c.Keep.Bytes, 0, 1 << 50},
	} {
		if b.value < b.least || b.value > b.most {
			return fmt.Errorf("%s: %d is not within %d and %d", b.key, b.value, b.least, b.most)
		}
	}
	const year = 366 * 24 * time.Hour
	if c.MaxAge < time.Minute || c.MaxAge > year {
		return fmt.Errorf("audit.max_age: %s is not within 1m and %s", c.MaxAge, year)
	}
	if c.Keep.Age < 0 || c.Keep.Age > 100*year {
		return fmt.Errorf("audit.keep.age: %s is not within 0s and %s", c.Keep.Age, 100*year)
	}
	return nil
}

// split takes the path of a log apart: what its files' names begin and end with.
func split(path string) (stem, ext string) {
	base := filepath.Base(path)
	ext = filepath.Ext(base)
	return strings.TrimSuffix(base, ext), ext
}
