package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"unicode"
)

// entry is one server as MCP clients write it.
type entry struct {
	Type      string            `json:"type"`
	Command   *string           `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"`
	Cwd       string            `json:"cwd"`
	URL       *string           `json:"url"`
	ServerURL *string           `json:"serverUrl"` // as some clients call it
	Headers   map[string]string `json:"headers"`
	Disabled  bool              `json:"disabled"`
}

// parseServer returns nil for a disabled server.
func (c *Config) parseServer(name string, data json.RawMessage) (*Server, error) {
	e, err := c.parseEntry(name, data)
	if err != nil {
		return nil, err
	}
	if e.Disabled {
		c.warn("server %q: disabled", name)
		return nil, nil
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	x := expander{lookup: os.LookupEnv}
	server := &Server{
		Name: name, Command: x.value("command", e.Command), Args: x.list("args", e.Args), Env: x.table("env", e.Env),
		Dir: x.value("cwd", &e.Cwd), URL: x.value("url", e.URL), Headers: x.table("headers", e.Headers),
	}
	if x.err != nil {
		return nil, x.err
	}
	if e.URL != nil && server.URL == "" {
		return nil, errors.New("url: is empty")
	}
	return server, server.check()
}

func (c *Config) parseEntry(name string, data json.RawMessage) (e entry, err error) {
	members, err := decodeObject(data)
	if err != nil {
		return e, err
	}
	known := map[string]any{
		"type": &e.Type, "command": &e.Command, "args": &e.Args, "env": &e.Env, "cwd": &e.Cwd,
		"url": &e.URL, "serverUrl": &e.ServerURL, "headers": &e.Headers, "disabled": &e.Disabled,
	}
	for _, m := range members {
		target, ok := known[m.key]
		if !ok {
			c.warn("server %q: ignored %q", name, m.key)
			continue
		}
		if err := json.Unmarshal(m.value, target); err != nil {
			return e, fmt.Errorf("%s: %w", m.key, err)
		}
	}
	if e.URL != nil && e.ServerURL != nil {
		return e, errors.New(`both "url" and "serverUrl": remove one`)
	}
	if e.URL == nil {
		e.URL = e.ServerURL
	}
	return e, nil
}

func (e *entry) check() error {
	switch {
	case e.Command != nil && e.URL != nil:
		return errors.New(`both "command" and "url": remove one`)
	case e.Command == nil && e.URL == nil:
		return errors.New(`neither "command" nor "url": add one`)
	}
	switch e.Type {
	case "":
		return nil
	case "stdio":
		return e.want("command", e.Command)
	case "http", "streamable-http", "streamableHttp":
		return e.want("url", e.URL)
	case "sse":
		return errors.New(`type: "sse" is not supported: use the server's Streamable HTTP endpoint with "type": "http" (its path often ends in /mcp)`)
	}
	return fmt.Errorf(`type: %q is not supported: use "stdio" or "http"`, e.Type)
}

func (e *entry) want(key string, value *string) error {
	if value == nil {
		return fmt.Errorf("type: %q needs %q", e.Type, key)
	}
	return nil
}

// check looks at what the expansion made.
func (s *Server) check() error {
	if s.URL == "" {
		return s.checkCommand()
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		// The URL itself may hold a secret, so it stays out of the message.
		return errors.New("url: want http://… or https://… with a host")
	}
	for name, value := range s.Headers {
		if name == "" || strings.ContainsFunc(name+value, unicode.IsControl) {
			return fmt.Errorf("headers: %q has no name, or control characters", name)
		}
	}
	return nil
}

func (s *Server) checkCommand() error {
	if strings.TrimSpace(s.Command) == "" {
		return errors.New("command: is empty")
	}
	for _, text := range append([]string{s.Command, s.Dir}, s.Args...) {
		if strings.ContainsRune(text, 0) {
			return errors.New("command, args or cwd: has a NUL character")
		}
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return fmt.Errorf("env: %q can't be an environment variable", name)
		}
	}
	return nil
}
