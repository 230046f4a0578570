package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/clip"
	"github.com/sandboxd/sandboxd/internal/codemode"
	"github.com/sandboxd/sandboxd/internal/ownfile"
	"github.com/sandboxd/sandboxd/internal/pins"
	"github.com/sandboxd/sandboxd/internal/upstream"
)

// mcpOptions are the options of `sandboxctl mcp`.
type mcpOptions struct {
	daemonOptions
	limitOptions
	mcp   string
	http  string // address; empty: standard input and output
	token string // file
}

func mcpCommand() *cobra.Command {
	o := mcpOptions{daemonOptions: daemonOptions{rules: askingRules, purpose: "this session"}}
	c := &cobra.Command{
		Use:   "mcp --mcp CONFIG",
		Short: "Be an MCP server that runs programs, with the tools of other MCP servers",
		Long: `Be an MCP server with two tools, for Claude Code, Cursor and other MCP clients: execute_code runs a program, and search_tools finds
what it may call. The tools are those of the MCP servers in CONFIG, which are started again when they end. docs/mcp.md says how to
enter it into a client.

Where no daemon listens, a private one is started, and ends with the session. It asks for each call, or decides by --policy: the MCP
client is asked for an approval, if it offers elicitation, and else the call is denied.

What a tool is said to be is kept when it is first seen. A tool that is something else later is refused until "sandboxctl tools
accept" has been run.

Exit codes:
  0  the client has hung up
  1  sandboxctl could not do its work
  2  the command line is wrong
  3  the policy has mistakes`,
		Example: "  claude mcp add code -- sandboxctl mcp --mcp ~/.config/sandboxd/mcp.json\n" +
			"  sandboxctl mcp --mcp mcp.json --http 127.0.0.1:8321 --token-file token",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("mcp takes no arguments; got %q", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&o.mcp, "mcp", "", `MCP servers: a file with {"mcpServers": {...}}, as MCP clients share it`)
	f.StringVar(&o.http, "http", "", "serve Streamable HTTP at this loopback `ADDRESS`, such as 127.0.0.1:8321, and not standard input and output")
	f.StringVar(&o.token, "token-file", "", "with --http: a `FILE` of mode 0600 with the token that clients bear, at least 32 characters")
	o.limitOptions.flags(c)
	o.daemonOptions.flags(c)
	return c
}

func (o mcpOptions) run(ctx context.Context) error {
	if o.mcp == "" {
		return usageError{errors.New(`mcp needs --mcp CONFIG: a file with {"mcpServers": {...}}`)}
	}
	if (o.http == "") != (o.token == "") {
		return usageError{errors.New("--http and --token-file go together")}
	}
	limits, err := o.limits()
	if err != nil {
		return err
	}
	if err := errors.Join(o.checkPolicy(), notNested()); err != nil {
		return err
	}
	config, err := loadServers(o.mcp)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(o.mcp)
	if err != nil {
		return err
	}
	file, err := pins.Default()
	if err != nil {
		return err
	}
	serve, err := o.door()
	if err != nil {
		return err
	}

	box := newToolbox(path, file)
	l := &link{daemon: o.daemonOptions, box: box}
	log := o.log()
	server := codemode.New(codemode.Options{
		Version: version, Log: log, Question: question,
		Catalog: func(ctx context.Context) (*codemode.Catalog, error) {
			tools, err := box.current(ctx)
			if err != nil {
				return nil, err
			}
			return tools.catalog, nil
		},
		Execute: func(ctx context.Context, p sandboxd.Program) (*sandboxd.Result, error) {
			p.Profile, p.Limits = o.profile, limits
			return l.execute(ctx, p)
		},
	})
	l.gate = sandboxd.Options{
		Name: "sandboxctl mcp", Version: version, Tools: box.call, Progress: server.Progress, Approvals: l.approvals(server.Approve),
	}

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// The servers are started while the client is answered: it waits for that, and they may take their time.
	go box.start(ctx, marked(config), upstream.Options{Stderr: serversStderr(o.verbose), Log: log, Timeout: serverWait})
	err = serve(ctx, server)
	stop()
	l.close()
	return errors.Join(err, box.close())
}

// serverWait is for npx, which may have to fetch a server first.
const serverWait = time.Minute

func (o mcpOptions) log() *slog.Logger {
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// door opens what clients come by, before anything is started for them.
func (o mcpOptions) door() (serve func(context.Context, *codemode.Server) error, err error) {
	if o.http == "" {
		return func(ctx context.Context, s *codemode.Server) error {
			return s.Run(ctx, &mcp.StdioTransport{MaxLineLength: maxMessage})
		}, nil
	}
	token, err := readToken(o.token)
	if err != nil {
		return nil, fmt.Errorf("--token-file: %w", err)
	}
	listener, err := codemode.Listen(o.http)
	if err != nil {
		return nil, fmt.Errorf("--http: %w", err)
	}
	return func(ctx context.Context, s *codemode.Server) error {
		fmt.Fprintf(os.Stderr, "sandboxctl: serving MCP at http://%s%s\n", listener.Addr(), codemode.Path)
		return s.ServeHTTP(ctx, listener, token)
	}, nil
}

// maxMessage bounds what a client says at once, in bytes.
const maxMessage = 4 << 20

const (
	minToken = 32
	maxToken = 4 << 10
)

func readToken(path string) (string, error) {
	text, err := ownfile.Read(path, maxToken)
	if err != nil {
		return "", err
	}
	token, ok := ownfile.Secret(text)
	switch {
	case !ok:
		return "", fmt.Errorf("%s is no token: it has more than one line, a space, or what is not ASCII", path)
	case len(token) < minToken:
		return "", fmt.Errorf("%s has %d characters, and must have %d at least: openssl rand -hex 32 makes some", path, len(token), minToken)
	}
	return token, nil
}

// approvals asks the MCP client, and denies what it can't be asked where nobody else could answer. What must not be called is not asked
// about.
func (l *link) approvals(ask approver) approver {
	return func(ctx context.Context, q sandboxd.ApprovalRequest) (sandboxd.ApprovalAnswer, error) {
		if why := l.box.refusal(q.Server, q.Tool); why != nil {
			return sandboxd.ApprovalAnswer{Reason: shorten(why.Error(), sandboxd.MaxReasonBytes)}, nil
		}
		if len(q.Arguments) > maxArguments { // a program could have put behind the beginning what nobody would approve
			err := fmt.Errorf("its arguments have %d bytes, and an MCP client is not asked about more than %d, which can be shown whole", len(q.Arguments), maxArguments)
			return l.unasked(err)
		}
		answer, err := ask(ctx, q)
		if err != nil && ctx.Err() == nil {
			return l.unasked(err)
		}
		return answer, err
	}
}

// unasked leaves a call to others who can answer, or denies it where nobody could.
func (l *link) unasked(why error) (sandboxd.ApprovalAnswer, error) {
	if l.alone.Load() {
		return sandboxd.ApprovalAnswer{Reason: why.Error() + "; the user can allow the tool in a policy (sandboxctl mcp --policy FILE)"}, nil
	}
	return sandboxd.ApprovalAnswer{}, why
}

type approver = func(context.Context, sandboxd.ApprovalRequest) (sandboxd.ApprovalAnswer, error)

// Bounds of a question, in bytes and texts.
const (
	maxArguments = 16 << 10
	maxText      = 500
	maxTexts     = 8
)

// question is what the user of an MCP client is asked. All that others chose stands behind a word of ours on a line of its own, without
// what can't be seen, and so far to the right that Markdown takes it for code.
func question(q sandboxd.ApprovalRequest) string {
	q.Task = shorten(q.Task, maxText)
	for _, texts := range []*[]string{&q.Reasons, &q.Evidence} {
		some := make([]string, 0, maxTexts)
		for _, text := range (*texts)[:min(len(*texts), maxTexts)] {
			some = append(some, shorten(text, maxText))
		}
		*texts = some
	}
	var text bytes.Buffer
	o := approvalsOptions{out: bufio.NewWriter(&text), now: time.Now()}
	if err := errors.Join(o.printOne(q), o.out.Flush()); err != nil {
		return "A program wants to call a tool, and its call can't be shown (" + printable(err.Error()) + "): decline."
	}
	var b strings.Builder
	b.WriteString("A program that a model wrote wants to call a tool. Approve?\n\n")
	for line := range strings.Lines(text.String()) {
		b.WriteString("    " + line)
	}
	return b.String()
}

// shorten is the beginning of a text, with … behind it, if it has more bytes than that.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return clip.To(text, most-len("…")) + "…"
}
