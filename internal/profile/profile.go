// Package profile reads the named files that say what jail and which limits a run gets.
package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/strictyaml"
	"github.com/sandboxd/sandboxd/profiles"
)

// Profile is one file: jail and limits together.
type Profile struct {
	Name        string          `yaml:"-"`
	Source      string          `yaml:"-"` // path, or "built in"
	Description string          `yaml:"description"`
	Limits      sandboxd.Limits `yaml:"limits"`
	Jail        Jail            `yaml:"jail"`
	Require     []string        `yaml:"require"` // layers without which the daemon does not start
}

// Jail is the part of a jail that is a choice.
type Jail struct {
	LandlockABI int `yaml:"landlock_abi"` // the least that will do
}

// Layers are the names that Require and isolation.allow_missing know.
var Layers = []string{"seccomp", "landlock", "rlimits"}

// Spec is the jail of the profile's workers.
func (p Profile) Spec() jail.Spec {
	return jail.Spec{
		LandlockABI: p.Jail.LandlockABI,
		MemoryBytes: p.Limits.MemoryBytes,
		// Above the limit that is kept to the millisecond: the kernel's own wall behind it, in whole seconds.
		CPUSeconds: (p.Limits.CPUMS+999)/1000 + 1,
	}
}

// builtin is the source of a profile that no file overrides.
const builtin = "built in"

// Load reads the profiles that come with the daemon, and those in dir, which override them by name.
// A dir that does not exist has none; one that can't be read is an error.
func Load(dir string) (map[string]Profile, error) {
	all := make(map[string]Profile)
	if err := load(all, profiles.Files, func(string) string { return builtin }); err != nil {
		return nil, err
	}
	if dir == "" {
		return all, nil
	}
	err := load(all, os.DirFS(dir), func(file string) string { return filepath.Join(dir, file) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return all, nil
}

func load(into map[string]Profile, files fs.FS, source func(file string) string) error {
	names, err := fs.ReadDir(files, ".")
	if err != nil {
		return fmt.Errorf("read profiles: %w", err)
	}
	for _, entry := range names {
		name, isYAML := strings.CutSuffix(entry.Name(), ".yaml")
		if !isYAML {
			continue
		}
		text, err := fs.ReadFile(files, entry.Name())
		if err != nil {
			return fmt.Errorf("read profile %s: %v", source(entry.Name()), err)
		}
		p := Profile{Name: name, Source: source(entry.Name())}
		lines, err := strictyaml.Decode(label(p), text, &p)
		if err != nil {
			return err
		}
		if err := p.check(); err != nil {
			key, _, _ := strings.Cut(err.Error(), ":")
			return fmt.Errorf("%s: %w", lines.At(label(p), key), err)
		}
		into[name] = p
	}
	return nil
}

func label(p Profile) string {
	if p.Source == builtin {
		return p.Name + ".yaml (" + builtin + ")"
	}
	return p.Source
}

// Ceilings of what a profile may allow. They keep any profile within what the protocols can carry.
var ceilings = sandboxd.Limits{
	WallMS:          24 * 3600 * 1000,
	CPUMS:           3600 * 1000,
	MemoryBytes:     16 << 30,
	Calls:           4096,
	ConcurrentCalls: 64,
	OutputBytes:     4 << 20,
	ConsoleBytes:    1 << 20,
	SourceBytes:     1 << 20,
	ArgumentBytes:   4 << 20,
	ResultBytes:     7 << 20, // a line of the gateway has 8 MiB
}

func (p Profile) check() error {
	for _, b := range bounds(p.Limits, ceilings) {
		switch {
		case b.value <= 0:
			return fmt.Errorf("limits.%s must be set, and above 0", b.name)
		case b.value > b.most:
			return fmt.Errorf("limits.%s: %d is over %d, the most that is supported", b.name, b.value, b.most)
		}
	}
	if p.Limits.MemoryBytes < minMemory {
		return fmt.Errorf("limits.memory_bytes: %d is under %d, which a worker needs to exist", p.Limits.MemoryBytes, minMemory)
	}
	for _, layer := range p.Require {
		if !slices.Contains(Layers, layer) {
			return fmt.Errorf("require: no layer %q; there are: %s", layer, strings.Join(Layers, ", "))
		}
	}
	if err := p.Spec().Validate(); err != nil {
		return fmt.Errorf("jail: %w", err)
	}
	return nil
}

// minMemory is what an idle worker has, and some room.
const minMemory = 16 << 20

// Lower returns the profile's limits with those that a request lowers. One that would raise a limit is an error.
func (p Profile) Lower(asked *sandboxd.Limits) (sandboxd.Limits, error) {
	limits := p.Limits
	if asked == nil {
		return limits, nil
	}
	for _, b := range bounds(*asked, p.Limits) {
		switch {
		case b.value < 0:
			return limits, fmt.Errorf("limits.%s: %d is below 0", b.name, b.value)
		case b.value > b.most:
			return limits, fmt.Errorf("limits.%s: %d is over the %d of profile %q; a request may only lower limits", b.name, b.value, b.most, p.Name)
		case b.value > 0:
			b.set(&limits, b.value)
		}
	}
	if limits.MemoryBytes < minMemory {
		return limits, fmt.Errorf("limits.memory_bytes: %d is under %d, which a worker needs to exist", limits.MemoryBytes, minMemory)
	}
	return limits, nil
}

// bound is one limit beside the most that it may be.
type bound struct {
	name        string
	value, most int64
	set         func(*sandboxd.Limits, int64)
}

func bounds(v, most sandboxd.Limits) []bound {
	return []bound{
		{"wall_ms", v.WallMS, most.WallMS, func(l *sandboxd.Limits, n int64) { l.WallMS = n }},
		{"cpu_ms", v.CPUMS, most.CPUMS, func(l *sandboxd.Limits, n int64) { l.CPUMS = n }},
		{"memory_bytes", v.MemoryBytes, most.MemoryBytes, func(l *sandboxd.Limits, n int64) { l.MemoryBytes = n }},
		{"calls", int64(v.Calls), int64(most.Calls), func(l *sandboxd.Limits, n int64) { l.Calls = int(n) }},
		{"concurrent_calls", int64(v.ConcurrentCalls), int64(most.ConcurrentCalls), func(l *sandboxd.Limits, n int64) { l.ConcurrentCalls = int(n) }},
		{"output_bytes", v.OutputBytes, most.OutputBytes, func(l *sandboxd.Limits, n int64) { l.OutputBytes = n }},
		{"console_bytes", v.ConsoleBytes, most.ConsoleBytes, func(l *sandboxd.Limits, n int64) { l.ConsoleBytes = n }},
		{"source_bytes", v.SourceBytes, most.SourceBytes, func(l *sandboxd.Limits, n int64) { l.SourceBytes = n }},
		{"argument_bytes", v.ArgumentBytes, most.ArgumentBytes, func(l *sandboxd.Limits, n int64) { l.ArgumentBytes = n }},
		{"result_bytes", v.ResultBytes, most.ResultBytes, func(l *sandboxd.Limits, n int64) { l.ResultBytes = n }},
	}
}

// Names lists profiles in order.
func Names(all map[string]Profile) []string {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
