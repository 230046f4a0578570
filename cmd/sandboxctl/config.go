package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/profile"
)

// configOptions are the options of all that `sandboxctl config` does.
type configOptions struct {
	json bool
	out  io.Writer
}

func configCommand() *cobra.Command {
	var o configOptions
	c := noun("config", "Check the daemon's configuration, and show what it amounts to", `Check the daemon's configuration before it is restarted, and show what holds and which file says so.

A configuration is FILE (default: `+configFile+`), and each NAME.yaml in the directory FILE.d, in the order of their
names: of what several say of a key, the last holds. A daemon reads them when it starts. sandboxd.yaml(5) has each key.

None of this needs a daemon, or root, but the right to read the files.

Exit codes:
  0  ok
  1  sandboxctl could not do its work: a file that can't be read
  2  the command line is wrong
  3  a daemon would not start with it: each mistake is told with its file and line`)
	c.PersistentFlags().BoolVar(&o.json, "json", false, "print one JSON object, and nothing else on standard output")
	c.AddCommand(
		o.command("check [FILE]", "Check it, and the profiles and the policy that it names", o.check),
		o.command("show [FILE]", "Print every key with its value, and where that is from", o.show),
	)
	return c
}

// command is one that takes a configuration, and prints to o.out.
func (o *configOptions) command(use, short string, do func(path string) error) *cobra.Command {
	return verb(use, short, 0, 1, func(c *cobra.Command, args []string) error {
		var text bytes.Buffer
		o.out = &text
		err := do(append(args, configFile)[0])
		if _, failed := text.WriteTo(c.OutOrStdout()); failed != nil {
			err = fmt.Errorf("print: %w", failed)
		}
		var invalid *config.InvalidError
		switch {
		case errors.Is(err, fs.ErrPermission):
			return hinted{err, "ls -ld shows who may read it; sudo sandboxctl config does as well"}
		case errors.As(err, &invalid):
			return mistakes(err)
		}
		return err
	})
}

func (o *configOptions) check(path string) error {
	c, err := config.Load(path)
	if err == nil {
		err = checkNamed(c)
	}
	var invalid *config.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		return err
	}
	checked := struct {
		File     string   `json:"file"`
		Valid    bool     `json:"valid"`
		Files    []string `json:"files"`    // that were read; none where one is wrong
		Changed  int      `json:"changed"`  // keys whose value is not the default
		Mistakes []string `json:"mistakes"` // each with the file, the line and the key
	}{File: path, Valid: invalid == nil, Files: append([]string{}, c.Files()...), Mistakes: []string{}}
	if checked.Valid {
		checked.Changed = changed(c)
	}
	switch {
	case invalid != nil:
		checked.Mistakes = invalid.Mistakes
		if o.json {
			err = errors.Join(err, printJSON(o.out, checked))
		}
	case o.json:
		err = printJSON(o.out, checked)
	default:
		fmt.Fprintf(o.out, "%s: ok: %d drop-ins; %d keys differ from the defaults\n", printable(path), len(checked.Files)-1, checked.Changed)
	}
	return err
}

// changed counts the keys whose value is not the default.
func changed(c config.Config) (n int) {
	defaults := make(map[string]any)
	for _, k := range config.Default().Keys() {
		defaults[k.Name] = k.Value
	}
	for _, k := range c.Keys() {
		if !reflect.DeepEqual(k.Value, defaults[k.Name]) {
			n++
		}
	}
	return n
}

// checkNamed reads what a configuration names and a daemon does not start without. The guard's key and the audit log's directory
// are looked at by doctor: they are for the daemon's user.
func checkNamed(c config.Config) error {
	var wrong []string
	profiles, err := profile.Load(c.Profiles)
	var noProfile *profile.InvalidError
	switch {
	case errors.As(err, &noProfile):
		wrong = append(wrong, strings.Split(err.Error(), "\n")...)
	case err != nil:
		return err
	default:
		if err := c.CheckPool(profiles); err != nil {
			wrong = append(wrong, strings.Split(err.Error(), "\n")...)
		}
	}
	_, err = policy.Load(c.Policy)
	var noPolicy *policy.InvalidError
	switch {
	case errors.As(err, &noPolicy):
		wrong = append(wrong, noPolicy.Mistakes...)
	case errors.Is(err, fs.ErrPermission):
		return err
	case err != nil:
		err = fmt.Errorf("policy: %w; without one no call is allowed: name a file, or a directory of them", err)
		wrong = append(wrong, c.Wrong(err).Error())
	}
	if wrong != nil {
		return &config.InvalidError{Mistakes: wrong}
	}
	return nil
}

func (o *configOptions) show(path string) error {
	c, err := config.Load(path)
	switch {
	case err != nil:
		return err
	case o.json:
		return printJSON(o.out, struct {
			Files []string     `json:"files"`
			Keys  []config.Key `json:"keys"`
		}{c.Files(), c.Keys()})
	}
	for _, file := range c.Files() {
		fmt.Fprintln(o.out, "#", printable(file))
	}
	_, err = io.WriteString(o.out, printableLines(c.YAML()))
	return err
}
