package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd/internal/typescript"
	"github.com/sandboxd/sandboxd/internal/upstream"
)

// typesOptions are the options of `sandboxctl types`.
type typesOptions struct {
	mcp        string
	signatures bool
	json       bool
	verbose    bool
	out        io.Writer
}

func typesCommand() *cobra.Command {
	o := typesOptions{out: os.Stdout}
	c := &cobra.Command{
		Use:   "types [SERVER|SERVER.TOOL]...",
		Short: "Print the tools of MCP servers as TypeScript",
		Long: `Print the tools of the MCP servers in CONFIG as TypeScript: what a program may write after "tools.".

Without --signatures it is a declaration file: give it to a model that is to write a program, or to an editor. What a tool
returns is any unless its server announces it. Types are made of the servers' JSON Schemas; ranges, patterns and
defaults stand in comments. None of this needs a daemon.

Exit codes:
  0  ok
  1  a server could not be asked, or there is no tool of that name
  2  the command line is wrong`,
		Example: "  sandboxctl types --mcp examples/mcp.json > tools.d.ts\n" +
			"  sandboxctl types --mcp examples/mcp.json --signatures tracker",
		RunE: func(c *cobra.Command, names []string) error { return o.run(c.Context(), names) },
	}
	f := c.Flags()
	f.StringVar(&o.mcp, "mcp", "", `MCP servers: a file with {"mcpServers": {...}}, as MCP clients share it`)
	f.BoolVar(&o.signatures, "signatures", false, "one line for each tool; long ones are shortened, and say so")
	f.BoolVar(&o.json, "json", false, "print one JSON object with signatures and declarations, and nothing else on standard output")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show what MCP servers write to standard error")
	return c
}

func (o typesOptions) run(ctx context.Context, names []string) error {
	if o.mcp == "" {
		return usageError{fmt.Errorf("types needs --mcp CONFIG: a file with {\"mcpServers\": {...}}")}
	}
	show := newProgress(os.Stderr)
	defer show.clear()
	servers, err := startServers(ctx, o.mcp, o.verbose, show)
	if err != nil {
		return err
	}
	defer servers.Close()
	show.say("asking for tools")
	all, err := servers.Tools(ctx)
	show.clear()
	if err != nil {
		return err
	}
	if all, err = named(all, names); err != nil {
		return err
	}
	return o.print(all)
}

// named are the tools that were asked for, in the order of their servers: all, if none was.
func named(all []upstream.Tool, names []string) ([]upstream.Tool, error) {
	if len(names) == 0 {
		return all, nil
	}
	wanted := map[string]bool{} // whether it was found
	for _, name := range names {
		wanted[name] = false
	}
	var found []upstream.Tool
	for _, t := range all {
		_, server := wanted[t.Server]
		_, tool := wanted[t.Server+"."+t.Name]
		if server {
			wanted[t.Server] = true
		}
		if tool {
			wanted[t.Server+"."+t.Name] = true
		}
		if server || tool {
			found = append(found, t)
		}
	}
	for _, name := range names {
		if !wanted[name] {
			return nil, hinted{fmt.Errorf("no server or tool %q", name), "sandboxctl types --signatures lists all: write SERVER or SERVER.TOOL"}
		}
	}
	return found, nil
}

func (o typesOptions) print(all []upstream.Tool) error {
	tools := make([]typescript.Tool, len(all))
	for i, t := range all {
		tools[i] = typescript.Tool{Server: t.Server, Name: t.Name, Description: t.Description, Input: t.InputSchema, Output: t.OutputSchema}
	}
	switch {
	case o.json:
		type tool struct {
			Server      string `json:"server"`
			Name        string `json:"name"`
			Description string `json:"description,omitempty"`
			Signature   string `json:"signature"`
		}
		answer := struct {
			Tools        []tool `json:"tools"`
			Declarations string `json:"declarations"`
		}{[]tool{}, typescript.Declare(tools)}
		for _, t := range tools {
			answer.Tools = append(answer.Tools, tool{t.Server, t.Name, t.Description, typescript.Signature(t)})
		}
		e := json.NewEncoder(o.out)
		e.SetEscapeHTML(false)
		return e.Encode(answer)
	case o.signatures:
		var lines strings.Builder
		for _, t := range tools {
			lines.WriteString(typescript.Signature(t) + "\n")
		}
		_, err := io.WriteString(o.out, lines.String())
		return err
	}
	_, err := io.WriteString(o.out, typescript.Declare(tools))
	return err
}
