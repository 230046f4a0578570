package traces

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/sandboxd/sandboxd/internal/remote"
)

// Config says where spans are sent, and whose. docs/configuration.md describes the keys. Start from Default.
type Config struct {
	Endpoint string        `yaml:"endpoint"` // https://…, http:// to a loopback address, or unix:///socket
	CA       string        `yaml:"ca"`       // file of certificates; empty: the system's
	Headers  string        `yaml:"headers"`  // name of a systemd credential, or path of a file; empty: none are sent
	Timeout  time.Duration `yaml:"timeout"`  // of a request
	Sample   int           `yaml:"sample"`   // percent of the runs whose gateway does not say
}

// Default is what holds for every key but endpoint.
func Default() Config { return Config{Timeout: 5 * time.Second, Sample: 100} }

// Check says what is wrong, but for the files that it names. The error begins with the key.
func (c Config) Check() error {
	_, err := c.check()
	return err
}

// path is where OTLP has traces, below an address without a path.
const path = "/v1/traces"

func (c Config) check() (remote.Address, error) {
	switch {
	case c.Timeout < 100*time.Millisecond || c.Timeout > time.Minute:
		return remote.Address{}, fmt.Errorf("timeout: %v is not within 100ms and 1m0s", c.Timeout)
	case c.Sample < 0 || c.Sample > 100:
		return remote.Address{}, fmt.Errorf("sample: %d is not within 0 and 100", c.Sample)
	}
	at, err := remote.Parse(c.Endpoint, "https://collector.example/v1/traces, http://127.0.0.1:4318 or unix:///run/collector.sock")
	if err != nil {
		return remote.Address{}, fmt.Errorf("endpoint: %w", err)
	}
	if c.CA != "" && !strings.HasPrefix(at.Base, "https:") {
		return remote.Address{}, errors.New("ca: is for an https:// endpoint only")
	}
	if _, below, _ := strings.Cut(at.Base, "://"); !strings.Contains(below, "/") {
		at.Base += path
	}
	return at, nil
}

const (
	maxHeaders     = 16
	maxHeaderBytes = 8 << 10
)

// own are the headers that are the exporter's to set, or the connection's.
var own = []string{
	"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host", "Keep-Alive", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// readHeaders reads a file with lines of NAME: VALUE. No error shows what is in it.
func readHeaders(name string) (http.Header, error) {
	if name == "" {
		return nil, nil
	}
	text, file, err := remote.Secret(name, maxHeaderBytes)
	if err != nil {
		return nil, err
	}
	headers := make(http.Header)
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, colon := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		name := textproto.CanonicalMIMEHeaderKey(key)
		switch {
		case !colon || !isToken(key) || value == "" || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			return nil, fmt.Errorf("%s:%d: is no header: want NAME: VALUE, in ASCII", file, n)
		case slices.Contains(own, name):
			return nil, fmt.Errorf("%s:%d: the header %s is the daemon's own to set", file, n, name)
		case headers[name] != nil:
			return nil, fmt.Errorf("%s:%d: the header %s stands there twice", file, n, name)
		case len(headers) == maxHeaders:
			return nil, fmt.Errorf("%s:%d: more than %d headers", file, n, maxHeaders)
		}
		headers.Set(name, value)
	}
	if len(headers) == 0 {
		return nil, fmt.Errorf("%s is empty", file)
	}
	return headers, nil
}

// isToken says whether a text can be a header's name (RFC 9110, section 5.6.2).
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// hide takes what headers have out of a text that a server wrote: whole, and word by word, as the secret is one of them.
func hide(text string, headers http.Header) string {
	for name := range headers {
		for _, word := range append([]string{headers.Get(name)}, strings.Fields(headers.Get(name))...) {
			text = strings.ReplaceAll(text, word, "(header)")
		}
	}
	return text
}
