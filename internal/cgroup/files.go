package cgroup

import (
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// maxFile bounds what is read of a cgroup's file. The longest, cpu.stat, has about 200 bytes.
const maxFile = 4 << 10

// directory is an open cgroup. Its files are used with three bare system calls each: os.File takes seven, as it
// puts each of them into the poller, and takes it out again.
type directory struct {
	path string // for messages
	fd   int
}

func (d *directory) join(name string) string { return d.path + "/" + name }

// write hands value to the kernel in one piece, as it must be.
func (d *directory) write(name, value string) error {
	fd, err := unix.Openat(d.fd, name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s to write %q: %w", d.join(name), value, err)
	}
	defer unix.Close(fd)
	n, err := unix.Write(fd, []byte(value))
	if err == nil && n != len(value) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("write %q to %s: %w", value, d.join(name), err)
	}
	return nil
}

// read returns a file. The kernel shows all of it to one read, but for the list of more processes than fit: that one's
// beginning.
func (d *directory) read(name string) (string, error) {
	fd, err := unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", d.join(name), err)
	}
	defer unix.Close(fd)
	var text [maxFile]byte
	n, err := unix.Read(fd, text[:])
	if err != nil {
		return "", fmt.Errorf("read %s: %w", d.join(name), err)
	}
	return string(text[:n]), nil
}

// pids reads a cgroup.procs.
func (d *directory) pids(name string) ([]int, error) {
	text, err := d.read(name)
	if err != nil {
		return nil, err
	}
	pids, err := parsePIDs(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", d.join(name), err)
	}
	return pids, nil
}

func (d *directory) has(name string) (bool, error) {
	var stat unix.Stat_t
	switch err := unix.Fstatat(d.fd, name, &stat, 0); err {
	case nil:
		return true, nil
	case unix.ENOENT:
		return false, nil
	default:
		return false, fmt.Errorf("look for %s: %w", d.join(name), err)
	}
}
