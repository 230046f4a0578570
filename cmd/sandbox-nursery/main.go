// Command sandbox-nursery starts and buries workers for one sandboxd, on the socket that it inherits
// as descriptor 3. It takes no arguments and reads no configuration: what it may do is in its orders.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sandboxd/sandboxd/internal/nursery"
)

func main() {
	runtime.GOMAXPROCS(1) // it waits for others, and forks on one thread
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox-nursery: error:", err)
		os.Exit(1)
	}
}

func run() error {
	file := os.NewFile(nursery.InheritedFD, "daemon")
	conn, err := net.FileConn(file)
	if err != nil {
		return fmt.Errorf("use descriptor %d: %w (sandboxd starts this program; people don't)", nursery.InheritedFD, err)
	}
	file.Close()
	daemon, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("descriptor 3 is not a Unix socket")
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own path: %w", err)
	}
	n, err := nursery.New(filepath.Join(filepath.Dir(self), "sandbox-worker"), slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	return n.Serve(context.Background(), daemon)
}
