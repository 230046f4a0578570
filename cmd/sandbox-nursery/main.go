// Command sandbox-nursery starts and buries workers for one sandboxd: on the socket that it inherits as descriptor 3, or,
// as a service of its own, for the first one that connects to the socket that the service manager listens on. It reads no
// configuration: what it may do is in its orders.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/sandboxd/sandboxd/internal/nursery"
)

func main() {
	runtime.GOMAXPROCS(1) // it waits for others, and forks on one thread
	cgroup := flag.String("cgroup", "", "cgroup v2 `directory` that was delegated to this service")
	flag.Parse()
	if err := run(*cgroup); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox-nursery: error:", err)
		os.Exit(1)
	}
}

func run(cgroup string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	daemon, err := accept(ctx)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own path: %w", err)
	}
	n, err := nursery.New(filepath.Join(filepath.Dir(self), "sandbox-worker"), nursery.Cgroup{Dir: cgroup, Open: open}, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	return n.Serve(ctx, daemon)
}

// accept returns the connection to the one daemon that this process serves: descriptor 3, or the first that connects if
// that is a listening socket. Its service manager keeps the socket, and starts another nursery for the next daemon. The
// environment variables that tell of such sockets are not asked: they hold a pid, which in a pid namespace is another.
func accept(ctx context.Context) (*net.UnixConn, error) {
	file := os.NewFile(nursery.InheritedFD, "daemon")
	defer file.Close()
	listens, err := syscall.GetsockoptInt(nursery.InheritedFD, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
	if err != nil {
		return nil, fmt.Errorf("use descriptor %d: %w (sandboxd starts this program; people don't)", nursery.InheritedFD, err)
	}
	if listens == 0 {
		conn, err := net.FileConn(file)
		if err != nil {
			return nil, fmt.Errorf("use descriptor %d: %w", nursery.InheritedFD, err)
		}
		return isUnix[*net.UnixConn](conn)
	}
	opened, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("use descriptor %d: %w", nursery.InheritedFD, err)
	}
	defer opened.Close()
	listener, err := isUnix[*net.UnixListener](opened)
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	conn, err := listener.AcceptUnix()
	if err != nil {
		return nil, fmt.Errorf("accept the daemon: %w", err)
	}
	return conn, nil
}

func isUnix[T any](socket any) (T, error) {
	s, ok := socket.(T)
	if !ok {
		return s, fmt.Errorf("descriptor %d is a %T, must be a %T", nursery.InheritedFD, socket, s)
	}
	return s, nil
}
