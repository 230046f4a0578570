package profile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd"
)

// A limit is one of sandboxd.Limits: what it may be in a profile, and what raising it opens.
type limit struct {
	key         string
	unit        unit
	least, most int64 // least is above 1 where a worker needs it to exist; most is within what the protocols can carry
	get         func(sandboxd.Limits) int64
	set         func(*sandboxd.Limits, int64)
	opens       string // with the limit for %s
}

const minMemory = 16 << 20 // what an idle worker has, and some room

var limits = []limit{
	{"limits.wall_ms", milliseconds, 1, 24 * 3600 * 1000,
		func(l sandboxd.Limits) int64 { return l.WallMS }, func(l *sandboxd.Limits, n int64) { l.WallMS = n },
		"a run may hold a worker, and one place of runs.at_once, for %s"},
	{"limits.cpu_ms", milliseconds, 1, 3600 * 1000,
		func(l sandboxd.Limits) int64 { return l.CPUMS }, func(l *sandboxd.Limits, n int64) { l.CPUMS = n },
		"a program may keep a processor busy for %s"},
	{"limits.memory_bytes", bytes, minMemory, 16 << 30,
		func(l sandboxd.Limits) int64 { return l.MemoryBytes }, func(l *sandboxd.Limits, n int64) { l.MemoryBytes = n },
		"a program may take %s of this machine, and runs.at_once of them may do so at a time"},
	{"limits.calls", count, 1, 4096,
		func(l sandboxd.Limits) int64 { return int64(l.Calls) }, func(l *sandboxd.Limits, n int64) { l.Calls = int(n) },
		"one program, right or wrong, may call tools %s times"},
	{"limits.concurrent_calls", count, 1, 64,
		func(l sandboxd.Limits) int64 { return int64(l.ConcurrentCalls) },
		func(l *sandboxd.Limits, n int64) { l.ConcurrentCalls = int(n) },
		"one program may have %s calls at the gateway and its tools at once"},
	{"limits.output_bytes", bytes, 1, 4 << 20,
		func(l sandboxd.Limits) int64 { return l.OutputBytes }, func(l *sandboxd.Limits, n int64) { l.OutputBytes = n },
		"a program may return %s, and what it returns may reach a model"},
	{"limits.console_bytes", bytes, 1, 1 << 20,
		func(l sandboxd.Limits) int64 { return l.ConsoleBytes }, func(l *sandboxd.Limits, n int64) { l.ConsoleBytes = n },
		"a program may log %s, and what it logs may reach a model"},
	{"limits.source_bytes", bytes, 1, 1 << 20,
		func(l sandboxd.Limits) int64 { return l.SourceBytes }, func(l *sandboxd.Limits, n int64) { l.SourceBytes = n },
		"a program may be %s long: so much text that nobody has read is parsed"},
	{"limits.argument_bytes", bytes, 1, 4 << 20,
		func(l sandboxd.Limits) int64 { return l.ArgumentBytes }, func(l *sandboxd.Limits, n int64) { l.ArgumentBytes = n },
		"one call may carry %s out to a tool"},
	{"limits.result_bytes", bytes, 1, 7 << 20, // a line of the gateway has 8 MiB
		func(l sandboxd.Limits) int64 { return l.ResultBytes }, func(l *sandboxd.Limits, n int64) { l.ResultBytes = n },
		"one call may bring %s in, which the daemon and the worker hold in memory"},
}

// Bounds of the jail's choices.
const (
	minABI, maxABI   = 1, 99    // no kernel has so many
	minCPUs, maxCPUs = 0.01, 64 // the kernel takes no quota below 1 ms (sched_bwc), and a period is 100 ms
	minPIDs, maxPIDs = 16, 256  // an idle worker has about 10 threads
)

// maxDescription bounds what every gateway is told when it connects.
const maxDescription = 200

// jailDefault is what a profile has that says nothing else. The least Landlock ABI has no default: it must be chosen.
var jailDefault = Jail{CPUs: 1, PIDs: 24}

// A setting is one key of a profile, and what it is set to.
type setting struct {
	key   string
	value any     // string, int64, float64 or []string
	unit  unit    // of numbers
	width float64 // the greater, the more is allowed; exact within the bounds
	opens string  // what being wider opens
}

