package server

import (
	"fmt"
	"net"
	"os/user"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/sandboxd/sandboxd/internal/config"
)

// Caller is who the kernel says is at the other end, at the time of its connect.
type Caller struct {
	PID    int32
	UID    uint32
	Groups []uint32 // its group, and the supplementary ones
}

// identify asks the kernel (unix(7), SO_PEERCRED and SO_PEERGROUPS).
func identify(conn *net.UnixConn) (Caller, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Caller{}, fmt.Errorf("identify caller: %w", err)
	}
	var c Caller
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		if err != nil {
			failed = fmt.Errorf("identify caller: SO_PEERCRED: %w", err)
			return
		}
		groups, err := peerGroups(int(fd))
		if err != nil {
			failed = fmt.Errorf("identify caller: SO_PEERGROUPS: %w", err)
			return
		}
		c = Caller{PID: cred.Pid, UID: cred.Uid, Groups: append([]uint32{cred.Gid}, groups...)}
	})
	if err != nil {
		return Caller{}, fmt.Errorf("identify caller: %w", err)
	}
	return c, failed
}

const (
	soPeerGroups = 59    // Linux 4.13; the same on amd64 and arm64
	maxGroups    = 65536 // NGROUPS_MAX
)

func peerGroups(fd int) ([]uint32, error) {
	groups := make([]uint32, 64)
	for {
		size := uint32(len(groups) * 4)
		_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, uintptr(fd), syscall.SOL_SOCKET, soPeerGroups,
			uintptr(unsafe.Pointer(unsafe.SliceData(groups))), uintptr(unsafe.Pointer(&size)), 0)
		switch {
		case errno == 0:
			return groups[:size/4], nil
		case errno == syscall.ERANGE && len(groups) < maxGroups:
			groups = make([]uint32, maxGroups)
		default:
			return nil, errno
		}
	}
}

// String is who it is, for people. A name is the system's today for the number, which alone counts.
func (c Caller) String() string {
	return c.user() + ", pid " + strconv.Itoa(int(c.PID))
}

func (c Caller) user() string {
	uid := strconv.FormatUint(uint64(c.UID), 10)
	if u, err := user.LookupId(uid); err == nil {
		return "uid " + uid + " (" + u.Username + ")"
	}
	return "uid " + uid
}

// permit says whether the caller is among those that a key of the configuration allows.
func (c Caller) permit(a config.Allowed, key string) error {
	if slices.Contains(a.UIDs, c.UID) {
		return nil
	}
	for _, g := range c.Groups {
		if slices.Contains(a.GIDs, g) {
			return nil
		}
	}
	return fmt.Errorf("user %d is not an allowed caller: have it, or a group of it, added to `%s` in the daemon's configuration", c.UID, key)
}
