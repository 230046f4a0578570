package upstream

import "errors"

// A program must not run programs: not by a server that is `sandboxctl mcp` itself, and not by one that has its tools from there. The
// first is known by its name, the second by what its tools carry, as far as servers in between hand that on. What they don't, the server
// sees in the call, which carries MetaOrigin.
const (
	OwnName = "sandboxctl-mcp" // in serverInfo

	MetaOwn    = "sandboxd/runs-programs" // in _meta of its tools
	MetaOrigin = "sandboxd/origin"        // in _meta of each call that a program makes: "code"
)

var errOwn = errors.New("it is sandboxctl mcp, whose tools run programs, and a program can't run programs: remove it from the configuration")

// own says that a tool is one of `sandboxctl mcp`, wherever the server has it from.
func (t Tool) own() bool { return t.Meta[MetaOwn] != nil }
