// Package pins remembers what the tools of MCP servers were when they were first seen, and tells which are something else now.
//
// A server can describe a tool in one way while it is being looked at and in another way afterwards, to tell a model what to do with the
// tools of other servers. So the first definition is kept, and a tool that differs from it is not used until a person has accepted that.
package pins

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sandboxd/sandboxd/internal/rawjson"
)

// Definition is what a server says of a tool: all that a model or a policy goes by. Canonical makes two of them comparable.
type Definition struct {
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`
}

// Pin is a tool that has been seen.
type Pin struct {
	Accepted Definition  `json:"accepted"`
	Since    time.Time   `json:"since"`             // it is
	Changed  *Definition `json:"changed,omitempty"` // as it was seen last; nil: as accepted
	Noticed  time.Time   `json:"noticed,omitzero"`  // that it has changed
}

// State has pins by configuration, server and tool. Servers of one name in two configurations are two servers.
type State map[string]map[string]map[string]*Pin

// Bounds on what one server may have kept, so that none can fill the file that all others need: as many as a configuration may have fit.
// They are in bytes as they are written.
const (
	maxDefinition = 256 << 10 // with its name
	maxServer     = 1 << 20   // of all that it ever had, and what has changed of it
)

// Check pins the tools of a server that are new, and returns why others must not be used. An error means that nothing is known of any:
// none must be used then.
func (f File) Check(ctx context.Context, config, server string, tools map[string]Definition) (refused map[string]error, err error) {
	broken := map[string]error{}
	seen := make(map[string]Definition, len(tools))
	for name, d := range tools {
		if whole, err := d.canonical(); err != nil {
			broken[name] = fmt.Errorf("%s.%s: its definition can't be compared: %w", server, name, err)
		} else {
			seen[name] = whole
		}
	}
	s, err := f.Read()
	if err != nil {
		return nil, err
	}
	refused, changed := s.check(config, server, seen)
	if changed {
		err = f.Update(ctx, func(s State) (changed bool) {
			refused, changed = s.check(config, server, seen)
			return changed
		})
	}
	maps.Copy(refused, broken)
	return refused, err
}

// check brings a state up to date with what a server says.
func (s State) check(config, server string, seen map[string]Definition) (refused map[string]error, changed bool) {
	if s[config] == nil {
		s[config] = map[string]map[string]*Pin{}
	}
	of := s[config][server]
	if of == nil {
		of = map[string]*Pin{}
		s[config][server] = of
	}
	size := 0
	for name, p := range of {
		size += p.Accepted.size(name)
		if p.Changed != nil {
			size += p.Changed.size(name)
		}
	}
	refused = map[string]error{}
	now := time.Now().UTC().Truncate(time.Second)
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		d, p := seen[name], of[name]
		more := d.size(name)
		if p != nil && p.Changed != nil {
			size -= p.Changed.size(name) // it goes, or something takes its place
		}
		fits := more <= maxDefinition && size+more <= maxServer
		switch {
		case p == nil && !fits:
			refused[name] = fmt.Errorf("%s.%s: its definition has %d bytes, and of one tool at most %d are kept, of a server %d", server, name, more, maxDefinition, maxServer)
			continue
		case p == nil:
			of[name] = &Pin{Accepted: d, Since: now}
			size, changed = size+more, true
			continue
		case d.equal(p.Accepted):
			changed = changed || p.Changed != nil
			p.Changed, p.Noticed = nil, time.Time{}
			continue
		case fits:
			refused[name] = fmt.Errorf("%s.%s is not what it was when it was first seen: a person must look at it (sandboxctl tools diff) and accept it", server, name)
		default: // what was kept of an earlier change is not what it is now, and must not be accepted for that
			refused[name] = fmt.Errorf("%s.%s is not what it was when it was first seen, and what it is now has %d bytes: it can't be kept to be accepted, as of one tool "+
				"at most %d are kept, of a server %d", server, name, more, maxDefinition, maxServer)
			changed = changed || p.Changed != nil
			p.Changed, p.Noticed = nil, time.Time{}
			continue
		}
		size += more
		if p.Changed == nil || !d.equal(*p.Changed) {
			p.Changed, p.Noticed = &d, now
			changed = true
		}
	}
	return refused, changed
}

// Accept takes a tool as it was seen last, and reports whether that is a change.
func (p *Pin) Accept(now time.Time) bool {
	if p.Changed == nil {
		return false
	}
	p.Accepted, p.Since = *p.Changed, now.UTC().Truncate(time.Second)
	p.Changed, p.Noticed = nil, time.Time{}
	return true
}

// canonical has the same meaning, and the same bytes whatever the order of members and the space between them was.
func (d Definition) canonical() (Definition, error) {
	for _, text := range []*json.RawMessage{&d.InputSchema, &d.OutputSchema, &d.Annotations} {
		if len(*text) == 0 {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(*text))
		decoder.UseNumber() // a float would make equal what is not
		var value any
		if err := decoder.Decode(&value); err != nil {
			return d, err
		}
		if err := rawjson.Check(*text); err != nil { // of two members of a name, one reader goes by the first and another by the last
			return d, err
		}
		plain, err := json.Marshal(value)
		if err != nil {
			return d, err
		}
		*text = plain
	}
	return d, nil
}

func (d Definition) equal(e Definition) bool {
	return d.Title == e.Title && d.Description == e.Description && bytes.Equal(d.InputSchema, e.InputSchema) &&
		bytes.Equal(d.OutputSchema, e.OutputSchema) && bytes.Equal(d.Annotations, e.Annotations)
}

// size is what a definition that has been made comparable takes in the file, with its name.
func (d Definition) size(name string) int {
	text, err := json.Marshal(map[string]Definition{name: d})
	if err != nil {
		return maxServer + 1 // it could not be written
	}
	return len(text)
}
