package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sandboxd/sandboxd/internal/strictyaml"
	"github.com/sandboxd/sandboxd/profiles"
)

// InvalidError is a file that is no profile.
type InvalidError struct {
	Mistakes []string // each with the file, the line and the key
}

func (e *InvalidError) Error() string { return strings.Join(e.Mistakes, "\n") }

func invalid(format string, args ...any) error {
	return &InvalidError{[]string{fmt.Sprintf(format, args...)}}
}

// Default is the name of the profile of programs that name none.
const Default = "default"

const (
	maxFile  = 64 << 10 // of a profile
	maxFiles = 256      // of a directory
)

// Files lists the files of a directory that Load reads.
func Files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read profiles: %w", err)
	}
	var paths []string
	for _, entry := range entries {
		// A .yml is one that somebody takes for a profile: read says what is wrong with it.
		if ext := filepath.Ext(entry.Name()); ext == ".yaml" || ext == ".yml" {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	if len(paths) > maxFiles {
		return nil, fmt.Errorf("read profiles: %s has %d files, more than %d", dir, len(paths), maxFiles)
	}
	return paths, nil
}

// Read reads one profile, as Load would from a directory. What is wrong with its text is an *InvalidError.
func Read(path string) (Profile, error) {
	builtin, err := builtins()
	if err != nil {
		return Profile{}, err
	}
	return read(path, builtin)
}

var nameRule = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

func read(path string, builtin map[string]Profile) (Profile, error) {
	name, isYAML := strings.CutSuffix(filepath.Base(path), ".yaml")
	if !isYAML || !nameRule.MatchString(name) {
		return Profile{}, invalid("%s: a profile is a file NAME.yaml, where NAME is up to 64 of a-z, 0-9, - and _", path)
	}
	text, err := readText(path)
	if err != nil {
		return Profile{}, err
	}
	return parse(name, path, text, builtin)
}

func readText(path string) ([]byte, error) {
	text, err := strictyaml.Read(path)
	var system *fs.PathError
	switch {
	case errors.As(err, &system):
		return nil, fmt.Errorf("read profile: %w", err)
	case err != nil:
		return nil, &InvalidError{[]string{err.Error()}}
	case len(text) > maxFile:
		return nil, invalid("%s: longer than %d bytes", path, maxFile)
	}
	return text, nil
}

// builtinSource is the source of a profile that no file overrides.
const builtinSource = "built in"

func builtins() (map[string]Profile, error) {
	entries, err := profiles.Files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("read built-in profiles: %w", err)
	}
	all := make(map[string]Profile)
	for _, entry := range entries {
		text, err := profiles.Files.ReadFile(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read built-in profiles: %w", err)
		}
		name := strings.TrimSuffix(entry.Name(), ".yaml")
		if all[name], err = parse(name, builtinSource, text, nil); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// file is a profile as it is written.
type file struct {
	Extends string `yaml:"extends"`
	Profile `yaml:",inline"`
}

// parse reads the text of a profile. It may extend a profile of builtin, which is nil for those themselves.
func parse(name, source string, text []byte, builtin map[string]Profile) (Profile, error) {
	label := source
	if source == builtinSource {
		label = name + ".yaml (" + source + ")"
	}
	if wrong := odd(label, text); wrong != nil {
		return Profile{}, &InvalidError{wrong}
	}
	var f file
	lines, err := strictyaml.Decode(label, text, &f)
	if err != nil {
		return Profile{}, &InvalidError{strings.Split(err.Error(), "\n")}
	}
	base := Profile{Jail: jailDefault}
	if _, extends := lines["extends"]; extends {
		ok := false
		if base, ok = builtin[f.Extends]; !ok {
			return Profile{}, invalid("%s: extends: there is no built-in profile %q; there are: %s",
				lines.At(label, "extends"), f.Extends, strings.Join(Names(builtin), ", "))
		}
	}
	f.Profile = base
	if _, err := strictyaml.Decode(label, text, &f); err != nil { // over the base, now that it is known
		return Profile{}, &InvalidError{strings.Split(err.Error(), "\n")}
	}
	p := f.Profile
	p.Name, p.Source = name, source
	var wrong []string
	for _, m := range p.check() {
		wrong = append(wrong, fmt.Sprintf("%s: %s: %s", lines.At(label, m.key), m.key, m.text))
	}
	if wrong != nil {
		return Profile{}, &InvalidError{wrong}
	}
	return p.against(builtin), nil
}

// against holds a profile against the built-in one that it takes the place of, or default.
func (p Profile) against(builtin map[string]Profile) Profile {
	base, overrides := builtin[p.Name]
	if !overrides {
		base = builtin[Default]
	}
	p.Overrides, p.Openings = overrides, []Opening{}
	if builtin != nil {
		p.Openings = Loosens(base, p)
	}
	return p
}
