package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/sandboxd/sandboxd"
)

// dialer connects to the daemon at a socket.
type dialer func(ctx context.Context, socket string) (*sandboxd.Client, error)

// connect reaches the daemon, or starts a private one where none listens, or a policy is to be tried. release ends what it started.
func connect(ctx context.Context, o runOptions, dial dialer) (client *sandboxd.Client, release func(), err error) {
	if o.policy != "" {
		return connectPrivate(ctx, o, dial, "to try "+o.policy)
	}
	socket := socketPath(o.socket)
	client, err = dial(ctx, socket)
	switch {
	case err == nil:
		return client, func() {}, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, nil, hinted{err, "join the group that may use " + socket + " (ls -l shows it), and log in again"}
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED):
		return nil, nil, err
	case o.socket != "": // what was asked for by name is not replaced by something else
		return nil, nil, hinted{err, "without --socket, run starts a private daemon where none listens"}
	}
	return connectPrivate(ctx, o, dial, "no daemon at "+socket)
}

// connectPrivate starts a private daemon, for a reason.
func connectPrivate(ctx context.Context, o runOptions, dial dialer, why string) (*sandboxd.Client, func(), error) {
	private, err := startPrivate(ctx, o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s, and a private daemon could not be started: %w", why, err)
	}
	client, err := dial(ctx, private.socket)
	if err != nil {
		private.stop()
		return nil, nil, fmt.Errorf("private daemon: %w", err)
	}
	fmt.Fprintf(os.Stderr, "%s: started a private one for this run (%s)\n", why, layers(client.Welcome(), o.profile))
	return client, private.stop, nil
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
