// Command sandboxd runs programs for gateways: see README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// version is set by the linker.
var version = "dev"

func main() {
	if os.Getenv("GOMAXPROCS") == "" {
		// The daemon waits most of the time, and each processor that it may use is one more thread to wake for a message;
		// the other half is for workers.
		runtime.GOMAXPROCS(max(1, runtime.NumCPU()/2))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "sandboxd: error:", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	listen    string
	admin     string
	config    string
	nursery   string
	delegated bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("sandboxd", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.listen, "listen", "", "serve gateways in the foreground on a Unix socket at `PATH`")
	flags.StringVar(&o.admin, "admin", "", "serve administrators in the foreground on a Unix socket at `PATH`")
	flags.StringVar(&o.config, "config", "", "read the configuration from `FILE` (YAML)")
	flags.StringVar(&o.nursery, "nursery", "", "get workers from the sandbox-nursery that is a service of its own, by its `SOCKET`; without, start one as a child")
	flags.BoolVar(&o.delegated, "delegated", false, "the cgroup that this was started in is its own to divide, though systemd has not marked it: "+
		"a user's service manager does not")
	shown := flags.Bool("version", false, "print the version")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if *shown {
		fmt.Println("sandboxd", version)
		return o, flag.ErrHelp
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; there are only options: see --help", flags.Arg(0))
	}
	return o, nil
}
