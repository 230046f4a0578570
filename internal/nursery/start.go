package nursery

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Dial is for Client: it reaches a nursery that is a service of its own, by the socket at path.
func Dial(path string) func(context.Context) (*net.UnixConn, error) {
	return func(ctx context.Context) (*net.UnixConn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unixpacket", path)
		if err != nil {
			return nil, err
		}
		return conn.(*net.UnixConn), nil
	}
}

// InheritedFD is where a nursery that Start started finds its socket.
const InheritedFD = 3

// Start is for Client: it starts the nursery at path as a child, on a socket that it inherits. The child
// ends when the daemon hangs up, however that came about.
func Start(path string, stderr *os.File) func(context.Context) (*net.UnixConn, error) {
	return func(context.Context) (*net.UnixConn, error) {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("make nursery socket: %w", err)
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
			return nil, fmt.Errorf("start nursery: %w", err)
		}
		go command.Wait() // reaps it; its end shows on the socket
		conn, err := net.FileConn(ours)
		if err != nil {
			return nil, fmt.Errorf("use nursery socket: %w", err)
		}
		return conn.(*net.UnixConn), nil
	}
}
