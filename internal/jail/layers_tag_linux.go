//go:build sandboxd_layers

package jail

import (
	"slices"
	"strings"
)

// off names the layers that this build leaves out, with commas between them. The linker sets it, as a worker reads no
// environment and no file.
var off string

// parts says what belongs to a layer: the steps of Enter, and what Check looks at.
var parts = map[string][]string{
	"seccomp":      {"load filter", "prove filter", "Seccomp:\t2", filtersKey},
	"landlock":     {"restrict by landlock", "prove landlock"},
	"rlimits":      {"set rlimits", "prove rlimits", "set rlimit nofile"},
	"capabilities": {"drop capabilities"},
	"dumpable":     {"clear dumpable"},
}

// enabled says whether a part of the jail is in this build.
func enabled(part string) bool {
	for layer := range strings.SplitSeq(off, ",") {
		if slices.Contains(parts[layer], part) {
			return false
		}
	}
	return true
}
