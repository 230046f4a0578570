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
	return func(ctx context.Context) (*net.UnixConn, func(), error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unixpacket", path)
		if err != nil {
			return nil, nil, err
		}
		return conn.(*net.UnixConn), nil, nil
	}
}

// InheritedFD is where a nursery that Start started finds its socket.
const InheritedFD = 3

// Start is for Client: it starts the nursery at path as a child, on a socket that it inherits. The child
// ends when the daemon hangs up, however that came about.
func Start(path string, stderr *os.File) Opener {
	return func(context.Context) (*net.UnixConn, func(), error) {
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
			return nil, nil, fmt.Errorf("use nursery socket: %w", err)
		}
		return conn.(*net.UnixConn), func() { gone(command.Process, reaped) }, nil
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
