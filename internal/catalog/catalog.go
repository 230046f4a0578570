// Package catalog holds what a gateway announced: its servers, and their tools as far as it knows them.
package catalog

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/near"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// Catalog is what one connection announced. It does not change, and its methods may be called from several goroutines.
type Catalog struct {
	Servers []*Server // in the order of the announcement
	Names   []byte    // those of tools, and aliases, as wire.Start has them
	byName  map[string]*Server
}

// Server is one property of `tools` in a program.
type Server struct {
	Name    string
	Aliases []string // other names for programs, by which nothing else is called
	Tools   []*Tool  // none: not known, and every name goes through
	names   []byte   // lines of wire.Start
	byName  map[string]*Tool
}

// Tool is one announced tool.
type Tool struct {
	sandboxd.Tool
	Aliases []string

	once     sync.Once // for the fields below, which Check sets
	schema   *schema
	unusable error
}

// Bounds on the names of servers. They travel to a worker in one header, each with up to two aliases.
const (
	maxServers     = 256
	maxServerBytes = 16 << 10
)

// New reads an announcement. An error names the member that is wrong.
func New(servers []string, tools []sandboxd.Tool) (*Catalog, error) {
	c := &Catalog{byName: make(map[string]*Server, len(servers))}
	if err := c.addServers(servers); err != nil {
		return nil, err
	}
	if err := c.addTools(tools); err != nil {
		return nil, err
	}
	for _, s := range c.Servers {
		s.nameTools()
		c.Names = append(c.Names, s.names...)
	}
	return c, nil
}

func (c *Catalog) addServers(names []string) error {
	if len(names) > maxServers {
		return fmt.Errorf("servers: %d names, at most %d", len(names), maxServers)
	}
	size := 0
	for i, name := range names {
		if size += len(name); size > maxServerBytes {
			return fmt.Errorf("servers: the names have more than %d bytes together", maxServerBytes)
		}
		if err := checkName(name); err != nil {
			return fmt.Errorf("servers[%d]: %w", i, err)
		}
		if c.byName[name] != nil {
			return fmt.Errorf("servers[%d]: %q stands there twice", i, name)
		}
		s := &Server{Name: name, byName: make(map[string]*Tool)}
		c.Servers = append(c.Servers, s)
		c.byName[name] = s
	}
	for i, aliases := range aliasesOf(names) {
		c.Servers[i].Aliases = aliases
	}
	return nil
}

func (c *Catalog) addTools(tools []sandboxd.Tool) error {
	if len(tools) > sandboxd.MaxTools {
		return fmt.Errorf("tools: %d tools, at most %d", len(tools), sandboxd.MaxTools)
	}
	size := 0
	for i, t := range tools {
		size += len(t.Name) + len(t.Description) + len(t.InputSchema) + len(t.OutputSchema)
		if t.Annotations != nil {
			size += len(t.Annotations.Title)
		}
		if size > sandboxd.MaxToolBytes {
			return fmt.Errorf("tools[%d]: the tools have more than %d bytes together", i, sandboxd.MaxToolBytes)
		}
		s := c.byName[t.Server]
		if s == nil {
			return fmt.Errorf("tools[%d].server: %q is none of `servers`", i, t.Server)
		}
		if err := checkName(t.Name); err != nil {
			return fmt.Errorf("tools[%d].name: %w", i, err)
		}
		if s.byName[t.Name] != nil {
			return fmt.Errorf("tools[%d]: %q of %q stands there twice", i, t.Name, t.Server)
		}
		added := &Tool{Tool: t}
		s.Tools = append(s.Tools, added)
		s.byName[t.Name] = added
	}
	return nil
}

func checkName(name string) error {
	if name == "" || len(name) > wire.MaxName {
		return fmt.Errorf("a name has 1 to %d bytes", wire.MaxName)
	}
	if bad := Unprintable(name); bad >= 0 {
		return fmt.Errorf("%q has the character %U, which can't be seen", name, bad)
	}
	return nil
}

// Unprintable is a character that makes a name look like another one to whoever reads it in an approval or a log; -1:
// there is none.
func Unprintable(name string) rune {
	if !utf8.ValidString(name) {
		return utf8.RuneError
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return r
		}
	}
	return -1
}

// nameTools gives the tools their aliases, and writes all names down for workers.
func (s *Server) nameTools() {
	names := make([]string, len(s.Tools))
	for i, t := range s.Tools {
		names[i] = t.Name
	}
	var text bytes.Buffer
	line := func(name string, aliases []string) {
		text.WriteString(strings.Join(append([]string{name}, aliases...), "\t") + "\n")
	}
	if len(s.Aliases) > 0 || len(s.Tools) > 0 {
		line(s.Name, s.Aliases)
	}
	for i, aliases := range aliasesOf(names) {
		s.Tools[i].Aliases = aliases
		line("\t"+names[i], aliases)
	}
	s.names = text.Bytes()
}

// Server is the one of that name, exactly; nil: there is none.
func (c *Catalog) Server(name string) *Server { return c.byName[name] }

// Tool is the one of that name, exactly; nil: there is none.
func (s *Server) Tool(name string) *Tool { return s.byName[name] }

// UnknownTool says of a name that is no tool's what may have been meant.
func (s *Server) UnknownTool(name string) string {
	names := make([]string, len(s.Tools))
	for i, t := range s.Tools {
		names[i] = t.Name
	}
	text := fmt.Sprintf("%s has no tool %q", s.Name, name)
	like := near.Names(name, names)
	for i := range like {
		like[i] = "tools" + property(s.Name) + property(like[i])
	}
	if len(like) > 0 {
		return text + "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return fmt.Sprintf("%s; it has %d: %s", text, len(names), near.List(names))
}

// property is how a program writes access to a property: .a or ["a-b"].
func property(name string) string {
	if isIdentifier(name) {
		return "." + name
	}
	return "[" + strconv.Quote(name) + "]"
}

// Narrow is the catalog of some of the servers. Their aliases stay as they are, so that a program means the same with
// fewer servers.
func (c *Catalog) Narrow(names []string) (*Catalog, error) {
	n := &Catalog{byName: make(map[string]*Server, len(names))}
	for i, name := range names {
		s := c.byName[name]
		switch {
		case s == nil:
			return nil, fmt.Errorf("servers[%d]: %q was not announced by initialize", i, name)
		case slices.Contains(names[:i], name):
			return nil, fmt.Errorf("servers[%d]: %q stands there twice", i, name)
		}
		n.Servers = append(n.Servers, s)
		n.Names = append(n.Names, s.names...)
		n.byName[name] = s
	}
	return n, nil
}

// ServerNames are those of all servers.
func (c *Catalog) ServerNames() []string {
	names := make([]string, len(c.Servers))
	for i, s := range c.Servers {
		names[i] = s.Name
	}
	return names
}
