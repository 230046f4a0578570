// Package systemd is the daemon's side of a service manager: sockets that it was started with, and what
// it tells about itself. Without a service manager it does nothing.
package systemd

import (
	"fmt"
	"net"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// FileDescriptorNames of the sockets.
const (
	ClientSocket  = "client"  // for gateways
	AdminSocket   = "admin"   // for administrators
	MetricsSocket = "metrics" // for Prometheus
)

// Sockets are those that the process was started with; nil where there was none.
type Sockets struct{ Client, Admin, Metrics *net.UnixListener }

// Listeners returns the sockets that the process was started with. One under any other name is an error: something would wait on it
// for ever.
func Listeners() (Sockets, error) {
	var s Sockets
	named, err := activation.ListenersWithNames()
	if err != nil {
		return s, fmt.Errorf("take sockets from the service manager: %w", err)
	}
	places := map[string]**net.UnixListener{ClientSocket: &s.Client, AdminSocket: &s.Admin, MetricsSocket: &s.Metrics}
	for name, listeners := range named {
		for _, l := range listeners {
			unix, ok := l.(*net.UnixListener)
			place := places[name]
			if place == nil || !ok || *place != nil {
				return Sockets{}, fmt.Errorf("socket %q from the service manager: want one Unix stream socket named %q, and at most one named %q and one named %q",
					name, ClientSocket, AdminSocket, MetricsSocket)
			}
			unix.SetUnlinkOnClose(false) // its path is the service manager's
			*place = unix
		}
	}
	return s, nil
}

// Ready says that gateways are served.
func Ready() error { return notify(daemon.SdNotifyReady) }

// Reloading says that the configuration is being read again; Ready ends it.
func Reloading() error {
	return notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
}

// Stopping says that the end has begun.
func Stopping() error { return notify(daemon.SdNotifyStopping) }

// Alive says that the process is not hung. The unit's WatchdogSec= is how long it may not have said so.
func Alive() error { return notify(daemon.SdNotifyWatchdog) }

// Status says in a line how things are.
func Status(format string, args ...any) error {
	return notify("STATUS=" + fmt.Sprintf(format, args...))
}

func notify(state string) error {
	if _, err := daemon.SdNotify(false, state); err != nil {
		return fmt.Errorf("notify the service manager: %w", err)
	}
	return nil
}
