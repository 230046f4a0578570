package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/internal/profile"
)

// Isolation says which layers confine a worker: its own, by its report, and the nursery's around it; and which do not. A layer
// that the profile requires and that is missing is an error, unless allowed names it.
func Isolation(r jail.Report, l nursery.Layers, p profile.Profile, allowed []string) (sandboxd.Isolation, error) {
	i := sandboxd.Isolation{
		Seccomp: r.Seccomp, Landlock: r.Landlock, Cgroup: "off",
		Namespaces: append([]string{}, l.Namespaces...), Rlimits: append([]string{}, r.Rlimits...), Missing: []string{},
	}
	if l.Cgroup {
		i.Cgroup = fmt.Sprintf("v2 leaf: memory, no swap, %g cpus, %d pids", p.Jail.CPUs, p.Jail.PIDs)
	}
	active := map[string]bool{
		"seccomp":    strings.HasPrefix(r.Seccomp, "kill"),
		"landlock":   r.Landlock > 0 && r.Landlock >= p.Jail.LandlockABI,
		"rlimits":    len(r.Rlimits) > 0,
		"cgroup":     l.Cgroup,
		"namespaces": l.Walled(),
	}
	i.Verified = active["seccomp"] && len(r.Proved) > 0
	for _, layer := range profile.Layers {
		switch {
		case active[layer]:
		case !slices.Contains(p.Require, layer), slices.Contains(allowed, layer):
			i.Missing = append(i.Missing, layer)
		default:
			why := l.Missing[layer]
			if why == "" {
				why = "the worker has not got it"
			}
			return i, &MissingError{Profile: p.Name, Layer: layer, Why: why}
		}
	}
	return i, nil
}

// A MissingError is a layer that a profile requires and that is not in force.
type MissingError struct{ Profile, Layer, Why string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("profile %q requires the layer %s, which is not in force here: %s (sandboxctl doctor says what mends it; "+
		"isolation.allow_missing: [%s] does without)", e.Profile, e.Layer, e.Why, e.Layer)
}
