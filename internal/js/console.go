package js

import (
	"fmt"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/clip"
)

// flushEvery hands lines over during a long computation, so that they are not lost with a worker that is killed.
const flushEvery = 50 * time.Millisecond

// console is the state of the program's console.
type console struct {
	used         bool
	bytes        int64 // kept so far
	droppedLines int
	droppedBytes int64
	indent       string
	flushed      time.Time
	counts       map[string]int
	started      map[string]time.Time
}

// log takes a line within the limit. The line that crosses it is cut; those after it are counted.
func (e *Engine) log(level, text string) {
	c := &e.console
	c.used = true
	text = e.source.restack(text)
	if c.indent != "" {
		text = c.indent + strings.ReplaceAll(text, "\n", "\n"+c.indent)
	}
	size := int64(len(text)) + 1 // an empty line counts: a loop can write millions of them
	left := e.limits.ConsoleBytes - c.bytes
	c.bytes += min(size, max(left, 0))
	if left <= 0 {
		c.droppedLines++
		c.droppedBytes += size
		return
	}
	if size > left {
		room, mark := int(left)-1, "…" // one byte is the end of the line
		if room < len(mark) {
			mark = ""
		}
		kept := clip.To(text, room-len(mark))
		c.droppedBytes += int64(len(text) - len(kept))
		text = kept + mark
	}
	e.mu.Lock()
	e.lines = append(e.lines, Line{Level: level, Text: text})
	e.mu.Unlock()
	if now := time.Now(); now.Sub(c.flushed) > flushEvery {
		c.flushed = now
		e.flushLines()
	}
}

func (e *Engine) flushLines() {
	if e.host.Console == nil {
		return
	}
	e.mu.Lock()
	lines := e.lines
	e.lines = nil
	e.mu.Unlock()
	if len(lines) > 0 {
		e.host.Console(lines)
	}
}

// consoleObject is the global `console`.
func (e *Engine) consoleObject() *goja.Object {
	e.console.flushed = time.Now()
	o := e.vm.NewObject()
	add := func(name string, f func(args []goja.Value)) {
		o.Set(name, e.native(name, 0, func(fc goja.FunctionCall) goja.Value {
			f(fc.Arguments)
			return goja.Undefined()
		}))
	}
	for _, level := range []string{"log", "info", "warn", "error", "debug"} {
		add(level, func(args []goja.Value) { e.log(level, e.format(args)) })
	}
	add("dir", func(args []goja.Value) { e.log("log", e.format(args[:min(len(args), 1)])) })
	add("trace", func(args []goja.Value) { e.log("debug", "Trace: "+e.format(args)) })
	add("table", e.consoleTable)
	add("assert", e.consoleAssert)
	add("group", e.consoleGroup)
	add("groupCollapsed", e.consoleGroup)
	add("groupEnd", func([]goja.Value) { e.console.indent = strings.TrimSuffix(e.console.indent, "  ") })
	add("count", e.consoleCount)
	add("countReset", func(args []goja.Value) { delete(e.console.counts, label(args)) })
	add("time", func(args []goja.Value) { e.console.start(label(args), e.now()) })
	add("timeLog", func(args []goja.Value) { e.consoleTime(args, false) })
	add("timeEnd", func(args []goja.Value) { e.consoleTime(args, true) })
	return o
}

func (e *Engine) consoleAssert(args []goja.Value) {
	if len(args) > 0 && args[0].ToBoolean() {
		return
	}
	text := "Assertion failed"
	if len(args) > 1 {
		text += ": " + e.format(args[1:])
	}
	e.log("error", text)
}

func (e *Engine) consoleGroup(args []goja.Value) {
	if len(args) > 0 {
		e.log("log", e.format(args))
	}
	if len(e.console.indent) < 40 {
		e.console.indent += "  "
	}
}

func (e *Engine) consoleCount(args []goja.Value) {
	if e.console.counts == nil {
		e.console.counts = map[string]int{}
	}
	name := label(args)
	e.console.counts[name]++
	e.log("log", fmt.Sprintf("%s: %d", name, e.console.counts[name]))
}

func (c *console) start(name string, now time.Time) {
	if c.started == nil {
		c.started = map[string]time.Time{}
	}
	c.started[name] = now
}

func (e *Engine) consoleTime(args []goja.Value, end bool) {
	name := label(args)
	since, ok := e.console.started[name]
	if !ok {
		return
	}
	if end {
		delete(e.console.started, name)
	}
	e.log("log", fmt.Sprintf("%s: %.3fms", name, float64(e.now().Sub(since).Microseconds())/1e3))
}

func label(args []goja.Value) string {
	if len(args) == 0 || goja.IsUndefined(args[0]) {
		return "default"
	}
	return args[0].String()
}
