package nursery

import (
	"maps"
	"slices"
)

// Layers are what confines a worker besides its own jail: the nursery has them, and each process that it starts.
// Missing says why one of the two is not there.
type Layers struct {
	Namespaces []string          `json:"namespaces"`        // that are not the daemon's: "ipc", "mnt", "net", "pid", "user"
	Cgroup     bool              `json:"cgroup"`            // a cgroup v2 leaf for each worker
	Missing    map[string]string `json:"missing,omitempty"` // by layer
}

// LayerCgroup and LayerNamespaces are the layers' names.
const (
	LayerCgroup     = "cgroup"
	LayerNamespaces = "namespaces"
)

// wall are the namespaces without which the layer is missing. One for processes is more, and a unit of systemd before
// version 257 can't have it; one for users is only the means to make the others.
var wall = []string{"ipc", "mnt", "net"}

// Walled reports whether the namespaces make the layer.
func (l Layers) Walled() bool {
	for _, kind := range wall {
		if !slices.Contains(l.Namespaces, kind) {
			return false
		}
	}
	return true
}

func (l *Layers) lack(layer, why string) {
	if l.Missing == nil {
		l.Missing = make(map[string]string)
	}
	l.Missing[layer] = why
}

// equal ignores why a layer is missing.
func (l Layers) equal(o Layers) bool {
	return slices.Equal(l.Namespaces, o.Namespaces) && l.Cgroup == o.Cgroup &&
		slices.Equal(slices.Sorted(maps.Keys(l.Missing)), slices.Sorted(maps.Keys(o.Missing)))
}
