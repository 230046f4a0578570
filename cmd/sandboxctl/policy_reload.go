package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// policyReloadCommand is a command of `sandboxctl policy`, whose --json it obeys.
func policyReloadCommand(json *bool) *cobra.Command {
	socket := ""
	c := &cobra.Command{
		Use: "reload", Short: "Have the daemon read its policy again", DisableFlagsInUseLine: true,
		Long: `Have the daemon read its policy again, as the configuration names it. All of it takes force, or nothing: on a mistake the one in
force stays. Programs that run keep the policy that they began with.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("policy reload takes no arguments: the daemon's configuration names the policy")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return policyReload(c.Context(), c.OutOrStdout(), socket, *json)
		},
	}
	adminSocketFlag(c.Flags().StringVar, &socket)
	return c
}

// policyReload asks the daemon at a socket, as dialAdmin finds it.
func policyReload(ctx context.Context, out io.Writer, socket string, json bool) error {
	a, err := dialAdmin(ctx, socket)
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.ask(ctx, "policy/reload", struct{}{}, &struct{}{}); err != nil {
		return hinted{fmt.Errorf("the policy in force stays: %w", err), "sandboxctl policy check says all that is wrong with a file"}
	}
	text := "the policy was read again, and is in force for programs that begin now"
	if json {
		text = `{"reloaded":true}`
	}
	_, err = fmt.Fprintln(out, text)
	return err
}