// settings are all keys of a profile, in the order of a file.
func (p Profile) settings() []setting {
	all := []setting{{key: "description", value: p.Description}}
	for _, l := range limits {
		n := l.get(p.Limits)
		all = append(all, setting{l.key, n, l.unit, float64(n), fmt.Sprintf(l.opens, l.unit.of(n))})
	}
	j := p.Jail
	return append(all,
		setting{"jail.landlock_abi", int64(j.LandlockABI), count, -float64(j.LandlockABI),
			"a kernel will do whose Landlock denies less: TCP takes ABI 4, signals and abstract sockets ABI 6; seccomp denies them too"},
		setting{"jail.cpus", j.CPUs, count, j.CPUs,
			fmt.Sprintf("one worker may keep %s processors busy, and others wait for them", plain(j.CPUs))},
		setting{"jail.pids", int64(j.PIDs), count, float64(j.PIDs),
			fmt.Sprintf("a worker that gets past seccomp may have %d threads and processes", j.PIDs)},
		setting{key: "require", value: p.Require}, // Loosens looks at each layer
	)
}

// human is a value as people say it.
func (s setting) human() string {
	if n, ok := s.value.(int64); ok {
		return s.unit.of(n)
	}
	return plain(s.value)
}

// A mistake is what is wrong with the value of a key.
type mistake struct{ key, text string }

// check lists what is wrong with a profile.
func (p Profile) check() []mistake {
	var wrong []mistake
	add := func(key, format string, args ...any) {
		wrong = append(wrong, mistake{key, fmt.Sprintf(format, args...)})
	}
	if len(p.Description) > maxDescription || !utf8.ValidString(p.Description) || strings.ContainsFunc(p.Description, unprintable) {
		add("description", "must be one line of at most %d bytes that can be printed", maxDescription)
	}
	for _, l := range limits {
		switch value := l.get(p.Limits); {
		case value <= 0:
			add(l.key, "must be set, and above 0")
		case value < l.least:
			add(l.key, "%d is under %d, which a worker needs to exist", value, l.least)
		case value > l.most:
			add(l.key, "%d is over %d, the most that is supported", value, l.most)
		}
	}
	if abi := p.Jail.LandlockABI; abi < minABI || abi > maxABI {
		add("jail.landlock_abi", "%d is not within %d and %d", abi, minABI, maxABI)
	}
	if cpus := p.Jail.CPUs; !(cpus >= minCPUs && cpus <= maxCPUs) { // and so no NaN
		add("jail.cpus", "%s is not within %s and %d", plain(cpus), plain(minCPUs), maxCPUs)
	}
	if pids := p.Jail.PIDs; pids < minPIDs || pids > maxPIDs {
		add("jail.pids", "%d is not within %d and %d", pids, minPIDs, maxPIDs)
	}
	if p.Require == nil { // nothing must not come about by leaving it out
		add("require", "must be set: the layers without which no worker runs, of %s", strings.Join(Layers, ", "))
	}
	for i, layer := range p.Require {
		switch {
		case !slices.Contains(Layers, layer):
			add("require", "no layer %q; there are: %s", layer, strings.Join(Layers, ", "))
		case slices.Contains(p.Require[:i], layer):
			add("require", "%s stands there twice", layer)
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	if err := p.Spec().Validate(); err != nil {
		add("jail", "%v", err)
	}
	return wrong
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// A unit is how a number is told: the largest of its steps that divides it.
type unit []step

type step struct {
	size int64
	name string
}

var (
	milliseconds = unit{{3600 * 1000, "h"}, {60 * 1000, "min"}, {1000, "s"}, {1, "ms"}}
	bytes        = unit{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "bytes"}}
	count        = unit{}
)

// of is exact: two numbers that differ are told differently.
func (u unit) of(n int64) string {
	for _, s := range u {
		if n != 0 && n%s.size == 0 {
			return fmt.Sprintf("%d %s", n/s.size, s.name)
		}
	}
	return strconv.FormatInt(n, 10)
}

// plain is a value without quotes and units.
func plain(value any) string {
	switch v := value.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []string:
		return "[" + strings.Join(v, ", ") + "]"
	}
	return fmt.Sprint(value)
}
