package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/codemode"
	"github.com/sandboxd/sandboxd/internal/ownfile"
	"github.com/sandboxd/sandboxd/internal/pins"
	"github.com/sandboxd/sandboxd/internal/upstream"
)

// toolbox is what the programs of `sandboxctl mcp` may call: the tools of its servers, as far as they are what they were when they were
// first seen.
type toolbox struct {
	// set by newToolbox, then read-only
	pins   pins.File
	config string // absolute path of the servers' configuration: servers are pinned by it
	ready  chan struct{}
	// set before ready is closed, then read-only
	servers *upstream.Upstreams
	failed  error // there are none

	stale  sync.Map                // names of servers that may have other tools now
	listed atomic.Pointer[listing] // nil: nothing is known
	asking sync.Mutex              // is held by who changes it
}

// listing is what the servers have. It does not change.
type listing struct {
	catalog  *codemode.Catalog
	announce []sandboxd.Tool
	tools    map[string]map[string]error // by server and name: why it must not be used
	lists    map[string][]upstream.Tool  // by server, as it said last
	silent   map[string]time.Time        // servers that did not say it when they were asked then
	kept     ownfile.Stamp               // of what is pinned
}

// askAgain is how long a server that did not answer is left alone, unless it is started again.
const askAgain = 30 * time.Second

func newToolbox(config string, file pins.File) *toolbox {
	return &toolbox{pins: file, config: config, ready: make(chan struct{})}
}

// start connects to the servers, and keeps them. The caller must close the toolbox.
func (b *toolbox) start(ctx context.Context, config upstream.Config, o upstream.Options) {
	o.Changed = func(server string) { b.stale.Store(server, nil) }
	b.servers, b.failed = upstream.Connect(ctx, config, o)
	close(b.ready)
}

func (b *toolbox) close() error {
	<-b.ready
	if b.failed != nil {
		return nil
	}
	return b.servers.Close()
}

// current is what there is now. It waits until the servers have been started, and asks those again that have changed.
func (b *toolbox) current(ctx context.Context) (*listing, error) {
	select {
	case <-b.ready:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for MCP servers: %w", context.Cause(ctx))
	}
	if b.failed != nil {
		return nil, b.failed
	}
	b.asking.Lock()
	defer b.asking.Unlock()
	last := b.listed.Load()
	ask := slices.DeleteFunc(b.servers.Servers(), func(name string) bool { return !b.outdated(last, name) })
	if last != nil && len(ask) == 0 && last.kept == ownfile.StampOf(b.pins.Path) {
		return last, nil
	}
	next, err := b.list(ctx, last, ask)
	if ctx.Err() != nil { // nobody waits for it any more: the next one asks
		for _, server := range ask {
			b.stale.Store(server, nil)
		}
		return nil, context.Cause(ctx)
	}
	b.listed.Store(next) // nil: whatever has changed, nothing is known of it
	return next, err
}

func (b *toolbox) outdated(last *listing, server string) bool {
	if _, stale := b.stale.Load(server); stale || last == nil {
		return true
	}
	since, silent := last.silent[server]
	return silent && time.Since(since) > askAgain
}

// list asks some servers for their tools, takes what the others and those that do not answer said last, and compares all with what is
// pinned.
func (b *toolbox) list(ctx context.Context, last *listing, ask []string) (*listing, error) {
	l := &listing{tools: map[string]map[string]error{}, lists: map[string][]upstream.Tool{}, silent: map[string]time.Time{}}
	if last != nil {
		maps.Copy(l.lists, last.lists)
		maps.Copy(l.silent, last.silent)
	}
	b.ask(ctx, ask, l)
	l.kept = ownfile.StampOf(b.pins.Path) // before it is read: what changes it later is seen the next time
	var providers []codemode.Provider
	var usable, all []upstream.Tool
	for _, server := range b.servers.Servers() {
		tools := l.lists[server]
		refused, err := b.pins.Check(ctx, b.config, server, definitions(tools))
		if err != nil {
			return nil, err
		}
		l.tools[server] = map[string]error{}
		for _, t := range tools {
			why := refused[t.Name]
			if l.tools[server][t.Name] = why; why == nil {
				usable = append(usable, t)
			} else {
				t.InputSchema = nil // a call of it is told why, not that its arguments are wrong
			}
			all = append(all, t)
		}
		providers = append(providers, codemode.Provider{Server: server, Tools: len(tools) - len(refused), Note: l.note(server, len(refused))})
	}
	l.announce = announceable(b.servers.Servers(), all)
	l.catalog = codemode.NewCatalog(providers, usable)
	return l, nil
}

// note is why a server has not more tools.
func (l *listing) note(server string, refused int) string {
	_, silent := l.silent[server]
	switch {
	case silent:
		return "it does not answer at present"
	case refused > 0:
		return fmt.Sprintf("%d more are refused, as they are not what they were when they were first seen: the user can run sandboxctl tools diff", refused)
	}
	return ""
}

// ask puts into a listing what servers say.
func (b *toolbox) ask(ctx context.Context, servers []string, l *listing) {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	var mu sync.Mutex // guards l
	var all sync.WaitGroup
	for _, server := range servers {
		all.Go(func() {
			b.stale.Delete(server) // before it is asked: what changes after that makes it stale again
			tools, err := b.servers.ToolsOf(ctx, server)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				if _, told := l.silent[server]; !told {
					warn(err)
				}
				l.silent[server] = time.Now()
				return
			}
			delete(l.silent, server)
			l.lists[server] = tools
		})
	}
	all.Wait()
}

// definitions are what is pinned of tools.
func definitions(tools []upstream.Tool) map[string]pins.Definition {
	all := make(map[string]pins.Definition, len(tools))
	for _, t := range tools {
		hints, err := json.Marshal(t.Annotations)
		if err != nil {
			panic(err) // they are pointers to bools
		}
		all[t.Name] = pins.Definition{
			Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, Annotations: hints,
		}
	}
	return all
}

// refusal is why a program must not call a tool; nil: it may. It goes by what was listed last, and knows no tool that was not.
func (b *toolbox) refusal(server, tool string) error {
	l := b.listed.Load()
	if l == nil {
		return fmt.Errorf("%s.%s: what the server's tools are is not known at present", server, tool)
	}
	if why, has := l.tools[server][tool]; has {
		return why
	}
	if _, silent := l.silent[server]; silent {
		return fmt.Errorf("%s.%s: the server does not say at present which tools it has: try later", server, tool)
	}
	return fmt.Errorf("%s.%s: there is no such tool: search_tools finds those that there are", server, tool)
}

// call performs a call that the daemon let through.
func (b *toolbox) call(ctx context.Context, c sandboxd.ToolCall) (json.RawMessage, error) {
	if why := b.refusal(c.Server, c.Tool); why != nil {
		return nil, why
	}
	return b.servers.Call(ctx, c)
}
