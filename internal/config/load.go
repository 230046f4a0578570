package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandboxd/sandboxd/internal/strictyaml"
)

// InvalidError is a file that is no configuration.
type InvalidError struct {
	Mistakes []string // each with the file, the line and the key
}

func (e *InvalidError) Error() string { return strings.Join(e.Mistakes, "\n") }

const (
	maxDropIns = 64
	maxDropIn  = 64 << 10 // bytes
)

// Load reads the file at path over the defaults, and over both each *.yaml in the directory path.d, in the order of their names: of
// what several say of a key, the last holds. What is wrong with their text is an *InvalidError, which has all that can be told at once.
func Load(path string) (Config, error) {
	c := Default()
	c.path, c.places = path, make(map[string]string)
	wrong, err := c.read(path)
	if err != nil {
		return Config{}, err
	}
	added, odd, err := dropIns(path + ".d")
	if err != nil {
		return Config{}, err
	}
	wrong = append(wrong, odd...)
	for _, file := range added {
		more, err := c.read(file)
		if err != nil {
			return Config{}, err
		}
		wrong = append(wrong, more...)
	}
	if wrong == nil {
		for _, err := range c.check() {
			wrong = append(wrong, c.Wrong(err).Error())
		}
	}
	if wrong != nil {
		return Config{}, &InvalidError{wrong}
	}
	if !filepath.IsAbs(c.Policy) {
		// Status and the audit log name it for readers in other directories.
		if c.Policy, err = filepath.Abs(filepath.Join(filepath.Dir(path), c.Policy)); err != nil {
			return Config{}, fmt.Errorf("find the policy: %w", err)
		}
	}
	return c, nil
}

// Files are those that were read, in their order; of the defaults alone there is none.
func (c Config) Files() []string { return slices.Clone(c.files) }

// Wrong says where an error is whose text begins with the path of a key.
func (c Config) Wrong(err error) error {
	if c.path == "" {
		return err
	}
	key, _, _ := strings.Cut(err.Error(), ":")
	place := c.places[key]
	if place == "" {
		place = c.path
	}
	return fmt.Errorf("%s: %w", place, err)
}

// read reads a file over what there is, and returns what is wrong with its text.
func (c *Config) read(path string) (wrong []string, err error) {
	text, err := strictyaml.Read(path)
	var system *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist) && path != c.path:
		return []string{path + ": is a link to a file that is not there, or was just removed"}, nil
	case errors.As(err, &system):
		return nil, fmt.Errorf("read configuration: %w", err)
	case err != nil:
		return []string{err.Error()}, nil
	case len(text) > maxDropIn && path != c.path:
		return []string{fmt.Sprintf("%s: longer than %d bytes", path, maxDropIn)}, nil
	}
	wrong = strictyaml.Plain(path, text)
	lines, err := strictyaml.Decode(path, text, c)
	if err != nil {
		return append(wrong, strings.Split(err.Error(), "\n")...), nil
	}
	for key := range lines {
		c.places[key] = lines.At(path, key)
	}
	c.files = append(c.files, path)
	return wrong, nil
}

// dropIns lists the files of a directory that add to a configuration, and what is wrong with it. Without the directory there are none.
func dropIns(dir string) (paths, wrong []string, err error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration: %w", err)
	}
	if !info.IsDir() {
		return nil, []string{dir + ": is no directory; it is one of drop-ins, NAME.yaml"}, nil
	}
	if err := strictyaml.Trusted(dir, info); err != nil {
		return nil, []string{err.Error()}, nil
	}
	entries, err := os.ReadDir(dir) // by their names
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch ext := filepath.Ext(path); {
		case strings.HasPrefix(entry.Name(), "."): // of an editor, most likely, that has one open
		case ext == ".yaml":
			paths = append(paths, path)
		case ext == ".yml": // that somebody takes for a drop-in
			wrong = append(wrong, path+": a drop-in is named NAME.yaml")
		}
	}
	if len(paths) > maxDropIns {
		return nil, []string{fmt.Sprintf("%s: has %d drop-ins, at most %d", dir, len(paths), maxDropIns)}, nil
	}
	return paths, wrong, nil
}
