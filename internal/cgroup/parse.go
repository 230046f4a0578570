package cgroup

import (
	"fmt"
	"strconv"
	"strings"
)

// parseNumber reads a file that has one number.
func parseNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSuffix(text, "\n"), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("it has %q, not a number", text)
	}
	return n, nil
}

// parseField reads the number of one key in a file with a key and a number on each line.
func parseField(text, key string) (int64, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, key+" "); ok {
			return parseNumber(value)
		}
	}
	return 0, fmt.Errorf("it has no %s", key)
}

// parsePIDs reads a file with a process on each line: 0 is one outside of this process's PID namespace.
func parsePIDs(text string) ([]int, error) {
	var pids []int
	for line := range strings.Lines(text) {
		pid, err := strconv.Atoi(strings.TrimSuffix(line, "\n"))
		if err != nil || pid < 0 {
			return nil, fmt.Errorf("it has %q, not a process", line)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

func validName(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
		default:
			return false
		}
	}
	return true
}
