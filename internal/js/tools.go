package js

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/near"
)

// toolbox is the `tools` object: one property for each server.
type toolbox struct {
	e       *Engine
	names   []string
	text    string                  // of Program.Names
	servers map[string]*goja.Object // by every name that they were asked for by
	missing string                  // the last name asked for that is no server
	made    int                     // calls of the program so far
}

func newToolbox(e *Engine, names []string, text string) *toolbox {
	return &toolbox{e: e, names: names, text: text, servers: make(map[string]*goja.Object, len(names))}
}

// Get is the server of that name. Any other name is undefined, so that `tools.maybe?.x` and promise machinery, which
// looks for `then`, work; explain says later which name did not exist.
func (t *toolbox) Get(name string) goja.Value {
	if s, ok := t.servers[name]; ok {
		return s
	}
	real, ok := t.find(name)
	if !ok {
		t.missing = name
		return nil
	}
	s, ok := t.servers[real]
	if !ok {
		s = t.e.vm.NewDynamicObject(&server{e: t.e, name: real, text: t.section(real), tools: map[string]goja.Value{}})
		t.servers[real] = s
	}
	t.servers[name] = s
	return s
}

// find is the server that a name stands for: its own, or an alias.
func (t *toolbox) find(name string) (real string, ok bool) {
	if slices.Contains(t.names, name) {
		return name, true
	}
	for line := range strings.Lines(t.text) {
		if all := lineNames(line); all != nil && slices.Contains(all, name) {
			return all[0], true
		}
	}
	return "", false
}

// lineNames are the name and the aliases of a server; nil if the line is a tool's.
func lineNames(line string) []string {
	if strings.HasPrefix(line, "\t") {
		return nil
	}
	return strings.Split(strings.TrimSuffix(line, "\n"), "\t")
}

// section are the lines of a server's tools.
func (t *toolbox) section(server string) string {
	inside, from, at := false, 0, 0
	for line := range strings.Lines(t.text) {
		if all := lineNames(line); all != nil {
			if inside {
				return t.text[from:at]
			}
			inside, from = all[0] == server, at+len(line)
		}
		at += len(line)
	}
	if !inside {
		return ""
	}
	return t.text[from:]
}

func (t *toolbox) Set(string, goja.Value) bool { return false }
func (t *toolbox) Has(name string) bool        { _, ok := t.find(name); return ok }
func (t *toolbox) Delete(string) bool          { return false }
func (t *toolbox) Keys() []string              { return t.names }

func (t *toolbox) missingMessage() string {
	if len(t.names) == 0 {
		return fmt.Sprintf("tools has no server `%s`: this run was given no servers", t.missing)
	}
	return fmt.Sprintf("tools has no server `%s`; there are: %s", t.missing, near.List(near.First(t.missing, t.names)))
}

// serversOf are the servers that have announced a tool of that name.
func (t *toolbox) serversOf(tool string) (of []string) {
	for _, name := range t.names {
		if _, ok := (&server{text: t.section(name)}).announced(tool); ok {
			of = append(of, name)
		}
	}
	return of
}

// server is one property of `tools`. Every name is a function: of the tools that were not announced nothing is known,
// and a call of one that does not exist is counted and refused outside, with the names that are like it. `in` and
// Object.keys know the announced ones. The names that the language itself asks any object for are no tools: answering
// them would make calls nobody wrote.
type server struct {
	e     *Engine
	name  string
	text  string                // a line for each tool that was announced; empty: they were not
	tools map[string]goja.Value // by every name that they were asked for by
}

var notTools = []string{
	"then", "toJSON", // await and JSON.stringify
	"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
	"__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
}

func (s *server) Get(name string) goja.Value {
	if fn, ok := s.tools[name]; ok {
		return fn
	}
	if !callable(name) {
		return nil
	}
	real, ok := s.announced(name)
	if !ok {
		real = name
	}
	fn, ok := s.tools[real]
	if !ok {
		fn = s.e.native(real, 1, (&tool{e: s.e, server: s.name, name: real}).call)
		s.tools[real] = fn
	}
	s.tools[name] = fn
	return fn
}

func callable(name string) bool {
	return name != "" && len(name) <= maxToolName && !slices.Contains(notTools, name)
}

// announced is the tool that a name stands for. The text is searched as it is: a table of thousands of tools takes longer
// to make than most programs run.
func (s *server) announced(name string) (real string, ok bool) {
	if strings.ContainsAny(name, "\t\n") {
		return "", false
	}
	for at := 0; ; {
		i := strings.Index(s.text[at:], "\t"+name)
		if i < 0 {
			return "", false
		}
		begin, end := at+i, at+i+1+len(name)
		if s.text[end] == '\t' || s.text[end] == '\n' { // each line ends with one
			line := s.text[strings.LastIndexByte(s.text[:begin], '\n')+1:]
			return toolOf(line), true
		}
		at = end
	}
}

// toolOf is the own name in a tool's line.
func toolOf(line string) string {
	return line[1 : 1+strings.IndexAny(line[1:], "\t\n")]
}

