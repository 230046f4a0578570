package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/profile"
)

// profileOptions are the options of all that `sandboxctl profile` does.
type profileOptions struct {
	dir      string
	dirGiven bool // and so must exist
	json     bool
	out      io.Writer
}

func profileCommand() *cobra.Command {
	var o profileOptions
	c := noun("profile", "List, show, check and compare profiles of limits and jail", `List, show, check and compare profiles: what limits and jail a program gets by name.

The daemon has built-in profiles, and reads NAME.yaml from a directory, which adds a profile or takes the place
of the built-in one of that name. None of this needs a daemon, or root.

Exit codes:
  0  ok
  1  sandboxctl could not do its work: a file or directory that can't be read, no profile of that name
  2  the command line is wrong
  3  a file is no valid profile`)
	f := c.PersistentFlags()
	f.StringVar(&o.dir, "dir", config.Default().Profiles, "directory of profiles, NAME.yaml")
	f.BoolVar(&o.json, "json", false, "print one JSON object, and nothing else on standard output")
	jailToo := false
	show := o.command("show NAME|FILE", "Print all that a profile sets, as a file that could stand in its place", 1, 1,
		func(args []string) error { return o.show(args[0], jailToo) })
	show.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return profilesIn(o.dir) }
	show.Flags().BoolVar(&jailToo, "jail", false, "and, as comments, the jail that each of its workers enters")
	c.AddCommand(
		o.command("list", "List the profiles that there are, and where each is from", 0, 0,
			func([]string) error { return o.list() }),
		show,
		o.command("check [FILE|DIR]...", "Check files (default: the directory), and say what they open", 0, maxCheck, o.check),
		o.command("diff NAME|FILE NAME|FILE", "Compare two profiles, key by key", 2, 2,
			func(args []string) error { return o.diff(args[0], args[1]) }),
	)
	return c
}

// maxCheck is more than a directory of profiles may have.
const maxCheck = 1000

// command is one that takes least to most arguments.
func (o *profileOptions) command(use, short string, least, most int, do func(args []string) error) *cobra.Command {
	return verb(use, short, least, most, func(c *cobra.Command, args []string) error {
		var text bytes.Buffer
		o.out, o.dirGiven = &text, c.Flags().Changed("dir")
		err := do(args)
		if _, failed := text.WriteTo(c.OutOrStdout()); failed != nil {
			err = fmt.Errorf("print profiles: %w", failed)
		}
		return explain(err)
	})
}

// load reads the built-in profiles and those of the directory.
func (o *profileOptions) load() (map[string]profile.Profile, error) {
	if _, err := os.Stat(o.dir); err != nil && o.dirGiven {
		return nil, fmt.Errorf("read profiles: %w", err)
	}
	return profile.Load(o.dir)
}

// find reads a profile by name, or from a file: what has a slash or ends in .yaml is one.
func (o *profileOptions) find(nameOrFile string) (profile.Profile, error) {
	if strings.ContainsRune(nameOrFile, os.PathSeparator) || strings.HasSuffix(nameOrFile, ".yaml") {
		return profile.Read(nameOrFile)
	}
	all, err := o.load()
	if err != nil {
		return profile.Profile{}, err
	}
	p, ok := all[nameOrFile]
	if !ok {
		return p, fmt.Errorf("no profile %q; there are: %s", nameOrFile, strings.Join(profile.Names(all), ", "))
	}
	return p, nil
}

func (o *profileOptions) list() error {
	all, err := o.load()
	if err != nil {
		return err
	}
	if o.json {
		listed := struct {
			Profiles []profile.Profile `json:"profiles"`
		}{}
		for _, name := range profile.Names(all) {
			listed.Profiles = append(listed.Profiles, all[name])
		}
		return o.print(listed)
	}
	w := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSOURCE\tSTATE\tDESCRIPTION")
	for _, name := range profile.Names(all) {
		p := all[name]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", name, visible(p.Source), state(p), p.Description)
	}
	return w.Flush()
}

// state says how a profile stands to the built-in ones.
func state(p profile.Profile) string {
	var is []string
	if p.Overrides {
		is = append(is, "overrides")
	}
	if len(p.Openings) > 0 {
		is = append(is, "loosened")
	}
	if is == nil {
		return "-"
	}
	return strings.Join(is, ", ")
}

