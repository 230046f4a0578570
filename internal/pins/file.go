package pins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sandboxd/sandboxd/internal/ownfile"
)

// File is where pins are kept, for all programs of this user.
type File struct{ Path string }

// Default is the usual file, by the XDG base directory specification.
func Default() (File, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // as the specification has it
		home, err := os.UserHomeDir()
		if err != nil {
			return File{}, fmt.Errorf("find a place for what tools were: %w", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return File{filepath.Join(dir, "sandboxd", "tools.json")}, nil
}

const (
	maxFile  = 64 << 20
	version  = 1
	lockWait = 5 * time.Second // others hold the lock for as long as a file takes to be written
	lockTry  = 10 * time.Millisecond
)

// own refuses a directory that others can change.
func own(d *os.File) error {
	info, err := d.Stat()
	if err != nil {
		return err
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s belongs to user %d and has the mode %04o, so that others can remove what is in it: it must be of user %d; chmod 0700 %[1]s",
			d.Name(), owner, info.Mode().Perm(), os.Geteuid())
	}
	return nil
}

// content is what stands in the file.
type content struct {
	Version int   `json:"version"`
	Configs State `json:"configs"`
}

// Read returns what is kept; where there is no file, nothing is. A file that can't be relied on is an error.
func (f File) Read() (State, error) {
	text, err := ownfile.Read(f.Path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return State{}, nil
	case err != nil:
		return nil, fmt.Errorf("read what tools were: %w", err)
	}
	var c content
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&c)
	if err == nil && d.More() {
		err = errors.New("more than one JSON value")
	}
	if err == nil && c.Version != version {
		err = fmt.Errorf("version %d, not %d", c.Version, version)
	}
	if err == nil {
		err = c.Configs.whole()
	}
	if err != nil {
		return nil, fmt.Errorf("read what tools were: %s is damaged (%w): put back a copy, or remove it to take all tools as they are now", f.Path, err)
	}
	return c.Configs, nil
}

// whole refuses what Update does not write.
func (s State) whole() error {
	if s == nil {
		return errors.New("no configs")
	}
	for config, servers := range s {
		if servers == nil {
			return fmt.Errorf("%q has no servers", config)
		}
		for server, tools := range servers {
			for tool, p := range tools {
				if p == nil {
					return fmt.Errorf("%q: %s.%s is null", config, server, tool)
				}
			}
		}
	}
	return nil
}

// Update changes what is kept. No other program changes it meanwhile; what change returns false for is not written.
func (f File) Update(ctx context.Context, change func(State) bool) error {
	dir := filepath.Dir(f.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep what tools are: %w", err)
	}
	unlock, err := lock(ctx, dir)
	if err != nil {
		return fmt.Errorf("keep what tools are: %w", err)
	}
	defer unlock()
	s, err := f.Read()
	if err != nil || !change(s) {
		return err
	}
	text, err := json.Marshal(content{version, s})
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s would have more than %d bytes", f.Path, maxFile)
	}
	if err == nil {
		err = ownfile.Replace(f.Path, text)
	}
	if err != nil {
		return fmt.Errorf("keep what tools are: %w", err)
	}
	return nil
}

// lock takes the directory, as flock(2) lets one: no lock file is left behind, and who dies lets go. One that others may write to is
// refused: who can remove the file makes every tool one that is seen for the first time.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := own(d); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait, fmt.Errorf("another program has had %s locked for %v", dir, lockWait))
	defer cancel()
	for {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { d.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), d.Close())
		}
		select {
		case <-time.After(lockTry):
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), d.Close())
		}
	}
}
