// Package ownfile reads files that others must not have a hand in, and replaces them.
package ownfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Read reads a regular file of this user that nobody else can read or change. One of more than most bytes is an error; no error
// shows what is in it.
func Read(path string, most int64) ([]byte, error) {
	return ReadIf(path, most, func(info fs.FileInfo) error {
		if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
			return fmt.Errorf("%s belongs to user %d, not to user %d", path, owner, os.Geteuid())
		}
		return Closed(path, info, 0o077)
	})
}

// Closed refuses a file whose mode has one of the bits that others must not have.
func Closed(path string, info fs.FileInfo, shared fs.FileMode) error {
	if info.Mode().Perm()&shared != 0 {
		return fmt.Errorf("%s has the mode %04o, so that others can read or change it: chmod 0600 %s", path, info.Mode().Perm(), path)
	}
	return nil
}

// ReadIf reads a regular file of at most so many bytes, if check lets it: what that is asked, it is asked of the file that is open,
// whatever the path may name later.
func ReadIf(path string, most int64, check func(fs.FileInfo) error) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // open(2) of a FIFO would wait for its writer
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	if err := check(info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, most)
	}
	return text, nil
}

// Secret is what a file with one secret has, without the end of its line; false: it has more than one line, a space, or what is not ASCII.
func Secret(text []byte) (secret string, ok bool) {
	secret = strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	return secret, !strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Replace puts a file with mode 0600 in the place of the one at path, or of none: whoever reads it meanwhile, and whatever fails, finds
// the old one whole or the new one whole. Its directory must exist.
func Replace(path string, text []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, ignoreAbsent(os.Remove(f.Name())))
	}
	return syncDir(dir)
}

// syncDir makes a rename last (fsync(2)).
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Stamp tells whether a file has been replaced or written since. That of a file that is not there is the zero value.
type Stamp struct {
	inode    uint64
	size     int64
	modified int64 // nanoseconds since 1970
}

// StampOf looks at the file at path.
func StampOf(path string) Stamp {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}
	}
	return Stamp{info.Sys().(*syscall.Stat_t).Ino, info.Size(), info.ModTime().UnixNano()}
}
