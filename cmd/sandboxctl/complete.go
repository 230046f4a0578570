package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/profile"
)

// completeWait is how long somebody who pressed the tabulator waits for a daemon.
const completeWait = time.Second

// completed are words that an administrator's daemon knows; none, if it does not answer. What they are described by was made printable.
func completed(c *cobra.Command, socket string, words func(ctx context.Context, a *admin) []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completeWait)
	defer cancel()
	a, err := dialAdmin(ctx, socket)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer a.close()
	return words(ctx, a), cobra.ShellCompDirectiveNoFileComp
}

// completeProfiles are the names of the daemon's profiles, or of those that one here would have.
func (o *daemonOptions) completeProfiles(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completeWait)
	defer cancel()
	if client, err := sandboxd.Dial(ctx, socketPath(o.socket), sandboxd.Options{Name: "sandboxctl", Version: version}); err == nil {
		defer client.Close()
		var names []string
		for _, p := range client.Welcome().Profiles {
			names = append(names, cobra.CompletionWithDesc(p.Name, printable(p.Description)))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return profilesIn(config.Default().Profiles)
}

// profilesIn are the names of the built-in profiles, and of those in a directory.
func profilesIn(dir string) ([]string, cobra.ShellCompDirective) {
	all, err := profile.Load(dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return profile.Names(all), cobra.ShellCompDirectiveDefault // or a file
}

// completions are the requests that wait.
func (o *approvalsOptions) completions(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completed(c, o.socket, func(ctx context.Context, a *admin) (ids []string) {
		var list sandboxd.ApprovalList
		if a.ask(ctx, "approvals/list", struct{}{}, &list) != nil {
			return nil
		}
		for _, q := range list.Approvals {
			ids = append(ids, cobra.CompletionWithDesc(q.ID, printable(q.Server+"."+q.Tool)))
		}
		return ids
	})
}
