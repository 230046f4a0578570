// Package remote reaches the HTTP servers that the daemon's configuration names.
package remote

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// Address is where a server listens. Parse makes it.
type Address struct {
	Name   string // for people
	Base   string // what paths are appended to; without a slash at its end
	Socket string // path of a Unix socket; empty: by TCP, as Base says
}

// Parse takes nothing that would send over a network in the clear. Its errors don't show the text, which can have a password in it; they
// show what such an address looks like, which is the caller's to know.
func Parse(text, example string) (Address, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return Address{}, errors.New("is empty; want " + example)
	case err != nil || u.Opaque != "":
		return Address{}, errors.New("is no URL; want " + example)
	case u.User != nil:
		return Address{}, errors.New("has a user or a password in it; the place for a secret is a file of its own")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Address{}, errors.New("has a query or a fragment; want an address, and a path at most")
	case u.Scheme == "unix":
		return parseSocket(u)
	case u.Scheme != "https" && u.Scheme != "http":
		return Address{}, errors.New("is neither https://, http:// nor unix://")
	case u.Hostname() == "":
		return Address{}, errors.New("names no host")
	case !validPort(u.Port()):
		return Address{}, fmt.Errorf("has the port %q, which is not within 1 and 65535", u.Port())
	}
	if u.Scheme == "http" {
		if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsLoopback() {
			return Address{}, fmt.Errorf("is http:// to %s: without TLS only a loopback address is taken, written as a number such as 127.0.0.1; want https://",
				u.Host)
		}
	}
	base := strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/")
	return Address{Name: base, Base: base}, nil
}

// MaxSocketPath is how many bytes of a path fit a socket's address (unix(7): sun_path has 108, with the one that ends it).
const MaxSocketPath = 107

func parseSocket(u *url.URL) (Address, error) {
	switch {
	case u.Host != "" || !filepath.IsAbs(u.Path):
		return Address{}, errors.New("is unix:// without an absolute path; want three slashes, as in unix:///run/it.sock")
	case filepath.Clean(u.Path) != u.Path || strings.ContainsRune(u.Path, 0):
		return Address{}, fmt.Errorf("has the path %q, which is not the plain path of a socket", u.Path)
	case len(u.Path) > MaxSocketPath:
		return Address{}, fmt.Errorf("has a path of %d bytes; a socket's has at most %d", len(u.Path), MaxSocketPath)
	}
	return Address{Name: "unix://" + u.Path, Base: "http://localhost", Socket: u.Path}, nil
}

func validPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n >= 1 && n <= 65535
}
