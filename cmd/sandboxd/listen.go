package main

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/systemd"
)

// sockets are what the daemon listens on. Without Admin nobody but gateways can answer for calls that wait for an approval.
type sockets struct {
	systemd.Sockets
	metrics net.Listener // nil: nobody can ask for them
}

// listen takes the service manager's sockets, or makes those that the command line names.
func listen(o options, m config.Metrics) (sockets, error) {
	given, err := systemd.Listeners()
	s := sockets{Sockets: given}
	if err != nil {
		return s, err
	}
	for _, want := range []struct {
		option, path string
		listener     **net.UnixListener
	}{{"--listen", o.listen, &s.Client}, {"--admin", o.admin, &s.Admin}} {
		if want.path == "" {
			continue
		}
		if *want.listener != nil {
			err = fmt.Errorf("%s, and a socket from the service manager: one of the two is too many", want.option)
		} else {
			*want.listener, err = bind(want.path)
		}
		if err != nil {
			s.close()
			return s, err
		}
	}
	if s.Client == nil {
		s.close()
		return s, errors.New("no socket to serve: give --listen PATH, or start it through sandboxd.socket")
	}
	if s.metrics, err = listenMetrics(m, s.Metrics); err != nil {
		s.close()
	}
	return s, err
}

// listenMetrics takes the service manager's socket for metrics, or makes the configuration's; nil: there is neither.
func listenMetrics(m config.Metrics, given *net.UnixListener) (net.Listener, error) {
	network, address, err := m.Address()
	switch {
	case err != nil:
		return nil, err
	case given != nil && network != "":
		return nil, errors.New("metrics.listen, and a socket for metrics from the service manager: one of the two is too many")
	case given != nil:
		return given, nil
	case network == "unix":
		l, err := bind(address)
		if err != nil { // not in an interface: it would be none that is nil
			return nil, fmt.Errorf("metrics.listen: %w", err)
		}
		return l, nil
	case network == "tcp":
		l, err := net.Listen(network, address)
		if err != nil {
			return nil, fmt.Errorf("metrics.listen: %w", err)
		}
		return l, nil
	}
	return nil, nil
}

func (s sockets) close() {
	for _, l := range []*net.UnixListener{s.Client, s.Admin, s.Metrics} {
		if l != nil {
			l.Close()
		}
	}
	if s.metrics != nil {
		s.metrics.Close()
	}
}

// others are where administrators are served and metrics are told, for the log.
func (s sockets) others() (admin, metrics string) {
	admin, metrics = "none", "none"
	if s.Admin != nil {
		admin = s.Admin.Addr().String()
	}
	if s.metrics != nil {
		metrics = s.metrics.Addr().String()
	}
	return admin, metrics
}

// bind makes a socket at path, for its user and group.
func bind(path string) (*net.UnixListener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		l.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// removeStale removes a socket that nobody listens on. Anything else at path stays.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if info.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("listen: %s exists and is no socket", path)
	}
	if conn, err := net.Dial("unix", path); err == nil {
		conn.Close()
		return fmt.Errorf("listen: another daemon serves %s already", path)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("listen: remove the socket that an earlier daemon left: %w", err)
	}
	return nil
}
