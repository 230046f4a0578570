package jail

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// descriptors are the numbers that fill the holes of the filter.
type descriptors struct{ epoll, event, pid int }

const (
	linkEpoll = "anon_inode:[eventpoll]"
	linkEvent = "anon_inode:[eventfd]"
)

// CloseOthers closes every fd but 0 to 3. It is the first thing in a worker's main. An epoll or
// event fd is spared, as it may be the Go runtime's own; Enter refuses more than one of each.
func CloseOthers() error {
	if Unjailed {
		return nil
	}
	links, err := openFDs()
	if err != nil {
		return fmt.Errorf("close other fds: %w", err)
	}
	next := uint(fdSocket + 1)
	for _, l := range links {
		if l.fd <= fdSocket || !l.runtime() {
			continue
		}
		if err := closeRange(next, uint(l.fd)-1); err != nil {
			return err
		}
		next = uint(l.fd) + 1
	}
	return closeRange(next, math.MaxUint32)
}

func closeRange(first, last uint) error {
	if first > last {
		return nil
	}
	if err := unix.CloseRange(first, last, 0); err != nil { // Linux 5.9; Landlock needs 5.13
		return fmt.Errorf("close fds %d to %d: %w", first, last, err)
	}
	return nil
}

// findDescriptors finds the fds of the Go runtime, and refuses any that should not be there: one
// leaked fd is an escape (CVE-2024-21626).
func (e *entry) findDescriptors() error {
	runtime.GOMAXPROCS(1)        // once more: explicit, so that the runtime no longer follows cgroup and affinity
	time.Sleep(time.Microsecond) // the first timer opens epoll and eventfd (runtime.netpollGenericInit)
	links, err := openFDs()
	if err != nil {
		return err
	}
	e.own = descriptors{epoll: -1, event: -1, pid: unix.Getpid()}
	for _, l := range links {
		if err := e.own.take(l); err != nil {
			return err
		}
	}
	if e.own.epoll < 0 || e.own.event < 0 {
		return errors.New("the Go runtime has no netpoller")
	}
	return refuseNamedMappings()
}

func (d *descriptors) take(l fdLink) error {
	switch {
	case l.fd == fdSocket && !strings.HasPrefix(l.target, "socket:"):
		return fmt.Errorf("fd %d is %s, not a socket", l.fd, l.target)
	case l.fd <= fdSocket:
	case l.target == linkEpoll && d.epoll < 0:
		d.epoll = l.fd
	case l.target == linkEvent && d.event < 0:
		d.event = l.fd
	default:
		return fmt.Errorf("fd %d is open to %s: a worker has fds 0 to %d and nothing else", l.fd, l.target, fdSocket)
	}
	return nil
}

// refuseNamedMappings finds out now what would kill the worker later: where the kernel can name
// mappings (5.17), the Go runtime asks it to, unless it was told not to.
func refuseNamedMappings() error {
	maps, err := readFile("/proc/self/maps")
	if err != nil {
		return err
	}
	if bytes.Contains(maps, []byte("[anon: Go:")) {
		return errors.New("the Go runtime names its mappings by prctl: build main with //go:debug decoratemappings=0")
	}
	return nil
}

// fdLink is an open fd, and what it is open to.
type fdLink struct {
	fd     int
	target string
}

func (l fdLink) runtime() bool { return l.target == linkEpoll || l.target == linkEvent }

// openFDs lists what this process has open, in ascending order.
func openFDs() ([]fdLink, error) {
	const dir = "/proc/self/fd"
	names, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	var links []fdLink
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", dir, err)
		}
		var buf [256]byte
		n, err := unix.Readlink(dir+"/"+name, buf[:])
		if err == unix.ENOENT {
			continue // the one that listed the others
		}
		if err != nil {
			return nil, fmt.Errorf("read link %s/%s: %w", dir, name, err)
		}
		links = append(links, fdLink{fd, string(buf[:n])})
	}
	return links, nil
}
