package nursery

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Dial is for Client: it reaches a nursery that is a service of its own, by the socket at path.
func Dial(path string) Opener {
	return func(ctx context.Context) (*link, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unixpacket", path)
		if err != nil {
			return nil, err
		}
		return settle(ctx, newLink(conn.(*net.UnixConn), nil), settling{})
	}
}

// InheritedFD is where a nursery that Start started finds its socket.
const InheritedFD = 3

// Start is for Client: it starts the nursery at path as a child, on a socket that it inherits, in namespaces of its own
// where the system allows them. The child ends when the daemon hangs up, however that came about. Delegated says that
// the cgroup of this process is its own to divide; else it must be marked so.
func Start(path string, stderr *os.File, delegated bool) Opener {
	return func(ctx context.Context) (*link, error) {
		l, err := start(ctx, path, stderr, delegated, true)
		if err == nil {
			return l, nil
		}
		// Whether that will do is for the profiles to say, which require layers, and for the daemon, which checks them.
		refused := err
		if l, err = start(ctx, path, stderr, delegated, false); err != nil {
			return nil, err
		}
		l.layers.lack(LayerNamespaces, refused.Error())
		return l, nil
	}
}

func start(ctx context.Context, path string, stderr *os.File, delegated, enclose bool) (*link, error) {
	dir, reason := delegatedCgroup(delegated)
	conn, gone, err := fork(path, stderr, enclose)
	if err != nil {
		return nil, err
	}
	l, err := settle(ctx, newLink(conn, gone), settling{Enclose: enclose, Cgroup: dir})
	if err == nil && dir == "" {
		l.layers.lack(LayerCgroup, reason.Error())
	}
	return l, err
}

// fork starts the process.
func fork(path string, stderr *os.File, enclose bool) (*net.UnixConn, func(), error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make nursery socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "nursery socket"), os.NewFile(uintptr(pair[1]), "nursery's socket")
	defer ours.Close()
	defer theirs.Close()
	command := exec.Command(path)
	command.Env = []string{}
	command.Dir = "/"
	command.Stderr = stderr
	command.ExtraFiles = []*os.File{theirs}                  // becomes InheritedFD
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a ^C at the terminal is the daemon's to act on
	if enclose {
		inNamespaces(command.SysProcAttr)
	}
	if err := command.Start(); err != nil {
		return nil, nil, fmt.Errorf("start nursery: %w", err)
	}
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		_ = command.Wait() // how it ended is no news: its workers' deaths are
	}()
	conn, err := net.FileConn(ours)
	if err != nil {
		_ = command.Process.Kill()
		<-reaped
		return nil, nil, fmt.Errorf("use nursery socket: %w", err)
	}
	return conn.(*net.UnixConn), func() { gone(command.Process, reaped) }, nil
}

// inNamespaces has a process started in namespaces of its own. Who is not root may do that in a user namespace only, in
// which it is still itself, but has the capabilities that it takes to change what it sees. It gives them up then: giveUp.
func inNamespaces(a *syscall.SysProcAttr) {
	a.Cloneflags = unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWNS | unix.CLONE_NEWPID
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	}
}

// endWait is how long a nursery gets to bury its workers when the daemon has hung up.
const endWait = 2 * time.Second

// gone waits until the nursery has been reaped, and kills one that does not end; its workers die with it.
func gone(nursery *os.Process, reaped <-chan struct{}) {
	select {
	case <-reaped:
	case <-time.After(endWait):
		_ = nursery.Kill() // an error means that it has ended now
		<-reaped
	}
}
