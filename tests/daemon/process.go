package daemon

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Descendants lists the processes below pid, which is the daemon's nursery and its workers.
func Descendants(pid int) []int {
	children := make(map[int][]int)
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		var child, parent int
		var state string
		_, rest, _ := strings.Cut(string(stat), ") ")
		if _, err := fmt.Sscan(rest, &state, &parent); err != nil {
			continue
		}
		if _, err := fmt.Sscan(e.Name(), &child); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	var all []int
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		all = append(all, children[queue[0]]...)
		queue = append(queue, children[queue[0]]...)
	}
	return all
}

// Nursery is the process of a daemon's nursery.
func Nursery(t testing.TB, daemon int) int {
	t.Helper()
	pid := nurseryOf(daemon)
	if pid == 0 {
		t.Fatal("no nursery")
	}
	return pid
}

func nurseryOf(daemon int) int {
	for _, pid := range Descendants(daemon) {
		if Comm(pid) == "sandbox-nursery" {
			return pid
		}
	}
	return 0
}

// Comm is the name of a process; empty if there is none.
func Comm(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// Living is the first of pids that is a process and no zombie; 0 if there is none.
func Living(pids ...int) int {
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, state, _ := strings.Cut(string(stat), ") ")
		if err == nil && (!strings.HasPrefix(state, "Z") || threads(pid) > 1) {
			return pid
		}
	}
	return 0
}

// threads counts those of a process: until the last has ended, a dead first one is a zombie, and what they share is open.
func threads(pid int) int {
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // gone: none
	return len(all)
}

// FDs counts the descriptors of a process: -1 if that may not be known.
func FDs(pid int) int {
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return -1
	}
	return len(all)
}
