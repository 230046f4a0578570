package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/upstream"
)

// runOptions are the options of `sandboxctl run`.
type runOptions struct {
	daemonOptions
	limitOptions
	mcp    string
	output string
	input  *string // nil: not given
	intent string
	seed   *int64
	now    *int64 // milliseconds since 1970
	zone   string
}

// limitOptions lower limits of programs.
type limitOptions struct {
	timeout time.Duration
	memory  string
}

func runCommand() *cobra.Command {
	o := runOptions{daemonOptions: daemonOptions{rules: openRules, purpose: "this run"}}
	c := &cobra.Command{
		Use:   "run FILE|-",
		Short: "Run one program, with the tools of MCP servers",
		Long: `Run one JavaScript program and print what it returns. FILE - reads standard input.

The program is the body of an async function. It calls the tools of the MCP servers in CONFIG as
tools.<server>.<tool>({...}), and returns its answer.

A W3C trace context in the environment, TRACEPARENT, is what the run is a part of.

Where no daemon listens, a private one is started for the run. It allows every call, or decides by --policy.

` + exitHelp,
		Example: "  sandboxctl run --mcp examples/mcp.json examples/programs/top3.js\n" +
			"  echo 'return input.a + 1' | sandboxctl run --input '{\"a\": 1}' -",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("run takes one FILE, or - for standard input; got %d arguments", len(args))}
			}
			return nil
		},
	}
	f := c.Flags()
	input := f.String("input", "", "a JSON value that the program sees as input")
	f.StringVar(&o.intent, "intent", "", "what the user asked for, in the user's words: for the daemon's policy and guard")
	seed := f.Int64("seed", 0, "where all that is random begins, as a result has it (--output json)")
	now := f.String("now", "", "what the clock shows, as a result has it or such as 2026-01-31T12:00:00Z; it stands still then, but for timers")
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.Changed("input") {
			o.input = input
		}
		if f.Changed("seed") {
			o.seed = seed
		}
		if f.Changed("now") {
			ms, err := parseNow(*now)
			if err != nil {
				return usageError{err}
			}
			o.now = &ms
		}
		return run(c.Context(), args[0], o)
	}
	f.StringVar(&o.mcp, "mcp", "", `MCP servers: a file with {"mcpServers": {...}}, as MCP clients share it`)
	f.StringVar(&o.output, "output", "text", "text, or json for the whole result object and nothing else on standard output")
	f.StringVar(&o.zone, "time-zone", "", "local time, such as Europe/Berlin (default UTC)")
	o.limitOptions.flags(c)
	o.daemonOptions.flags(c)
	return c
}

func run(ctx context.Context, file string, o runOptions) error {
	program, err := o.program(file)
	if err != nil {
		return err
	}
	if err := o.checkPolicy(); err != nil {
		return err
	}
	show := newProgress(os.Stderr)
	defer show.clear()
	servers, err := startServers(ctx, o.mcp, o.verbose, show)
	if err != nil {
		return err
	}
	defer servers.Close()
	tools := announce(ctx, servers)
	dial := func(ctx context.Context, socket string) (*sandboxd.Client, error) {
		return sandboxd.Dial(ctx, socket, sandboxd.Options{
			Name: "sandboxctl", Version: version,
			Servers: servers.Servers(), Announce: tools, Tools: servers.Call, Progress: show.run, Approvals: o.approvals(socket),
		})
	}
	client, private, err := o.connect(ctx, dial)
	if err != nil {
		return err
	}
	if private != nil {
		defer private.stop()
	}
	defer client.Close()
	result, err := client.Execute(ctx, program)
	show.clear()
	if err != nil {
		return refusedHint(err)
	}
	return print(result, o.output)
}

// maxTraceparent is what a daemon takes of a trace context: what is longer is none of today's.
const maxTraceparent = 128

// program reads the file and the options that go with it.
func (o runOptions) program(file string) (sandboxd.Program, error) {
	p := sandboxd.Program{Profile: o.profile, Progress: true, Intent: o.intent, Seed: o.seed, Now: o.now, TimeZone: o.zone}
	if parent := os.Getenv("TRACEPARENT"); len(parent) <= maxTraceparent { // as OpenTelemetry has it for commands
		p.Traceparent = parent
	}
	if o.output != "text" && o.output != "json" {
		return p, usageError{fmt.Errorf("--output %q: there are text and json", o.output)}
	}
	limits, err := o.limits()
	if err != nil {
		return p, err
	}
	p.Limits = limits
	if o.input != nil {
		if err := json.Unmarshal([]byte(*o.input), new(any)); err != nil {
			return p, usageError{fmt.Errorf("--input is not JSON: %w", err)}
		}
		p.Input = json.RawMessage(*o.input)
	}
	source, err := readProgram(file)
	p.Source = string(source)
	return p, err
}

