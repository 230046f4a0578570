package server

import (
	"fmt"
	"slices"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/profile"
)

// Isolation says which layers confine a worker, by its report. A layer that the profile requires and that is
// missing is an error, unless allowed names it.
func Isolation(r jail.Report, p profile.Profile, allowed []string) (sandboxd.Isolation, error) {
	i := sandboxd.Isolation{
		Seccomp: r.Seccomp, Landlock: r.Landlock, Cgroup: "off",
		Namespaces: []string{}, Rlimits: append([]string{}, r.Rlimits...), Missing: []string{},
	}
	active := map[string]bool{
		"seccomp":  !jail.Unjailed,
		"landlock": r.Landlock > 0 && r.Landlock >= p.Jail.LandlockABI,
		"rlimits":  len(r.Rlimits) > 0,
	}
	i.Verified = true
	for _, layer := range p.Require {
		switch {
		case active[layer]:
		case slices.Contains(allowed, layer):
			i.Missing = append(i.Missing, layer)
			i.Verified = false
		default:
			return i, fmt.Errorf("profile %q requires the layer %s, which is not in force here", p.Name, layer)
		}
	}
	return i, nil
}
