package guard

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	maxKey = 4 << 10 // a header of more is refused by most servers
	maxCA  = 1 << 20
)

// readKey reads the key from $CREDENTIALS_DIRECTORY/NAME, where systemd put it, or from a file that is nobody else's.
// No error shows what is in it.
func readKey(name string) (string, error) {
	path, shared := name, fs.FileMode(0o077)
	if !strings.ContainsRune(name, '/') {
		dir := os.Getenv("CREDENTIALS_DIRECTORY")
		if dir == "" || name == "." || name == ".." { // the last two are of directories
			return "", fmt.Errorf("%q names no credential that there is: give the unit LoadCredential=%s:FILE, or write an absolute path",
				name, name)
		}
		// The directory is the unit's alone. Where systemd opens it to the unit's user by an ACL, the mode's bits for the
		// group are the ACL's mask (acl(5)), and not a group's.
		path, shared = filepath.Join(dir, name), 0o037
	} else if !filepath.IsAbs(name) {
		return "", fmt.Errorf("%q is a relative path: write an absolute one", name)
	}
	text, err := readFile(path, maxKey, func(info fs.FileInfo) error {
		owner := info.Sys().(*syscall.Stat_t).Uid
		switch {
		case owner != 0 && int(owner) != os.Geteuid():
			return fmt.Errorf("%s belongs to user %d: chown it to the daemon's user or to root", path, owner)
		case info.Mode().Perm()&shared != 0:
			return fmt.Errorf("%s has the mode %04o, so that others can read or change it: chmod 0600 %s", path, info.Mode().Perm(), path)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	key := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if key == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s is no key: it has more than one line, a space, or what is not ASCII", path)
	}
	return key, nil
}

// readCA reads the only certificates that may vouch for the judge; empty: the system's.
func readCA(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readFile(path, maxCA, func(fs.FileInfo) error { return nil })
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM", path)
	}
	return pool, nil
}

// readFile reads a regular file whole: what it asks of the file, it asks of the one that is open.
func readFile(path string, most int64, check func(fs.FileInfo) error) ([]byte, error) {
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
		return nil, errors.New(path + " is longer than " + fmt.Sprint(most) + " bytes")
	}
	return text, nil
}
