package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxConfig  = 1 << 20 // bytes; a file with more is not such a file
	maxServers = 64      // each may be a process
	maxName    = 64      // bytes; names show up in programs, policies and logs
)

// Config is a checked "mcpServers" object with every variable expanded.
type Config struct {
	Servers  []Server // by name; disabled ones are left out
	Warnings []string // what was ignored, for the person
}

// Server says how to reach one MCP server: by Command or by URL, never both.
type Server struct {
	Name string

	Command string // looked up in PATH unless it holds a slash
	Args    []string
	Env     map[string]string // on top of a minimal environment
	Dir     string            // working directory; empty: ours

	URL     string // of Streamable HTTP
	Headers map[string]string
}

// LoadConfig reads and parses the file at path.
func LoadConfig(path string) (Config, error) {
	file, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("read MCP configuration: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err != nil {
		return Config{}, fmt.Errorf("read MCP configuration: %w", err)
	}
	config, err := ParseConfig(data)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return config, nil
}

// ParseConfig parses the {"mcpServers": {…}} JSON that MCP clients share, and expands ${VAR} and
// ${VAR:-default} from the environment. Keys that only other clients know become warnings.
func ParseConfig(data []byte) (Config, error) {
	if len(data) > maxConfig {
		return Config{}, fmt.Errorf("MCP configuration has more than %d bytes", maxConfig)
	}
	var config Config
	servers, err := config.servers(data)
	if err != nil {
		return Config{}, err
	}
	var failed []error
	for _, m := range servers {
		failed = append(failed, config.add(m.key, m.value))
	}
	if err := errors.Join(failed...); err != nil {
		return Config{}, err
	}
	slices.SortFunc(config.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return config, nil
}

func (c *Config) servers(data []byte) (servers []member, err error) {
	top, err := decodeObject(data)
	if err != nil {
		return nil, fmt.Errorf("MCP configuration: %w", err)
	}
	for _, m := range top {
		if m.key != "mcpServers" {
			c.warn("top level: ignored %q", m.key)
		} else if servers, err = decodeObject(m.value); err != nil {
			return nil, fmt.Errorf("mcpServers: %w", err)
		}
	}
	if len(servers) == 0 {
		return nil, errors.New(`MCP configuration has no servers: want {"mcpServers": {"name": {"command": …} or {"url": …}}}`)
	}
	if len(servers) > maxServers {
		return nil, fmt.Errorf("mcpServers: %d servers, at most %d are allowed", len(servers), maxServers)
	}
	return servers, nil
}

func (c *Config) add(name string, data json.RawMessage) error {
	if err := checkName(name); err != nil {
		return err
	}
	server, err := c.parseServer(name, data)
	if err != nil {
		return fmt.Errorf("server %q: %w", name, err)
	}
	if server != nil {
		c.Servers = append(c.Servers, *server)
	}
	return nil
}

func (c *Config) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("a server's name is empty")
	case len(name) > maxName:
		return fmt.Errorf("server %.20q…: the name has %d bytes, at most %d are allowed", name, len(name), maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("server %q: the name has control characters", name)
	}
	return nil
}

type member struct {
	key   string
	value json.RawMessage
}

// decodeObject keeps the order of a JSON object's members, and refuses a key that stands twice: of two servers
// of one name, encoding/json would silently take the last.
func decodeObject(data []byte) (members []member, err error) {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, fmt.Errorf("%w%s", err, at(data, err))
	}
	d := json.NewDecoder(bytes.NewReader(whole))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("want a JSON object")
	}
	for d.More() {
		key, _ := d.Token() // valid JSON: it is a string
		m := member{key: key.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(members, func(other member) bool { return other.key == m.key }) {
			return nil, fmt.Errorf("key %q stands twice", m.key)
		}
		members = append(members, m)
	}
	return members, nil
}

func at(data []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return ""
	}
	before := data[:min(int(syntax.Offset), len(data))]
	return fmt.Sprintf(" (line %d, column %d)", 1+bytes.Count(before, []byte("\n")), len(before)-1-bytes.LastIndexByte(before, '\n'))
}
