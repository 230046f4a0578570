package main

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/docker/go-units"
)

// limits looks at what workers can run short of. A daemon that is a service has limits of its own, which only its unit
// shows, so that those of this process are looked at for a private one alone.
func (h *host) limits() []check {
	all := []check{h.availableMemory(), h.overcommit()}
	if h.private() {
		all = append(all, h.openFiles(), h.tasks())
	}
	return all
}

// The daemon's descriptors: one of each gateway, and those of each worker.
const (
	filesOfWorker = 4  // socket, standard error, status, and a pidfd for a moment
	filesOfDaemon = 64 // what is left, and some room
)

func (h *host) openFiles() check {
	needed := int64(filesOfDaemon + h.config.Gateways.Connections + filesOfWorker*h.config.Runs.AtOnce)
	for _, w := range h.loads {
		needed += int64(filesOfWorker * w.count)
	}
	has := h.hardLimit("Max open files") // Go raises the soft limit to it
	c := found("open files", "", fmt.Sprint(needed), "%s", orUnlimited(has))
	if has < needed {
		return c.but(statusWarning, "gateways.connections and runs.at_once can't be reached", commands(
			writeLines("/etc/security/limits.d/60-sandboxd.conf", fmt.Sprintf("%s hard nofile %d", h.name(), 2*needed)),
			"# then log in again"))
	}
	return c
}

// tasksOfDaemon are its threads and its nursery's, with some room.
const tasksOfDaemon = 64

func (h *host) tasks() check {
	needed := int64(tasksOfDaemon)
	for _, w := range h.loads {
		needed += int64(w.count * w.tasks)
	}
	has := h.room("pids")
	where := "pids.max of this cgroup or one above it"
	if limit := h.hardLimit("Max processes"); h.uid != 0 && limit < has { // it does not hold for root
		has, where = limit, "the limit on processes (ulimit -u)"
	}
	c := found("tasks", "", fmt.Sprint(needed), "%s", orUnlimited(has))
	if has < needed {
		return c.but(statusWarning, "workers may fail to start: a worker has about 10 threads", "# raise "+where)
	}
	return c
}

func (h *host) availableMemory() check {
	var needed int64
	var of []string
	for _, w := range h.loads {
		needed += int64(w.count) * w.memory
		of = append(of, fmt.Sprintf("%d of %s", w.count, w.profile))
	}
	has := min(h.memory("MemAvailable"), h.room("memory"))
	c := found("memory", "", units.BytesSize(float64(needed)), "%s available", units.BytesSize(float64(has)))
	if has < needed {
		return c.but(statusWarning, "if all ready workers ("+strings.Join(of, ", ")+") take what their profile allows, the kernel kills some of them",
			"# lower pool in "+h.configPath+", or limits.memory_bytes in the profile; or add memory")
	}
	return c
}

func (h *host) overcommit() check {
	n, has := h.number("/proc/sys/vm/overcommit_memory")
	c := found("overcommit", "", "vm.overcommit_memory 0 or 1", "vm.overcommit_memory=%d", n)
	switch {
	case !has:
		c.Found = "not shown"
	case n == 2:
		return c.but(statusWarning, "the kernel counts memory that Go reserves and never touches, so that workers may fail to start with much left",
			h.setSysctl("vm.overcommit_memory = 0"))
	}
	return c
}

// memory is a line of /proc/meminfo, in bytes; 0 if it is not there.
func (h *host) memory(name string) int64 {
	for line := range strings.Lines(h.read("/proc/meminfo")) {
		var n int64
		if text, ok := strings.CutPrefix(line, name+":"); ok {
			if _, err := fmt.Sscan(text, &n); err == nil {
				return n << 10
			}
		}
	}
	return 0
}

// unlimited is what there is of something that nothing bounds.
const unlimited = math.MaxInt64

func orUnlimited(n int64) string {
	if n == unlimited {
		return "no limit"
	}
	return strconv.FormatInt(n, 10)
}

// hardLimit reads a line of /proc/self/limits: its name in 26 columns, the soft limit, the hard one, the unit.
func (h *host) hardLimit(name string) int64 {
	for line := range strings.Lines(h.read("/proc/self/limits")) {
		text, ok := strings.CutPrefix(line, name+" ")
		if fields := strings.Fields(text); ok && len(fields) >= 2 {
			if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				return n
			}
		}
	}
	return unlimited
}

// room is what this process's cgroup, and those above it, leave of what a controller counts.
func (h *host) room(controller string) int64 {
	left := int64(unlimited)
	for dir := h.ownCgroup(); strings.HasPrefix(dir, cgroupRoot); dir = path.Dir(dir) {
		most, bounded := h.number(path.Join(dir, controller+".max")) // "max" is no number
		used, counted := h.number(path.Join(dir, controller+".current"))
		if bounded && counted {
			left = min(left, max(0, most-used))
		}
	}
	return left
}

// logs looks at what helps to explain an end, and is needed for nothing.
func (h *host) logs() []check {
	kernel := found("kernel log", "", "nothing", "/dev/kmsg can be read")
	if f, err := h.files.Open("dev/kmsg"); err != nil {
		kernel.Found = "can't be read by this user"
		kernel.Why = "a violation does not name the system call; a packaged daemon never reads that log"
	} else {
		f.Close()
	}
	all := []check{kernel}
	if scope, has := h.number("/proc/sys/kernel/yama/ptrace_scope"); has {
		all = append(all, found("ptrace", "", "nothing", "kernel.yama.ptrace_scope=%d", scope))
	}
	return all
}
