package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/policy"
)

// daemonOptions say which daemon runs programs, and how a private one is to be.
type daemonOptions struct {
	socket  string // empty: the usual one, and a private daemon where none listens there
	policy  string // to try, by a private daemon; empty: none
	profile string
	verbose bool

	rules   string // the policy of a private daemon for which none is to be tried, as text
	purpose string // of a private daemon, for the person: "this run"
}

// flags are those of all that runs programs.
func (o *daemonOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.profile, "profile", "", "profile of limits and jail (default \"default\")")
	f.StringVar(&o.policy, "policy", "", "try a policy, by a private daemon that decides by it: a file, or a directory of them")
	f.StringVar(&o.socket, "socket", "", "the daemon's socket (default $SANDBOXD_SOCKET, else "+sandboxd.DefaultSocket+")")
	_ = c.RegisterFlagCompletionFunc("profile", o.completeProfiles) // fails for a flag that is not there, or has one
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show the log of a private daemon and what MCP servers write to standard error")
}

// checkPolicy makes the path of the policy absolute, and tells all that is wrong with it before anything is started.
func (o *daemonOptions) checkPolicy() error {
	switch {
	case o.policy == "":
		return nil
	case o.socket != "":
		return usageError{errors.New("--policy is for a private daemon, and --socket names another, which has a policy of its own")}
	}
	_, err := loadPolicy(o.policy)
	var invalid *policy.InvalidError
	if errors.As(err, &invalid) {
		return mistakes(err)
	}
	if err == nil {
		o.policy, err = filepath.Abs(o.policy)
	}
	return err
}

// dialer connects to the daemon at a socket.
type dialer func(ctx context.Context, socket string) (*sandboxd.Client, error)

// connect reaches the daemon, or starts a private one where none listens, or a policy is to be tried: nil, if none was started. The
// caller must stop it.
func (o daemonOptions) connect(ctx context.Context, dial dialer) (*sandboxd.Client, *private, error) {
	if o.policy != "" {
		return o.connectPrivate(ctx, dial, "to try "+o.policy)
	}
	socket := socketPath(o.socket)
	client, err := dial(ctx, socket)
	switch {
	case err == nil:
		return client, nil, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, nil, hinted{err, "join the group that may use " + socket + " (ls -l shows it), and log in again"}
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED):
		return nil, nil, err
	case o.socket != "": // what was asked for by name is not replaced by something else
		return nil, nil, hinted{err, "without --socket, a private daemon is started where none listens"}
	}
	return o.connectPrivate(ctx, dial, "no daemon at "+socket)
}

// connectPrivate starts a private daemon, for a reason.
func (o daemonOptions) connectPrivate(ctx context.Context, dial dialer, why string) (*sandboxd.Client, *private, error) {
	p, err := startPrivate(ctx, o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s, and a private daemon could not be started: %w", why, err)
	}
	client, err := dial(ctx, p.socket)
	if err != nil {
		p.stop()
		return nil, nil, fmt.Errorf("private daemon: %w", err)
	}
	fmt.Fprintf(os.Stderr, "%s: started a private one for %s (%s)\n", why, o.purpose, layers(client.Welcome(), o.profile))
	return client, p, nil
}

// socketPath is where the daemon is to be found: as the option says, else the environment.
func socketPath(option string) string {
	return cmp.Or(option, os.Getenv("SANDBOXD_SOCKET"), sandboxd.DefaultSocket)
}

// layers says in a line what confines the workers of a profile.
func layers(w sandboxd.InitializeResult, profile string) string {
	if profile == "" {
		profile = "default"
	}
	for _, p := range w.Profiles {
		if p.Name == profile && p.Isolation != nil {
			return describeLayers(*p.Isolation)
		}
	}
	return "its layers are not known"
}

func describeLayers(i sandboxd.Isolation) string {
	in := []string{"seccomp (" + i.Seccomp + ")", fmt.Sprintf("Landlock ABI %d", i.Landlock), fmt.Sprintf("%d rlimits", len(i.Rlimits))}
	if i.Landlock == 0 {
		in[1] = "no Landlock"
	}
	if i.Cgroup == "off" {
		in = append(in, "no cgroup")
	} else {
		in = append(in, "cgroup "+i.Cgroup)
	}
	if len(i.Namespaces) == 0 {
		in = append(in, "no namespaces")
	} else {
		in = append(in, "namespaces "+strings.Join(i.Namespaces, " "))
	}
	return strings.Join(in, ", ")
}
