package cgroup

import "golang.org/x/sys/unix"

var (
	ParseNumber = parseNumber
	ParseField  = parseField
	ParsePIDs   = parsePIDs
	ValidName   = validName
)

// Probe looks at any directory as Open does at one that was delegated.
func Probe(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return (&Tree{directory{dir, fd}}).probe()
}

// Crash leaves the tree as a nursery that is killed does.
func (t *Tree) Crash() { unix.Close(t.dir.fd) }
