package jail

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// resources are the rlimits that are set, in this order; the last one is set after Landlock was proved.
// The label is the kernel's, in /proc/PID/limits.
var resources = []struct {
	name     string
	label    string
	resource int
	limit    func(e *entry, now unix.Rlimit) (unix.Rlimit, error)
}{
	{"fsize", "Max file size", unix.RLIMIT_FSIZE, zero},
	{"core", "Max core file size", unix.RLIMIT_CORE, zero},
	{"memlock", "Max locked memory", unix.RLIMIT_MEMLOCK, zero},
	{"msgqueue", "Max msgqueue size", unix.RLIMIT_MSGQUEUE, zero},
	{"nice", "Max nice priority", unix.RLIMIT_NICE, zero},
	{"rtprio", "Max realtime priority", unix.RLIMIT_RTPRIO, zero},
	{"cpu", "Max cpu time", unix.RLIMIT_CPU, cpu},
	{"as", "Max address space", unix.RLIMIT_AS, addressSpace},
	{"nofile", "Max open files", unix.RLIMIT_NOFILE, zero}, // it stops new fds, and leaves open ones alone
}

func zero(*entry, unix.Rlimit) (unix.Rlimit, error) { return unix.Rlimit{}, nil }

// cpu leaves a second between SIGXCPU, which Go ignores, and SIGKILL.
func cpu(e *entry, now unix.Rlimit) (unix.Rlimit, error) {
	s := uint64(e.spec.CPUSeconds)
	return unix.Rlimit{Cur: min(s, now.Max), Max: min(s+1, now.Max)}, nil
}

func addressSpace(e *entry, now unix.Rlimit) (unix.Rlimit, error) {
	b, err := readFile("/proc/self/statm")
	if err != nil {
		return unix.Rlimit{}, err
	}
	first, _, _ := bytes.Cut(b, []byte(" "))
	pages, err := strconv.ParseUint(string(first), 10, 64)
	if err != nil {
		return unix.Rlimit{}, fmt.Errorf("size in /proc/self/statm: %w", err)
	}
	size := min(pages*uint64(os.Getpagesize())+asFactor*uint64(e.spec.MemoryBytes), now.Max)
	return unix.Rlimit{Cur: size, Max: size}, nil
}

func (e *entry) setLimits() error { return e.limit(0, len(resources)-1) }

// forbidOpening sets the last limit: from here on nothing can be opened, not even by passing an fd.
func (e *entry) forbidOpening() error {
	if err := e.limit(len(resources)-1, len(resources)); err != nil {
		return err
	}
	return e.must("dup(2)", dup(fdStderr), unix.EMFILE)
}

func (e *entry) limit(from, to int) error {
	for _, r := range resources[from:to] {
		var now unix.Rlimit
		if err := unix.Getrlimit(r.resource, &now); err != nil {
			return fmt.Errorf("get rlimit %s: %w", r.name, err)
		}
		want, err := r.limit(e, now)
		if err != nil {
			return fmt.Errorf("rlimit %s: %w", r.name, err)
		}
		if err := unix.Prlimit(0, r.resource, &want, nil); err != nil {
			return fmt.Errorf("set rlimit %s to %s: %w", r.name, limitText(want.Cur, want.Max), err)
		}
		e.report.Rlimits = append(e.report.Rlimits, r.name+"="+limitText(want.Cur, want.Max))
	}
	return nil
}

func limitText(soft, hard any) string {
	if soft == hard {
		return fmt.Sprint(soft)
	}
	return fmt.Sprint(soft, ":", hard)
}

// proveLimits tries to raise every limit again: without CAP_SYS_RESOURCE it must fail, for root as well.
func (e *entry) proveLimits() error {
	for _, r := range resources[:len(resources)-1] {
		var now unix.Rlimit
		if err := unix.Getrlimit(r.resource, &now); err != nil {
			return fmt.Errorf("get rlimit %s: %w", r.name, err)
		}
		now.Max++
		if err := unix.Prlimit(0, r.resource, &now, nil); !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("raise rlimit %s: got %v, must be EPERM", r.name, err)
		}
	}
	e.proved("setrlimit of %d limits: EPERM", len(resources)-1)
	return nil
}
