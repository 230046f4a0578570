package guard

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Config says who judges, and how. docs/configuration.md describes the keys. Start from Default.
type Config struct {
	URL           string        `yaml:"url"`            // https://…, http:// to a loopback address, or unix:///socket
	API           string        `yaml:"api"`            // guard, or chat
	Model         string        `yaml:"model"`          // for chat
	CA            string        `yaml:"ca"`             // file of certificates; empty: the system's
	Key           string        `yaml:"key"`            // name of a systemd credential, or path of a file; empty: none is sent
	Timeout       time.Duration `yaml:"timeout"`        // of a check, retries and waiting included
	OnUnavailable string        `yaml:"on_unavailable"` // ask, or block
	AtOnce        int           `yaml:"at_once"`        // requests in flight
	ArgsBytes     int           `yaml:"args_bytes"`     // the longest arguments that are sent
}

const (
	apiGuard = "guard"
	apiChat  = "chat"
)

// Default is what holds for every key but url.
func Default() Config {
	return Config{API: apiGuard, Timeout: 2 * time.Second, OnUnavailable: Ask.String(), AtOnce: 16, ArgsBytes: 64 << 10}
}

// Check says what is wrong, but for the files that it names. The error begins with the key.
func (c Config) Check() error {
	_, err := c.check()
	return err
}

func (c Config) check() (endpoint, error) {
	switch {
	case c.API != apiGuard && c.API != apiChat:
		return endpoint{}, fmt.Errorf("api: %q is neither guard nor chat", c.API)
	case c.API == apiChat && c.Model == "":
		return endpoint{}, errors.New("model: is empty; api chat wants the name of a model")
	case c.API == apiGuard && c.Model != "":
		return endpoint{}, errors.New("model: is for api chat only")
	case c.Model != printable(c.Model, 200):
		return endpoint{}, errors.New("model: is longer than 200 bytes, or has characters that can't be seen")
	case c.Timeout < 50*time.Millisecond || c.Timeout > 30*time.Second:
		return endpoint{}, fmt.Errorf("timeout: %v is not within 50ms and 30s", c.Timeout)
	case c.OnUnavailable != Ask.String() && c.OnUnavailable != Block.String():
		return endpoint{}, fmt.Errorf("on_unavailable: %q is neither ask nor block", c.OnUnavailable)
	case c.AtOnce < 1 || c.AtOnce > 256:
		return endpoint{}, fmt.Errorf("at_once: %d is not within 1 and 256", c.AtOnce)
	case c.ArgsBytes < 1<<10 || c.ArgsBytes > 1<<20:
		return endpoint{}, fmt.Errorf("args_bytes: %d is not within %d and %d", c.ArgsBytes, 1<<10, 1<<20)
	}
	at, err := parse(c.URL)
	if err != nil {
		return endpoint{}, fmt.Errorf("url: %w", err)
	}
	if c.CA != "" && !strings.HasPrefix(at.base, "https:") {
		return endpoint{}, errors.New("ca: is for an https:// url only")
	}
	return at, nil
}

// endpoint is where a judge listens.
type endpoint struct {
	name   string // for people
	base   string // what the paths of the protocol are appended to
	socket string // path of a Unix socket; empty: by TCP, as base says
}

// parse takes nothing that would send what is to be judged over a network in the clear. Its errors don't show the text,
// which can have a password in it.
func parse(text string) (endpoint, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return endpoint{}, errors.New("is empty; want https://guard.example, http://127.0.0.1:8080 or unix:///run/guard.sock")
	case err != nil || u.Opaque != "":
		return endpoint{}, errors.New("is no URL; want https://guard.example, http://127.0.0.1:8080 or unix:///run/guard.sock")
	case u.User != nil:
		return endpoint{}, errors.New("has a user or a password in it; the place for a secret is the file that key names")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return endpoint{}, errors.New("has a query or a fragment; want an address, and a path at most")
	case u.Scheme == "unix":
		return parseSocket(u)
	case u.Scheme != "https" && u.Scheme != "http":
		return endpoint{}, errors.New("is neither https://, http:// nor unix://")
	case u.Hostname() == "":
		return endpoint{}, errors.New("names no host")
	case !validPort(u.Port()):
		return endpoint{}, fmt.Errorf("has the port %q, which is not within 1 and 65535", u.Port())
	}
	if u.Scheme == "http" {
		if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsLoopback() {
			return endpoint{}, fmt.Errorf("is http:// to %s: without TLS only a loopback address is taken, written as a number such as 127.0.0.1; want https://",
				u.Host)
		}
	}
	base := strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/")
	if strings.HasSuffix(base, "/v1") {
		return endpoint{}, errors.New("ends in /v1, which is a part of each path that is appended to it: leave it out")
	}
	return endpoint{name: base, base: base}, nil
}

// MaxSocketPath is how many bytes of a path fit a socket's address (unix(7): sun_path has 108, with the one that ends it).
const MaxSocketPath = 107

func parseSocket(u *url.URL) (endpoint, error) {
	switch {
	case u.Host != "" || !filepath.IsAbs(u.Path):
		return endpoint{}, errors.New("is unix:// without an absolute path; want three slashes, as in unix:///run/guard.sock")
	case filepath.Clean(u.Path) != u.Path || strings.ContainsRune(u.Path, 0):
		return endpoint{}, fmt.Errorf("has the path %q, which is not the plain path of a socket", u.Path)
	case len(u.Path) > MaxSocketPath:
		return endpoint{}, fmt.Errorf("has a path of %d bytes; a socket's has at most %d", len(u.Path), MaxSocketPath)
	}
	return endpoint{name: "unix://" + u.Path, base: "http://localhost", socket: u.Path}, nil
}

func validPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n >= 1 && n <= 65535
}