func (s *server) Has(name string) bool {
	_, announced := s.announced(name)
	return callable(name) && (announced || s.text == "")
}

func (s *server) Keys() []string {
	var names []string
	for line := range strings.Lines(s.text) {
		if name := toolOf(line); callable(name) {
			names = append(names, name)
		}
	}
	return names
}

func (s *server) Set(string, goja.Value) bool { return false }
func (s *server) Delete(string) bool          { return false }

// maxToolName is what MCP allows, in bytes. A longer name is none.
const maxToolName = 128

// tool is one function below a server.
type tool struct {
	e            *Engine
	server, name string
}

func (t *tool) String() string { return toolName(t.server, t.name) }

// toolName is how a program writes it: tools.a.b or tools.a["b-c"].
func toolName(server, name string) string {
	return "tools" + property(server) + property(name)
}

// call is one call that the program made.
type call struct {
	id              int
	tool            *tool
	args            []byte
	at              []goja.StackFrame
	resolve, reject func(any) error
}

// call makes a promise and puts the call into the batch. Mistakes in the arguments reject it, as an async function
// would; too many calls end the run.
func (t *tool) call(fc goja.FunctionCall) goja.Value {
	e := t.e
	promise, resolve, reject := e.vm.NewPromise()
	if e.stopped() != nil { // native code that calls tools does not see the interrupt
		return e.vm.ToValue(promise)
	}
	args, problem := t.encodeArgs(fc.Arguments)
	if problem != nil {
		reject(problem)
		return e.vm.ToValue(promise)
	}
	c := &call{tool: t, args: args, at: e.vm.CaptureCallStack(0, nil), resolve: resolve, reject: reject}
	e.record(c)
	return e.vm.ToValue(promise)
}

func (e *Engine) record(c *call) {
	e.tools.made++
	c.id = e.tools.made
	e.mu.Lock()
	e.batch = append(e.batch, c)
	e.mu.Unlock()
	if limit := max(0, e.limits.Calls); c.id > limit {
		e.halt(stop{
			kind:    KindCalls,
			message: fmt.Sprintf("%s would be call %d of this run; the limit is %d. None of the calls waiting with it was sent", c.tool, c.id, limit),
			hint:    "make fewer calls: filter and page with a tool's arguments, or split the work over several programs",
			at:      c.at,
		})
	}
}

// encodeArgs gives the JSON text of the one argument, or the error value to reject with.
func (t *tool) encodeArgs(args []goja.Value) ([]byte, goja.Value) {
	if len(args) == 0 || len(args) == 1 && goja.IsUndefined(args[0]) {
		return []byte("{}"), nil
	}
	if given := refusedArgs(args); given != "" {
		return nil, t.e.newError(t.e.real.typeError, fmt.Sprintf(
			"%s takes one object of named arguments, such as %s({ name: value }); it was given %s", t, t, given))
	}
	enc := newEncoder(t.e, "args", t.e.limits.ArgumentBytes)
	var err error
	if ex := t.e.vm.Try(func() { err = enc.encode(args[0]) }); ex != nil {
		return nil, ex.Value() // thrown by a getter or a toJSON of the program
	}
	if err != nil {
		return nil, t.e.newError(t.e.real.typeError, fmt.Sprintf("%s was not called: %s", t, err))
	}
	if enc.size() > t.e.limits.ArgumentBytes {
		return nil, t.e.toolError(t, "not_started", nil, fmt.Sprintf(
			"%s was not called: its arguments are %d bytes of JSON, the limit is %d", t, enc.size(), t.e.limits.ArgumentBytes))
	}
	return enc.buf, nil
}

// refusedArgs names arguments that are not one object of named arguments.
func refusedArgs(args []goja.Value) string {
	if len(args) > 1 {
		return fmt.Sprintf("%d arguments", len(args))
	}
	o, ok := args[0].(*goja.Object)
	if !ok {
		return kindName(args[0])
	}
	switch kindOf(o) {
	case kindObject, kindProxy:
		return ""
	case kindPromise:
		return "a Promise: await is missing"
	}
	return kindName(o)
}

func sendable(batch []*call) []Call {
	calls := make([]Call, len(batch))
	for i, c := range batch {
		calls[i] = Call{ID: c.id, Server: c.tool.server, Tool: c.tool.name, Args: c.args}
		c.args = nil // the host owns it now
	}
	return calls
}

func listCalls(batch []*call) []Call {
	var calls []Call
	for _, c := range batch {
		calls = append(calls, Call{ID: c.id, Server: c.tool.server, Tool: c.tool.name})
	}
	return calls
}

func listPending(inflight map[int]*call) []Call {
	var calls []Call
	for _, c := range inflight {
		calls = append(calls, Call{ID: c.id, Server: c.tool.server, Tool: c.tool.name})
	}
	slices.SortFunc(calls, func(a, b Call) int { return a.ID - b.ID })
	return calls
}
