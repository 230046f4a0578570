package guard

import (
	"crypto/x509"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sandboxd/sandboxd/internal/ownfile"
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
	text, err := ownfile.ReadIf(path, maxKey, func(info fs.FileInfo) error {
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 && int(owner) != os.Geteuid() {
			return fmt.Errorf("%s belongs to user %d: chown it to the daemon's user or to root", path, owner)
		}
		return ownfile.Closed(path, info, shared)
	})
	if err != nil {
		return "", err
	}
	key, ok := ownfile.Secret(text)
	switch {
	case key == "":
		return "", fmt.Errorf("%s is empty", path)
	case !ok:
		return "", fmt.Errorf("%s is no key: it has more than one line, a space, or what is not ASCII", path)
	}
	return key, nil
}

// readCA reads the only certificates that may vouch for the judge; empty: the system's.
func readCA(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := ownfile.ReadIf(path, maxCA, func(fs.FileInfo) error { return nil })
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM", path)
	}
	return pool, nil
}
