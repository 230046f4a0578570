package server

import (
	"encoding/json"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/catalog"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/typescript"
)

// maxDescription bounds an answer to tools/describe, which is one line.
const maxDescription = 4 << 20

// describe writes announced tools as TypeScript.
func (x *session) describe(params json.RawMessage) (any, error) {
	var p sandboxd.DescribeParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	tools, err := named(x.announced(), p.Tools)
	if err != nil {
		return nil, err
	}
	x.describing.Lock() // schemas are many times larger when they are read: one at a time
	defer x.describing.Unlock()
	d := sandboxd.DescribeResult{Tools: []sandboxd.DescribedTool{}}
	size := 0
	for _, t := range tools {
		signature := typescript.Signature(t)
		size += len(signature)
		d.Tools = append(d.Tools, sandboxd.DescribedTool{Server: t.Server, Tool: t.Name, Signature: signature})
	}
	if p.Declarations {
		d.Declarations = typescript.Declare(tools)
		size += len(d.Declarations)
	}
	if size > maxDescription {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "tools: the answer has %d bytes, over %d: ask for fewer tools at once", size, maxDescription)
	}
	return d, nil
}

// named are the announced tools that are asked for: all, if none is.
func named(announced *catalog.Catalog, names []sandboxd.ToolName) ([]typescript.Tool, error) {
	if len(names) > sandboxd.MaxTools {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "tools: %d names, at most %d", len(names), sandboxd.MaxTools)
	}
	wanted := make(map[sandboxd.ToolName]bool, len(names))
	for i, name := range names {
		server := announced.Server(name.Server)
		switch {
		case server == nil:
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "tools[%d]: %q was not announced by initialize", i, name.Server)
		case name.Tool != "" && server.Tool(name.Tool) == nil:
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "tools[%d]: no tool %q of %q was announced by initialize", i, name.Tool, name.Server)
		}
		wanted[name] = true
	}
	var tools []typescript.Tool
	for _, server := range announced.Servers {
		for _, t := range server.Tools {
			if len(names) > 0 && !wanted[sandboxd.ToolName{Server: server.Name}] && !wanted[sandboxd.ToolName{Server: server.Name, Tool: t.Name}] {
				continue
			}
			tools = append(tools, typescript.Tool{
				Server: server.Name, Name: t.Name, Description: t.Description, Input: t.InputSchema, Output: t.OutputSchema,
			})
		}
	}
	return tools, nil
}