func (o *profileOptions) show(name string, jailToo bool) error {
	p, err := o.find(name)
	if err != nil {
		return err
	}
	if o.json {
		shown := struct {
			profile.Profile
			Spec *jail.Spec `json:"spec,omitempty"`
			Text string     `json:"enforced,omitempty"`
		}{Profile: p}
		if jailToo {
			spec := p.Spec()
			shown.Spec, shown.Text = &spec, spec.String()
		}
		return o.print(shown)
	}
	fmt.Fprintf(o.out, "# %s, %s\n%s", p.Name, visible(p.Source), p.YAML())
	if jailToo {
		fmt.Fprintln(o.out, "\n# The jail that each of its workers enters:")
		for line := range strings.Lines(p.Spec().String()) {
			fmt.Fprint(o.out, "# ", line)
		}
	}
	return nil
}

func (o *profileOptions) diff(a, b string) error {
	from, err := o.find(a)
	if err != nil {
		return err
	}
	to, err := o.find(b)
	if err != nil {
		return err
	}
	changes := profile.Diff(from, to)
	if o.json {
		return o.print(struct {
			From    profile.Profile  `json:"from"`
			To      profile.Profile  `json:"to"`
			Changes []profile.Change `json:"changes"`
		}{from, to, changes})
	}
	if len(changes) == 0 {
		return nil
	}
	fmt.Fprintf(o.out, "--- %s, %s\n+++ %s, %s\n", from.Name, visible(from.Source), to.Name, visible(to.Source))
	for _, c := range changes {
		fmt.Fprintln(o.out, c)
	}
	return nil
}

// checked is what became of one file.
type checked struct {
	File     string           `json:"file"`
	Profile  *profile.Profile `json:"profile"`  // null: it is none
	Mistakes []string         `json:"mistakes"` // each with the file, the line and the key
}

func (o *profileOptions) check(args []string) error {
	files, err := o.files(args)
	if err != nil {
		return err
	}
	all, wrong := []checked{}, []error(nil)
	for _, file := range files {
		c := checked{File: file, Mistakes: []string{}}
		if p, err := profile.Read(file); err == nil {
			c.Profile = &p
		} else {
			c.Mistakes = strings.Split(err.Error(), "\n")
			wrong = append(wrong, err)
		}
		all = append(all, c)
	}
	if o.json {
		wrong = append(wrong, o.print(struct {
			Files []checked `json:"files"`
		}{all}))
		return errors.Join(wrong...)
	}
	for _, c := range all {
		if c.Profile != nil {
			o.printValid(c.File, *c.Profile)
		}
	}
	if len(all) == 0 {
		fmt.Fprintln(o.out, "no files: there are the built-in profiles alone")
	}
	return errors.Join(wrong...)
}

// files are those to check: each that is named, those of each directory that is, else those that the daemon reads.
func (o *profileOptions) files(args []string) ([]string, error) {
	if len(args) == 0 {
		files, err := profile.Files(o.dir)
		if !o.dirGiven && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return files, err
	}
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, fmt.Errorf("check profiles: %w", err)
		case !info.IsDir():
			files = append(files, arg)
			continue
		}
		inside, err := profile.Files(arg)
		if err != nil {
			return nil, err
		}
		files = append(files, inside...)
	}
	return files, nil
}

func (o *profileOptions) printValid(file string, p profile.Profile) {
	base, does := profile.Default, "adds a profile"
	if p.Overrides {
		base, does = p.Name, "takes the place of the built-in profile"
	}
	if len(p.Openings) == 0 {
		fmt.Fprintf(o.out, "%s: ok: %s; nothing is wider than in the built-in %s\n", visible(file), does, base)
		return
	}
	fmt.Fprintf(o.out, "%s: ok: %s; wider than the built-in %s:\n", visible(file), does, base)
	for _, opening := range p.Openings {
		fmt.Fprintln(o.out, "  "+opening.String())
	}
}

// print writes one JSON object.
func (o *profileOptions) print(object any) error { return printJSON(o.out, object) }

// explain prints what is wrong in files, and gives errors their exit code or a hint.
func explain(err error) error {
	var unread *fs.PathError
	var invalid *profile.InvalidError
	switch {
	case errors.Is(err, fs.ErrPermission):
		return hinted{err, "a profile is for all to read; ls -ld shows who may"}
	case errors.As(err, &unread), !errors.As(err, &invalid):
		return err
	}
	return mistakes(err)
}
