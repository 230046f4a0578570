package js

import (
	"encoding/binary"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// maxGoStack makes recursion that goja does not count (JSON text, nested arrays in flat or join, parentheses
	// in eval) die in a fraction of a second instead of filling memory. Go can't survive it: the process ends with
	// status 2 and "stack exceeds" on stderr.
	maxGoStack = 32 << 20

	// gcPercent trades heap for CPU. A run is short, and the watchdog collects before it calls memory exceeded.
	gcPercent = 400
)

// setProcess sets what is global to a process, once: tests make many engines.
var setProcess = sync.OnceFunc(func() {
	debug.SetMaxStack(maxGoStack)
	debug.SetGCPercent(gcPercent)
	time.Local = time.UTC // else the first local date opens /etc/localtime
})

// seedKey makes a key of a run's seed.
func seedKey(seed int64) (key [32]byte) {
	binary.LittleEndian.PutUint64(key[:], uint64(seed))
	return key
}
