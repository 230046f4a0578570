package nursery

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// daemonCgroup is where the daemon stands in a cgroup that was delegated to it, beside its nursery and the workers: the
// kernel lets no cgroup have both processes and children with limits.
const daemonCgroup = "daemon"

// cgroupRoot is where service managers mount it.
const cgroupRoot = "/sys/fs/cgroup"

// delegatedCgroup returns the directory of the cgroup that the service manager delegated to this process, which it was
// started in, as by systemd-run -p Delegate=yes: told says so, or a mark on it.
func delegatedCgroup(told bool) (string, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	_, place, found := strings.Cut("\n"+string(text), "\n0::")
	if !found {
		return "", errors.New("this system has no cgroup v2")
	}
	place, _, _ = strings.Cut(place, "\n")
	own := filepath.Join(cgroupRoot, place)
	if parent := filepath.Dir(own); filepath.Base(own) == daemonCgroup && (told || isDelegated(parent)) {
		return parent, nil // since an earlier nursery
	}
	if !told && !isDelegated(own) {
		return "", fmt.Errorf("the cgroup %s was not delegated to this process: start sandboxd as a service, or by "+
			"systemd-run --user --scope -p Delegate=yes sandboxd --delegated …", own)
	}
	dir := filepath.Join(own, daemonCgroup)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("divide the delegated cgroup: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0); err != nil {
		return "", fmt.Errorf("divide the delegated cgroup: %w", err)
	}
	return own, nil
}

// isDelegated looks for the mark that the system's manager puts on what it delegates (since version 251; its
// CGROUP_DELEGATION document); a user's manager puts none. A cgroup without it is somebody else's to manage, even for root.
func isDelegated(dir string) bool {
	mark := make([]byte, 8)
	n, err := unix.Getxattr(dir, "user.delegate", mark)
	return err == nil && string(mark[:n]) == "1"
}
