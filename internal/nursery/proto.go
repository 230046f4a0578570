// Package nursery is how workers are born and buried: the half that serves, in a process that
// holds nothing but the right to start them, and the half that asks, in the daemon.
//
// The two speak over a seqpacket socket, one JSON object a packet. A spawned worker's socket and the
// reading end of its standard error come with the answer, by SCM_RIGHTS.
package nursery

import (
	"github.com/sandboxd/sandboxd/internal/jail"
)

const (
	opSpawn = "spawn"
	opBury  = "bury"

	maxPacket  = 32 << 10 // a spec or a report is about 2 KiB
	maxWorkers = 1024     // at once; the daemon's pool asks for far fewer
)

// order is what the daemon asks for.
type order struct {
	ID     int64      `json:"id"`
	Op     string     `json:"op"`
	Jail   *jail.Spec `json:"jail,omitempty"`   // with spawn
	Worker int64      `json:"worker,omitempty"` // with bury
}

// reply answers the order of the same id. One without id tells that a worker died unasked.
type reply struct {
	ID     int64        `json:"id,omitempty"`
	Err    string       `json:"err,omitempty"`
	Worker int64        `json:"worker,omitempty"`
	PID    int          `json:"pid,omitempty"`
	Report *jail.Report `json:"report,omitempty"` // with spawn: proved inside, checked outside
	Exit   *Exit        `json:"exit,omitempty"`   // with bury
}

// Exit is how a worker ended.
type Exit struct {
	Code       int    `json:"code"`             // -1 if killed by a signal
	Signal     int    `json:"signal,omitempty"` // that killed it
	Killed     bool   `json:"killed"`           // by the nursery, because it was asked to
	CPUMicros  int64  `json:"cpu_us"`           // from its birth
	PeakMemory int64  `json:"peak_memory_bytes"`
	Stderr     string `json:"-"` // the beginning of it, read by the daemon
}
