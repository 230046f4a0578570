package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd"
)

// doctorOptions are the options of `sandboxctl doctor`.
type doctorOptions struct {
	socket  string
	config  string
	profile string
	json    bool
	out     io.Writer
}

// configFile is where a packaged daemon has its configuration.
const configFile = "/etc/sandboxd/sandboxd.yaml"

func doctorCommand() *cobra.Command {
	var o doctorOptions
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine needs to jail workers, and prove that it does",
		Long: `Look at what each layer of the jail needs of this machine, say what mends what is missing, and then prove
the jail: start a worker of each profile that the pool keeps, run a program in it, and show what confines it.

The daemon that listens is asked for the workers. Where none does, a private one is started, as sandboxctl run does;
it needs all that the profile requires, but for what the configuration allows to be missing; without one, but for a cgroup.

Nothing is changed, and none of this needs root. docs/doctor.md explains each line.

Exit codes:
  0  a worker was started and its jail proved, and nothing that is required here is missing
  1  something is missing, or no worker could be jailed
  2  the command line is wrong`,
		Example: "  sandboxctl doctor\n  sandboxctl doctor --profile strict\n  sandboxctl doctor --json | jq -r '.checks[] | select(.status != \"ok\").fix'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("doctor takes no arguments; got %q", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			o.out = c.OutOrStdout()
			return o.run(c.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&o.socket, "socket", "", "the daemon's socket (default $SANDBOXD_SOCKET, else "+sandboxd.DefaultSocket+")")
	f.StringVar(&o.config, "config", configFile, "the daemon's configuration")
	f.StringVar(&o.profile, "profile", "", "prove this profile alone (default: each that the pool keeps)")
	f.BoolVar(&o.json, "json", false, "print one JSON object, and nothing else on standard output")
	return c
}

// diagnosis is what doctor has to say: the object of --json.
type diagnosis struct {
	Checks []check `json:"checks"`
	Proof  proof   `json:"proof"`
	OK     bool    `json:"ok"`
}

// doctorWait bounds all of it. A pool of many profiles on a slow machine may not get done.
const doctorWait = 3 * time.Minute

func (o *doctorOptions) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, doctorWait, fmt.Errorf("doctor gave up after %s", doctorWait))
	defer cancel()
	show := newProgress(os.Stderr)
	defer show.clear()
	show.say("looking at this machine")
	h, err := o.look(ctx)
	defer h.socket.close()
	if err != nil {
		return err
	}
	p := h.prove(ctx, show)
	show.clear()
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return context.Cause(ctx) // a ^C says nothing about the machine
	}
	d := h.diagnose(p)
	if err := o.print(h, d); err != nil {
		return fmt.Errorf("print diagnosis: %w", err)
	}
	if !d.OK { // as it was printed
		return &programError{&sandboxd.Error{Kind: sandboxd.OutcomeInternal, Message: "something is missing"}, exitFailed}
	}
	return nil
}

// diagnose looks at the machine in the light of what was proved.
func (h *host) diagnose(p proof) diagnosis {
	d := diagnosis{Checks: h.checks(p), Proof: p}
	d.OK = p.ok() && !anyMissing(d.Checks)
	return d
}

func (o *doctorOptions) print(h *host, d diagnosis) error {
	if o.json {
		e := json.NewEncoder(o.out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(d)
	}
	return d.write(o.out, h)
}
