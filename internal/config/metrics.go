package config

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"

	"github.com/sandboxd/sandboxd/internal/remote"
)

// Metrics says where Prometheus may ask. The zero value: nowhere.
type Metrics struct {
	Listen string `yaml:"listen"` // path of a Unix socket, or a loopback address with its port
}

// Address is what Listen names; an empty network: nothing. What the metrics tell is for this machine's operators, and asked for without a
// password: other addresses are refused.
func (m Metrics) Address() (network, address string, err error) {
	if m.Listen == "" {
		return "", "", nil
	}
	if filepath.IsAbs(m.Listen) {
		if len(m.Listen) > remote.MaxSocketPath {
			return "", "", fmt.Errorf("metrics.listen: a path of %d bytes, and a socket's has at most %d", len(m.Listen), remote.MaxSocketPath)
		}
		return "unix", m.Listen, nil
	}
	at, err := netip.ParseAddrPort(m.Listen)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("metrics.listen: %.80q is neither the absolute path of a socket nor an address such as 127.0.0.1:9464", m.Listen)
	case !at.Addr().IsLoopback():
		return "", "", fmt.Errorf("metrics.listen: %s is not a loopback address, such as 127.0.0.1 or [::1]; for other machines, an agent on this one passes them on", at.Addr())
	case at.Port() == 0:
		return "", "", errors.New("metrics.listen: port 0 is any, which nobody could know")
	}
	return "tcp", at.String(), nil
}
