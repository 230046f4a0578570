// Package profile reads the named files that say what jail and which limits a run gets.
package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/jail"
)

// Profile is one file: jail and limits together. docs/profiles.md describes every key.
type Profile struct {
	Name      string    `yaml:"-" json:"name"`
	Source    string    `yaml:"-" json:"source"`    // path, or "built in"
	Overrides bool      `yaml:"-" json:"overrides"` // it takes the place of the built-in profile of its name
	Openings  []Opening `yaml:"-" json:"openings"`  // where it is wider than that one, or than default for a name of its own

	Description string          `yaml:"description" json:"description"`
	Limits      sandboxd.Limits `yaml:"limits" json:"limits"`
	Jail        Jail            `yaml:"jail" json:"jail"`
	Require     []string        `yaml:"require" json:"require"` // layers without which the daemon does not start
}

// Jail is the part of a jail that is a choice.
type Jail struct {
	LandlockABI int     `yaml:"landlock_abi" json:"landlock_abi"` // the least that will do
	CPUs        float64 `yaml:"cpus" json:"cpus"`                 // processors that a worker may keep busy: the cgroup's cpu.max
	PIDs        int     `yaml:"pids" json:"pids"`                 // tasks of a worker: the cgroup's pids.max
}

// Layers are the names that Require and isolation.allow_missing know.
var Layers = []string{"seccomp", "landlock", "rlimits", "cgroup", "namespaces"}

// Load reads the profiles that come with the daemon, and those in dir, which override them by name.
// A dir that does not exist has none; one that can't be read is an error.
func Load(dir string) (map[string]Profile, error) {
	builtin, err := builtins()
	if err != nil || dir == "" {
		return builtin, err
	}
	paths, err := Files(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return builtin, nil
	}
	if err != nil {
		return nil, err
	}
	all := maps.Clone(builtin)
	var wrong []error
	for _, path := range paths {
		p, err := read(path, builtin)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		all[p.Name] = p
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return all, nil
}

// Names lists profiles in order.
func Names(all map[string]Profile) []string { return slices.Sorted(maps.Keys(all)) }

// Spec is the jail of the profile's workers.
func (p Profile) Spec() jail.Spec {
	return jail.Spec{
		LandlockABI: p.Jail.LandlockABI,
		MemoryBytes: p.Limits.MemoryBytes,
		// Above the limit that is kept to the millisecond: the kernel's own wall behind it, in whole seconds.
		CPUSeconds: (p.Limits.CPUMS+999)/1000 + 1,
	}
}

// Lower returns the profile's limits with those that a request lowers. One that would raise a limit is an error.
func (p Profile) Lower(asked *sandboxd.Limits) (sandboxd.Limits, error) {
	lowered := p.Limits
	if asked == nil {
		return lowered, nil
	}
	for _, l := range limits {
		switch value, most := l.get(*asked), l.get(p.Limits); {
		case value < 0:
			return lowered, fmt.Errorf("%s: %d is below 0", l.key, value)
		case value > most:
			return lowered, fmt.Errorf("%s: %d is over the %d of profile %q; a request may only lower limits", l.key, value, most, p.Name)
		case value > 0 && value < l.least:
			return lowered, fmt.Errorf("%s: %d is under %d, which a worker needs to exist", l.key, value, l.least)
		case value > 0:
			l.set(&lowered, value)
		}
	}
	return lowered, nil
}
