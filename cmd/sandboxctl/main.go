// Command sandboxctl is the person's tool for sandboxd. It never needs root.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := root().ExecuteContext(ctx)
	stop()
	os.Exit(report(os.Stderr, err))
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use:           "sandboxctl",
		Short:         "Run model-written programs in sandboxd, and look after it",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.AddCommand(runCommand())
	c.AddCommand(typesCommand())
	c.AddCommand(profileCommand())
	c.AddCommand(doctorCommand())
	c.AddCommand(auditCommand())
	c.AddCommand(approvalsCommand())
	return c
}

// usageError is a mistake in the command line.
type usageError struct{ error }

// hinted is an error with a way out.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// report prints an error and its hint, and returns the exit code.
func report(stderr *os.File, err error) int {
	var failed *programError
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &failed):
		return failed.code // it was printed with its place in the program
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "sandboxctl: error:", err)
		fmt.Fprintln(stderr, "hint: sandboxctl --help lists commands, sandboxctl COMMAND --help their options")
		return exitUsage
	}
	fmt.Fprintln(stderr, "sandboxctl: error:", err)
	var h hinted
	if errors.As(err, &h) {
		fmt.Fprintln(stderr, "hint:", h.hint)
	}
	return exitFailed
}
