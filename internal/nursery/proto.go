// Package nursery is how workers are born and buried: the half that serves, in a process that
// holds nothing but the right to start them, and the half that asks, in the daemon.
//
// The two speak over a seqpacket socket, one JSON object a packet. With the answer to spawn come, by SCM_RIGHTS, the
// worker's socket, the reading end of its standard error, its /proc/PID/status and its pidfd.
package nursery

import (
	"github.com/sandboxd/sandboxd/internal/jail"
)

const (
	opSettle = "settle" // the first, and once
	opSpawn  = "spawn"
	opLower  = "lower"
	opBury   = "bury"

	maxPacket  = 32 << 10 // a spec or a report is about 2 KiB
	maxWorkers = 1024     // at once; the daemon's pool asks for far fewer
)

// order is what the daemon asks for.
type order struct {
	ID     int64     `json:"id"`
	Op     string    `json:"op"`
	Settle *settling `json:"settle,omitempty"`       // with settle
	Spec   *Spec     `json:"spec,omitempty"`         // with spawn
	Worker int64     `json:"worker,omitempty"`       // with lower and bury
	Memory int64     `json:"memory_bytes,omitempty"` // with lower
}

// settling is what the daemon tells a nursery before all else.
type settling struct {
	Enclose bool              `json:"enclose"`          // it was started in namespaces of its own, and makes itself a root
	Cgroup  string            `json:"cgroup,omitempty"` // that was delegated to it; a service of its own knows that itself
	Outside map[string]string `json:"outside"`          // the daemon's namespaces
	Root    string            `json:"root"`             // the daemon's root directory: see rootID
}

// Spec is what a worker is to be confined by: its own jail, and what the nursery puts around it.
type Spec struct {
	Jail jail.Spec `json:"jail"`
	CPUs float64   `json:"cpus"` // processors that it may use at once, by its cgroup
	PIDs int       `json:"pids"` // threads that it may have, by its cgroup
}

// reply answers the order of the same id. One without id tells that a worker died unasked.
type reply struct {
	ID     int64        `json:"id,omitempty"`
	Err    string       `json:"err,omitempty"`
	Worker int64        `json:"worker,omitempty"`
	Layers *Layers      `json:"layers,omitempty"` // with settle
	Report *jail.Report `json:"report,omitempty"` // with spawn: proved inside, checked outside
	Exit   *Exit        `json:"exit,omitempty"`   // with bury
}

// Exit is how a worker ended.
type Exit struct {
	Code       int    `json:"code"`             // -1 if killed by a signal
	Signal     int    `json:"signal,omitempty"` // that killed it
	Killed     bool   `json:"killed"`           // by the nursery, because it was asked to
	OOM        bool   `json:"oom"`              // killed because its cgroup was out of memory
	CPUMicros  int64  `json:"cpu_us"`           // from its birth
	PeakMemory int64  `json:"peak_memory_bytes"`
	Stderr     string `json:"-"` // the beginning of it, read by the daemon
}
