package cgroup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// maxProc bounds a file of /proc: container hosts have thousands of mounts.
const maxProc = 4 << 20

// Find returns the directory of the cgroup v2 that this process is in, where a unit or a transient scope put it. It is
// for Open, which looks whether it was delegated. ErrUnavailable tells why there is none: the host has cgroup v1, at
// least for a controller that is needed, or no mount shows the directory.
func Find() (string, error) {
	own, err := readProc("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	mounts, err := readProc("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	dirs, err := find(own, mounts)
	if err != nil {
		return "", fmt.Errorf("find own cgroup: %w", err)
	}
	for _, dir := range dirs {
		if is, err := isCgroup2(dir); err == nil && is {
			return dir, nil
		}
	}
	return "", fmt.Errorf("find own cgroup: %w", unavailable("other mounts hide %q", dirs))
}

// find returns the places where the mounts show the process's cgroup, the newest first. Some may be hidden by others.
func find(own, mounts string) ([]string, error) {
	at, err := unified(own)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for line := range strings.Lines(mounts) {
		root, point, ok := cgroup2Mount(line)
		if !ok {
			continue
		}
		if below, ok := strings.CutPrefix(at, strings.TrimSuffix(root, "/")); ok && (below == "" || below[0] == '/') {
			dirs = append(dirs, path.Join(point, below))
		}
	}
	if dirs == nil {
		return nil, unavailable("no mount shows %s: cgroup2 must be mounted, usually at /sys/fs/cgroup", at)
	}
	slices.Reverse(dirs)
	return dirs, nil
}

// unified reads /proc/PID/cgroup: a line "0::PATH" for cgroup v2, and one "ID:CONTROLLERS:PATH" for each hierarchy of v1.
func unified(own string) (string, error) {
	at := ""
	for line := range strings.Lines(own) {
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		bound, place, ok := strings.Cut(rest, ":")
		if !ok {
			return "", unavailable("/proc/self/cgroup has the line %q", line)
		}
		if id == "0" && bound == "" {
			at = place
			continue
		}
		for _, c := range strings.Split(bound, ",") {
			if slices.Contains(controllers, c) {
				return "", unavailable("this host uses the %s controller with cgroup v1: boot with systemd.unified_cgroup_hierarchy=1", c)
			}
		}
	}
	// A path that climbs is outside of this process's cgroup namespace; it is not clean.
	if at == "" || path.Clean(at) != at || at[0] != '/' || strings.HasSuffix(at, " (deleted)") {
		return "", unavailable("/proc/self/cgroup shows no cgroup v2 that can be used: %q", at)
	}
	return at, nil
}

// cgroup2Mount reads a line of /proc/PID/mountinfo (proc_pid_mountinfo(5)): "ID PARENT DEVICE ROOT POINT OPTIONS… - TYPE …".
func cgroup2Mount(line string) (root, point string, ok bool) {
	mount, kind, _ := strings.Cut(line, " - ")
	fields := strings.Fields(mount)
	if len(fields) < 6 || !strings.HasPrefix(kind, "cgroup2 ") {
		return "", "", false
	}
	return unescape.Replace(fields[3]), unescape.Replace(fields[4]), true
}

// unescape undoes what the kernel does to names in mountinfo.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

func isCgroup2(dir string) (bool, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return false, err
	}
	return fs.Type == unix.CGROUP2_SUPER_MAGIC, nil
}

// readProc reads a file of /proc, whole.
func readProc(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("find own cgroup: %w", unavailable("%w", err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxProc+1))
	if err == nil && len(text) > maxProc {
		err = errors.New("it is too long")
	}
	if err != nil {
		return "", fmt.Errorf("find own cgroup: read %s: %w", name, err)
	}
	return string(text), nil
}
