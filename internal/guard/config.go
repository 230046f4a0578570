package guard

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandboxd/sandboxd/internal/remote"
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

func (c Config) check() (remote.Address, error) {
	switch {
	case c.API != apiGuard && c.API != apiChat:
		return remote.Address{}, fmt.Errorf("api: %q is neither guard nor chat", c.API)
	case c.API == apiChat && c.Model == "":
		return remote.Address{}, errors.New("model: is empty; api chat wants the name of a model")
	case c.API == apiGuard && c.Model != "":
		return remote.Address{}, errors.New("model: is for api chat only")
	case c.Model != printable(c.Model, 200):
		return remote.Address{}, errors.New("model: is longer than 200 bytes, or has characters that can't be seen")
	case c.Timeout < 50*time.Millisecond || c.Timeout > 30*time.Second:
		return remote.Address{}, fmt.Errorf("timeout: %v is not within 50ms and 30s", c.Timeout)
	case c.OnUnavailable != Ask.String() && c.OnUnavailable != Block.String():
		return remote.Address{}, fmt.Errorf("on_unavailable: %q is neither ask nor block", c.OnUnavailable)
	case c.AtOnce < 1 || c.AtOnce > 256:
		return remote.Address{}, fmt.Errorf("at_once: %d is not within 1 and 256", c.AtOnce)
	case c.ArgsBytes < 1<<10 || c.ArgsBytes > 1<<20:
		return remote.Address{}, fmt.Errorf("args_bytes: %d is not within %d and %d", c.ArgsBytes, 1<<10, 1<<20)
	}
	at, err := parse(c.URL)
	if err != nil {
		return remote.Address{}, fmt.Errorf("url: %w", err)
	}
	if c.CA != "" && !strings.HasPrefix(at.Base, "https:") {
		return remote.Address{}, errors.New("ca: is for an https:// url only")
	}
	return at, nil
}

// parse takes the address of a judge.
func parse(text string) (remote.Address, error) {
	at, err := remote.Parse(text, "https://guard.example, http://127.0.0.1:8080 or unix:///run/guard.sock")
	if err == nil && strings.HasSuffix(at.Base, "/v1") {
		err = errors.New("ends in /v1, which is a part of each path that is appended to it: leave it out")
	}
	return at, err
}
