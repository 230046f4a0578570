package remote

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

const maxCA = 1 << 20

// Secret reads what a server is to be shown, from $CREDENTIALS_DIRECTORY/NAME, where systemd put it, or from a file that is nobody else's,
// and says which file that is. No error shows what is in it.
func Secret(name string, most int64) (text []byte, path string, err error) {
	shared := fs.FileMode(0o077)
	if !strings.ContainsRune(name, '/') {
		dir := os.Getenv("CREDENTIALS_DIRECTORY")
		if dir == "" || name == "." || name == ".." { // the last two are of directories
			return nil, "", fmt.Errorf("%q names no credential that there is: give the unit LoadCredential=%s:FILE, or write an absolute path",
				name, name)
		}
		// The directory is the unit's alone. Where systemd opens it to the unit's user by an ACL, the mode's bits for the
		// group are the ACL's mask (acl(5)), and not a group's.
		path, shared = filepath.Join(dir, name), 0o037
	} else if path = name; !filepath.IsAbs(name) {
		return nil, "", fmt.Errorf("%q is a relative path: write an absolute one", name)
	}
	text, err = ownfile.ReadIf(path, most, func(info fs.FileInfo) error {
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 && int(owner) != os.Geteuid() {
			return fmt.Errorf("%s belongs to user %d: chown it to the daemon's user or to root", path, owner)
		}
		return ownfile.Closed(path, info, shared)
	})
	return text, path, err
}

// roots reads the only certificates that may vouch for a server; empty: the system's.
func roots(path string) (*x509.CertPool, error) {
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
