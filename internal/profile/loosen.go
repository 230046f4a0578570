package profile

import (
	"fmt"
	"slices"
)

// Opening is one way in which a profile is wider than another.
type Opening struct {
	Key   string `json:"key"`
	From  string `json:"from"`
	To    string `json:"to"`
	Opens string `json:"opens"` // what that lets happen, in a sentence
}

func (o Opening) String() string {
	return fmt.Sprintf("%s %s → %s: %s", o.Key, o.From, o.To, o.Opens)
}

// withoutLayer is what may happen where a layer that nobody requires is not in force. A worker does not start without
// seccomp, Landlock and rlimits, whatever its profile requires.
var withoutLayer = map[string]string{
	"landlock":   "a kernel will do whose Landlock denies less than jail.landlock_abi asks for; seccomp denies it too",
	"cgroup":     "workers may run without a cgroup: the engine, and a daemon that looks now and then, would bound what they use",
	"namespaces": "workers may run in the host's namespaces: seccomp and Landlock alone would deny network and processes",
}

// Loosens lists in what p is wider than base: every limit that is higher, every choice of the jail that allows more,
// every layer that is required no more. The list is never nil.
func Loosens(base, p Profile) []Opening {
	openings := []Opening{}
	was := base.settings()
	for i, s := range p.settings() {
		if s.width > was[i].width {
			openings = append(openings, Opening{s.key, was[i].human(), s.human(), s.opens})
		}
	}
	for _, layer := range base.Require {
		if opens := withoutLayer[layer]; opens != "" && !slices.Contains(p.Require, layer) {
			openings = append(openings, Opening{"require", layer, "not required", opens})
		}
	}
	return openings
}