func (o *limitOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.DurationVar(&o.timeout, "timeout", 0, "lower the limit on wall clock time, such as 10s")
	f.StringVar(&o.memory, "memory", "", "lower the limit on memory, such as 64MiB")
}

func (o limitOptions) limits() (*sandboxd.Limits, error) {
	limits := sandboxd.Limits{WallMS: o.timeout.Milliseconds()}
	if o.timeout < 0 || o.timeout > 0 && limits.WallMS == 0 {
		return nil, usageError{fmt.Errorf("--timeout %s: must be at least 1ms", o.timeout)}
	}
	if o.memory != "" {
		memory, err := units.RAMInBytes(o.memory)
		if err != nil || memory <= 0 {
			return nil, usageError{fmt.Errorf("--memory %q: want a size such as 64MiB", o.memory)}
		}
		limits.MemoryBytes = memory
	}
	return &limits, nil
}

// approvals tells who sits at the terminal which calls wait, and how to answer. Where nobody does, there is nobody to wait for. Of a
// daemon that is not ours, administrators answer.
func (o runOptions) approvals(socket string) func(context.Context, sandboxd.ApprovalRequest) (sandboxd.ApprovalAnswer, error) {
	if o.policy == "" {
		return nil
	}
	return func(_ context.Context, q sandboxd.ApprovalRequest) (sandboxd.ApprovalAnswer, error) {
		if !term.IsTerminal(int(os.Stderr.Fd())) {
			return sandboxd.ApprovalAnswer{Reason: "sandboxctl run has no terminal at which somebody could answer"}, nil
		}
		a := approvalsOptions{out: bufio.NewWriter(os.Stderr), now: time.Now()}
		err := a.printOne(q)
		fmt.Fprintf(a.out, "hint: in another terminal: sandboxctl approvals approve %s --socket %s, or deny\n", q.ID, quote(adminSocketOf(socket)))
		return sandboxd.ApprovalAnswer{}, errors.Join(errElsewhere, err, a.out.Flush())
	}
}

// errElsewhere leaves a request to an administrator.
var errElsewhere = errors.New("answered elsewhere")

// parseNow reads a time for people, or milliseconds since 1970 as results have them.
func parseNow(text string) (int64, error) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		return ms, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, fmt.Errorf("--now %q: want a time such as 2026-01-31T12:00:00Z, or milliseconds since 1970", text)
	}
	return t.UnixMilli(), nil
}

// maxProgram is above what any profile allows: the daemon says how long a program may be.
const maxProgram = 4 << 20

func readProgram(file string) ([]byte, error) {
	in := io.Reader(os.Stdin)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("read program: %w", err)
		}
		defer f.Close()
		in = f
	}
	source, err := io.ReadAll(io.LimitReader(in, maxProgram+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read program: %w", err)
	case len(source) > maxProgram:
		return nil, fmt.Errorf("read program: %s is longer than %d bytes", file, maxProgram)
	}
	return source, nil
}

// startServers connects to the MCP servers of a configuration, if there is one.
func startServers(ctx context.Context, mcp string, verbose bool, show *progress) (*upstream.Upstreams, error) {
	config, err := loadServers(mcp)
	if err != nil {
		return nil, err
	}
	show.say("starting MCP servers")
	return upstream.Connect(ctx, config, upstream.Options{Stderr: serversStderr(verbose)})
}

// loadServers reads a configuration of MCP servers, if there is one, and warns of what it ignores.
func loadServers(mcp string) (upstream.Config, error) {
	if mcp == "" {
		return upstream.Config{}, nil
	}
	config, err := upstream.LoadConfig(mcp)
	for _, w := range config.Warnings {
		fmt.Fprintln(os.Stderr, "sandboxctl: warning:", w)
	}
	return config, err
}

func serversStderr(verbose bool) io.Writer {
	if verbose {
		return os.Stderr
	}
	return nil
}

// refusedHint adds the way out of a request that the daemon did not take.
func refusedHint(err error) error {
	if errors.Is(err, context.Canceled) {
		return hinted{err, "the daemon did not say how the run ended"}
	}
	return err
}
