package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"

	"github.com/sandboxd/sandboxd/internal/upstream"
)

// nestedVariable is in the environment of each server that `sandboxctl mcp` starts.
const nestedVariable = "SANDBOXCTL_MCP"

// marked has the variable in the environment of all servers.
func marked(config upstream.Config) upstream.Config {
	servers := make([]upstream.Server, len(config.Servers))
	for i, s := range config.Servers {
		s.Env = maps.Clone(s.Env)
		if s.Env == nil {
			s.Env = map[string]string{}
		}
		s.Env[nestedVariable] = strconv.Itoa(os.Getpid())
		servers[i] = s
	}
	config.Servers = servers
	return config
}

// maxAncestors is far more than there are of a process.
const maxAncestors = 64

// notNested refuses to be a server of another `sandboxctl mcp`, at whatever distance: its programs could run programs, and one whose
// configuration names itself would start itself without end. Servers in between may not hand the environment on, so that those of
// the processes above are looked at too, as far as they may be.
func notNested() error {
	pid := os.Getpid()
	for range maxAncestors {
		if environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && setIn(environ, nestedVariable) {
			return hinted{fmt.Errorf("this was started by a server of another sandboxctl mcp (process %d has %s): a program must not run programs", pid, nestedVariable),
				"remove it from the configuration of that one's servers"}
		}
		if pid = parentOf(pid); pid <= 1 {
			return nil
		}
	}
	return nil
}

func setIn(environ []byte, name string) bool {
	for one := range bytes.SplitSeq(environ, []byte{0}) {
		if key, _, _ := bytes.Cut(one, []byte("=")); string(key) == name {
			return true
		}
	}
	return false
}

// parentOf is 0 where that is not known.
func parentOf(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "\nPPid:")
	line, _, _ := strings.Cut(rest, "\n")
	parent, _ := strconv.Atoi(strings.TrimSpace(line))
	return parent
}
