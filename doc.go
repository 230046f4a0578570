// Package sandboxd is the Go client of the sandboxd daemon, and the types of its protocol.
//
// sandboxd runs short JavaScript programs that a language model wrote, each in a jailed
// single-use worker, and hands every tool call of a program back to the gateway that
// submitted it. A gateway dials the daemon's Unix socket, gives a [ToolHandler] that
// performs allowed calls, and executes programs:
//
//	client, err := sandboxd.Dial(ctx, sandboxd.DefaultSocket, sandboxd.Options{
//		Name:    "my-gateway",
//		Servers: []string{"tracker"},
//		Tools:   callMyTools,
//	})
//	result, err := client.Execute(ctx, sandboxd.Program{Source: "return await tools.tracker.list_issues({repo: 'a'})"})
package sandboxd
