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
	c.AddCommand(mcpCommand())
	c.AddCommand(toolsCommand())
	c.AddCommand(typesCommand())
	c.AddCommand(profileCommand())
	c.AddCommand(configCommand())
	c.AddCommand(doctorCommand())
	c.AddCommand(statusCommand())
	c.AddCommand(runsCommand())
	c.AddCommand(topCommand())
	c.AddCommand(auditCommand())
	c.AddCommand(policyCommand())
	c.AddCommand(approvalsCommand())
	return c
}

// noun is a command that has commands, and does nothing itself.
func noun(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q of %s", args[0], use)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
}

// verb is one of its commands, which takes least to most arguments.
func verb(use, short string, least, most int, run func(c *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < least || len(args) > most {
				return usageError{fmt.Errorf("usage: %s %s; got %d arguments", c.Parent().CommandPath(), use, len(args))}
			}
			return nil
		},
		RunE: run,
	}
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
